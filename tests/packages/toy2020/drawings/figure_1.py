"""A small drawing."""

import xarray as xr
from matplotlib.figure import FigureBase

from widenet.plots.marks import End, label_ends, ramp
from widenet.plots.picture import Panel, Picture


def draw(numbers: xr.Dataset) -> Picture:
    """One line per width."""

    def errors(canvas: FigureBase) -> None:
        axes = canvas.subplots()
        ends = []
        for colour, width in zip(ramp(numbers.sizes["width"]), numbers["width"].values, strict=True):
            mean = numbers["test_error"].sel(width=width).mean("run")
            axes.plot(numbers["epoch"], mean, color=colour)
            ends.append(End(float(mean[-1]), f"width {width}"))
        label_ends(axes, ends, 200)

    return Picture([Panel("Test error", errors, height=200)], "One line per width.")
