"""Rows of dots under a name each, a dot per run, and a limit that stands upright among them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from widenet.plots.style import MEASURED, PROMISE


class ValueRow(NamedTuple):
    """A name, and a number per run."""

    name: str
    values: Any
    colour: str = MEASURED


def draw_rows(axes: Axes, rows: Sequence[ValueRow]) -> None:
    """The first row on top; dots are moved up and down a little, so that equal ones are seen."""
    for place, (_, values, colour) in enumerate(rows):
        runs = np.asarray(values, float).ravel()
        aside = 0.24 * np.sin(2.4 * np.arange(len(runs)))
        look: dict[str, Any] = (
            {"markersize": 5.0, "alpha": 0.8} if len(runs) <= 10 else {"markersize": 4.0, "alpha": 0.55}
        )
        axes.plot(runs, aside - place, "o", color=colour, markeredgewidth=0, clip_on=False, **look)
    axes.set_yticks([-place for place in range(len(rows))], [row.name for row in rows])
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_color(row.colour)
    axes.set_ylim(0.5 - len(rows), 0.5)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def wall(axes: Axes, at: float | int, left: str = "", right: str = "") -> None:
    """A limit as an upright ink line, with words on its sides. Call it after the rows: it makes room for the words."""
    low, high = axes.get_ylim()
    axes.axvline(at, color=PROMISE, linewidth=1.6, zorder=2)
    if left or right:
        axes.set_ylim(low, high + 0.5)
    for words, aside, side in ((left, -5, "right"), (right, 5, "left")):
        axes.annotate(words, (at, axes.get_ylim()[1]), (aside, 0), textcoords="offset points", ha=side, va="top")
