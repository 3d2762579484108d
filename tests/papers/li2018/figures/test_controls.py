"""For every band of every figure there are numbers that it refuses."""

import numpy as np
import pytest

from tests.papers.li2018.figures.cells import mnist_cell
from tests.papers.li2018.figures.test_figures import (
    MNIST_WIDTHS,
    PRINTED,
    SPREADS,
    by_width,
    differing,
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    images,
    pixels,
    widths,
)
from widenet.figures.base import ANY
from widenet.papers import find_figure
from widenet.papers.li2018 import PAPER


def steep_widths():
    return by_width(pace=lambda width: 30 * (500 / width) ** 0.9)


def controls(name):
    """Numbers that show the opposite of something."""
    match name:
        case "figure_1":
            return [
                figure_1(widths(pace=70.0)),
                figure_1(widths(best=0.985)),
                figure_1(by_width(pace=lambda width: 10 * (width / 500) ** 0.6)),
                figure_1(widths(flips=3.3)),
                figure_1(widths(constant=1.1)),
                figure_1(widths(flip_power=0.0, flips=0.06, power=0.0, constant=0.02)),
                figure_1(widths(cliff=9)),
                figure_1(widths(fall=1.5)),
                figure_1(widths(weight_fall=1.2)),
            ]
        case "figure_2":
            changes = ({"best": 0.9, "target": 0.89}, {"decay": 1.0}, {"flips": 1.1}, {"fall": 5.0},
                       {"constant": 14.0}, {"power": 0.0, "constant": 0.3})  # fmt: skip
            return [*(figure_2(images(**change)) for change in changes), figure_2(raw=pixels(flips=0.5))]
        case "figure_3":
            numbers = figure_3()
            return [figure_3(0.3), numbers.assign(diameter=numbers.diameter * 0 + 0.1), numbers.assign(separable=1.0)]
        case "figure_4":
            fixed = [mnist_cell(width, pace=400 * 500 / width) for width in MNIST_WIDTHS]
            return [figure_4(steep_widths(), fixed), figure_4(mnist=images(pace=80.0))]
        case "figure_5":
            grows = widths(constant=0.62 / 1000, power=0.5)
            return [
                figure_5(widths(constant=0.3), images(constant=20.0), pixels(constant=10.0)),
                figure_5(grows, images(constant=8.5 / 700, power=0.5)),
            ]
        case "figure_6":
            return [
                figure_6(dict.fromkeys(SPREADS, 14)),
                figure_6(falling=True),
                figure_6(fall=1.9),
                figure_6({10.0: 600}),
            ]
        case "figure_7":
            return [
                figure_7({1: 16, 2: 16.1, 4: 16.2, 7: 16.3}),
                figure_7({4: 60}),
                figure_7(flips=lambda count: 1.9 * count**0.2),
                figure_7(constant=lambda count: 0.62 * count),
            ]
    raise ValueError(name)


@pytest.mark.parametrize("name", PAPER.figures)
def test_every_band_refuses_something(name):
    rows = find_figure(f"li2018.{name}").compare(PRINTED[name]())
    banded = {row.name for row in rows if row.band != ANY}
    refused = {each for numbers in controls(name) for each in differing(name, numbers, added=True)}
    assert len(banded) >= 3
    assert banded - refused == set()


@pytest.mark.parametrize("name", PAPER.figures)
def test_a_number_that_is_missing_agrees_with_nothing(name):
    numbers = PRINTED[name]()
    empty = numbers.assign({key: values * np.nan for key, values in numbers.items() if values.dtype.kind == "f"})
    found = [row for row in find_figure(f"li2018.{name}").compare(empty) if np.isnan(row.measured)]
    assert found
    assert not any(row.agrees for row in found)
