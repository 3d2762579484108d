"""Rows of dots."""

import numpy as np
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Annotation

from widenet.plots.rows import ValueRow, draw_rows, wall
from widenet.plots.style import CONTROL, MEASURED


def test_every_run_is_a_dot_at_its_number_in_the_row_of_its_name() -> None:
    axes = Drawing().subplots()
    draw_rows(axes, [ValueRow("ours", [1.0, 1.0, 2.0]), ValueRow("control", np.array([3.0]), CONTROL)])
    ours, control = axes.lines
    assert (list(np.asarray(ours.get_xdata())), list(np.asarray(control.get_xdata()))) == ([1.0, 1.0, 2.0], [3.0])
    assert len(set(np.asarray(ours.get_ydata()))) == 3
    assert abs(np.asarray(ours.get_ydata())).max() < 0.5
    assert abs(np.asarray(control.get_ydata()) + 1).max() < 0.5
    named = {label.get_text(): (label.get_position()[1], label.get_color()) for label in axes.get_yticklabels()}
    assert named == {"ours": (0, MEASURED), "control": (-1, CONTROL)}


def test_the_words_of_a_wall_stand_above_the_rows() -> None:
    axes = Drawing().subplots()
    draw_rows(axes, [ValueRow("ours", [1.0])])
    wall(axes, 1.5, "kept", "broken")
    assert [(text.get_text(), text.get_horizontalalignment()) for text in axes.texts] == [
        ("kept", "right"),
        ("broken", "left"),
    ]
    assert {text.xy for text in axes.texts if isinstance(text, Annotation)} == {(1.5, axes.get_ylim()[1])}
    assert axes.get_ylim()[1] > 0.5
