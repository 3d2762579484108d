"""What the maps over slopes, steps and initial scales share: one panel per slope, one cell per step and scale."""

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase


def draw_map(part: FigureBase, values: xr.DataArray, title: str, cmap: str) -> None:
    """Numbers in cells, from 0 to 1; `values` has the axes slope, step_size and deviation."""
    part.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
    panels = part.subplots(1, values.sizes["slope"], sharey=True, squeeze=False)[0]
    steps, deviations = values.step_size.values, values.deviation.values
    for axes, slope in zip(panels, values.slope.values, strict=True):
        shown = values.sel(slope=slope).transpose("deviation", "step_size").values
        axes.pcolormesh(shown, cmap=cmap, vmin=0, vmax=1, edgecolor="white", linewidth=1.5)
        for row, column in np.ndindex(*shown.shape):
            share = shown[row, column]
            axes.text(column + 0.5, row + 0.5, f"{share:.2g}", ha="center", va="center", fontsize=7.5,
                      color="white" if share > 0.6 else "black")  # fmt: skip
        axes.set_xticks(np.arange(len(steps)) + 0.5, [_power(step) for step in steps])
        axes.set_yticks(np.arange(len(deviations)) + 0.5, [_power(each) for each in deviations])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.set_title(f"slope {slope:g}", fontweight="normal")
        axes.set_xlabel("step")
    panels[0].set_ylabel("initial deviation")


def _power(value: float) -> str:
    return f"$10^{{{round(np.log10(value))}}}$"
