"""The drawing of Figure 9 of sarussi2021."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.curves import HEIGHT, epoch_axis
from widenet.papers.sarussi2021.drawings.maps import map_panel
from widenet.papers.sarussi2021.drawings.planes import SIDE, draw_neurons, draw_regions
from widenet.papers.sarussi2021.figures.figure_9 import SHOWN
from widenet.plots.axes import number, percent_axis
from widenet.plots.marks import End, curve, label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import MEASURED, MINUS, PLUS

NEURONS = (("plus", "plus neurons", PLUS, "-"), ("minus", "minus neurons", MINUS, (0, (5, 1.5))))


def draw(numbers: xr.Dataset) -> Picture:
    """Regions and neurons of one run, right neurons and runs in the state against the epoch, and the map."""
    panels = (
        Panel("Regions", partial(draw_side, numbers), height=SIDE),
        Panel("Neurons", partial(draw_spokes, numbers), height=SIDE),
        Panel("Neurons that are right on all points", partial(draw_right, numbers), height=HEIGHT),
        Panel("Runs in which neurons agree imperfectly", partial(draw_state, numbers), height=HEIGHT),
        map_panel(f"Such runs after {SHOWN} epochs, by setting", numbers.map_at_the_end),
    )
    return Picture(panels, _note(numbers))


def draw_side(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Where the first run is positive and negative."""
    one, slope = numbers.isel(run=0), float(numbers.attrs["slope"])
    axes, points = canvas.subplots(), one["inputs"].values
    draw_regions(axes, one["weights"].values, slope, points, one["labels"].values)
    far = points[np.linalg.norm(points, axis=1).argmax()]
    axes.annotate("outlier", (far[0], far[1]), (6, 0), textcoords="offset points", va="center")


def draw_spokes(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Those of the first run."""
    draw_neurons(canvas.subplots(), numbers["weights"].isel(run=0).values)


def draw_right(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Means over runs, by sign."""
    axes, ends = canvas.subplots(), []
    for name, words, colour, dash in NEURONS:
        mean = numbers[f"{name}_right"].mean("run")
        curve(axes, numbers["epoch"], mean, colour, linestyle=dash, clip_on=False)
        ends.append(End(float(mean[-1]), words.split()[0], colour))
    _finish(axes, numbers, "of the neurons of a sign")
    label_ends(axes, ends, HEIGHT)


def draw_state(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """No error, no disagreement, and no plus neuron that is right on all points."""
    axes = canvas.subplots()
    axes.plot(numbers["epoch"], numbers["imperfect"].mean("run"), "o-", markersize=3.5, color=MEASURED, clip_on=False)
    _finish(axes, numbers, "of the runs")


def _finish(axes: Axes, numbers: xr.Dataset, upwards: str) -> None:
    axes.set_ylim(0, 1.04)
    percent_axis(axes)
    epoch_axis(axes, numbers["epoch"].values.tolist(), upwards)


def _note(numbers: xr.Dataset) -> str:
    differ = numbers[["plus_differ", "minus_differ"]].to_array().max("variable").mean("run")
    settled = differ.sel(epoch=slice(1, SHOWN))
    return (
        f"Two neurons of one sign disagree on {number(float(differ.isel(epoch=0)))} of {numbers.sizes['point']} points "
        f"before training, and on at most {number(float(settled.max()))} on average from epoch 1 to {SHOWN}. "
        "Imperfect agreement: no training error, none of these points, and no plus neuron right on all points. "
        f"Means of {numbers.sizes['run']} runs; above, the first of them."
    )
