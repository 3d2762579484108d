"""The drawing of Figure 1 of li2018."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.li2018.drawings.panels import draw_readings
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Four panels with points of norm 1, and four as drawn."""
    return draw_readings(numbers, "width", "m")
