"""The drawing of Figure 4 of chatterji2021."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.chatterji2021.drawings.loss_curves import plain_ticks
from widenet.papers.chatterji2021.runs.simulations import READINGS
from widenet.plots.style import COLOURS, styled

LOOKS = (("relu", "ReLU", COLOURS[0], "-"), ("huberized", "Huberized ReLU", COLOURS[2], (0, (5, 1.5))))


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Five runs of each activation, and how many of all runs overshoot in each reading."""
    drawing = Drawing(figsize=(7.4, 3.3), layout="constrained")
    left, right = drawing.subplots(1, 2, width_ratios=(3, 2))
    steps = numbers["step"].values
    for name, words, colour, dash in LOOKS:
        for run in range(numbers.sizes["curve"]):
            losses = numbers["shown"].sel(activation=name).isel(curve=run)
            left.plot(steps, losses, color=colour, linestyle=dash, linewidth=1.1, label=words if run == 0 else None)
    left.set_yscale("log")
    plain_ticks(left)
    left.set_xlabel("step")
    left.set_ylabel("training loss")
    left.set_title("(a) shoulders, five runs of each")
    left.legend(loc="lower left")
    places = np.arange(len(READINGS))
    for shift, (name, words, colour, _) in zip((-0.2, 0.2), LOOKS, strict=True):
        up = (numbers["rise"].sel(activation=name) > 0).sum("run")
        counts = [int(up.sel(reading=reading)) for reading in READINGS]
        bars = right.bar(places + shift, counts, 0.38, color=colour, label=words)
        right.bar_label(bars, fontsize=7, padding=1)
    right.set_xticks(places, list(READINGS))
    right.set_ylim(0, numbers.sizes["run"])
    right.set_ylabel(f"of {numbers.sizes['run']} runs of each")
    right.grid(visible=False, axis="x")
    right.set_xlabel("reading of the text")
    right.set_title("(b) runs that overshoot")
    return drawing
