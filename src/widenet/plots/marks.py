"""Marks of the style sheet: curves in bands, measured dots, the paper's diamonds, promises, and words at line ends."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.lines import Line2D

from widenet.plots.style import FONT, MEASURED, PAPER, PROMISE, RAMP, SOFT

BAND = 0.16
"""Opacity of a band."""
STROKE = 15
"""Points from the end of a line to words with a stroke before them."""


def ramp(n: int) -> list[str]:
    """Colours of `n` ordered things, light to dark: steps of the ramp, spread out; blends where it has too few."""
    if n > len(RAMP):
        blend = LinearSegmentedColormap.from_list("ramp", RAMP)
        return [to_hex(blend(each)) for each in np.linspace(0, 1, n)]
    places = {1: (2,), 2: (1, 4), 3: (0, 2, 4), 4: (0, 1, 3, 4)}.get(n, tuple(range(n)))
    return [RAMP[place] for place in places]


def curve(axes: Axes, x: Any, y: Any, colour: str = MEASURED, *, band: Any = None, **look: Any) -> None:
    """A line, in a band (low, high) of its colour."""
    if band is not None:
        axes.fill_between(x, band[0], band[1], color=colour, alpha=BAND, linewidth=0)
    axes.plot(x, y, color=colour, **{"zorder": 3, **look})


def promise(axes: Axes, x: Any, y: Any, **look: Any) -> None:
    """What a theorem promises: an ink line."""
    axes.plot(x, y, color=PROMISE, **{"linewidth": 1.2, "zorder": 4, **look})


def measured(axes: Axes, x: Any, y: Any, interval: Any = None, colour: str = MEASURED, **look: Any) -> None:
    """Dots, and a thick pale bar from the lower to the upper end of the interval (low, high)."""
    if interval is not None:
        axes.vlines(x, interval[0], interval[1], color=colour, alpha=0.36, linewidth=3.5, zorder=3)
    axes.plot(x, y, **{"marker": "o", "linestyle": "", "color": colour, "markersize": 5, "zorder": 5, **look})


def reported(axes: Axes, x: Any, y: Any, **look: Any) -> None:
    """Numbers that the paper prints: open diamonds, in front of everything and never cut off."""
    form = {"markersize": 6.5, "markeredgewidth": 1.1, "markerfacecolor": "none", "zorder": 7, "clip_on": False}
    axes.plot(x, y, "D", markeredgecolor=PAPER, **{**form, **look})


def key(axes: Axes, entries: Sequence[tuple[str, str, str]], loc: Any = "best", **look: Any) -> None:
    """What marks mean, beside the marks in their colours: (mark, colour, words). "◇" is a number of the paper.

    Any other mark is one of matplotlib's markers, or "-", "--" for lines.
    """
    handles = []
    for mark, colour, words in entries:
        if mark == "◇":
            form: dict[str, Any] = {"marker": "D", "markerfacecolor": "none", "markeredgecolor": PAPER, "linestyle": ""}
        elif set(mark) <= set("-.:"):
            form = {"linestyle": mark, "color": colour}
        else:
            form = {"marker": mark, "color": colour, "linestyle": ""}
        handles.append(Line2D([], [], markersize=5.5, label=words, **form))
    spacing = {"handlelength": 1.4, "handletextpad": 0.5, "labelspacing": 0.35, "borderpad": 0.1, "borderaxespad": 0.3}
    legend = axes.legend(handles=handles, loc=loc, **{**spacing, **look})
    for text, (_, colour, _) in zip(legend.get_texts(), entries, strict=True):
        text.set_color(colour)


class End(NamedTuple):
    """The end of a line, and what it is called.

    Attributes:
      stroke: of this colour is a short stroke before the words: the light steps of the ramp are too pale for words, and
        words that were moved do not stand beside their line.
    """

    y: SupportsFloat
    words: str
    colour: str = SOFT
    stroke: str = ""


def label_ends(axes: Axes, ends: Sequence[End], height: int) -> None:
    """Words at the right ends of lines instead of a legend; those that would touch are moved apart.

    A line that ends nowhere (NaN) has none.

    `height` is the height of the panel in pixels, from which follows how many lines of text fit. Call it when the
    limits and the scale stand.
    """
    ends = [end for end in ends if math.isfinite(float(end.y))]
    if not ends:
        return
    low, high = axes.yaxis.get_transform().transform(np.array(axes.get_ylim()))
    places = axes.yaxis.get_transform().transform(np.array([float(end.y) for end in ends]))
    shares = ((places - low) / (high - low)).tolist()
    for end, share in zip(ends, spread(shares, 13 / (height - 55), lowest=0.0), strict=True):
        stroke = {"arrowstyle": "-", "color": end.stroke, "linewidth": 1.5, "shrinkA": 2, "shrinkB": 4}
        axes.annotate(
            end.words,
            (1.0, share),
            xycoords="axes fraction",
            xytext=(STROKE if end.stroke else 4, 0),
            textcoords="offset points",
            arrowprops={**stroke, "relpos": (0, 0.5)} if end.stroke else None,
            va="center" if end.stroke else "center_baseline",
            color=end.colour,
            fontsize=FONT,
            annotation_clip=False,
        )


def spread(places: Sequence[float], gap: float, lowest: float = -math.inf) -> list[float]:
    """The places moved as little as it takes to keep `gap` between neighbours, in the order they had.

    Those that would sink below `lowest` are lifted: there stand the labels of an axis.
    """
    order = sorted(range(len(places)), key=lambda this: places[this])
    groups: list[tuple[float, list[int]]] = []
    for this in order:
        groups.append((places[this], [this]))
        while len(groups) > 1:
            (below, lower), (above, upper) = groups[-2:]
            if above - below >= gap * (len(lower) + len(upper)) / 2 - 1e-12:
                break
            middle = (below * len(lower) + above * len(upper)) / (len(lower) + len(upper))
            groups[-2:] = [(middle, lower + upper)]
    moved = list(places)
    for middle, members in groups:
        for number, this in enumerate(members):
            moved[this] = middle + gap * (number - (len(members) - 1) / 2)
    for number, this in enumerate(order):
        floor = lowest if number == 0 else moved[order[number - 1]] + gap
        if moved[this] < floor - 1e-12:
            moved[this] = floor
    return moved
