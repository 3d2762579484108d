"""The drawing of Figure 1 of chatterji2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.plots.style import COLOURS, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """φ, with the interval on which it is curved."""
    drawing = Drawing(figsize=(4.4, 3.2), layout="constrained")
    axes = drawing.subplots()
    z, h = numbers["z"].values, float(numbers.attrs["bandwidth"])
    axes.axvspan(0, h, color="#F0F0F0", zorder=0)
    axes.plot(z, z.clip(0), color="#999999", linestyle=(0, (4, 2)), linewidth=1, label="ReLU")
    axes.plot(z, numbers["value"], color=COLOURS[2], linewidth=2, label="Huberized ReLU")
    axes.annotate("0 ≤ z ≤ h", (h / 2, 1.75), ha="center", fontsize=7.5, color="#555555")
    axes.set_xlabel("z")
    axes.set_ylabel("φ(z)")
    axes.set_title(f"The Huberized ReLU, h = {h:g}")
    axes.legend(loc="upper left")
    return drawing
