"""The drawing of Figure 7 of sarussi2021."""

from functools import partial

import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.curves import HEIGHT, after_training, draw_courses, epoch_axis
from widenet.plots.axes import log_axis
from widenet.plots.marks import label_ends
from widenet.plots.picture import Panel, Picture

MEASURES = {
    "ratio": ("r over the distance of the means", "r / ‖w̄ − ū‖"),
    "angle": ("Widest angle within a sign", "degrees"),
}


def draw(numbers: xr.Dataset) -> Picture:
    """Both measures against the epoch, from small weights."""
    panels = [
        Panel(title, partial(draw_measure, numbers, name), height=HEIGHT) for name, (title, _) in MEASURES.items()
    ]
    return Picture(panels, f"Lines: mean of {numbers.sizes['run']} initializations. Bands: smallest to largest.")


def draw_measure(numbers: xr.Dataset, name: str, canvas: FigureBase) -> None:
    """From epoch 1 on; on logarithmic axes, since what falls to 0 is to be seen on its way."""
    axes, shown = canvas.subplots(), after_training(numbers[name].sel(start="small"))
    ends = draw_courses(axes, shown, "data")
    log_axis(axes, "y")
    epoch_axis(axes, shown.epoch.values.tolist(), MEASURES[name][1])
    label_ends(axes, ends, HEIGHT)
