"""The drawing of Figure 4 of chatterji2021."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.chatterji2021.runs.simulations import READING, READINGS
from widenet.plots.axes import log_axis, named, percent_axis
from widenet.plots.marks import curve
from widenet.plots.picture import Panel, Picture
from widenet.plots.rows import ValueRow, draw_rows, wall
from widenet.plots.style import CONTROL, MEASURED

LOOKS = (("relu", "ReLU", MEASURED, "-"), ("huberized", "Huberized ReLU", CONTROL, (0, (5, 1.5))))


def draw(numbers: xr.Dataset) -> Picture:
    """Five runs of each activation, and the largest rise of the loss in one step of every run."""
    panels = (
        Panel(f"Training loss of five runs of {READING}, twice", partial(draw_five, numbers), height=300),
        Panel("Largest rise of the loss in one step", partial(draw_rises, numbers), height=300),
    )
    note = (
        "Blue: ReLU. Grey: Huberized ReLU, on the same data and from the same weights. Right: a dot per run; numbers "
        f"count the runs that overshoot. A to {READING} are four readings of the text."
    )
    return Picture(panels, note)


def draw_five(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Single runs, each with both activations."""
    axes, steps = canvas.subplots(), numbers["step"].values
    for name, _, colour, dash in LOOKS:
        for run in range(numbers.sizes["curve"]):
            losses = numbers["shown"].sel(activation=name).isel(curve=run)
            curve(axes, steps, losses, colour, linestyle=dash, linewidth=1.1)
    log_axis(axes, "y")
    axes.set_xlim(0, steps[-1])
    for line, (_, words, colour, _) in enumerate(LOOKS):
        axes.annotate(words, (0.04, 0.12 - 0.065 * line), xycoords="axes fraction", color=colour)
    named(axes, "step", "training loss")


def draw_rises(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Right of 0 a run overshoots: some step raises its loss."""
    axes, rows, counts = canvas.subplots(), [], []
    for reading in READINGS:
        for name, words, colour, _ in LOOKS:
            rises = numbers["rise"].sel(reading=reading, activation=name).values
            rows.append(ValueRow(f"{reading} {words.split()[0]}", rises, colour))
            counts.append(int((rises > 0).sum()))
    draw_rows(axes, rows)
    wall(axes, 0.0, "never rises", "overshoots")
    values = np.concatenate([values for _, values, _ in rows])
    axes.set_xlim(1.15 * values.min(), 1.08 * max(0.0, values.max()))
    percent_axis(axes, "x")
    for place, ((_, _, colour), count) in enumerate(zip(rows, counts, strict=True)):
        words, at = f"{count} of {numbers.sizes['run']}", (1, -place)
        axes.annotate(words, at, (5, 0), ("axes fraction", "data"), "offset points", va="center", color=colour,
                      annotation_clip=False)  # fmt: skip
    axes.set_xlabel("of the loss before the step")
