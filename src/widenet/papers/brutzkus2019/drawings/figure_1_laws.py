"""The drawing of the run counts of Figure 1 of brutzkus2019 under other choices."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.figures.statistics import share_interval
from widenet.papers.brutzkus2019.figures.figure_1 import REPORTED, SHOWN_LEVEL, fisher_p
from widenet.plots.style import COLOURS, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """One panel per width, one row per choice: the share of runs at zero training error and the reported one."""
    choices, widths = [str(name) for name in numbers["choice"].values], numbers["channels"].values
    n_runs = int(numbers.attrs["n_runs"])
    drawing = Drawing(figsize=(7.2, 0.8 + 0.27 * len(choices)), layout="constrained")
    panels = drawing.subplots(1, len(widths), sharey=True, squeeze=False)[0]
    rows = np.arange(len(choices))
    for axes, width in zip(panels, map(int, widths), strict=True):
        solved = numbers["solved"].sel(channels=width).values
        for row, count in zip(rows, map(int, solved), strict=True):
            low, high = share_interval(count, n_runs)
            agrees = fisher_p(count, n_runs, REPORTED[width]) >= SHOWN_LEVEL
            colour = COLOURS[0] if agrees else COLOURS[1]
            axes.plot([100 * low, 100 * high], [row, row], color=colour, linewidth=1.2)
            axes.plot(
                100 * count / n_runs, row, color=colour, marker="o" if agrees else "X", markersize=4.5, linestyle=""
            )
        axes.axvline(REPORTED[width], color="#333333", linestyle=(0, (3, 2)), linewidth=1)
        axes.set_title(f"{width} channels", fontsize=8.5)
        axes.set_xlim(right=min(104, axes.get_xlim()[1] + 3))
    panels[0].set_yticks(rows, choices, fontsize=7.5)
    panels[0].invert_yaxis()
    drawing.supxlabel(
        f"Runs at zero training error, %, of {n_runs} runs. Dashed: reported (100 runs). Blue dot: Fisher p ≥ 1 %; "
        "orange cross: p < 1 %.",
        fontsize=7,
        color="#555555",
    )
    return drawing
