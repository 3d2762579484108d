"""The drawing of Figure 5 of brutzkus2019."""

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.figures.statistics import mean_interval
from widenet.papers.brutzkus2019.drawings.figure_1 import width_axis
from widenet.plots.axes import named, number, percent_axis
from widenet.plots.marks import End, curve, label_ends, ramp
from widenet.plots.picture import Panel, Picture

HEIGHT = 260


def draw(numbers: xr.Dataset) -> Picture:
    """Mean test error of all runs against the number of channels, one curve per margin, with 95 % intervals."""
    panel = Panel("Errors on new points at two margins γ", lambda canvas: _errors(canvas, numbers), True, HEIGHT)
    return Picture(
        [panel],
        f"{numbers.sizes['run']} runs per point, the same data and initial filters for both margins. Bands: 95 % "
        "intervals of the mean.",
    )


def _errors(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    ends: list[End] = []
    widths, margins = numbers["channels"].values, numbers["margin"].values
    for margin, colour in zip(margins, ramp(len(margins)), strict=True):
        runs = numbers["test_error"].sel(margin=margin)
        mean = runs.mean("run").values
        found = [mean_interval(row) for row in runs.values]
        bounds = np.array([interval or (value, value) for interval, value in zip(found, mean, strict=True)])
        curve(axes, widths, mean, colour, band=bounds.T, marker="o", markersize=3.5)
        ends.append(End(mean[-1], f"γ = {number(margin)}", stroke=colour))
    axes.set_ylim(bottom=0)
    width_axis(axes, widths)
    percent_axis(axes)
    named(axes, "channels (2k)", "mean test error of all runs")
    label_ends(axes, ends, HEIGHT)
