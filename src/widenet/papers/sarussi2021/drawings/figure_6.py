"""The drawing of Figure 6 of sarussi2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.sarussi2021.drawings.figure_2 import draw_curves
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """One line per pair of digits."""
    drawing = Drawing(figsize=(4.8, 3.4), layout="constrained")
    axes = drawing.subplots()
    draw_curves(axes, numbers.nonlinear, "pair", bands=False)
    axes.set_ylim(-0.02, 1.03)
    axes.set_ylabel("share in the non-linear region")
    axes.legend(loc="upper right")
    drawing.supxlabel(f"Mean of {numbers.sizes['run']} initializations.", fontsize=7, color="#555555")
    return drawing
