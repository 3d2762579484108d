"""Marks of the style sheet."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Annotation

from widenet.plots.marks import End, label_ends, ramp, reported, spread
from widenet.plots.style import PAPER, RAMP


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.01, 0.2))
def test_words_are_moved_apart_and_keep_their_order(places: list[float], gap: float) -> None:
    moved = spread(places, gap)
    order = np.argsort(places, kind="stable")
    assert (np.diff(np.array(moved)[order]) >= gap - 1e-9).all()
    assert np.mean(moved) == pytest.approx(np.mean(places), abs=1e-9)


def test_words_far_apart_stay() -> None:
    assert spread([0.9, 0.1, 0.5], 0.1) == [0.9, 0.1, 0.5]


@pytest.mark.parametrize("n", range(1, 9))
def test_a_ramp_runs_from_light_to_dark(n: int) -> None:
    colours = ramp(n)
    light = [sum(int(colour[place : place + 2], 16) for place in (1, 3, 5)) for colour in colours]
    assert len(colours) == n
    assert light == sorted(set(light), reverse=True)


def test_equal_ends_are_labelled_above_each_other() -> None:
    drawing = Drawing(figsize=(340 / 96, 200 / 96), dpi=96, layout="constrained")
    axes = drawing.subplots()
    axes.set_ylim(0, 1)
    label_ends(axes, [End(0.5, "one"), End(0.5, "two")], 200)
    drawing.draw_without_rendering()
    one, two = (text.get_window_extent() for text in axes.texts)
    assert two.y0 >= one.y1 - 1
    assert two.x1 <= drawing.bbox.x1


def test_a_stroke_in_the_colour_of_the_line_stands_before_its_words() -> None:
    """Level with the words, and off the end of the line, which it would seem to continue."""
    drawing = Drawing(figsize=(340 / 96, 200 / 96), dpi=96, layout="constrained")
    axes = drawing.subplots()
    axes.set_ylim(0, 1)
    label_ends(axes, [End(0.5, "one", stroke=RAMP[0]), End(0.5, "two", stroke=RAMP[4]), End(0.1, "bare")], 200)
    drawing.draw_without_rendering()
    *with_strokes, bare = [text for text in axes.texts if isinstance(text, Annotation)]
    for words, colour in zip(with_strokes, (RAMP[0], RAMP[4]), strict=True):
        stroke, text = words.arrow_patch, words.get_window_extent()
        assert stroke is not None
        left, right = stroke.get_window_extent().get_points()
        assert to_hex(stroke.get_edgecolor()) == colour
        assert axes.bbox.x1 + 3 < left[0] < right[0] - 5
        assert left[1] == pytest.approx(right[1], abs=3)
        assert (text.y0 + text.y1) / 2 == pytest.approx((left[1] + right[1]) / 2, abs=1)
    assert bare.arrow_patch is None


def test_the_papers_numbers_are_open_diamonds() -> None:
    axes = Drawing().subplots()
    reported(axes, [1], [2])
    (mark,) = axes.lines
    assert (mark.get_marker(), mark.get_markeredgecolor(), mark.get_markerfacecolor()) == ("D", PAPER, "none")


def test_words_do_not_sink_below_the_axis() -> None:
    assert spread([0.0, 0.0, 0.5], 0.1, lowest=0.0) == pytest.approx([0.0, 0.1, 0.5])
