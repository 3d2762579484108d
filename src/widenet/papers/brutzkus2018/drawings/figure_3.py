"""The drawing of Figure 3 of brutzkus2018."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullFormatter

from widenet.papers.brutzkus2018.drawings.error_panels import (
    curves,
    draw_errors,
    epoch_axis,
    legend_above,
    note_below,
    runs_in_words,
)
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Train error, test error, and the smallest and largest v_t/v_0 over neurons, against the epoch."""
    drawing = Drawing(figsize=(9.0, 3.3), layout="constrained")
    train_axes, test_axes, ratio_axes = drawing.subplots(1, 3)
    test_axes.sharey(train_axes)
    draw_errors(train_axes, test_axes, numbers)
    test_axes.tick_params(axis="y", labelleft=False)
    _ratio_panel(ratio_axes, numbers)
    legend_above(drawing, train_axes)
    note_below(drawing, f"{runs_in_words(numbers)}\n{_in_words(numbers)}")
    return drawing


def _ratio_panel(axes: Axes, numbers: xr.Dataset) -> None:
    smallest, largest = numbers["smallest_ratio"], numbers["largest_ratio"]
    curves(axes, largest, labelled=False)
    curves(axes, smallest, labelled=False)
    epoch_axis(axes, largest)
    if float(smallest.min()) > 0:
        axes.set_yscale("log")
        ticks = [tick for tick in (0.1, 0.3, 1, 3, 10, 30, 100) if tick >= 0.5 * float(smallest.min())]
    else:  # a sign has changed: the axis must show 0 and what lies below
        axes.set_yscale("symlog", linthresh=1)
        axes.axhline(0, color="#444444", linewidth=0.7)
        ticks = [-1000, -100, -10, -1, 0, 1, 10, 100, 1000]
    low, high = axes.get_ylim()
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", which="minor", length=0)
    axes.set_title("(c) Smallest and largest v_t/v_0")
    axes.set_ylabel("output weight / its start")


def _in_words(numbers: xr.Dataset) -> str:
    """The step sizes, and the extremes over every update, which a look per epoch may miss."""
    parts = []
    for width in numbers["width"].values:
        own = numbers.sel(width=width)
        low, high = float(np.nanmin(own["c"].values)), float(np.nanmax(own["C"].values))
        parts.append(f"width {width}: η = {float(own['chosen_step_size']):g}, c = {low:.3g}, C = {high:.3g}")
    return "Extremes over all updates and runs: " + "; ".join(parts) + "."
