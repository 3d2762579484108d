"""The drawing of Figure 1 of sarussi2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.sarussi2021.drawings.planes import draw_neurons, draw_regions
from widenet.plots.style import styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """One run from large and one from small weights: decision regions above, directions of neurons below."""
    drawing = Drawing(figsize=(6.2, 6.2), layout="constrained")
    panels = drawing.subplots(2, 2)
    slope = float(numbers.attrs["slope"])
    for column, (start, name) in enumerate(((30.0, "large"), (1e-3, "small"))):
        one = numbers.sel(start=start).isel(run=0)
        draw_regions(panels[0, column], one["weights"].values, slope, one["inputs"].values, one["labels"].values)
        draw_neurons(panels[1, column], one["weights"].values)
        panels[0, column].set_title(f"({'ab'[column]}) {name} initialization, std {start:g}")
        panels[1, column].set_title(f"({'cd'[column]}) its neurons, normalized")
    drawing.supxlabel("Orange: positive, blue: negative. Neurons that vote plus: black, minus: yellow.", fontsize=7,
                      color="#555555")  # fmt: skip
    return drawing
