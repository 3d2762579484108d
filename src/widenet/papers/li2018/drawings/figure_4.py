"""The drawing of Figure 4 of li2018."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.li2018.drawings.panels import draw_law, width_axis
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Steps against the width, on synthetic data and on MNIST."""
    drawing = Drawing(figsize=(7.0, 3.1), layout="constrained")
    left, right = drawing.subplots(1, 2)
    for number, reading in enumerate(numbers["reading"].values.tolist()):
        draw_law(left, numbers["synthetic"].sel(reading=reading), "width", "run", number, reading)
    draw_law(right, numbers["mnist"], "mnist_width", "mnist_run", 0, "norm 1")
    width_axis(left, numbers["width"].values.tolist())
    width_axis(right, numbers["mnist_width"].values.tolist())
    left.set_title("(a) Synthetic data, 98 %")
    right.set_title("(b) MNIST, 95 %")
    left.set_ylabel("steps")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.legend()
    return drawing
