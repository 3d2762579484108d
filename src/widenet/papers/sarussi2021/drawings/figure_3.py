"""The drawing of Figure 3 of sarussi2021."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.sarussi2021.drawings.planes import draw_line, draw_neurons, draw_regions
from widenet.plots.style import COLOURS, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """The learned regions with the predicted line, and the neurons with the predicted directions."""
    drawing = Drawing(figsize=(6.6, 3.5), layout="constrained")
    left, right = drawing.subplots(1, 2)
    one = numbers.isel(run=0)
    weights, pair = one["weights"].values, one["predicted"].values
    reach = draw_regions(left, weights, float(numbers.attrs["slope"]), one["inputs"].values, one["labels"].values)
    draw_line(left, pair[:2] - pair[2:], reach, "predicted by Eq. 7")
    left.legend(loc="lower right")
    left.set_title("(a) Learned regions, predicted line")
    draw_neurons(right, weights)
    for row, marker, name in ((pair[:2], "o", "w of Eq. 7"), (pair[2:], "s", "u of Eq. 7")):
        unit = row / np.linalg.norm(row)
        right.plot(*unit, marker, color=COLOURS[1], markersize=7, fillstyle="none", markeredgewidth=1.5, label=name)
    right.legend(loc="lower right")
    right.set_title("(b) Neurons, and predicted directions")
    return drawing
