"""The drawing of Figure 2 of brutzkus2018."""

import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.brutzkus2018.drawings.error_panels import (
    HEIGHT,
    by_width,
    epochs_panel,
    error_panels,
    last_mean,
    runs_in_words,
    width_axis,
)
from widenet.plots.axes import named, percent_axis
from widenet.plots.marks import End, label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import CONTROL, MEASURED

NAMES = ("both layers", "first layer")


def draw(numbers: xr.Dataset) -> Picture:
    """As Figure 1, and the ends beside those of networks whose second layer stays (Figure 1)."""
    panels = error_panels(numbers, "Both layers trained: training points", "Both layers trained: test points")
    if "test_error" in numbers:
        title = "Final test error, both layers and first layer"
        panels.append(Panel(title, lambda canvas: _ends(canvas, numbers), height=HEIGHT))
    here, there = numbers["zero_loss_epoch"], numbers["reference_zero_loss_epoch"]
    panels.append(
        epochs_panel("Zero loss, both layers and first layer", (here, MEASURED, NAMES[0]), (there, CONTROL, NAMES[1]))
    )
    step, other = numbers.attrs["step_size"], numbers.attrs["first_layer_step_size"]
    steps = f"Step size {step:g} here, {other:g} in Figure 1, whose second layer stays fixed (grey)."
    return Picture(panels, f"{runs_in_words(numbers)} Small dots: runs; large dots: means. {steps}")


def _ends(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    width_axis(axes, numbers["width"].values)
    here, there = numbers["test_error"].isel(epoch=-1), numbers["reference_test_error"]
    by_width(axes, here, MEASURED, 1 / 1.12)
    by_width(axes, there, CONTROL, 1.12)
    axes.margins(y=0.12)
    percent_axis(axes)
    named(axes, "width", "final test error")
    means = [last_mean(each) for each in (here, there)]
    label_ends(axes, [End(*each) for each in zip(means, NAMES, (MEASURED, CONTROL), strict=True)], HEIGHT)
