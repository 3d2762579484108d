"""The drawing of three zero-loss networks and their test errors."""

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.plots.axes import named, number, percent, percent_axis
from widenet.plots.marks import End, label_ends, measured
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import BROKEN, CONTROL, MEASURED

HEIGHT = 280
LOOKS = ((BROKEN, "s"), (CONTROL, "^"), (MEASURED, "o"))


def draw(numbers: xr.Dataset) -> Picture:
    """Test error of each solution against the width: one small mark per data set, a large one for the mean."""
    panel = Panel(
        "Errors of three networks with zero training loss", lambda canvas: _errors(canvas, numbers), True, HEIGHT
    )
    worst = number(float(numbers["train_loss"].max()))
    return Picture(
        [panel],
        f"Small marks: {numbers.sizes['run']} data sets; large marks: their means. All networks fit all training "
        f"points (largest training loss {worst}). The first width is the one that Theorem 7 asks for.",
    )


def _errors(canvas: FigureBase, numbers: xr.Dataset) -> None:
    axes = canvas.subplots()
    place, n_runs, ends = np.arange(numbers.sizes["multiple"]), numbers.sizes["run"], []
    for row, (name, (colour, mark)) in enumerate(zip(numbers["solution"].values, LOOKS, strict=True)):
        error = numbers["test_error"].sel(solution=name).transpose("multiple", "run").values
        aside = 0.05 * (np.arange(n_runs) - (n_runs - 1) / 2) / max(n_runs - 1, 1) * 2
        for column in place:
            at = column + 0.16 * (row - 1) + aside
            axes.plot(at, error[column], mark, color=colour, markersize=3.5, alpha=0.35, markeredgewidth=0)
        mean = error.mean(axis=1)
        measured(axes, place + 0.16 * (row - 1), mean, colour=colour, marker=mark, linestyle="")
        ends.append(End(mean[-1], f"{name}: {percent(error.mean())}", colour))
    axes.set_xticks(place, [number(2 * half) for half in numbers["half_width"].values])
    axes.set_xlim(-0.4, place[-1] + 0.35)
    axes.set_ylim(0, 1.02)
    percent_axis(axes)
    named(axes, "width 2k", "test error")
    label_ends(axes, ends, HEIGHT)
