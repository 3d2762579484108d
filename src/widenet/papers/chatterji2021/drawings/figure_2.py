"""The drawing of Figure 2 of chatterji2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.chatterji2021.drawings.loss_curves import draw_losses
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Losses of single runs, and the medians of all readings."""
    return draw_losses(numbers, "XOR")
