"""The drawing of Figure 1 of brutzkus2018."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullFormatter

from widenet.plots.style import COLOURS, DASHES, styled
from widenet.types import RunStatus


@styled
def figure_1(numbers: xr.Dataset) -> Drawing:
    """Train and test error against the epoch, one colour per width: the mean over runs in its min–max band."""
    drawing = Drawing(figsize=(7.0, 3.2), layout="constrained")
    train_axes, test_axes = drawing.subplots(1, 2, sharey=True)
    _error_panel(train_axes, numbers["train_error"], "(a) Train error")
    _error_panel(test_axes, numbers["test_error"], "(b) Test error")
    train_axes.set_ylabel("misclassified")
    train_axes.set_ylim(bottom=0)  # after both panels: it ends the search for the top, which they share
    handles, labels = train_axes.get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper center", ncols=len(labels), handlelength=1.6)
    drawing.supxlabel(_footnote(numbers), fontsize=7, color="#555555")
    return drawing


def _error_panel(axes: Axes, error: xr.DataArray, title: str) -> None:
    # An untrained network errs on about half of the points; on that scale nothing after the first pass could be read.
    trained = error.sel(epoch=error["epoch"] >= 1)
    for colour, dashes, width in zip(COLOURS, DASHES, trained["width"].values, strict=False):
        runs = trained.sel(width=width).dropna("run", how="all")
        if runs.sizes["run"] == 0:
            continue
        epoch, mean = runs["epoch"].values, runs.mean("run").values
        axes.fill_between(epoch, runs.min("run").values, runs.max("run").values, color=colour, alpha=0.15, linewidth=0)
        plural = "" if runs.sizes["run"] == 1 else "s"
        label = f"width {width} ({runs.sizes['run']} run{plural})"
        # Not clipped: the axis would hide half of a line that lies on zero, and that is where these end.
        axes.plot(epoch, mean, color=colour, linestyle=dashes, label=label, clip_on=False, zorder=3)
    last = max(int(trained["epoch"].values[-1]), 2)
    axes.set_xscale("log")
    axes.set_xlim(1, last)
    axes.set_xticks([tick for tick in (1, 3, 10, 30, 100, 300, 1000) if tick <= last])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:g} %"))
    axes.set_xlabel("epoch")
    axes.set_title(title)


def _footnote(numbers: xr.Dataset) -> str:
    """Says what line and band are, and counts the runs that did not reach zero loss."""
    exists = numbers["train_error"].notnull().any("epoch")
    status = numbers["status"].where(exists)
    reached = int(np.sum(status.values == RunStatus.CONVERGED))
    return (
        f"Line: mean over runs; band: smallest to largest run. {reached} of {int(exists.sum())} runs reached "
        "zero training loss; a finished run keeps its last value."
    )
