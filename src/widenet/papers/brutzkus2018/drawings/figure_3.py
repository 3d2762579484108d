"""The drawing of Figure 3 of brutzkus2018."""

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.ticker import FixedLocator, NullLocator

from widenet.papers.brutzkus2018.drawings.error_panels import (
    HEIGHT,
    by_width,
    curves,
    epoch_axis,
    error_panels,
    last_mean,
    runs_in_words,
    width_axis,
)
from widenet.plots.axes import log_axis, named, number, number_axis
from widenet.plots.marks import End, label_ends, promise
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import BROKEN, INK, MEASURED

TICKS = (-1000, -100, -10, -1, 0, 1, 10, 100, 1000)


def draw(numbers: xr.Dataset) -> Picture:
    """Train error, test error, and the smallest and largest v_t/v_0 over neurons, against the epoch and over all."""
    panels = error_panels(numbers, "Signs kept: training points", "Signs kept: test points")
    if "smallest_ratio" in numbers:
        kept = "keep" if float(numbers["c"].min()) > 0 else "change"
        panels.append(Panel(f"Output weights {kept} their signs", lambda canvas: _ratios(canvas, numbers)))
    panels.append(Panel("Over all updates of all runs", lambda canvas: _extremes(canvas, numbers)))
    widths, steps = numbers["width"].values, numbers["chosen_step_size"].values
    chosen = ", ".join(f"{number(step)} at width {width:,}" for width, step in zip(widths, steps, strict=True))
    note = f"{runs_in_words(numbers)} Step sizes: {chosen}. Small dots: runs; large dots: means."
    return Picture(panels, f"{note} A weight that changes its sign would fall below the line at 0.")


def _ratios(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    smallest, largest = numbers["smallest_ratio"], numbers["largest_ratio"]
    upper, lower = curves(axes, largest), curves(axes, smallest)
    epoch_axis(axes, largest)
    low = float(smallest.sel(epoch=smallest["epoch"] >= 1).min())
    _ratio_axis(axes, low, float(largest.max()))
    named(axes, "epoch", "output weight / its start: smallest and largest")
    label_ends(axes, [*lower, *upper], HEIGHT)


def _extremes(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    widths = numbers["width"].values
    width_axis(axes, widths)
    for name in ("c", "C"):
        by_width(axes, numbers[name], MEASURED if float(numbers[name].min()) > 0 else BROKEN)
    _ratio_axis(axes, float(numbers["c"].min()), float(numbers["C"].max()))
    promise(axes, [widths[0] / 1.7, widths[-1] * 1.7], [1, 1], linewidth=0.8)
    named(axes, "width", "output weight / its start: smallest c, largest C")
    last = [last_mean(numbers[name]) for name in ("c", "C")]
    label_ends(axes, [End(last[0], "c", MEASURED), End(1, "start", INK), End(last[1], "C", MEASURED)], HEIGHT)


def _ratio_axis(axes: Axes, low: float, high: float) -> None:
    if low > 0:
        axes.set_ylim(low / 1.5, high * 1.5)
        log_axis(axes, "y")
        return
    axes.set_yscale("symlog", linthresh=1)  # a sign has changed: the axis must show 0 and what lies below
    axes.set_ylim(min(low * 1.5, -0.3), high * 1.5)
    axes.axhline(0, color=INK, linewidth=1)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in TICKS if low * 1.5 <= tick <= high * 1.5]))
    axes.yaxis.set_minor_locator(NullLocator())
    number_axis(axes, "y")
