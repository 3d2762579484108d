"""The drawing of Figure 1 of brutzkus2018."""

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
from widenet.plots.axes import log_axis, named
from widenet.plots.marks import End, label_ends, promise
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import INK, MEASURED


def draw(numbers: xr.Dataset) -> Picture:
    """Train and test error against the epoch, one shade per width; updates under their bound, and epochs."""
    panels = error_panels(numbers, "Training points", "Test points")
    panels += [
        Panel("Non-zero updates, and the bound", lambda canvas: _updates(canvas, numbers), height=HEIGHT),
        epochs_panel("Epochs until zero training loss", (numbers["zero_loss_epoch"], MEASURED, "")),
    ]
    return Picture(panels, f"{runs_in_words(numbers)} Small dots: runs; large dots: means.")


def _updates(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    widths, bound = numbers["width"].values, numbers["update_bound"].values
    width_axis(axes, widths)
    by_width(axes, numbers["updates"])
    promise(axes, widths, bound)
    log_axis(axes, "y")
    named(axes, "width", "non-zero updates")
    ends = [
        End(bound[-1], "Mₖ, the bound", INK),
        End(last_mean(numbers["updates"]), "made", MEASURED),
    ]
    label_ends(axes, ends, HEIGHT)
