"""What the maps over slopes, steps and initial scales share: one panel per slope, one cell per step and scale."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes


def draw_map(panels: Sequence[Axes], values: xr.DataArray, title: str, cmap: str) -> None:
    """Numbers in cells, from 0 to 1; `values` has the axes slope, step_size and deviation."""
    steps, deviations = values.step_size.values, values.deviation.values
    for number, (axes, slope) in enumerate(zip(panels, values.slope.values, strict=True)):
        shown = values.sel(slope=slope).transpose("deviation", "step_size").values
        axes.imshow(shown, origin="lower", cmap=cmap, vmin=0, vmax=1, aspect="auto")
        for row, column in np.ndindex(*shown.shape):
            dark = shown[row, column] > 0.6
            axes.text(column, row, f"{shown[row, column]:.2g}", ha="center", va="center", fontsize=7.5,
                      color="white" if dark else "black")  # fmt: skip
        axes.set_xticks(range(len(steps)), [f"{step:g}" for step in steps])
        axes.set_yticks(range(len(deviations)), [f"{each:g}" for each in deviations] if not number else [])
        axes.grid(visible=False)
        axes.set_title(f"{title}, α = {slope:g}" if not number else f"α = {slope:g}")
        axes.set_xlabel("step η")
    panels[0].set_ylabel("initial deviation")
