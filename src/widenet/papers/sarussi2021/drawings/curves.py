"""What the curves against the epoch share."""

from collections.abc import Sequence

import xarray as xr
from matplotlib.axes import Axes

from widenet.plots.axes import log_axis, named, value_ticks
from widenet.plots.marks import End, curve
from widenet.plots.style import BROKEN, UNORDERED

HEIGHT = 240
LOOKS = tuple(look for look in UNORDERED if look[0] != BROKEN)
"""Of three kinds of data. No vermilion: it is for minus."""


def draw_courses(axes: Axes, values: xr.DataArray, along: str) -> list[End]:
    """A line per entry of `along`, the mean over runs in a band from the smallest to the largest; their ends."""
    ends, epochs = [], values.epoch.values
    for name, (colour, dash) in zip(values[along].values.tolist(), LOOKS, strict=True):
        one = values.sel({along: name})
        mean = one.mean("run")
        curve(axes, epochs, mean, colour, band=(one.min("run"), one.max("run")), linestyle=dash)
        ends.append(End(float(mean[-1]), name, colour))
    return ends


def after_training(values: xr.DataArray) -> xr.DataArray:
    """From epoch 1 on."""
    return values.sel(epoch=values.epoch >= 1)


def epoch_axis(axes: Axes, epochs: Sequence[int], upwards: str = "") -> None:
    """Epochs on a logarithmic axis, and 0 to the left of 1 where there is one."""
    first, last = epochs[0], epochs[-1]
    if first == 0:
        axes.set_xscale("symlog", linthresh=1, linscale=0.5)
    else:
        log_axis(axes, "x")
    axes.set_xlim(first, last)
    value_ticks(axes, "x", [tick for tick in (0, 1, 2, 5, 10, 20, 60, 150, 600, 2000) if first <= tick <= last])
    named(axes, "epoch", upwards)
