"""What the drawings of Figures 2 to 4 share: losses of single runs, and medians of readings."""

from functools import partial

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.chatterji2021.figures.loss_curves import IN_WORDS
from widenet.papers.chatterji2021.runs.simulations import READING
from widenet.plots.axes import log_axis, named, number_axis
from widenet.plots.marks import End, curve, label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.rows import ValueRow, draw_rows, wall
from widenet.plots.style import CONTROL, INK, MEASURED, PROMISE

HEIGHT = 250
DASHES = {"A": (0, (5, 1.5)), "B": (0, (1.5, 1)), "C": (0, (6, 1.5, 1.5, 1.5)), READING: "-"}
"""The reading of the drawings is blue and solid, the others grey and dashed."""


def draw_losses(numbers: xr.Dataset) -> Picture:
    """Five runs, the medians of all readings beside 1/t, and every run against 1/t."""
    runs = numbers.attrs["runs"]
    panels = (
        Panel(f"Training loss of five runs of {READING}", partial(draw_five, numbers), height=HEIGHT),
        Panel(f"Median loss of {runs} runs, four readings", partial(draw_medians, numbers), height=HEIGHT),
        Panel("t · loss at the last step over that halfway", partial(draw_ratios, numbers), True, 150),
    )
    words = "; ".join(f"{reading}: {words}" for reading, words in IN_WORDS.items())
    return Picture(panels, f"Readings of the text: {words}. The paper's bounds fall like 1/t.")


def colour_of(reading: str) -> str:
    """Blue for the reading of the drawings."""
    return MEASURED if reading == READING else CONTROL


def draw_five(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Single runs, all alike."""
    axes, steps = canvas.subplots(), numbers["step"].values
    for run in range(numbers.sizes["curve"]):
        curve(axes, steps, numbers["shown"].isel(curve=run), linewidth=1.1)
    axes.set_xlim(0, steps[-1])
    axes.set_ylim(0, None)
    number_axis(axes, "y")
    named(axes, "step", "training loss")


def draw_medians(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """On logarithmic axes, with a line that falls like 1/t."""
    axes, steps, ends = canvas.subplots(), numbers["step"].values[1:], []
    for reading in IN_WORDS:
        median = numbers["median"].sel(reading=reading).values[1:]
        curve(axes, steps, median, colour_of(reading), linestyle=DASHES[reading])
        ends.append(End(float(median[-1]), reading, colour_of(reading)))
    end = 2 * float(numbers["median"].sel(reading=READING)[-1])
    guide = np.array([steps[-1] / 5, steps[-1]])
    axes.plot(guide, end * steps[-1] / guide, color=PROMISE, linewidth=1.2)
    log_axis(axes, "x")
    log_axis(axes, "y")
    axes.set_xlim(1, steps[-1])
    named(axes, "step", "training loss")
    label_ends(axes, [*ends, End(end, "like 1/t", INK)], HEIGHT)


def draw_ratios(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """Every run of every reading; left of 1 the loss falls faster than 1/t."""
    axes = canvas.subplots()
    ratios = 2 * numbers["last"] / numbers["middle"]
    draw_rows(axes, [ValueRow(reading, ratios.sel(reading=reading), colour_of(reading)) for reading in IN_WORDS])
    wall(axes, 1.0, "faster than 1/t", "slower")
    axes.set_xlim(0, 1.08 * max(1.0, float(ratios.max())))
    number_axis(axes, "x")
    axes.set_xlabel(f"{numbers.attrs['last']} · loss at step {numbers.attrs['last']}, over {numbers.attrs['last'] // 2}"
                    f" · loss at step {numbers.attrs['last'] // 2}; a dot per run")  # fmt: skip
