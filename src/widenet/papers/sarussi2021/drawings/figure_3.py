"""The drawing of Figure 3 of sarussi2021."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.planes import SIDE, draw_line, draw_neurons, draw_regions
from widenet.plots.axes import number_axis
from widenet.plots.marks import key, reported
from widenet.plots.picture import Panel, Picture
from widenet.plots.rows import ValueRow, draw_rows, wall
from widenet.plots.style import CONTROL, INK, PROMISE, SOFT


def draw(numbers: xr.Dataset) -> Picture:
    """The learned regions with the predicted line, the neurons with the predicted directions, and all runs."""
    panels = (
        Panel("Learned regions, predicted line", partial(draw_boundary, numbers), height=SIDE),
        Panel("Neurons, predicted directions", partial(draw_directions, numbers), height=SIDE),
        Panel("Angle to the prediction, every run", partial(draw_angles, numbers), True, 150),
    )
    note = (
        "Above: one run of SGD. Ink line and open diamonds: predicted by Eq. 7. Below, a dot per run: SGD approaches "
        "the prediction like 1/log t, gradient flow on the same points like 1/s in its clock."
    )
    return Picture(panels, note)


def draw_boundary(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """The regions of the first run."""
    axes, one, pair = canvas.subplots(), numbers.isel(run=0), numbers["predicted"].isel(run=0).values
    slope = float(numbers.attrs["slope"])
    reach = draw_regions(axes, one["weights"].values, slope, one["inputs"].values, one["labels"].values)
    draw_line(axes, pair[:2] - pair[2:], reach, PROMISE)
    key(axes, [("-", PROMISE, "predicted by Eq. 7"), ("-", SOFT, "learned")], "lower center")


def draw_directions(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """The neurons of the first run."""
    axes, pair = canvas.subplots(), numbers["predicted"].isel(run=0).values
    draw_neurons(axes, numbers["weights"].isel(run=0).values)
    for name, row, aside in (("w of Eq. 7", pair[:2], (-8, 4)), ("u of Eq. 7", pair[2:], (8, -4))):
        unit = row / np.linalg.norm(row)
        reported(axes, *unit)
        axes.annotate(name, (unit[0], unit[1]), aside, textcoords="offset points", color=INK, va="center",
                      ha="right" if aside[0] < 0 else "left")  # fmt: skip


def draw_angles(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Of the boundary and of the farthest neuron, in degrees."""
    axes = canvas.subplots()
    rows = [
        ValueRow("SGD: boundary", numbers["boundary"]),
        ValueRow("SGD: farthest neuron", numbers["neurons"]),
        ValueRow("gradient flow: boundary", numbers["flow_boundary"], CONTROL),
        ValueRow("gradient flow: mean neurons", numbers["flow_neurons"], CONTROL),
    ]
    draw_rows(axes, rows)
    axes.set_xlim(0, 1.05 * max(float(row.values.max()) for row in rows))
    wall(axes, 0)
    number_axis(axes, "x")
    axes.set_xlabel("degrees; a dot per run")
