"""A small drawing."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """One line per width."""
    drawing = Drawing(figsize=(2.0, 1.5))
    axes = drawing.subplots()
    for width in numbers["width"].values:
        axes.plot(numbers["epoch"], numbers["test_error"].sel(width=width).mean("run"), label=str(width))
    return drawing
