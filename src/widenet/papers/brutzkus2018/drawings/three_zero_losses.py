"""The drawing of three zero-loss networks and their test errors."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter

from widenet.papers.brutzkus2018.drawings.error_panels import note_below
from widenet.plots.style import COLOURS, styled

MARKERS = ("s", "^", "o")


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Test error of each solution against the width: one mark per data set, a line through the means."""
    drawing = Drawing(figsize=(5.6, 3.4), layout="constrained")
    axes = drawing.subplots()
    place = np.arange(numbers.sizes["multiple"])
    n_runs = numbers.sizes["run"]
    for row, name in enumerate(numbers["solution"].values):
        error = numbers["test_error"].sel(solution=name).transpose("multiple", "run").values
        aside = 0.16 * (row - 1) + np.linspace(-0.06, 0.06, n_runs) if n_runs > 1 else np.zeros(1)
        colour = COLOURS[row]
        for column in place:
            axes.plot(column + aside, error[column], MARKERS[row], color=colour, markersize=3, alpha=0.45, linewidth=0)
        label = f"{name} (mean {100 * error.mean():.3g} %)"
        axes.plot(place + 0.16 * (row - 1), error.mean(axis=1), MARKERS[row], color=colour, markersize=6, label=label)
    halves = numbers["half_width"].values
    axes.set_xticks(place, [f"2k = {2 * half}" for half in halves])
    axes.set_ylim(-0.04, 1.04)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:g} %"))
    axes.set_ylabel("test error")
    axes.set_xlabel("width; the first is the one Theorem 7 asks for on all points")
    drawing.legend(loc="outside upper center", ncols=1)
    worst = float(numbers["train_loss"].max())
    note_below(drawing, f"Small marks: {n_runs} data sets; large: their mean. Largest training loss of all: {worst:g}.")
    return drawing
