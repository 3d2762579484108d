"""The drawing of Figure 8 of sarussi2021."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase
from matplotlib.ticker import MaxNLocator

from widenet.papers.sarussi2021.drawings.curves import HEIGHT
from widenet.plots.axes import named, number_axis, percent_axis
from widenet.plots.marks import curve
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import MINUS, PLUS

NEURONS = (("plus_right", "plus neurons (w)", PLUS, "-"), ("minus_right", "minus neurons (u)", MINUS, (0, (5, 1.5))))


def draw(numbers: xr.Dataset) -> Picture:
    """The share of neurons in perfect agreement against the epoch, until all of them are."""
    epochs = numbers["epoch"].values
    smallest = np.minimum(*(numbers[name].min("run").values for name, *_ in NEURONS))
    below = np.flatnonzero(smallest < 1)
    until = int(epochs[min(below[-1] + 1, len(epochs) - 1)]) if len(below) else int(epochs[-1])
    after = f" From epoch {until} to {int(epochs[-1])} all neurons are." if smallest[-1] == 1 else ""
    note = f"Lines: mean of {numbers.sizes['run']} runs. Bands: smallest to largest.{after}"
    return Picture((Panel("Neurons in perfect agreement", partial(draw_shares, numbers, until), height=HEIGHT),), note)


def draw_shares(numbers: xr.Dataset, until: int, canvas: FigureBase) -> None:
    """Both signs."""
    axes, shown = canvas.subplots(), numbers.sel(epoch=slice(0, until))
    for line, (name, words, colour, dash) in enumerate(NEURONS):
        values = shown[name]
        band = (values.min("run"), values.max("run"))
        curve(axes, shown["epoch"], values.mean("run"), colour, band=band, linestyle=dash)
        axes.annotate(words, (0.5, 0.36 - 0.08 * line), xycoords="axes fraction", color=colour)
    axes.set_xlim(0, until)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    number_axis(axes, "x")
    axes.set_ylim(0, 1.02)
    percent_axis(axes)
    named(axes, "epoch", "of the neurons of a sign")
