"""Drawings of li2018: ordered lines on the ramp, and the paper's laws and limits in ink."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.text import Annotation

from tests.papers.kept_numbers import kept_numbers
from widenet.papers.li2018.drawings import figure_1, figure_2, figure_3, figure_5, figure_6, figure_7
from widenet.plots.axes import percent
from widenet.plots.marks import ramp
from widenet.plots.picture import Picture
from widenet.plots.style import PAPER, PROMISE


def axes_of(picture: Picture, place: int) -> Axes:
    canvas = Drawing()
    picture.panels[place].draw(canvas)
    (axes,) = canvas.axes
    return axes


def lines_of(axes: Axes, colour: str) -> list[Line2D]:
    return [line for line in axes.lines if line.get_color() == colour and line.get_marker() == "None"]


@pytest.mark.parametrize(
    ("drawing", "name", "axis"),
    [
        (figure_1, "li2018.figure_1.paper", "width"),
        (figure_2, "li2018.figure_2.paper", "width"),
        (figure_6, "li2018.figure_6", "spread"),
        (figure_7, "li2018.figure_7.paper", "components"),
    ],
)
def test_ordered_lines_run_from_light_to_dark(drawing, name: str, axis: str) -> None:
    numbers = kept_numbers(name)
    picture = drawing.draw(numbers)
    n_readings = numbers.sizes.get("reading", 1)
    assert len(picture.panels) == 4 * n_readings
    accuracy = axes_of(picture, 0)
    own = numbers if n_readings == 1 else numbers.isel(reading=0)
    for value, colour in zip(own[axis].values, ramp(own.sizes[axis]), strict=True):
        (line,) = lines_of(accuracy, colour)
        assert np.array_equal(line.get_ydata(), own["accuracy_mean"].sel({axis: value}).values[1:])


@pytest.mark.parametrize(
    ("drawing", "name", "axis", "places"),
    [
        (figure_1, "li2018.figure_1.paper", "width", range(2, 6)),
        (figure_2, "li2018.figure_2.paper", "width", (1, 2)),
        (figure_6, "li2018.figure_6", "spread", range(2, 8)),
        (figure_7, "li2018.figure_7.paper", "components", range(2, 8)),
    ],
)
def test_every_line_has_its_name_beside_its_colour(drawing, name: str, axis: str, places) -> None:
    """Also where they end close to each other: the darkest stroke stands before the largest value, and so on."""
    numbers = kept_numbers(name)
    values = numbers[axis].values.tolist()
    for place in places:
        texts = [text for text in axes_of(drawing.draw(numbers), place).texts if isinstance(text, Annotation)]
        named = {to_hex(each.arrow_patch.get_edgecolor()): each.get_text() for each in texts if each.arrow_patch}
        assert [named[colour].split(" = ")[-1] for colour in ramp(len(values))] == [f"{value:,g}" for value in values]


def test_the_limit_of_the_paper_is_an_ink_line() -> None:
    """It says of Figure 1 that patterns and distances stay below 0.1, and not of Figure 2."""
    picture = figure_1.draw(kept_numbers("li2018.figure_1"))
    for place, words in ((2, f"the paper: below {percent(0.1)}"), (4, "the paper: below 0.1")):
        axes = axes_of(picture, place)
        (line,) = lines_of(axes, PROMISE)
        assert list(np.asarray(line.get_ydata())) == [0.1, 0.1]
        assert axes.get_ylim()[1] > 0.1
        assert words in [text.get_text() for text in axes.texts]
    plain = figure_2.draw(kept_numbers("li2018.figure_2"))
    assert [lines_of(axes_of(plain, place), PROMISE) for place in range(4)] == [[]] * 4


def test_the_printed_laws_are_diamonds_at_the_widths_that_were_run() -> None:
    numbers = kept_numbers("li2018.figure_5.paper")
    picture = figure_5.draw(numbers)
    for place, widths, law in ((0, numbers.width.values, 2 / 3), (1, numbers.mnist_width.values, 8.0)):
        (diamonds,) = [line for line in axes_of(picture, place).lines if line.get_marker() == "D"]
        assert diamonds.get_markeredgecolor() == PAPER
        assert np.allclose(diamonds.get_ydata(), law / np.sqrt(widths))
    runs = [line for line in axes_of(picture, 3).lines if line.get_marker() == "o"]
    (dots,) = runs
    scaled = numbers.mnist * np.sqrt(numbers.mnist_width)
    assert np.allclose(np.sort(np.asarray(dots.get_ydata(), float)), np.sort(scaled.values.ravel()))


def test_one_component_per_class_is_wider_than_allowed_and_two_are_not() -> None:
    axes = axes_of(figure_3.draw(kept_numbers("li2018.figure_3")), 2)
    walls = [line for line in axes.lines if line.get_color() == PROMISE]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    found = {
        float(np.mean(np.asarray(each.get_ydata(), float))): float(np.asarray(each.get_xdata())[0]) for each in dots
    }
    allowed = {
        float(np.mean(np.asarray(each.get_ydata(), float))): float(np.asarray(each.get_xdata())[0]) for each in walls
    }
    assert allowed == {0.0: 1 / 16, -1.0: 1 / 8}
    assert found[0.0] < allowed[0.0]
    assert found[-1.0] > allowed[-1.0]
