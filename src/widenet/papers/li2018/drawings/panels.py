"""Panels that the drawings of li2018 share: curves with deviations, and singular values."""

from collections.abc import Sequence

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from widenet.plots.style import COLOURS, DASHES

NUMBERS = FuncFormatter(lambda value, _: f"{value:g}")
LABELS = {
    "accuracy": "test accuracy",
    "flips": "changed patterns",
    "distance": "relative distance",
}


def draw_panels(panels: Sequence[Axes], numbers: xr.Dataset, axis: str, letters: str = "abcd") -> None:
    """Accuracy, patterns and distance against the step, and singular values; one colour per entry of `axis`."""
    titles = ("Test accuracy", "Coupling", "Distance", "Singular values")
    for axes, letter, title, name in zip(panels, letters, titles, (*LABELS, "values"), strict=True):
        if name == "values":
            draw_values(axes, numbers, axis)
        else:
            draw_curves(axes, numbers, axis, name)
        axes.set_title(f"({letter}) {title}" if letter.strip() else title)


def draw_curves(axes: Axes, numbers: xr.Dataset, axis: str, name: str) -> None:
    """Mean and deviation against the step."""
    for number, value in enumerate(numbers[axis].values):
        one = numbers.sel({axis: value}).isel(step=slice(1, None))
        mean, deviation, colour = one[f"{name}_mean"], one[f"{name}_std"], COLOURS[number]
        axes.fill_between(one["step"], mean - deviation, mean + deviation, color=colour, alpha=0.18, linewidth=0)
        axes.plot(one["step"], mean, color=colour, linestyle=DASHES[number % len(DASHES)])
    axes.set_xscale("log")
    axes.set_xlim(numbers["step"].values[1], numbers["step"].values[-1])
    axes.xaxis.set_major_formatter(NUMBERS)
    axes.set_xlabel("step")
    axes.set_ylabel(LABELS[name])
    if name == "accuracy":
        axes.set_ylim(0, 1.02)
    else:
        axes.set_ylim(bottom=0)


def draw_values(axes: Axes, numbers: xr.Dataset, axis: str) -> None:
    """σ_j/σ_1 of the update, and in grey of the weights of the last entry."""
    for number, value in enumerate(numbers[axis].values):
        one, colour = numbers.sel({axis: value}), COLOURS[number]
        mean, deviation = one["update_values_mean"], one["update_values_std"]
        low = (mean - deviation).clip(min=1e-9)
        axes.fill_between(one["place"], low, mean + deviation, color=colour, alpha=0.18, linewidth=0)
        axes.plot(one["place"], mean, color=colour, linestyle=DASHES[number % len(DASHES)])
    weights = numbers.isel({axis: -1})["weight_values_mean"]
    axes.plot(numbers["place"], weights, color="#777777", linewidth=1.0)
    axes.annotate("W", (float(numbers["place"][-1]), float(weights[-1])), xytext=(-4, -10), textcoords="offset points",
                  ha="right", color="#777777")  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(float(numbers["update_values_mean"].min()) / 2, 2)
    axes.set_xlim(1, numbers["place"].values[-1])
    axes.set_xlabel("place j")
    axes.set_ylabel("σⱼ / σ₁")


def legend_above(drawing: Drawing, numbers: xr.Dataset, axis: str, words: str) -> None:
    """One entry per value of `axis`."""
    lines = [
        Line2D([], [], color=COLOURS[number], linestyle=DASHES[number % len(DASHES)])
        for number in range(numbers.sizes[axis])
    ]
    labels = [f"{words} = {value:g}" for value in numbers[axis].values.tolist()]
    drawing.legend(lines, labels, loc="outside upper center", ncols=7, columnspacing=1.2, handlelength=1.8)


def note_below(drawing: Drawing, text: str) -> None:
    """A small line under the panels."""
    drawing.supxlabel(text, fontsize=7, color="#555555")


def draw_readings(numbers: xr.Dataset, axis: str, words: str) -> Drawing:
    """A column of four panels per reading: norm 1, and as drawn."""
    drawing = Drawing(figsize=(7.0, 9.2), layout="constrained")
    grid = drawing.subplots(4, 2, sharey="row", sharex=False)
    for column, reading in enumerate(numbers["reading"].values.tolist()):
        draw_panels(list(grid[:, column]), numbers.sel(reading=reading), axis, "abcd" if column == 0 else "    ")
        for axes in grid[:, column]:
            axes.set_title(f"{axes.get_title(loc='left')}, {reading}")
            if column:
                axes.set_ylabel("")
        for axes in grid[:2, column]:
            axes.set_xlabel("")
    legend_above(drawing, numbers, axis, words)
    note_below(drawing, f"Mean of {numbers.attrs['runs']} repeats; bands: one standard deviation. Grey: W at the end.")
    return drawing


def draw_law(axes: Axes, values: xr.DataArray, width: str, run: str, number: int, label: str) -> None:
    """Mean and deviation over runs against the width."""
    mean, deviation = values.mean(run), values.std(run, ddof=1)
    axes.errorbar(values[width].values, mean.values, deviation.values, color=COLOURS[number], marker="os^"[number],
                  markersize=4, capsize=2.5, linestyle=DASHES[number], linewidth=1.2, label=label)  # fmt: skip


def width_axis(axes: Axes, widths: Sequence[int]) -> None:
    """Widths in powers of 2, each with its number."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(widths), [f"{width:,}" for width in widths])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_tick_params(which="minor", length=0)
    axes.set_xlabel("hidden neurons m")


def log_axis(axes: Axes) -> None:
    """A logarithmic axis upwards on which 1, 2 and 5 times a power of 10 are written out."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(NUMBERS)
    axes.yaxis.set_minor_formatter(NullFormatter())
