"""The drawing of Figure 5 of sarussi2021."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.figure_4 import draw_sign_regions, square_axes
from widenet.papers.sarussi2021.drawings.planes import SIDE
from widenet.plots.axes import number
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import FONT, INK, MINUS, PLUS, SOFT

SLOPE = 0.1
LEVELS = np.linspace(0.15, 1.05, 7)


def draw(numbers: xr.Dataset) -> Picture:
    """The sign of the output, and the output with its level lines, which bend at the kinks."""
    panels = (
        Panel("Sign of the output", partial(draw_sign, numbers), height=SIDE),
        Panel("The output itself", partial(draw_value, numbers), height=SIDE),
    )
    note = "Right: the stronger the colour, the farther from 0. Level lines of a linear function do not bend."
    return Picture(panels, note)


def draw_sign(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Plus and minus."""
    axes = canvas.subplots()
    draw_sign_regions(axes, numbers, SLOPE)
    axes.annotate("N > 0", (0.55, -0.55), ha="center", color=PLUS)
    axes.annotate("N < 0", (-0.55, 0.55), ha="center", color=MINUS)


def draw_value(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Level lines with their values, on tints that deepen with the distance from 0."""
    axes = canvas.subplots()
    x1, x2, outputs = numbers["x1"].values, numbers["x2"].values, numbers["output"].sel(slope=SLOPE).values
    for level in (1e-9, *LEVELS[:-1]):
        for sign, colour in ((1, PLUS), (-1, MINUS)):
            axes.contourf(x1, x2, sign * outputs, levels=[level, 9], colors=[colour], alpha=0.11)
    lines = axes.contour(x1, x2, outputs, levels=[*-LEVELS[::-1], 0, *LEVELS], colors=[SOFT], linewidths=0.7,
                         linestyles="-")  # fmt: skip
    told = [level for level in lines.levels if round(abs(level) / 0.15) in (0, 2, 4, 6)]
    axes.clabel(lines, told, fmt=number, fontsize=FONT, colors=[INK])
    square_axes(axes)
