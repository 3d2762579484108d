"""The drawing of Figure 7 of li2018."""

import xarray as xr

from widenet.papers.li2018.drawings.panels import curve_panels, spreads
from widenet.plots.picture import Picture


def draw(numbers: xr.Dataset) -> Picture:
    """Four panels with points of norm 1, and four as drawn."""
    return Picture(curve_panels(numbers, "components", "l"), spreads(numbers))
