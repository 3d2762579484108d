"""The drawing that Figures 4, 7 and 8 of brutzkus2019 share: angles, errors, and the filters themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import FigureBase

from widenet.figures.statistics import mean_interval
from widenet.papers.brutzkus2019.figures.mnist_filter_bands import best_pair
from widenet.plots.axes import named, number, number_axis, percent_axis, value_ticks
from widenet.plots.marks import End, curve, label_ends
from widenet.plots.picture import HALF, Panel, Picture
from widenet.plots.style import CONTROL, DIVERGING, INK, MEASURED, SOFT, UNORDERED

BIN = 5
"""Degrees per bar of the histogram."""
COLUMNS = 15
"""Filters per row."""
INSET = 0.06
"""From the edge of a tile's place to the tile."""
CURVES = {
    "wide": "120 channels",
    "learned": "4, learned",
    "centres": "4, centres",
    "random directions": "4, random",
}
LOOKS = dict(zip(CURVES, UNORDERED, strict=True))


def draw(numbers: xr.Dataset) -> Picture:
    """Angles to the nearest centre, test errors over the training-set size, and the filters by cluster."""
    size = numbers.attrs["clustered_size"]
    before, after = (lambda canvas, which=which: _filters(canvas, numbers, which) for which in ("untrained", "trained"))
    return Picture(
        [
            Panel("Angles of the filters to their centres", lambda canvas: _angles(canvas, numbers)),
            Panel("Test errors of 120 and of 4 channels", lambda canvas: _errors(canvas, numbers)),
            Panel("120 filters before training, by cluster", before, height=_height(numbers, "untrained")),
            Panel(f"The same network trained on {number(size)} images", after, height=_height(numbers, "trained")),
        ],
        _note(numbers),
    )


def _angles(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    bins = list(range(0, 90 + BIN, BIN))
    for name, colour, fill in (("untrained", CONTROL, False), ("trained", MEASURED, True)):
        angles = numbers[f"{name}_angle"].values.ravel()
        weights = np.full(len(angles), 1 / len(angles))
        look: dict[str, Any] = {"color": colour, "alpha": 0.55 if fill else 1, "linewidth": 1.4}
        axes.hist(angles, bins, weights=weights, histtype="stepfilled" if fill else "step", **look)
        mean = float(angles.mean())
        axes.axvline(mean, ymax=0.89, color=colour, linestyle=(0, (4, 2)), linewidth=1)  # its name stands above
    low, high = axes.get_ylim()
    axes.set_ylim(low, 1.22 * high)
    means = {name: float(numbers[f"{name}_angle"].mean()) for name in ("trained", "untrained")}
    for (name, mean), colour in zip(means.items(), (MEASURED, CONTROL), strict=True):
        left = mean > min(means.values()) or means["trained"] == means["untrained"]
        axes.annotate(
            f"{name}: mean {mean:.0f}°",
            (mean, 0.99),
            xycoords=("data", "axes fraction"),
            xytext=(4, 0) if left else (-4, 0),
            textcoords="offset points",
            ha="left" if left else "right" if mean > 45 else "center",
            va="top",
            color=colour,
        )
    axes.set_xlim(0, 90)
    axes.set_xticks(range(0, 91, 15))
    number_axis(axes, "x", lambda tick: f"{tick:g}°")
    percent_axis(axes)
    named(axes, "angle to the nearest centre", "filters")


def _errors(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    sizes, ends = numbers["size"].values, []
    for name, label in CURVES.items():
        colour, dashes = LOOKS[name]
        runs = [_runs(numbers.sel(size=size), name) for size in sizes]
        means = np.array([each.mean() for each in runs])
        bounds = np.array([mean_interval(each) or (each.mean(), each.mean()) for each in runs])
        curve(axes, sizes, means, colour, band=bounds.T, linestyle=dashes, marker="o", markersize=3.5)
        ends.append(End(means[-1], label, colour))
    axes.set_xscale("log")
    axes.set_xlim(sizes[0] / 1.05, sizes[-1] * 1.05)
    value_ticks(axes, "x", sizes)
    axes.set_ylim(bottom=0)
    percent_axis(axes)
    named(axes, "training images", "test error")
    label_ends(axes, ends, 230)


def _runs(at_size: xr.Dataset, name: str) -> np.ndarray:
    """The test errors behind one point of a curve; on centres, one mean per large network if there are several."""
    if name == "learned":
        return best_pair(at_size["learned_error"]).values
    if name == "wide":
        return at_size["wide_error"].values
    errors, n_wide = at_size["frozen_error"].sel(filters=name).values, at_size.sizes["wide_run"]
    if name == "centres" and n_wide > 1:
        return np.array([errors[first::n_wide].mean() for first in range(n_wide)])
    return errors


def _height(numbers: xr.Dataset, which: str) -> int:
    """Pixels that the rows of tiles take."""
    rows = sum(-(-int(count) // COLUMNS) for count in np.bincount(numbers[f"{which}_cluster"].values.astype(int)))
    return round((HALF - 8) / (1.5 + COLUMNS) * (rows + 0.4 * numbers.sizes["cluster"])) + 8


def _filters(canvas: FigureBase, numbers: xr.Dataset, which: str) -> None:
    """Every filter as a tile, scaled to its largest weight: blue is positive, vermilion negative, white 0.

    Each cluster starts a new row with its centre in a frame; within it the filters go from near to far.
    """
    axes = canvas.subplots()
    filters, centres = numbers[f"{which}_filters"].values, numbers[f"{which}_centres"].values
    cluster = numbers[f"{which}_cluster"].values
    tiles: list[_Tile] = []
    top = 0.0
    for place, centre in enumerate(centres):
        own = filters[cluster == place]
        tiles.append(_Tile(top, 0.0, centre, framed=True))
        tiles += [_Tile(top + nth // COLUMNS, 1.4 + nth % COLUMNS, each) for nth, each in enumerate(own)]
        top += -(-len(own) // COLUMNS) + 0.4
    _shade(axes, tiles, numbers.attrs["filter_side"])
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]) * (1 - 2 * INSET) + INSET
    frames = LineCollection(
        [corners + np.array([tile.left, tile.top]) for tile in tiles],
        colors=[INK if tile.framed else SOFT for tile in tiles],
        linewidths=[1.1 if tile.framed else 0.3 for tile in tiles],
        clip_on=False,
    )
    axes.add_collection(frames)
    axes.set_xlim(-0.1, 1.4 + COLUMNS)
    axes.set_ylim(top, -0.2)
    axes.set_aspect("equal", anchor="NW")
    axes.set_axis_off()


@dataclass(frozen=True, eq=False)
class _Tile:
    """A filter and where it is drawn: the upper left corner of its place, one wide and one high."""

    top: float
    left: float
    weights: Float[np.ndarray, " pixel"]
    framed: bool = False


def _shade(axes: Axes, tiles: list[_Tile], side: int) -> None:
    """All tiles as one mesh, with empty cells between them: hundreds of small images would take seconds."""
    inside = INSET + (1 - 2 * INSET) * np.arange(side + 1) / side
    tops, rows = np.unique([tile.top for tile in tiles], return_inverse=True)
    lefts, columns = np.unique([tile.left for tile in tiles], return_inverse=True)
    y, x = ((ends[:, None] + inside).ravel() for ends in (tops, lefts))
    shades = np.full((len(y) - 1, len(x) - 1), np.nan)
    for tile, row, column in zip(tiles, rows * (side + 1), columns * (side + 1), strict=True):
        weights = tile.weights.reshape(side, side)
        shades[row : row + side, column : column + side] = weights / (np.abs(weights).max() or 1.0)
    axes.pcolormesh(x, y, np.ma.masked_invalid(shades), cmap=DIVERGING, vmin=-1, vmax=1, rasterized=True)


def _note(numbers: xr.Dataset) -> str:
    n_wide, n_runs = numbers.sizes["wide_run"], numbers.sizes["run"]
    fitted = int((numbers["wide_train_error"] == 0).sum())
    plural = "network" if n_wide == 1 else "networks"
    return (
        "Four channels: filters learned (the best pair of step sizes), frozen at the centres of the large network, or "
        f"frozen at random directions (control). {n_wide} large {plural} and {n_runs} small runs per point; bands: "
        f"95 % intervals. {fitted} of {numbers['wide_train_error'].size} large networks reached training error 0; "
        f"{int(numbers['diverged'])} runs diverged. Framed: the centre of a cluster; its filters follow from near to "
        "far. Blue weights are positive, vermilion ones negative."
    )
