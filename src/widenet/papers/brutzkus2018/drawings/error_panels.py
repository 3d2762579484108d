"""What the drawings of Figures 1 to 3 share: a panel of error curves, and the line under the figure."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullFormatter

from widenet.plots.style import COLOURS, DASHES
from widenet.types import RunStatus

MANY = 20
"""From this many runs on, the band leaves out the outermost tenths."""


def draw_errors(train_axes: Axes, test_axes: Axes, numbers: xr.Dataset) -> None:
    """Train and test error against the epoch on axes that share their height."""
    _error_panel(train_axes, numbers["train_error"], "(a) Train error")
    _error_panel(test_axes, numbers["test_error"], "(b) Test error")
    train_axes.set_ylabel("misclassified")
    train_axes.set_ylim(bottom=0)  # after both panels: it ends the search for the top, which they share


def curves(axes: Axes, values: xr.DataArray, *, labelled: bool = True) -> None:
    """One line per width, the mean over runs, in a band that holds all runs, or the middle 80 % of many."""
    # An untrained network errs on about half of the points; on that scale nothing after the first pass could be read.
    trained = values.sel(epoch=values["epoch"] >= 1)
    for colour, dashes, width in zip(COLOURS, DASHES, trained["width"].values, strict=False):
        runs = trained.sel(width=width).dropna("run", how="all")
        if runs.sizes["run"] == 0:
            continue
        epoch, mean = runs["epoch"].values, runs.mean("run").values
        low, high = np.quantile(runs.transpose("run", "epoch").values, _band(runs.sizes["run"]), axis=0)
        axes.fill_between(epoch, low, high, color=colour, alpha=0.15, linewidth=0)
        plural = "" if runs.sizes["run"] == 1 else "s"
        label = f"width {width} ({runs.sizes['run']} run{plural})" if labelled else "_"
        # Not clipped: the axis would hide half of a line that lies on zero, and that is where these end.
        axes.plot(epoch, mean, color=colour, linestyle=dashes, label=label, clip_on=False, zorder=3)


def epoch_axis(axes: Axes, values: xr.DataArray) -> None:
    """Epochs on a logarithmic axis that ends where the curves end."""
    last = max(int(values["epoch"].values[-1]), 2)
    axes.set_xscale("log")
    axes.set_xlim(1, last)
    axes.set_xticks([tick for tick in (1, 3, 10, 30, 100, 300, 1000) if tick <= last])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)
    axes.set_xlabel("epoch")


def legend_above(drawing: Drawing, axes: Axes) -> None:
    """One legend for all panels, above them."""
    handles, labels = axes.get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper center", ncols=len(labels), handlelength=1.6)


def note_below(drawing: Drawing, words: str) -> None:
    """A small grey line under the panels."""
    drawing.supxlabel(words, fontsize=7, color="#555555")


def runs_in_words(numbers: xr.Dataset) -> str:
    """Says what line and band are, and counts the runs that did not reach zero loss."""
    exists = numbers["train_error"].notnull().any("epoch")
    status = numbers["status"].where(exists)
    reached = int(np.sum(status.values == RunStatus.CONVERGED))
    most = int(exists.sum("run").max())
    band = "middle 80 % of runs" if most >= MANY else "smallest to largest run"
    return (
        f"Line: mean over runs; band: {band}. {reached} of {int(exists.sum())} runs reached "
        "zero training loss; a finished run keeps its last value."
    )


def _band(n_runs: int) -> tuple[float, float]:
    """The quantiles between which the band lies: of many runs, single outliers would draw a jagged edge."""
    return (0.1, 0.9) if n_runs >= MANY else (0.0, 1.0)


def _error_panel(axes: Axes, error: xr.DataArray, title: str) -> None:
    curves(axes, error)
    epoch_axis(axes, error)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:g} %"))
    axes.set_title(title)
