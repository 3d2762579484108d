"""The drawing of updates against the step size."""

import xarray as xr
from matplotlib.figure import FigureBase

from widenet.plots.axes import log_axis, named, number
from widenet.plots.marks import End, curve, label_ends, promise
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import CONTROL, INK, LINE, MEASURED, SOFT

HEIGHT = 320
LOOKS = ((MEASURED, "-"), (CONTROL, (0, (5, 1.5))))


def draw(numbers: xr.Dataset) -> Picture:
    """Updates on the two data sets between the lower and the upper bound, both axes logarithmic."""
    title = "Non-zero updates by step size"
    panel = Panel(title, lambda canvas: _updates(canvas, numbers), True, HEIGHT)
    return Picture(
        [panel],
        "Line: mean; band: all runs. The lower bound is for the basis sequence alone, the upper one (Corollary 3) for "
        "every order of both data sets.",
    )


def _updates(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    eta, ends = numbers["step_size"].values, []
    for (colour, dashes), name in zip(LOOKS, numbers["data"].values, strict=False):
        own = numbers["updates"].sel(data=name).dropna("run", how="all")
        mean = own.mean("run")
        curve(
            axes, eta, mean, colour, band=(own.min("run"), own.max("run")), marker="o", markersize=3, linestyle=dashes
        )
        ends.append(End(mean[-1], f"updates, {name}", colour))
    upper, lower = numbers["update_bound"], numbers["lower_bound"]
    promise(axes, eta, upper)
    promise(axes, eta, lower, linestyle=(0, (5, 2)))
    ends += [End(upper[-1], "at most M", INK), End(lower[-1], "at least ⅓(‖w*‖²/η + ‖w*‖²)", INK)]
    threshold = numbers.attrs["one_pass_from"]
    axes.axvline(threshold, color=LINE, linewidth=1.2)
    axes.set_xlim(eta[0], eta[-1])
    log_axis(axes, "x")
    log_axis(axes, "y")
    axes.annotate(
        f"from η = {number(threshold)} on,\nevery basis vector\nis updated once",
        (threshold, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(5, 0),
        textcoords="offset points",
        va="top",
        color=SOFT,
    )
    named(axes, "step size η", "non-zero updates")
    label_ends(axes, ends, HEIGHT)
