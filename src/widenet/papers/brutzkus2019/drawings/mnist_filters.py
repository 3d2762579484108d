"""The drawing that Figures 4, 7 and 8 of brutzkus2019 share: angles, errors, and the filters themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullFormatter

from widenet.figures.statistics import mean_interval
from widenet.papers.brutzkus2019.figures.mnist_filter_bands import best_pair
from widenet.plots.style import COLOURS, DASHES, styled

BIN = 5
"""Degrees per bar of the histogram."""
COLUMNS = 15
"""Filters per row."""
INSET = 0.06
"""From the edge of a tile's place to the tile."""
CURVES = {
    "learned": "4 channels, filters learned (best pair)",
    "random directions": "4 channels, frozen random directions (control)",
    "centres": "4 channels, frozen centres of the large network",
    "wide": "120 channels",
}
COLOUR_OF = dict(zip(CURVES, (COLOURS[1], COLOURS[3], COLOURS[0], COLOURS[2]), strict=True))


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """(a) angles to the nearest centre, (b) test errors over the training-set size, (c) filters by cluster."""
    drawing = Drawing(figsize=(7.2, 6.4), layout="constrained")
    parts: Any = drawing.subfigures(2, 1, height_ratios=(1.12, 1))
    above, below = parts
    angle_axes, error_axes = above.subplots(1, 2)
    _angles(angle_axes, numbers)
    _errors(error_axes, numbers)
    left, right = below.subplots(1, 2)
    _filters(left, numbers, "untrained", "(c) Filters before training")
    _filters(right, numbers, "trained", "The same network after training")
    drawing.supxlabel(_footnote(numbers), fontsize=7, color="#555555")
    return drawing


def _angles(axes: Axes, numbers: xr.Dataset) -> None:
    bins = list(range(0, 90 + BIN, BIN))
    for name, label, colour, fill in (
        ("untrained", "untrained", "#555555", False),
        ("trained", "trained", COLOURS[0], True),
    ):
        angles = numbers[f"{name}_angle"].values.ravel()
        weights = np.full(len(angles), 100 / len(angles))
        kind = "stepfilled" if fill else "step"
        look: dict[str, Any] = {"histtype": kind, "color": colour, "alpha": 0.55 if fill else 1, "linewidth": 1.4}
        axes.hist(angles, bins, weights=weights, label=label, **look)
        axes.axvline(float(angles.mean()), color=colour, linestyle=DASHES[1], linewidth=1)
    axes.set_xlim(0, 90)
    axes.set_xticks(range(0, 91, 15))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}°"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g} %"))
    axes.set_xlabel("angle to the nearest centre (dashed: mean)")
    axes.set_ylabel("filters")
    axes.set_title(f"(a) Angles, {numbers.attrs['clustered_size']} images")
    axes.legend(loc="upper left")


def _errors(axes: Axes, numbers: xr.Dataset) -> None:
    sizes = numbers["size"].values
    for dashes, (name, label) in zip((*DASHES[1:], DASHES[0]), CURVES.items(), strict=True):
        runs = [_runs(numbers.sel(size=size), name) for size in sizes]
        means = np.array([each.mean() for each in runs])
        axes.plot(sizes, means, color=COLOUR_OF[name], linestyle=dashes, marker="o", markersize=3.5, label=label)
        ends = [mean_interval(each) or (each.mean(), each.mean()) for each in runs]
        low, high = np.array(ends).T
        axes.fill_between(sizes, low, high, color=COLOUR_OF[name], alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(sizes)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:g} %"))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("training images")
    axes.set_ylabel("test error")
    axes.set_title("(b) Test error")
    axes.legend(loc="lower left", fontsize=6.5, handlelength=2.2)


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


def _filters(axes: Axes, numbers: xr.Dataset, which: str, title: str) -> None:
    """Every filter as a tile, scaled to its largest weight: red is positive, blue negative, white 0.

    Each cluster starts a new row with its centre in a frame; within it the filters go from near to far.
    """
    filters, centres = numbers[f"{which}_filters"].values, numbers[f"{which}_centres"].values
    cluster = numbers[f"{which}_cluster"].values
    tiles: list[_Tile] = []
    top = 0.0
    for number, centre in enumerate(centres):
        own = filters[cluster == number]
        tiles.append(_Tile(top, 0.0, centre, framed=True))
        tiles += [_Tile(top + place // COLUMNS, 1.4 + place % COLUMNS, each) for place, each in enumerate(own)]
        top += -(-len(own) // COLUMNS) + 0.4
    _shade(axes, tiles, numbers.attrs["filter_side"])
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]) * (1 - 2 * INSET) + INSET
    frames = LineCollection(
        [corners + np.array([tile.left, tile.top]) for tile in tiles],
        colors=["#000000" if tile.framed else "#aaaaaa" for tile in tiles],
        linewidths=[1.1 if tile.framed else 0.3 for tile in tiles],
        clip_on=False,
    )
    axes.add_collection(frames)
    axes.set_xlim(-0.1, 1.4 + COLUMNS)
    axes.set_ylim(top, -0.2)
    axes.set_aspect("equal", anchor="NW")
    axes.set_axis_off()
    axes.set_title(title)


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
    axes.pcolormesh(x, y, np.ma.masked_invalid(shades), cmap="RdBu_r", vmin=-1, vmax=1, rasterized=True)


def _footnote(numbers: xr.Dataset) -> str:
    n_wide, n_runs = numbers.sizes["wide_run"], numbers.sizes["run"]
    fitted = int((numbers["wide_train_error"] == 0).sum())
    plural = "network" if n_wide == 1 else "networks"
    return (
        f"{n_wide} large {plural} and {n_runs} small runs per point; bands: 95 % t-intervals. {fitted} of "
        f"{numbers['wide_train_error'].size} large networks reached training error 0; {int(numbers['diverged'])} runs "
        "diverged.\nFilters: framed = centre of the cluster; its filters from near to far; red positive, blue negative."
    )
