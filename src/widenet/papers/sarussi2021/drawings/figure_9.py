"""The drawing of Figure 9 of sarussi2021."""

import xarray as xr
from matplotlib.figure import Figure as Drawing

from widenet.papers.sarussi2021.drawings.maps import draw_map
from widenet.papers.sarussi2021.drawings.planes import draw_neurons, draw_regions
from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """Regions and neurons of one run, disagreements and right neurons against the epoch, and the map."""
    drawing = Drawing(figsize=(6.6, 8.4), layout="constrained")
    above, below = drawing.subfigures(2, 1, squeeze=False, height_ratios=(2.4, 1))[:, 0]
    (regions, neurons), (differ, right) = above.subplots(2, 2)
    one, shown = numbers.isel(run=0), numbers.sel(epoch=slice(0, 60))
    draw_regions(
        regions, one["weights"].values, float(numbers.attrs["slope"]), one["inputs"].values, one["labels"].values
    )
    regions.set_title("(a) Decision regions")
    draw_neurons(neurons, one["weights"].values)
    neurons.set_title("(b) Neurons, normalized")
    for axes, names in ((differ, ("plus_differ", "minus_differ")), (right, ("plus_right", "minus_right"))):
        for number, (name, label) in enumerate(zip(names, ("plus neurons (w)", "minus neurons (u)"), strict=True)):
            axes.plot(
                shown["epoch"], shown[name].mean("run"), color=COLOURS[number], linestyle=DASHES[number], label=label
            )
        axes.set_xlabel("epoch")
        axes.set_xlim(0, shown["epoch"].values[-1])
        axes.set_ylim(bottom=0)
        axes.legend()
    differ.set_title("(c) Points they disagree on")
    right.set_title("(d) Neurons right on all points")
    mapped = numbers.map_at_the_end
    draw_map(
        below, mapped, "(e) Share of runs in this state after 60 epochs, by slope, step and initial deviation", "Greens"
    )
    later = ", ".join(
        f"{float(numbers.imperfect.sel(epoch=epoch).mean()):.0%} at {epoch}"
        for epoch in numbers["epoch"].values.tolist()
        if epoch in (60, 150, 600, 2000)
    )
    below.supxlabel(f"Runs of (a) to (d) in this state, by epoch: {later}.", fontsize=7, color="#555555")
    return drawing
