"""The drawing of Figure 2 of sarussi2021."""

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from widenet.papers.sarussi2021.drawings.maps import draw_map
from widenet.plots.style import COLOURS, DASHES, styled


@styled
def draw(numbers: xr.Dataset) -> Drawing:
    """The share against the epoch from small and from large weights, and below it the map."""
    drawing = Drawing(figsize=(6.8, 5.6), layout="constrained")
    above, below = drawing.subfigures(2, 1, squeeze=False, height_ratios=(1.2, 1))[:, 0]
    panels = above.subplots(1, 2, sharey=True)
    for axes, letter, start in zip(panels, "ab", ("small", "large"), strict=True):
        draw_curves(axes, numbers.nonlinear.sel(start=start), "data")
        axes.set_title(f"({letter}) {start} initial weights")
        axes.set_ylim(-0.02, 1.03)
    panels[0].set_ylabel("share in the non-linear region")
    panels[0].legend(loc="upper right")
    mapped = numbers.map_nonlinear.mean("trial")
    draw_map(below, mapped, "(c) 3 against 5 after the last epoch, by slope, step and initial deviation", "Blues")
    below.supxlabel(
        f"Curves: mean of {numbers.sizes['run']} initializations; band: smallest to largest.\n"
        f"{_training_errors(numbers)}",
        fontsize=7,
        color="#555555",
    )
    return drawing


def _training_errors(numbers: xr.Dataset) -> str:
    """Mean training errors at the end, by start, in the order of the curves."""
    ends = numbers.train_error.isel(epoch=-1).mean("run")
    told = [
        f"{start} " + ", ".join(f"{float(value):.1%}" for value in ends.sel(start=start).values)
        for start in ("small", "large")
    ]
    return f"Training error at the end: {'; '.join(told)}."


def draw_curves(axes: Axes, values: xr.DataArray, along: str, *, bands: bool = True) -> None:
    """One line per entry of `along`, the mean over runs in its min–max band, against the epoch."""
    epoch = values.epoch.values
    for number, name in enumerate(values[along].values):
        one, colour = values.sel({along: name}), COLOURS[number]
        if bands:
            axes.fill_between(epoch, one.min("run"), one.max("run"), color=colour, alpha=0.15, linewidth=0)
        axes.plot(epoch, one.mean("run"), color=colour, linestyle=DASHES[number % len(DASHES)], label=str(name))
    axes.set_xscale("symlog", linthresh=1)
    ticks = [tick for tick in (0, 1, 2, 5, 10, 20, 60) if tick <= epoch[-1]]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(0, epoch[-1])
    axes.set_xlabel("epoch")
