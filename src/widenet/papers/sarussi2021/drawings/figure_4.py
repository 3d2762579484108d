"""The drawing of Figure 4 of sarussi2021."""

import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing

from widenet.plots.style import COLOURS, styled

BLUE, ORANGE, GREY = COLOURS[0], COLOURS[4], "#BBBBBB"


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Where the output is positive, negative and 0, with the two neurons."""
    drawing = Drawing(figsize=(6.4, 3.8), layout="constrained")
    panels = drawing.subplots(1, 2, sharey=True)
    for axes, slope, title in zip(panels, (0.1, 0.0), ("(a) Leaky ReLU: a line", "(b) ReLU: no line"), strict=True):
        signs = np.sign(numbers["output"].sel(slope=slope).values)
        axes.pcolormesh(
            numbers["x1"],
            numbers["x2"],
            signs,
            cmap=ListedColormap([BLUE, GREY, ORANGE]),
            vmin=-1,
            vmax=1,
            rasterized=True,
        )
        for end, name, aside in (((0.6, 0.0), "w", (0.02, 0.05)), ((0.0, 0.6), "u", (0.05, 0.02))):
            axes.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": "black", "linewidth": 1.4})
            axes.annotate(name, (end[0] + aside[0], end[1] + aside[1]), fontsize=10)
        axes.set_aspect("equal")
        axes.set_xticks((-1, 0, 1))
        axes.set_yticks((-1, 0, 1))
        axes.set_title(title)
        axes.set_xlabel("$x_1$")
    panels[0].set_ylabel("$x_2$")
    drawing.supxlabel("Orange: positive, blue: negative, grey: zero.", fontsize=7, color="#555555")
    return drawing
