"""The drawing of Figure 5 of li2018."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.li2018.drawings.panels import draw_law, log_axis, width_axis
from widenet.papers.li2018.figures.figure_5 import PRINTED
from widenet.plots.style import styled

RED = "#CC0000"
"""Of the printed lines, as in the paper."""


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Relative distances against the width beside the printed lines, both axes logarithmic."""
    drawing = Drawing(figsize=(7.0, 3.3), layout="constrained")
    left, right = drawing.subplots(1, 2)
    for number, reading in enumerate(numbers["reading"].values.tolist()):
        draw_law(left, numbers["synthetic"].sel(reading=reading), "width", "run", number, reading)
    draw_law(right, numbers["mnist"], "mnist_width", "mnist_run", 0, "norm 1")
    for axes, width, key, label in ((left, "width", "synthetic", "2/(3√m)"), (right, "mnist_width", "mnist", "8/√m")):
        widths = numbers[width].values
        along = np.geomspace(widths[0] / 1.2, widths[-1] * 1.2)
        axes.plot(along, PRINTED[key] / np.sqrt(along), color=RED, linewidth=1.2, label=f"{label}, printed")
        log_axis(axes)
        width_axis(axes, widths.tolist())
        axes.legend()
    left.set_title("(a) Synthetic data, at 98 %")
    right.set_title("(b) MNIST, at 95 %")
    left.set_ylabel("‖W − W⁰‖ / ‖W⁰‖")
    return drawing
