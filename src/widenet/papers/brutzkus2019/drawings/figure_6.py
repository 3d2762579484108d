"""The drawing of Figure 6 of brutzkus2019, with two maps of how often f* is recovered."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from widenet.papers.brutzkus2019.drawings.arrows import four_panels
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Filters at the start and at the end, how all runs ended, and recovery over (γ, k) and (γ, share)."""
    drawing = Drawing(figsize=(7.2, 6.6), layout="constrained")
    grid = drawing.add_gridspec(3, 4, height_ratios=(2.7, 0.9, 3.4))
    four_panels(numbers, drawing, grid)
    by_width, by_share = numbers["recovery_by_width"], numbers["recovery_by_share"]
    left, right = drawing.add_subplot(grid[2, :2]), drawing.add_subplot(grid[2, 2:])
    half_widths = [f"{width}" for width in by_width["map_half_width"].values]
    recovery_map(left, by_width, half_widths, "half width k")
    left.set_title("(e) f* recovered, %: margin and width")
    recovery_map(right, by_share, [f"{100 * share:.3g}" for share in by_share["single_share"].values], "")
    right.set_xlabel("negatives that hold p₂ alone, % (paper: 16.7)")
    right.set_title(f"(f) margin and share, k = {half_widths[-1]}")
    return drawing


def recovery_map(axes: Axes, recovery: xr.DataArray, columns: list[str], name: str) -> None:
    """A table of shares in percent, tinted by their size; the margin γ grows upwards."""
    percent = 100 * recovery.values
    axes.imshow(percent, cmap="YlGnBu", vmin=0, vmax=100, aspect="auto", origin="lower")
    for row, column in np.ndindex(*percent.shape):
        value = percent[row, column]
        ink = "white" if value > 55 else "#333333"
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=6.5, color=ink)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(percent)), [f"{margin:g}" for margin in recovery["map_margin"].values])
    axes.set_xlabel(name)
    axes.set_ylabel("margin γ")
    axes.grid(visible=False)
    axes.tick_params(length=0)
