"""The drawing of updates against the step size."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.brutzkus2018.drawings.error_panels import note_below
from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Updates on the two data sets between the lower and the upper bound, both axes logarithmic."""
    drawing = Drawing(figsize=(5.6, 3.6), layout="constrained")
    axes = drawing.subplots()
    eta, updates = numbers["step_size"].values, numbers["updates"]
    axes.plot(eta, numbers["update_bound"], color=COLOURS[2], linestyle=DASHES[2], label="M, the bound of Corollary 3")
    for colour, name in zip(COLOURS, numbers["data"].values, strict=False):
        own = updates.sel(data=name).dropna("run", how="all")
        axes.fill_between(eta, own.min("run"), own.max("run"), color=colour, alpha=0.15, linewidth=0)
        axes.plot(eta, own.mean("run"), color=colour, marker="o", markersize=3, label=f"updates, {name}")
    axes.plot(eta, numbers["lower_bound"], color=COLOURS[3], linestyle=DASHES[3], label="⅓(‖w*‖²/η + ‖w*‖²)")
    threshold = numbers.attrs["one_pass_from"]
    axes.axvline(threshold, color="#444444", linewidth=0.7)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.annotate(
        " each basis vector\n updated once", (threshold, 1), xycoords=("data", "axes fraction"), va="top", fontsize=7.5
    )
    axes.set_xlabel("step size η")
    axes.set_ylabel("non-zero updates")
    drawing.legend(loc="outside upper center", ncols=2, handlelength=1.8)
    note_below(
        drawing, "The lower bound is for the basis sequence alone; the upper one is for every order of both data sets."
    )
    return drawing
