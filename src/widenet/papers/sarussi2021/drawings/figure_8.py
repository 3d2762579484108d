"""The drawing of Figure 8 of sarussi2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """The share of neurons in perfect agreement against the epoch: the mean over runs in its min–max band."""
    drawing = Drawing(figsize=(4.8, 3.2), layout="constrained")
    axes = drawing.subplots()
    for number, (name, label) in enumerate((("plus_right", "plus neurons (w)"), ("minus_right", "minus neurons (u)"))):
        values, epoch = numbers[name], numbers["epoch"].values
        axes.fill_between(epoch, values.min("run"), values.max("run"), color=COLOURS[number], alpha=0.15, linewidth=0)
        axes.plot(
            epoch, values.mean("run"), color=COLOURS[number], linestyle=DASHES[number], label=label, clip_on=False
        )
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xticks([0, 1, 3, 10, 30, 100], ["0", "1", "3", "10", "30", "100"])
    axes.set_xlim(0, numbers["epoch"].values[-1])
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("epoch")
    axes.set_ylabel("share in perfect agreement")
    axes.legend(loc="lower right")
    drawing.supxlabel(
        f"Line: mean of {numbers.sizes['run']} runs; band: smallest to largest.", fontsize=7, color="#555555"
    )
    return drawing
