"""The drawing of Figure 7 of sarussi2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.sarussi2021.drawings.figure_2 import draw_curves
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Both measures against the epoch, from small weights."""
    drawing = Drawing(figsize=(6.8, 3.3), layout="constrained")
    panels = drawing.subplots(1, 2)
    small = numbers.sel(start="small").isel(epoch=numbers.epoch.values >= 1)
    for axes, letter, name in zip(panels, "ab", ("ratio", "angle"), strict=True):
        draw_curves(axes, small[name], "data")
        axes.set_xscale("log")
        ticks = [tick for tick in (1, 2, 5, 10, 20, 60) if tick <= small.epoch.values[-1]]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_xlim(1, small.epoch.values[-1])
        axes.set_ylim(bottom=0)
        axes.set_title(f"({letter}) " + ("r / distance of the means" if name == "ratio" else "Widest angle (degrees)"))
    panels[0].legend(loc="upper right")
    drawing.supxlabel(
        f"Line: mean of {numbers.sizes['run']} initializations; band: smallest to largest.",
        fontsize=7,
        color="#555555",
    )
    return drawing
