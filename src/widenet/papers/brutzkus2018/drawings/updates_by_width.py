"""The drawing of updates against the width."""

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from widenet.plots.axes import log_axis, named, value_ticks
from widenet.plots.marks import End, curve, label_ends, promise
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import INK, MEASURED

HEIGHT = 250


def draw(numbers: xr.Dataset) -> Picture:
    """Mean updates and their min–max band, and the bound of Theorem 2, against the width: a panel per start."""
    panels = [
        Panel(_title(numbers, name), lambda canvas, name=name: _updates(canvas, numbers, name), height=HEIGHT)
        for name in numbers["normalization"].values
    ]
    runs = int(np.max((numbers["status"] >= 0).sum("run").values))
    return Picture(
        panels,
        f"Line: mean of {runs} runs per width; band: all runs. Ink: Mₖ, the bound of Theorem 2. R is the largest norm "
        "at the start, v the size of the output weights.",
    )


def _title(numbers: xr.Dataset, name: str) -> str:
    """Whether the updates stay or grow from the narrowest to the widest network."""
    updates = numbers["updates"].sel(normalization=name).mean("run").dropna("half_width").values
    return f"R = v = {name}: updates {'grow with k' if updates[-1] > 2 * updates[0] else 'do not grow'}"


def _updates(canvas: FigureBase, numbers: xr.Dataset, name: str) -> None:
    axes = canvas.subplots()
    own = numbers.sel(normalization=name).dropna("half_width", subset=["updates"])
    width, updates, bound = 2 * own["half_width"].values, own["updates"], own["update_bound"]
    mean = updates.mean("run")
    curve(axes, width, mean, band=(updates.min("run"), updates.max("run")), marker="o", markersize=4)
    promise(axes, width, bound)
    axes.set_xscale("log")
    axes.set_ylim(float(numbers["updates"].min()) / 1.5, float(numbers["update_bound"].max()) * 1.5)
    value_ticks(axes, "x", width)
    log_axis(axes, "y")
    named(axes, "width 2k", "non-zero updates")
    label_ends(axes, [End(bound[-1], "at most Mₖ", INK), End(mean[-1], "made", MEASURED)], HEIGHT)
