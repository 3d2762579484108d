"""What the drawings of Figures 1 to 3 share: panels of error curves, and of one number per run against the width."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from widenet.plots.axes import log_axis, named, percent_axis, value_ticks
from widenet.plots.marks import End, curve, label_ends, measured, ramp
from widenet.plots.picture import Panel
from widenet.plots.style import MEASURED
from widenet.types import RunStatus

MANY = 20
"""From this many runs on, the band leaves out the outermost tenths."""
HEIGHT = 230


def error_panels(numbers: xr.Dataset, train: str, test: str) -> list[Panel]:
    """Train and test error against the epoch; none where only the ends of the runs are at hand."""
    if "train_error" not in numbers:
        return []
    return [
        Panel(train, lambda canvas: _errors(canvas, numbers["train_error"], "misclassified training points")),
        Panel(test, lambda canvas: _errors(canvas, numbers["test_error"], "misclassified test points")),
    ]


def curves(axes: Axes, values: xr.DataArray) -> list[End]:
    """One line per width, the mean over runs, in a band that holds all runs, or the middle 80 % of many.

    Their ends are for `label_ends`, when the limits stand.
    """
    # An untrained network errs on about half of the points; on that scale nothing after the first pass could be read.
    trained = values.sel(epoch=values["epoch"] >= 1)
    ends = []
    for colour, width in zip(ramp(trained.sizes["width"]), trained["width"].values, strict=True):
        runs = trained.sel(width=width).dropna("run", how="all")
        if runs.sizes["run"] == 0:
            continue
        mean = runs.mean("run").values
        band = np.quantile(runs.transpose("run", "epoch").values, _band(runs.sizes["run"]), axis=0)
        # Not clipped: the axis would hide half of a line that lies on zero, and that is where these end.
        curve(axes, runs["epoch"].values, mean, colour, band=band, clip_on=False)
        ends.append(End(mean[-1], f"width {width:,}", stroke=colour))
    return ends


def epoch_axis(axes: Axes, values: xr.DataArray) -> None:
    """Epochs on a logarithmic axis that ends where the curves end."""
    axes.set_xlim(1, max(int(values["epoch"].values[-1]), 2))
    log_axis(axes, "x", 5)


def by_width(axes: Axes, values: xr.DataArray, colour: str = MEASURED, aside: float = 1.0) -> None:
    """Small dots for runs and a large one for their mean, against the width on a logarithmic axis."""
    widths = values["width"].values * aside
    runs = values.transpose("width", "run").astype(float)
    many = np.repeat(widths, runs.sizes["run"])
    axes.plot(many, runs.values.ravel(), "o", color=colour, markersize=3, alpha=0.3, markeredgewidth=0)
    measured(axes, widths, runs.mean("run").values, colour=colour)


def last_mean(values: xr.DataArray) -> float:
    """The mean over runs at the largest width; NaN without a run."""
    return float(values.isel(width=-1).astype(float).mean("run"))


def width_axis(axes: Axes, widths: np.ndarray) -> None:
    """Widths on a logarithmic axis with room at both ends."""
    axes.set_xscale("log")
    axes.set_xlim(widths[0] / 1.7, widths[-1] * 1.7)
    value_ticks(axes, "x", widths)


def epochs_panel(title: str, *of: tuple[xr.DataArray, str, str]) -> Panel:
    """The epoch at which runs reach zero loss, against the width: (epochs, colour, name) side by side."""

    def epochs(canvas: FigureBase) -> None:
        axes = canvas.subplots()
        widths = of[0][0]["width"].values
        width_axis(axes, widths)
        ends = []
        for place, (values, colour, name) in enumerate(of):
            by_width(axes, values, colour, 1.12 ** (2 * place - len(of) + 1))
            ends.append(End(last_mean(values), name, colour))
        log_axis(axes, "y")
        named(axes, "width", "epochs until zero training loss")
        label_ends(axes, [end for end in ends if end.words], HEIGHT)

    return Panel(title, epochs, height=HEIGHT)


def runs_in_words(numbers: xr.Dataset) -> str:
    """Says what line and band are, and counts the runs that did not reach zero loss."""
    exists = numbers["updates"].notnull()
    status = numbers["status"].where(exists)
    reached = int(np.sum(status.values == RunStatus.CONVERGED))
    counts = exists.sum("run").values.tolist()
    each = f"{counts[0]} runs of each width" if len(set(counts)) == 1 else f"{_listed(counts)} runs of these widths"
    band = "the middle 80 % of runs" if max(counts) >= MANY else "all runs"
    line = f"Line: mean; band: {band}. " if "train_error" in numbers else ""
    return f"{line}{each[0].upper()}{each[1:]}; {reached} of {sum(counts)} reached zero training loss."


def _listed(items: list) -> str:
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last


def _band(n_runs: int) -> tuple[float, float]:
    """The quantiles between which the band lies: of many runs, single outliers would draw a jagged edge."""
    return (0.1, 0.9) if n_runs >= MANY else (0.0, 1.0)


def _errors(canvas: FigureBase, error: xr.DataArray, name: str) -> None:
    axes = canvas.subplots()
    ends = curves(axes, error)
    axes.set_ylim(bottom=0)
    epoch_axis(axes, error)
    percent_axis(axes)
    named(axes, "epoch", name)
    label_ends(axes, ends, HEIGHT)
