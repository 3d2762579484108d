"""What the drawings of Figures 2 and 3 share: five curves, and the medians of the four readings."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from widenet.papers.chatterji2021.figures.loss_curves import IN_WORDS
from widenet.papers.chatterji2021.runs.simulations import READING
from widenet.plots.style import COLOURS, DASHES


def draw_losses(numbers: xr.Dataset, title: str) -> Drawing:
    """Five runs of reading D on the left; on the right, with logarithmic axes, the medians of all readings."""
    drawing = Drawing(figsize=(7.4, 3.3), layout="constrained")
    left, right = drawing.subplots(1, 2)
    steps = numbers["step"].values
    for run in range(numbers.sizes["curve"]):
        left.plot(steps, numbers["shown"].isel(curve=run), color=COLOURS[run], linewidth=1.2)
    left.set_ylim(0, None)
    left.set_xlabel("step")
    left.set_ylabel("training loss")
    left.set_title(f"(a) {title}, five runs")
    for number, (reading, words) in enumerate(IN_WORDS.items()):
        median = numbers["median"].sel(reading=reading).values[1:]
        right.loglog(steps[1:], median, color=COLOURS[number], linestyle=DASHES[number], label=f"{reading}: {words}")
    end = 2 * float(numbers["median"].sel(reading=READING)[-1])
    guide = np.array([20.0, 100.0])
    right.loglog(guide, end * 100 / guide, color="#777777", linewidth=0.8)
    right.annotate("1/t", (100, end), fontsize=7.5, color="#555555", va="center", xytext=(3, 0),
                   textcoords="offset points")  # fmt: skip
    plain_ticks(right)
    right.set_xlabel("step")
    right.set_title(f"(b) medians of {numbers.attrs['runs']} runs, four readings")
    right.legend(fontsize=7, loc="lower left")
    return drawing


def plain_ticks(axes: Axes) -> None:
    """0.02, 0.05, 0.1 along a logarithmic axis of losses, instead of powers."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _plain(value: float, _: int) -> str:
    return f"{value:g}"
