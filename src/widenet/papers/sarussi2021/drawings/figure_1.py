"""The drawing of Figure 1 of sarussi2021."""

from functools import partial

import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.planes import SIDE, draw_neurons, draw_regions
from widenet.plots.axes import number
from widenet.plots.picture import Panel, Picture


def draw(numbers: xr.Dataset) -> Picture:
    """One run from large and one from small weights: decision regions, and beside them the directions of neurons."""
    panels = []
    for name, start in (("Large", 30.0), ("Small", 1e-3)):
        one = numbers.sel(start=start).isel(run=0)
        words = f"{name} initial weights"
        panels += [Panel(f"{words}: regions", partial(draw_side, one), height=SIDE),
                   Panel(f"{words}: neurons", partial(draw_spokes, one), height=SIDE)]  # fmt: skip
    deviations = " and ".join(number(start) for start in (30.0, 1e-3))
    note = (
        f"One run each, from initial deviations {deviations}. Blue: the network is positive, and points of label +1; "
        "vermilion: negative, and −1. Neurons: directions of their weights."
    )
    return Picture(panels, note)


def draw_side(one: xr.Dataset, canvas: FigureBase) -> None:
    """Where the network is positive and negative."""
    slope = float(one.attrs["slope"])
    draw_regions(canvas.subplots(), one["weights"].values, slope, one["inputs"].values, one["labels"].values)


def draw_spokes(one: xr.Dataset, canvas: FigureBase) -> None:
    """The directions of the neurons."""
    draw_neurons(canvas.subplots(), one["weights"].values)
