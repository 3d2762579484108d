"""The drawing of Figure 6 of sarussi2021."""

from functools import partial

import xarray as xr
from matplotlib.figure import FigureBase

from widenet.papers.sarussi2021.drawings.curves import HEIGHT, after_training, epoch_axis
from widenet.papers.sarussi2021.figures.figure_6 import HARD
from widenet.plots.axes import percent, percent_axis
from widenet.plots.marks import End, curve, label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.rows import ValueRow, draw_rows
from widenet.plots.style import CONTROL, MEASURED

DASHES = ("-", (0, (5, 1.5)))


def draw(numbers: xr.Dataset) -> Picture:
    """A line per pair of digits from epoch 1 on, and every run at the end."""
    panels = (
        Panel("Points in the non-linear region", partial(draw_shares, numbers), height=HEIGHT),
        Panel("After the last epoch, every run", partial(draw_ends, numbers), height=HEIGHT),
    )
    before = percent(float(numbers.nonlinear.isel(epoch=0).mean()))
    return Picture(
        panels, f"Lines: mean of {numbers.sizes['run']} initializations. Before training the share is {before}."
    )


def draw_shares(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """The two hard pairs in blue, the others in grey."""
    axes, ends, others = canvas.subplots(), [], []
    means = after_training(numbers.nonlinear).mean("run")
    for name in means.pair.values.tolist():
        mean, hard = means.sel(pair=name), name in HARD
        look = {"linestyle": DASHES[HARD.index(name)]} if hard else {"linewidth": 1.0}
        curve(axes, means.epoch, mean, MEASURED if hard else CONTROL, **look)
        if hard:
            ends.append(End(float(mean[-1]), name, MEASURED))
        else:
            others.append(float(mean[-1]))
    axes.set_ylim(0, 1.04 * float(means.max()))
    percent_axis(axes)
    epoch_axis(axes, means.epoch.values.tolist(), "of the points")
    label_ends(axes, [*ends, End(sum(others) / len(others), "other pairs", CONTROL)], HEIGHT)


def draw_ends(numbers: xr.Dataset, canvas: FigureBase) -> None:
    """A row per pair."""
    axes, last = canvas.subplots(), numbers.nonlinear.isel(epoch=-1)
    names = last.pair.values.tolist()
    draw_rows(axes, [ValueRow(name, last.sel(pair=name), MEASURED if name in HARD else CONTROL) for name in names])
    percent_axis(axes, "x")
    axes.set_xlim(-0.03 * float(last.max()), 1.06 * float(last.max()))
    axes.set_xlabel("of the points; a dot per run")
