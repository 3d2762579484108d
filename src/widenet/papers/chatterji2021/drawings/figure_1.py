"""The drawing of Figure 1 of chatterji2021."""

from functools import partial

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from widenet.papers.chatterji2021.figures.figure_1 import VALUES
from widenet.plots.axes import named, number_axis
from widenet.plots.marks import curve, reported
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import CONTROL, FAINT, INK, MEASURED

DASHED = (0, (5, 1.5))


def draw(numbers: xr.Dataset) -> Picture:
    """φ and its slope beside those of a ReLU, with the interval on which φ is curved."""
    panels = (
        Panel("The Huberized ReLU", partial(draw_values, numbers)),
        Panel("Its slope", partial(draw_slopes, numbers)),
    )
    return Picture(panels, f"Grey: where φ is curved, 0 ≤ z ≤ h = {numbers.attrs['bandwidth']:g}.")


def draw_values(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """φ, with values by Eq. 1."""
    axes, z = canvas.subplots(), numbers["z"].values
    _curved(axes, numbers)
    curve(axes, z, z.clip(0), CONTROL, linestyle=DASHED, linewidth=1.2)
    curve(axes, z, numbers["value"], linewidth=2)
    reported(axes, list(VALUES), list(VALUES.values()))
    _tell(axes, (2.05, 2.1), "ReLU", CONTROL, (-4, 4), "right")
    _tell(axes, (1.75, 1.25), "Huberized ReLU", MEASURED, (7, -7), "left")
    _tell(axes, (0.5, 0.125), "◇ Eq. 1", INK, (10, -8), "left")
    named(axes, "z", "φ(z)")


def draw_slopes(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """φ′."""
    axes, z = canvas.subplots(), numbers["z"].values
    _curved(axes, numbers)
    axes.plot([z[0], 0, 0, z[-1]], [0, 0, 1, 1], color=CONTROL, linestyle=DASHED, linewidth=1.2)
    curve(axes, z, numbers["slope"], linewidth=2)
    _tell(axes, (0.0, 0.75), "ReLU", CONTROL, (-5, 0), "right")
    _tell(axes, (0.75, 0.75), "Huberized ReLU", MEASURED, (8, -4), "left")
    named(axes, "z", "φ′(z)")


def _curved(axes: Axes, numbers: xr.Dataset) -> None:
    axes.axvspan(0, float(numbers.attrs["bandwidth"]), color=FAINT, zorder=0)
    axes.set_xlim(float(numbers["z"][0]), float(numbers["z"][-1]))
    axes.set_xticks(range(-1, 4))
    number_axis(axes, "x")
    number_axis(axes, "y")


def _tell(axes: Axes, at: tuple[float, float], words: str, colour: str, aside: tuple[int, int], side: str) -> None:
    axes.annotate(words, at, aside, textcoords="offset points", color=colour, ha=side, va="center")
