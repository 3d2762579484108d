"""The drawing of Figure 2 of li2018."""

import xarray as xr

from widenet.papers.li2018.drawings.panels import curve_panels, spreads
from widenet.plots.picture import Picture


def draw(numbers: xr.Dataset) -> Picture:
    """Four panels, images of norm 1."""
    return Picture(curve_panels(numbers, "width", "m", tell=("flips", "distance")), spreads(numbers))
