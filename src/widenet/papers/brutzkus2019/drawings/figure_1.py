"""The drawing of Figure 1 of brutzkus2019."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullLocator

from widenet.figures.statistics import share_interval
from widenet.papers.brutzkus2019.figures.figure_1 import REPORTED, error_intervals, mean_errors
from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Test error of all runs and of those at zero training error; and how many those are, beside the reported."""
    drawing = Drawing(figsize=(7.2, 3.3), layout="constrained")
    errors, counts = drawing.subplots(1, 2, width_ratios=(1.15, 1))
    widths, n_runs = numbers["channels"].values, numbers.sizes["run"]
    names = ("all runs", "runs at zero training error")
    for curve, bounds, name, colour, dashes in zip(
        mean_errors(numbers), error_intervals(numbers), names, (COLOURS[1], COLOURS[0]), DASHES, strict=False
    ):
        errors.fill_between(widths, 100 * bounds[:, 0], 100 * bounds[:, 1], color=colour, alpha=0.15, linewidth=0)
        errors.plot(widths, 100 * curve, color=colour, linestyle=dashes, marker="o", markersize=3.5, label=name)
    errors.set_ylim(bottom=0)
    errors.set_ylabel("mean test error, %")
    errors.set_title("(a) Test error")
    errors.legend()

    solved = (numbers["train_error"] == 0).sum("run").values
    limits = 100 * np.array([share_interval(int(count), n_runs) for count in solved]).T
    share = 100 * solved / n_runs
    counts.errorbar(
        widths,
        share,
        yerr=np.abs(limits - share),
        color=COLOURS[0],
        linestyle="",
        marker="o",
        markersize=4,
        capsize=2.5,
        label=f"measured, {n_runs} runs",
    )
    known = [width for width in widths if int(width) in REPORTED]
    reported = [REPORTED[int(width)] for width in known]
    counts.plot(known, reported, color=COLOURS[1], linestyle="", marker="x", markersize=6, label="reported, 100 runs")
    counts.set_ylim(40, 104)
    counts.set_ylabel("runs at zero training error, %")
    counts.set_title("(b) Run counts")
    counts.legend(loc="lower right")
    for axes in (errors, counts):
        log_widths(axes, widths)
    drawing.supxlabel(
        f"Assumed, not stated in the paper: γ = {numbers.attrs['margin']:g}; non-diverse positive points uniform on "
        "their 11 pattern sets, negative ones on their 2.\nBands and bars: 95 % intervals.",
        fontsize=7,
        color="#555555",
    )
    return drawing


def log_widths(axes: Axes, widths: np.ndarray) -> None:
    """A log axis with a tick at every width."""
    axes.set_xscale("log")
    axes.set_xticks(widths)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.set_xlabel("channels (2k)")
