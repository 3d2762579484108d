"""The drawing of Figure 2 of sarussi2021."""

from functools import partial

import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.curves import HEIGHT, after_training, draw_courses, epoch_axis
from widenet.papers.sarussi2021.drawings.maps import map_panel
from widenet.plots.axes import percent, percent_axis
from widenet.plots.marks import label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.rows import ValueRow, draw_rows
from widenet.plots.style import CONTROL, MEASURED

STARTS = {"small": MEASURED, "large": CONTROL}


def draw(numbers: xr.Dataset) -> Picture:
    """The share against the epoch from small weights, the errors at the end, and the map. From large ones it stays."""
    panels = (
        Panel("Non-linear region, small weights", partial(draw_shares, numbers), height=HEIGHT),
        Panel("Training error after the last epoch", partial(draw_errors, numbers), height=HEIGHT),
        map_panel("Share for 3 against 5 after the last epoch, by setting", numbers.map_nonlinear.mean("trial")),
    )
    return Picture(panels, _note(numbers))


def draw_shares(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """From epoch 1 on."""
    axes, shown = canvas.subplots(), after_training(numbers.nonlinear.sel(start="small"))
    ends = draw_courses(axes, shown, "data")
    percent_axis(axes)
    axes.set_ylim(0, 1.04 * float(shown.max()))
    epoch_axis(axes, shown.epoch.values.tolist(), "of the points")
    label_ends(axes, ends, HEIGHT)


def draw_errors(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Every run, by data and start."""
    axes, last = canvas.subplots(), numbers.train_error.isel(epoch=-1)
    draw_rows(
        axes,
        [
            ValueRow(f"{data}, {start}", last.sel(start=start, data=data).values, colour)
            for data in last["data"].values.tolist()
            for start, colour in STARTS.items()
        ],
    )
    percent_axis(axes, "x")
    axes.set_xlim(-0.03 * float(last.max()), 1.06 * float(last.max()))
    axes.set_xlabel("of the training points; a dot per run")


def _note(numbers: xr.Dataset) -> str:
    large = numbers.nonlinear.sel(start="large")
    return (
        f"Lines: mean of {numbers.sizes['run']} initializations. Bands: smallest to largest. Before training every "
        f"share is {percent(float(numbers.nonlinear.isel(epoch=0).min()))}, and from large weights it never falls "
        f"below {percent(float(large.min()))}. The map: small shares are dark."
    )
