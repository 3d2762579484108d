"""The drawing of Figure 9 of sarussi2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.sarussi2021.drawings.planes import draw_neurons, draw_regions
from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Regions and neurons of one run, then disagreements and right neurons against the epoch, mean over runs."""
    drawing = Drawing(figsize=(6.6, 6.2), layout="constrained")
    (regions, neurons), (differ, right) = drawing.subplots(2, 2)
    one, epoch = numbers.isel(run=0), numbers["epoch"].values
    draw_regions(
        regions, one["weights"].values, float(numbers.attrs["slope"]), one["inputs"].values, one["labels"].values
    )
    regions.set_title("(a) Decision regions")
    draw_neurons(neurons, one["weights"].values)
    neurons.set_title("(b) Neurons, normalized")
    for axes, names in ((differ, ("plus_differ", "minus_differ")), (right, ("plus_right", "minus_right"))):
        for number, (name, label) in enumerate(zip(names, ("plus neurons (w)", "minus neurons (u)"), strict=True)):
            axes.plot(epoch, numbers[name].mean("run"), color=COLOURS[number], linestyle=DASHES[number], label=label)
        axes.set_xlabel("epoch")
        axes.set_xlim(0, epoch[-1])
        axes.set_ylim(bottom=0)
        axes.legend()
    differ.set_title("(c) Points they disagree on")
    right.set_title("(d) Neurons right on all points")
    return drawing
