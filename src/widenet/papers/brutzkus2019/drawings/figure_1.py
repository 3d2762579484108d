"""The drawing of Figure 1 of brutzkus2019."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from widenet.figures.statistics import share_interval
from widenet.papers.brutzkus2019.figures.figure_1 import REPORTED, error_intervals, mean_errors
from widenet.plots.axes import named, percent_axis, value_ticks
from widenet.plots.marks import curve, key, measured, reported
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import CONTROL, MEASURED, PAPER


def draw(numbers: xr.Dataset) -> Picture:
    """How many runs reach zero training error, beside the reported counts; test error of all runs and of those."""
    return Picture(
        [
            Panel("Runs that fit the training set", lambda canvas: _counts(canvas, numbers)),
            Panel("Errors on new points", lambda canvas: _errors(canvas, numbers)),
        ],
        f"Bars and bands: 95 % intervals. Assumed, not stated in the paper: γ = {numbers.attrs['margin']:g}; "
        "non-diverse positive points uniform on their 11 pattern sets, negative ones on their 2.",
    )


def width_axis(axes: Axes, widths: np.ndarray) -> None:
    """Numbers of channels on a logarithmic axis, with room at both ends."""
    axes.set_xscale("log")
    axes.set_xlim(widths[0] / 1.2, widths[-1] * 1.2)
    value_ticks(axes, "x", widths)


def _counts(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    widths, n_runs = numbers["channels"].values, numbers.sizes["run"]
    solved = (numbers["train_error"] == 0).sum("run").values
    limits = np.array([share_interval(int(count), n_runs) for count in solved]).T
    measured(axes, widths, solved / n_runs, limits)
    known = [int(width) for width in widths if int(width) in REPORTED]
    reported(axes, known, [REPORTED[width] / 100 for width in known])
    axes.set_ylim(0.4, 1.02)
    width_axis(axes, widths)
    percent_axis(axes)
    named(axes, "channels (2k)", "runs at zero training error")
    key(axes, [("◇", PAPER, "the paper, 100 runs"), ("o", MEASURED, f"measured, {n_runs} runs")], "lower right")


def _errors(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    widths = numbers["channels"].values
    looks = ((CONTROL, (0, (4, 2))), (MEASURED, "-"))
    for errors, bounds, (colour, dashes) in zip(mean_errors(numbers), error_intervals(numbers), looks, strict=True):
        curve(axes, widths, errors, colour, band=np.asarray(bounds).T, linestyle=dashes, marker="o", markersize=3.5)
    axes.set_ylim(bottom=0)
    width_axis(axes, widths)
    percent_axis(axes)
    named(axes, "channels (2k)", "mean test error")
    key(axes, [("--", CONTROL, "all runs"), ("-", MEASURED, "runs at zero training error")], "upper right")
