"""Heat maps of points on two axes: every point a cell of the same size, and the axes labelled by their values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection, QuadMesh
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import FigureBase
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from widenet.plots.axes import LogTicks, decade, number, percent
from widenet.plots.style import FAINT, INK, PAGE, SEQUENTIAL, SOFT

Grid = Float[np.ndarray, "y x"]
Marks = Bool[np.ndarray, "y x"]
HATCH = "////"
FEW = 9
"""So many values of an axis are all labelled."""
WIDE_RANGE = 50.0
"""Positive values whose ends differ by more than this factor get a logarithmic scale of colours."""


def words_of(value: Any) -> str:
    """A value of an axis."""
    return value if isinstance(value, str) else number(value)


def heat_map(
    canvas: FigureBase,
    values: Grid,
    x: Sequence[Any],
    y: Sequence[Any],
    *,
    names: tuple[str, str],
    limits: tuple[float, float] | None = None,
    is_share: bool = False,
    colours: str = SEQUENTIAL,
) -> tuple[Axes, QuadMesh]:
    """A cell per point, with a bar of colours; points without a number stay hatched.

    Cells lie at whole numbers: `places` says where a value of an axis is.
    """
    axes = canvas.subplots()
    axes.set_facecolor(FAINT)
    axes.patch.set_hatch(HATCH)
    axes.patch.set_edgecolor(PAGE)
    shown = np.ma.masked_invalid(values)
    mesh = axes.pcolormesh(shown, cmap=colours, norm=_norm(shown, limits), rasterized=True)
    for side, along in (("x", x), ("y", y)):
        _label(axes, side, along)
    axes.set_xlabel(names[0])
    axes.set_title(names[1], loc="left", fontsize=axes.xaxis.label.get_fontsize(), fontweight="normal", color=SOFT)
    axes.grid(visible=False)
    words = percent if is_share else number
    bar = canvas.colorbar(mesh, ax=axes, pad=0.02, aspect=30, format=FuncFormatter(lambda tick, _: words(tick)))
    bar.outline.set_visible(False)
    bar.minorticks_off()
    return axes, mesh


def places(along: Sequence[Any], values: Any) -> np.ndarray:
    """Where values lie among those of an axis, in cells: between two by logarithms if all are positive."""
    known, wanted = np.asarray(along, float), np.asarray(values, float)
    if (known > 0).all():
        known, wanted = np.log(known), np.log(wanted)
    return np.interp(wanted, known, np.arange(len(known)) + 0.5)


def outline(axes: Axes, inside: Marks) -> None:
    """The border between points that are inside and points that are not."""
    rows, columns = inside.shape
    segments = []
    for row in range(rows):
        for column in range(columns):
            if column + 1 < columns and inside[row, column] != inside[row, column + 1]:
                segments.append(((column + 1, column + 1), (row, row + 1)))
            if row + 1 < rows and inside[row, column] != inside[row + 1, column]:
                segments.append(((column, column + 1), (row + 1, row + 1)))
    lines = np.full((len(segments), 3, 2), np.nan)  # a gap behind each piece
    for line, (across, up) in zip(lines, segments, strict=True):
        line[:2] = np.transpose([across, up])
    border(axes, *lines.reshape(-1, 2).T)


def border(axes: Axes, x: Any, y: Any) -> None:
    """A white line in a dark one, which is seen on every colour."""
    for colour, width in ((INK, 3.2), (PAGE, 1.6)):
        axes.plot(x, y, color=colour, linewidth=width, solid_capstyle="projecting", zorder=4)


def mark(axes: Axes, where: Marks, sign: str, colour: str = INK) -> None:
    """A small sign in the middle of these cells."""
    rows, columns = np.nonzero(where)
    size = max(1.5, min(5.0, 90 / max(where.shape)))
    axes.plot(columns + 0.5, rows + 0.5, sign, color=colour, markersize=size, markeredgewidth=0.7, linestyle="")


def hatch(axes: Axes, where: Marks) -> None:
    """Cells that have a colour and yet not all of their points."""
    corners = [(column, row) for row, column in zip(*np.nonzero(where), strict=True)]
    cells = PatchCollection([Rectangle(each, 1, 1) for each in corners], facecolor="none", edgecolor=PAGE)
    cells.set_linewidth(0)
    cells.set_hatch(HATCH)
    axes.add_collection(cells)


def _norm(values: np.ma.MaskedArray, limits: tuple[float, float] | None) -> Normalize:
    if limits is not None:
        return Normalize(*limits)
    low, high = (float(values.min()), float(values.max())) if values.count() else (0.0, 1.0)
    if low > 0 and high / low > WIDE_RANGE:
        return LogNorm(low, high)
    return Normalize(low, high if high > low else low + 1)


def _label(axes: Axes, side: str, along: Sequence[Any]) -> None:
    """Labels at cells that are far enough apart; of many positive numbers at 1, 2 and 5 of each decade."""
    own = axes.xaxis if side == "x" else axes.yaxis
    own.set_tick_params(length=0)
    if len(along) > FEW and not isinstance(along[0], str) and min(along) > 0 and max(along) / min(along) > WIDE_RANGE:
        ticks = LogTicks(6 if side == "x" else 7).tick_values(min(along), max(along))
        inside = [tick for tick in ticks if min(along) <= tick * (1 + 1e-9) and tick <= max(along) * (1 + 1e-9)]
        words = decade if min(along) < 1e-3 or max(along) >= 1e5 else number
        own.set_ticks(places(along, inside), [words(tick) for tick in inside])
        return
    words = [words_of(each) for each in along]
    letters = max(map(len, words))
    most = max(2, int(36 / (letters + 1))) if side == "x" else 9
    stride = -(-len(along) // most)
    kept = range(0, len(along), stride)
    own.set_ticks([each + 0.5 for each in kept], [words[each] for each in kept])
