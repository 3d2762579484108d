"""What the drawings of Figures 2 and 3 share: five curves, and the medians of the four readings."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from widenet.papers.chatterji2021.figures.loss_curves import IN_WORDS
from widenet.papers.chatterji2021.runs.simulations import READING
from widenet.plots.style import COLOURS, DASHES

SHOWN = 5
"""Runs that are drawn one by one, as in the paper."""


def draw_losses(numbers: xr.Dataset, title: str) -> Drawing:
    """Five runs of reading D on the left; on the right, with logarithmic axes, the medians of all readings."""
    drawing = Drawing(figsize=(7.4, 3.3), layout="constrained")
    left, right = drawing.subplots(1, 2)
    steps = numbers["step"].values
    for run in range(min(SHOWN, numbers.sizes["run"])):
        left.plot(steps, numbers["loss"].sel(reading=READING).isel(run=run), color=COLOURS[run], linewidth=1.2)
    left.set_ylim(0, None)
    left.set_xlabel("step")
    left.set_ylabel("training loss")
    left.set_title(f"(a) {title}, five runs")
    for number, (reading, words) in enumerate(IN_WORDS.items()):
        median = numbers["loss"].sel(reading=reading).median("run").values[1:]
        right.loglog(steps[1:], median, color=COLOURS[number], linestyle=DASHES[number], label=f"{reading}: {words}")
    end = 2 * float(numbers["loss"].sel(reading=READING).median("run")[-1])
    guide = np.array([20.0, 100.0])
    right.loglog(guide, end * 100 / guide, color="#777777", linewidth=0.8)
    right.annotate("1/t", (100, end), fontsize=7.5, color="#555555", va="center", xytext=(3, 0),
                   textcoords="offset points")  # fmt: skip
    plain_ticks(right)
    right.set_xlabel("step")
    right.set_title("(b) medians of 40 runs, four readings")
    right.legend(fontsize=7, loc="lower left")
    return drawing


def plain_ticks(axes: Axes) -> None:
    """0.02, 0.05, 0.1 along a logarithmic axis of losses, instead of powers."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _plain(value: float, _: int) -> str:
    return f"{value:g}"
