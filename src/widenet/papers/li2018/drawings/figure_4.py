"""The drawing of Figure 4 of li2018."""

from functools import partial

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.ticker import MaxNLocator

from widenet.papers.li2018.drawings.panels import HEIGHT, READING_LOOKS, draw_runs, width_axis
from widenet.plots.axes import number_axis
from widenet.plots.marks import label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import MEASURED


def draw(numbers: xr.Dataset) -> Picture:
    """Steps against the width, on synthetic data and on MNIST."""
    panels = (
        Panel("Synthetic data: steps to 98 % test accuracy", partial(draw_synthetic, numbers), height=HEIGHT),
        Panel("MNIST: steps to 95 % test accuracy", partial(draw_mnist, numbers), height=HEIGHT),
    )
    return Picture(panels, "Dots: single runs. Lines: their means. The vertical axes begin at 0.")


def draw_synthetic(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """One line per reading."""
    axes, ends = canvas.subplots(), []
    readings = numbers["reading"].values.tolist()
    for reading, (colour, dash) in zip(readings, READING_LOOKS, strict=False):
        end = draw_runs(axes, numbers["synthetic"].sel(reading=reading), "width", "run", colour, dash)
        ends.append(end._replace(words=reading))
    _finish(axes, numbers["width"].values.tolist(), float(numbers["synthetic"].max()))
    label_ends(axes, ends, HEIGHT)


def draw_mnist(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """One line."""
    axes = canvas.subplots()
    end = draw_runs(axes, numbers["mnist"], "mnist_width", "mnist_run", MEASURED)
    _finish(axes, numbers["mnist_width"].values.tolist(), float(numbers["mnist"].max()))
    label_ends(axes, [end._replace(words="norm 1")], HEIGHT)


def _finish(axes: Axes, widths: list[int], highest: float) -> None:
    axes.set_ylim(0, 1.06 * highest)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    number_axis(axes, "y")
    width_axis(axes, widths, "steps")
