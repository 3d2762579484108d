"""The drawing of Figure 5 of li2018."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from widenet.papers.li2018.drawings.panels import HEIGHT, READING_LOOKS, draw_runs, width_axis
from widenet.papers.li2018.figures.figure_5 import PRINTED
from widenet.plots.axes import log_axis, named, number, number_axis, value_ticks
from widenet.plots.marks import End, label_ends, promise, reported
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import INK, MEASURED

LAW = {"synthetic": "2/(3√m)", "mnist": "8/√m"}


def draw(numbers: xr.Dataset) -> Picture:
    """Relative distances against the width beside the printed lines, and times √m, where the lines are level."""
    panels = (
        Panel("Synthetic data: distance at 98 %", partial(draw_synthetic, numbers), height=HEIGHT),
        Panel("MNIST: distance at 95 %", partial(draw_mnist, numbers), height=HEIGHT),
        Panel("Synthetic: distance · √m by rarer looks", partial(draw_by_looks, numbers), height=HEIGHT),
        Panel("MNIST: distance · √m", partial(draw_scaled, numbers), height=HEIGHT),
    )
    note = (
        "Ink lines with diamonds: the laws that the paper prints. Dots: single runs. Lines: their means. Below left, "
        "98 % is seen at the first look after it is reached, and the paper does not print how often it looked."
    )
    return Picture(panels, note)


def draw_synthetic(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """One line per reading."""
    axes, ends = canvas.subplots(), []
    for reading, (colour, dash) in zip(numbers["reading"].values.tolist(), READING_LOOKS, strict=False):
        end = draw_runs(axes, numbers["synthetic"].sel(reading=reading), "width", "run", colour, dash)
        ends.append(end._replace(words=reading))
    _finish(axes, "synthetic", numbers["width"].values, ends)


def draw_mnist(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """One line."""
    axes = canvas.subplots()
    end = draw_runs(axes, numbers["mnist"], "mnist_width", "mnist_run")
    _finish(axes, "mnist", numbers["mnist_width"].values, [end._replace(words="norm 1")])


def _finish(axes: Axes, key: str, widths: np.ndarray, ends: list[End]) -> None:
    along = np.geomspace(widths[0] / 1.15, widths[-1] * 1.15)
    law = PRINTED[key] / np.sqrt(widths)
    promise(axes, along, PRINTED[key] / np.sqrt(along))
    reported(axes, widths, law)
    log_axis(axes, "y")
    width_axis(axes, widths.tolist(), "‖W − W⁰‖ / ‖W⁰‖")
    label_ends(axes, [*ends, End(float(law[-1]), LAW[key], INK)], HEIGHT)


def draw_by_looks(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Distance · √m, mean over widths, by the number of steps between two looks."""
    axes, ends = canvas.subplots(), []
    scaled = (numbers["synthetic_by_looks"] * numbers["width"] ** 0.5).mean("width", skipna=False)
    every = numbers["every"].values
    for reading, (colour, dash) in zip(numbers["reading"].values.tolist(), READING_LOOKS, strict=False):
        end = draw_runs(axes, scaled.sel(reading=reading), "every", "run", colour, dash)
        ends.append(end._replace(words=reading))
    log_axis(axes, "x")
    axes.set_xlim(every[0] / 1.15, every[-1] * 1.15)
    value_ticks(axes, "x", every)
    axes.set_ylim(0.9 * float(scaled.min()), 1.06 * max(float(scaled.max()), PRINTED["synthetic"]))
    _level(axes, PRINTED["synthetic"], every)
    number_axis(axes, "y")
    named(axes, "steps between two looks", "distance · √m, mean over widths")
    label_ends(axes, [*ends, End(PRINTED["synthetic"], "2/3", INK)], HEIGHT)


def draw_scaled(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Distance · √m on MNIST by width."""
    axes, widths = canvas.subplots(), numbers["mnist_width"].values
    scaled = numbers["mnist"] * numbers["mnist_width"] ** 0.5
    end = draw_runs(axes, scaled, "mnist_width", "mnist_run", MEASURED)
    axes.set_ylim(0.92 * min(float(scaled.min()), PRINTED["mnist"]), 1.04 * max(float(scaled.max()), PRINTED["mnist"]))
    number_axis(axes, "y")
    width_axis(axes, widths.tolist(), "distance · √m")
    _level(axes, PRINTED["mnist"], widths)
    label_ends(axes, [end._replace(words="norm 1"), End(PRINTED["mnist"], number(PRINTED["mnist"]), INK)], HEIGHT)


def _level(axes: Axes, height: float, places: np.ndarray) -> None:
    promise(axes, axes.get_xlim(), [height, height])
    reported(axes, places, np.full(len(places), height))
