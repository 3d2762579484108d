"""The drawing of Figure 2 of li2018."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.li2018.drawings.panels import draw_panels, legend_above, note_below
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Four panels, images of norm 1."""
    drawing = Drawing(figsize=(7.0, 5.4), layout="constrained")
    draw_panels(list(drawing.subplots(2, 2).ravel()), numbers, "width", "abcd")
    legend_above(drawing, numbers, "width", "m")
    note_below(drawing, f"Mean of {numbers.attrs['runs']} repeats; bands: one standard deviation. Grey: W at the end.")
    return drawing
