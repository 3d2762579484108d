"""The drawing of Figure 5 of brutzkus2019."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.figures.statistics import mean_interval
from widenet.papers.brutzkus2019.drawings.figure_1 import log_widths
from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Mean test error of all runs against the number of channels, one curve per margin, with 95 % intervals."""
    drawing = Drawing(figsize=(4.6, 3.3), layout="constrained")
    axes = drawing.subplots()
    widths = numbers["channels"].values
    for margin, colour, dashes in zip(numbers["margin"].values, (COLOURS[1], COLOURS[0]), DASHES, strict=False):
        runs = 100 * numbers["test_error"].sel(margin=margin)
        mean = runs.mean("run").values
        found = [mean_interval(row) for row in runs.values]
        bounds = np.array([interval or (value, value) for interval, value in zip(found, mean, strict=True)])
        axes.fill_between(widths, bounds[:, 0], bounds[:, 1], color=colour, alpha=0.15, linewidth=0)
        axes.plot(widths, mean, color=colour, linestyle=dashes, marker="o", markersize=3.5, label=f"γ = {margin:g}")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("mean test error, %")
    log_widths(axes, widths)
    axes.legend()
    drawing.supxlabel(
        f"{numbers.sizes['run']} runs per point, the same data and initial filters for both margins; bands: 95 %.",
        fontsize=7,
        color="#555555",
    )
    return drawing
