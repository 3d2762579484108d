"""The drawing of Figure 6 of brutzkus2019, with two maps of how often f* is recovered."""

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.brutzkus2019.drawings.arrows import NOTE, discs, endings
from widenet.plots.axes import named, number
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import SEQUENTIAL

HEIGHT = 320
ON_DARK, ON_LIGHT = "#fefefe", "#101010"
"""Words on a map, whose colours are the same on light and on dark pages."""


def draw(numbers: xr.Dataset) -> Picture:
    """Filters at the start and at the end, how all runs ended, and recovery over (γ, k) and (γ, share)."""
    by_width, by_share = numbers["recovery_by_width"], numbers["recovery_by_share"]
    widths = [str(width) for width in by_width["map_half_width"].values]
    shares = [f"{100 * share:.3g}" for share in by_share["single_share"].values]
    panels = [
        Panel(
            "f* recovered, %: margin and width",
            lambda canvas: recovery_map(canvas, by_width, widths, "half-width k"),
            height=HEIGHT,
        ),
        Panel(
            f"f* recovered, %: margin and data, k = {widths[-1]}",
            lambda canvas: recovery_map(canvas, by_share, shares, "negatives that hold p₂ alone, % (paper: 16.7)"),
            height=HEIGHT,
        ),
    ]
    runs = f"Each cell of a map: {number(numbers.attrs['map_runs'])} runs."
    return Picture([*discs(numbers), endings(numbers), *panels], f"{NOTE} {runs}")


def recovery_map(canvas: FigureBase, recovery: xr.DataArray, columns: list[str], name: str) -> None:
    """A table of shares in percent, tinted by their size; the margin γ grows upwards."""
    axes = canvas.subplots()
    percent = 100 * recovery.values
    axes.imshow(percent, cmap=SEQUENTIAL, vmin=0, vmax=100, aspect="auto", origin="lower")
    for row, column in np.ndindex(*percent.shape):
        value = percent[row, column]
        ink = ON_LIGHT if value > 50 else ON_DARK
        axes.text(column, row, f"{value:.0f}", ha="center", va="center_baseline", color=ink)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(percent)), [f"{margin:g}" for margin in recovery["map_margin"].values])
    named(axes, name, "margin γ")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
