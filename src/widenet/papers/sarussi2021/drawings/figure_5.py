"""The drawing of Figure 5 of sarussi2021."""

import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing

from widenet.plots.style import COLOURS, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """The sign of the output, and the output with its level lines, which bend at the kinks."""
    drawing = Drawing(figsize=(6.8, 3.2), layout="constrained")
    sign_axes, value_axes = drawing.subplots(1, 2, sharey=True)
    outputs = numbers["output"].sel(slope=0.1)
    x1, x2 = numbers["x1"].values, numbers["x2"].values
    colours = ListedColormap([COLOURS[0], COLOURS[4]])
    sign_axes.pcolormesh(x1, x2, np.sign(outputs.values), cmap=colours, vmin=-1, vmax=1, rasterized=True)
    sign_axes.set_title("(a) Sign: a linear classifier")
    shown = value_axes.pcolormesh(x1, x2, outputs.values, cmap="PuOr_r", vmin=-1.1, vmax=1.1, rasterized=True)
    value_axes.contour(x1, x2, outputs.values, levels=np.linspace(-0.9, 0.9, 7), colors="black", linewidths=0.7)
    value_axes.set_title("(b) Value: not linear")
    drawing.colorbar(shown, ax=value_axes, label="N(x)")
    for axes in (sign_axes, value_axes):
        axes.set_aspect("equal")
        axes.set_xticks((-1, 0, 1))
        axes.set_yticks((-1, 0, 1))
        axes.set_xlabel("$x_1$")
    sign_axes.set_ylabel("$x_2$")
    return drawing
