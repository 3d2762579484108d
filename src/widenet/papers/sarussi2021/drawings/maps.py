"""What the maps over slopes, steps and initial scales share: a block per slope, a cell per step and scale."""

from functools import partial

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase
from matplotlib.patches import Rectangle

from widenet.plots.axes import number, percent
from widenet.plots.picture import Panel
from widenet.plots.style import SEQUENTIAL, SOFT

GAP = 0.35
"""Between two blocks, in cells."""


def map_panel(title: str, values: xr.DataArray) -> Panel:
    """Shares in cells, from 0 to 1; `values` has the axes slope, step_size and deviation."""
    return Panel(title, partial(draw_map, values), wide=True, height=60 + 34 * values.sizes["deviation"])


def draw_map(values: xr.DataArray, canvas: FigureBase) -> None:
    """Blocks side by side on one set of axes."""
    axes, colours = canvas.subplots(), mpl.colormaps[SEQUENTIAL]
    steps, deviations = values.step_size.values, values.deviation.values
    places, words = [], []
    for block, slope in enumerate(values.slope.values):
        left = block * (len(steps) + GAP)
        shown = values.sel(slope=slope).transpose("deviation", "step_size").values
        for row, column in np.ndindex(*shown.shape):
            red, green, blue, _ = colour = colours(shown[row, column])
            axes.add_patch(Rectangle((left + column + 0.02, row + 0.03), 0.96, 0.94, color=colour))
            light = 0.3 * red + 0.59 * green + 0.11 * blue > 0.5
            axes.text(left + column + 0.5, row + 0.48, percent(shown[row, column], 2), ha="center", va="center",
                      color="#010101" if light else "#fefefe")  # fmt: skip
        places += [left + column + 0.5 for column in range(len(steps))]
        words += [number(step) for step in steps]
        axes.text(left, len(deviations) + 0.12, f"slope {number(slope)}", color=SOFT)
    axes.set_xlim(0, values.sizes["slope"] * (len(steps) + GAP) - GAP)
    axes.set_ylim(0, len(deviations) + 0.5)
    axes.set_xticks(places, words)
    axes.set_yticks(np.arange(len(deviations)) + 0.5, [number(each) for each in deviations])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("step size")
    axes.set_ylabel("initial deviation")
