"""Numbers and ticks as the style sheet wants them."""

import itertools
import math

import pytest
from matplotlib.figure import Figure as Drawing

from widenet.plots.axes import LogTicks, log_axis, number, percent, value_ticks


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"), (1, "1"), (-2, "−2"), (0.05, "0.05"), (12345, "12,345"), (1000, "1,000"), (1e6, "10⁶"),
        (3.5e-5, "3.5·10⁻⁵"), (1e-4, "10⁻⁴"), (-1e-7, "−10⁻⁷"), (0.1 + 0.2, "0.3"), (9.999e-5, "10⁻⁴"), (99999, "10⁵"),
        (math.inf, "∞"), (math.nan, "—"), (2.5e-3, "0.0025"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(value: float, words: str) -> None:
    assert number(value) == words


def test_percent() -> None:
    assert percent(0.123) == "12.3\u202f%"


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 100, [1, 2, 5, 10, 20, 50, 100]),
        (3, 4000, [10, 100, 1000]),
        (1e-9, 1e3, [1e-8, 1e-6, 1e-4, 1e-2, 1, 1e2]),
        (2, 7, [2, 3, 4, 5, 6, 7]),
        (1, 1, [1]),
    ],
)
def test_log_axes_label_few_numbers(low: float, high: float, ticks: list[float]) -> None:
    assert LogTicks(7).tick_values(low, high) == pytest.approx(ticks)


def test_labels_of_log_axes_do_not_touch() -> None:
    for low, high in ((1, 3), (1, 40), (8, 24000), (1e-12, 1e5)):
        drawing = Drawing(figsize=(340 / 96, 2), layout="constrained")
        axes = drawing.subplots()
        axes.set_xlim(low, high)
        log_axis(axes, "x")
        drawing.draw_without_rendering()
        boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
        assert len(boxes) >= 2
        assert all(this.x1 < that.x0 for this, that in itertools.pairwise(boxes))


def test_values_that_would_touch_their_neighbours_have_no_label() -> None:
    axes = Drawing().subplots()
    axes.set_xscale("log")
    axes.set_xlim(4, 200)
    value_ticks(axes, "x", [4, 6, 8, 20, 50, 100, 190, 200])
    ticks = axes.get_xticks().tolist()
    assert ticks[0] == 4
    assert ticks[-1] == 200
    assert 190 not in ticks
    assert 20 in ticks
