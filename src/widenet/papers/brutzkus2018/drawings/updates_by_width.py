"""The drawing of updates against the width."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullFormatter

from widenet.papers.brutzkus2018.drawings.error_panels import note_below
from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Mean updates and their min–max band per normalization, and the bound of Theorem 2, against the width."""
    drawing = Drawing(figsize=(5.6, 3.4), layout="constrained")
    axes = drawing.subplots()
    for colour, name in zip(COLOURS, numbers["normalization"].values, strict=False):
        own = numbers.sel(normalization=name).dropna("half_width", subset=["updates"])
        width, updates = 2 * own["half_width"].values, own["updates"]
        axes.fill_between(width, updates.min("run"), updates.max("run"), color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            width, updates.mean("run"), color=colour, marker="o", markersize=3.5, label=f"updates, R = v = {name}"
        )
        axes.plot(
            width, own["update_bound"], color=colour, linestyle=DASHES[1], linewidth=1, label=f"M_k, R = v = {name}"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(2 * numbers["half_width"].values)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)
    axes.set_xlabel("width 2k")
    axes.set_ylabel("non-zero updates")
    drawing.legend(loc="outside upper center", ncols=2, handlelength=1.8)
    runs = int(np.max((numbers["status"] >= 0).sum("run").values))
    note_below(drawing, f"Line: mean of {runs} runs per width; band: smallest to largest run.")
    return drawing
