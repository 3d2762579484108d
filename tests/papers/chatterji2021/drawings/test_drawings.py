"""Drawings of chatterji2021: single runs all alike, readings apart, and every run beside 1/t and beside 0."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from tests.papers.kept_numbers import kept_numbers
from widenet.papers.chatterji2021.drawings import figure_1, figure_2, figure_3, figure_4
from widenet.papers.chatterji2021.drawings.loss_curves import DASHES
from widenet.papers.chatterji2021.figures.figure_4 import overshoots
from widenet.plots.picture import Picture
from widenet.plots.style import CONTROL, MEASURED


def axes_of(picture: Picture, place: int) -> Axes:
    canvas = Drawing()
    picture.panels[place].draw(canvas)
    (axes,) = canvas.axes
    return axes


@pytest.mark.parametrize(("drawing", "name"), [(figure_2, "figure_2"), (figure_3, "figure_3")])
def test_single_runs_look_alike_and_readings_do_not(drawing, name: str) -> None:
    numbers = kept_numbers(f"chatterji2021.{name}")
    picture = drawing.draw(numbers)
    runs = axes_of(picture, 0).lines
    assert len(runs) == numbers.sizes["curve"]
    assert {(line.get_color(), line.get_linestyle()) for line in runs} == {(MEASURED, "-")}
    axes = axes_of(picture, 1)
    medians = [line for line in axes.lines if line.get_color() in (MEASURED, CONTROL)]
    assert {line.get_linestyle() for line in medians} == {"-", "--"}
    assert sorted({reading: str(dash) for reading, dash in DASHES.items()}) == list("ABCD")
    assert len({str(dash) for dash in DASHES.values()}) == 4
    assert {text.get_text() for text in axes.texts} == {"A", "B", "C", "D", "like 1/t"}
    guide = next(line for line in axes.lines if line not in medians)
    products = np.asarray(guide.get_xdata()) * np.asarray(guide.get_ydata())
    assert products[0] == pytest.approx(products[1])


def test_every_run_stands_on_its_side_of_the_wall() -> None:
    numbers = kept_numbers("chatterji2021.figure_3")
    axes = axes_of(figure_3.draw(numbers), 2)
    rows = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_color() for line in rows] == [CONTROL] * 3 + [MEASURED]
    slower = [int((np.asarray(line.get_xdata()) > 1).sum()) for line in rows]
    assert slower == ((2 * numbers["last"] > numbers["middle"]).sum("run")).values.tolist()
    assert slower[0] == numbers.sizes["run"]
    assert slower[3] == 0


def test_overshooting_runs_are_counted_beside_their_row() -> None:
    numbers = kept_numbers("chatterji2021.figure_4")
    axes = axes_of(figure_4.draw(numbers), 1)
    told = [text.get_text() for text in axes.texts if " of " in text.get_text()]
    counts = [
        int(overshoots(numbers.sel(reading=reading, activation=name)).sum())
        for reading in "ABCD"
        for name in ("relu", "huberized")
    ]
    assert told == [f"{count} of 40" for count in counts]
    assert counts[6] > counts[7]


def test_values_by_the_papers_equation_lie_on_the_curve() -> None:
    numbers = kept_numbers("chatterji2021.figure_1")
    axes = axes_of(figure_1.draw(numbers), 0)
    (diamonds,) = [line for line in axes.lines if line.get_marker() == "D"]
    near = np.interp(np.asarray(diamonds.get_xdata(), float), numbers.z.values, numbers.value.values)
    assert np.allclose(near, np.asarray(diamonds.get_ydata(), float))
