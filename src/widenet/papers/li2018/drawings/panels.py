"""Panels that the drawings of li2018 share: curves in bands, singular values, and single runs against the width."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from widenet.plots.axes import log_axis, named, number, number_axis, percent, percent_axis, value_ticks
from widenet.plots.marks import End, curve, label_ends, promise, ramp
from widenet.plots.picture import Panel
from widenet.plots.style import INK, MEASURED, SOFT, UNORDERED

HEIGHT = 230
TITLES = {
    "accuracy": "Test accuracy",
    "flips": "Changed activation patterns",
    "distance": "Distance from the start",
    "update_values": "Singular values of the update",
}
"""By quantity, in the order of the paper's panels (a) to (d)."""
UPWARDS = {
    "accuracy": "of the test points",
    "flips": "of all pairs of neuron and test point",
    "distance": "‖W − W⁰‖ / ‖W⁰‖",
    "update_values": "σⱼ / σ₁",
}


READING_LOOKS = (UNORDERED[0], UNORDERED[-1])
"""Blue for points of norm 1, as the theory asks, and grey for points as drawn."""


def curve_panels(
    numbers: xr.Dataset, axis: str, symbol: str, *, tell: Sequence[str] = tuple(TITLES), limit: float | None = None
) -> list[Panel]:
    """Four panels per reading, side by side, with a line per entry of `axis`.

    The lines of the quantities in `tell` have their names at their ends; elsewhere they lie on top of each other.
    `limit` is what the paper says patterns and distances stay below.
    """
    readings = numbers["reading"].values.tolist() if "reading" in numbers.dims else [None]
    panels = []
    for name, title in TITLES.items():
        top = 1.04 * float((numbers[f"{name}_mean"] + numbers[f"{name}_std"]).max())
        for reading in readings:
            one = numbers if reading is None else numbers.sel(reading=reading)
            draw = draw_values if name == "update_values" else partial(draw_curves, name=name, top=top, limit=limit)
            words = title if reading is None else f"{title}, {reading}"
            panels.append(Panel(words, partial(_alone, draw, one, axis, symbol, name in tell), height=HEIGHT))
    return panels


def _alone(
    draw: Callable[..., None], numbers: xr.Dataset, axis: str, symbol: str, tell: bool, canvas: FigureBase
) -> None:
    draw(canvas.subplots(), numbers, axis, symbol, tell)


def names(values: Sequence[float | int], symbol: str) -> list[str]:
    """The largest with its symbol, the others as numbers."""
    return [f"{symbol} = {number(value)}" if value == max(values) else number(value) for value in values]


def draw_curves(
    axes: Axes, numbers: xr.Dataset, axis: str, symbol: str, tell: bool, *, name: str, top: float, limit: float | None
) -> None:
    """Means in bands of one standard deviation against the step."""
    shown = numbers.isel(step=slice(1, None)) if numbers["step"].values[0] == 0 else numbers
    values, steps, ends = shown[axis].values.tolist(), shown["step"].values, []
    for value, words, colour in zip(values, names(values, symbol), ramp(len(values)), strict=True):
        one = shown.sel({axis: value})
        mean, deviation = one[f"{name}_mean"].values, one[f"{name}_std"].values
        curve(axes, steps, mean, colour, band=(mean - deviation, mean + deviation))
        ends.append(End(float(mean[-1]), words, stroke=colour))
    log_axis(axes, "x")
    axes.set_xlim(steps[0], steps[-1])
    if name == "accuracy":
        percent_axis(axes)
        low = float((shown["accuracy_mean"] - shown["accuracy_std"]).min())
        axes.set_ylim(0 if low < 0.5 else np.floor(20 * low) / 20, 1.005)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5))
        (percent_axis if name == "flips" else number_axis)(axes, "y")
        low = float((shown[f"{name}_mean"] - shown[f"{name}_std"]).min())
        axes.set_ylim(0 if low < top / 2 else 0.95 * low, max(top, 1.15 * (limit or 0)))
    if limit is not None and name != "accuracy":
        promise(axes, axes.get_xlim(), [limit, limit])
        words = (percent if name == "flips" else number)(limit)
        axes.annotate(f"the paper: below {words}", (0, limit), (3, 3), ("axes fraction", "data"),
                      "offset points", color=INK)  # fmt: skip
    named(axes, "step", UPWARDS[name])
    if name == "accuracy":
        ramp_key(axes, names(values, symbol))
    elif tell:
        label_ends(axes, ends, HEIGHT)


def ramp_key(axes: Axes, words: Sequence[str]) -> None:
    """What the colours of the ramp mean, where the lines cannot say it at their ends."""
    lines = [Line2D([], [], color=colour) for colour in ramp(len(words))]
    spacing = {"handlelength": 1.4, "handletextpad": 0.5, "labelspacing": 0.35, "borderpad": 0.1, "borderaxespad": 0.3}
    axes.legend(lines[::-1], words[::-1], loc="lower right", labelcolor=SOFT, **spacing)


def draw_values(axes: Axes, numbers: xr.Dataset, axis: str, symbol: str, tell: bool) -> None:
    """σ_j/σ_1 of the update in bands of one standard deviation, and of the weights at the end."""
    values, places = numbers[axis].values.tolist(), numbers["place"].values
    weights = numbers.isel({axis: -1})["weight_values_mean"].values
    axes.plot(places, weights, color=SOFT, linestyle=(0, (5, 1.5)), linewidth=1.2)
    ends = [End(float(weights[-1]), "W itself", SOFT)]
    for value, words, colour in zip(values, names(values, symbol), ramp(len(values)), strict=True):
        one = numbers.sel({axis: value})
        mean, deviation = one["update_values_mean"].values, one["update_values_std"].values
        curve(axes, places, mean, colour, band=(np.maximum(mean - deviation, 1e-9), mean + deviation))
        ends.append(End(float(mean[-1]), words, stroke=colour))
    if not tell:
        lowest = float(numbers["update_values_mean"].isel(place=-1).mean())
        ends[1:] = [End(lowest, f"all {symbol}")]
    log_axis(axes, "y")
    axes.set_ylim(float(numbers["update_values_mean"].min()) / 1.6, 1.3)
    axes.set_xlim(1, places[-1])
    axes.set_xticks([1, *range(20, places[-1] + 1, 20)])
    named(axes, "place j", UPWARDS["update_values"])
    label_ends(axes, ends, HEIGHT)


def spreads(numbers: xr.Dataset) -> str:
    """What the bands are."""
    return f"Lines: mean of {numbers.attrs['runs']} repeats. Bands: one standard deviation."


def draw_runs(axes: Axes, values: xr.DataArray, width: str, run: str, colour: str = MEASURED, dash: Any = "-") -> End:
    """A dot per run and a line through the means, against the width; returns the end of the line."""
    mean, widths = values.mean(run), values[width].values
    places, heights = np.broadcast_arrays(widths[:, None], values.transpose(width, run).values)
    axes.plot(places.ravel(), heights.ravel(), "o", color=colour, alpha=0.5, markersize=3.5, markeredgewidth=0)
    axes.plot(widths, mean.values, color=colour, linestyle=dash, zorder=4)
    return End(float(mean[-1]), "", colour)


def width_axis(axes: Axes, widths: Sequence[int], upwards: str) -> None:
    """Widths on a logarithmic axis, with a number at each that was run."""
    log_axis(axes, "x")
    axes.set_xlim(widths[0] / 1.15, widths[-1] * 1.15)
    value_ticks(axes, "x", widths)
    named(axes, "hidden neurons m", upwards)
