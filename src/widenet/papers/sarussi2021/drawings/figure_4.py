"""The drawing of Figure 4 of sarussi2021."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.planes import SIDE, TINT, square
from widenet.plots.axes import named
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import INK, MINUS, PLUS, SOFT

ZERO = 1e-9
"""Outputs nearer to 0 than this are 0: those of a ReLU network are exactly."""
ARROW = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}


def draw(numbers: xr.Dataset) -> Picture:
    """Where the output is positive, negative and 0, with the two neurons."""
    panels = (
        Panel("Leaky ReLU: sign of the output", partial(draw_signs, numbers, 0.1), height=SIDE),
        Panel("ReLU: sign of the output", partial(draw_signs, numbers, 0.0), height=SIDE),
    )
    return Picture(panels, "Arrows: the two neurons, w of output weight +1 and u of −1.")


def draw_signs(numbers: xr.Dataset, slope: float, canvas: FigureBase) -> None:
    """One activation."""
    axes, outputs = canvas.subplots(), numbers["output"].sel(slope=slope)
    draw_sign_regions(axes, numbers, slope)
    for end, name, aside in (((0.6, 0.0), "w", (3, 5)), ((0.0, 0.6), "u", (-9, 2))):
        axes.annotate("", end, (0, 0), arrowprops=ARROW)
        axes.annotate(name, end, aside, textcoords="offset points")
    axes.annotate("N > 0", (0.55, -0.55), ha="center", color=PLUS)
    axes.annotate("N < 0", (-0.55, 0.55), ha="center", color=MINUS)
    if float((np.abs(outputs) <= ZERO).mean()) > 0.1:
        axes.annotate("N = 0", (-0.55, -0.55), ha="center", color=SOFT)


def draw_sign_regions(axes: Axes, numbers: xr.Dataset, slope: float) -> None:
    """Plus blue, minus vermilion, and nothing where the output is 0."""
    x1, x2, outputs = numbers["x1"].values, numbers["x2"].values, numbers["output"].sel(slope=slope).values
    most = float(np.abs(outputs).max()) + 1
    for low, high, colour in ((ZERO, most, PLUS), (-most, -ZERO, MINUS)):
        axes.contourf(x1, x2, outputs, levels=[low, high], colors=[colour], alpha=TINT)
    square_axes(axes)


def square_axes(axes: Axes) -> None:
    """The square of both coordinates."""
    square(axes, 1.0)
    axes.set_xticks((-1, 0, 1))
    axes.set_yticks((-1, 0, 1))
    named(axes, "x₁", "x₂")
