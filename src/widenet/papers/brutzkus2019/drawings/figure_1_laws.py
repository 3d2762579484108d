"""The drawing of the run counts of Figure 1 of brutzkus2019 under other choices."""

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.figures.statistics import share_interval
from widenet.papers.brutzkus2019.figures.figure_1 import FISHER_LEVEL, REPORTED, fisher_p
from widenet.plots.axes import number, percent_axis
from widenet.plots.marks import measured, reported
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import BROKEN, MEASURED, PAPER, SOFT


def draw(numbers: xr.Dataset) -> Picture:
    """One set of axes per width, one row per choice: the share of runs at zero training error and the reported one."""
    height = 70 + 22 * numbers.sizes["choice"]
    title = "Which choices give the paper's counts of runs at zero training error?"
    return Picture(
        [Panel(title, lambda canvas: _rows(canvas, numbers), True, height)],
        f"Diamond and line: the paper, 100 runs. Blue dot: "
        f"{number(numbers.attrs['n_runs'])} runs that agree with it by the test of the table; vermilion cross: they "
        f"do not, which chance alone does in one of a million seeds. Bars: 95 % intervals.",
    )


def _rows(canvas: FigureBase, numbers: xr.Dataset) -> None:
    choices, widths = [str(name) for name in numbers["choice"].values], numbers["channels"].values
    n_runs = int(numbers.attrs["n_runs"])
    panels = canvas.subplots(1, len(widths), sharey=True, squeeze=False, gridspec_kw={"wspace": 0.08})[0]
    rows = np.arange(len(choices))
    for axes, width in zip(panels, map(int, widths), strict=True):
        solved = numbers["solved"].sel(channels=width).values
        axes.axvline(REPORTED[width] / 100, color=PAPER, linewidth=0.8)
        for row, count in zip(rows, map(int, solved), strict=True):
            low, high = share_interval(count, n_runs)
            agrees = fisher_p(count, n_runs, REPORTED[width]) >= FISHER_LEVEL
            colour = MEASURED if agrees else BROKEN
            axes.hlines(row, low, high, color=colour, alpha=0.36, linewidth=3.5)
            measured(axes, count / n_runs, row, colour=colour, marker="o" if agrees else "X", clip_on=False)
        reported(axes, REPORTED[width] / 100, -0.85)
        axes.set_title(f"{width} channels", fontsize=axes.xaxis.label.get_fontsize(), fontweight="normal", color=SOFT)
        axes.locator_params(axis="x", nbins=3)
        percent_axis(axes, "x")
        axes.grid(visible=False, axis="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(rows, choices)
    panels[0].set_ylim(len(choices) - 0.5, -1.3)
