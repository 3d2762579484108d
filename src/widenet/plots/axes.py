"""Axes of the style sheet: numbers as people write them, log axes with few labels, names above instead of beside."""

import math
from collections.abc import Callable, Iterable
from typing import Literal, SupportsFloat

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, NullLocator

from widenet.plots.style import SOFT

Side = Literal["x", "y"]

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SPACE = "\u202f"
"""A thin space before a percent sign, at which no line breaks."""
LETTER = 0.02
"""About the share of a half panel's width that a letter of a tick label takes."""


def number(value: SupportsFloat, digits: int = 3) -> str:
    """A number as people write it: 12,345, 0.05, 3.5·10⁻⁵, 10⁶, −2."""
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "∞" if value > 0 else "−∞" if value < 0 else "—"
    power = math.floor(math.log10(abs(value)) + 1e-9)
    mantissa = round(value / 10.0**power, digits - 1)
    if abs(mantissa) >= 10:
        mantissa, power = mantissa / 10, power + 1
    if -4 < power < 5:
        rounded = round(value, max(digits - 1 - power, 0))
        words = f"{rounded:,.10f}".rstrip("0").rstrip(".")
    else:
        tail = f"10{str(power).translate(SUPERSCRIPTS)}"
        words = tail if mantissa == 1 else f"−{tail}" if mantissa == -1 else f"{mantissa:g}·{tail}"
    return words.replace("-", "−")


def decade(value: SupportsFloat) -> str:
    """A number beside powers of ten that need to be written as such: 10⁴, but 10 and 1."""
    power = math.log10(float(value))
    near = round(power)
    return f"10{str(near).translate(SUPERSCRIPTS)}" if abs(power - near) < 1e-9 and abs(near) > 1 else number(value)


def percent(share: SupportsFloat, digits: int = 3) -> str:
    """A share in percent: 0.123 is 12.3 %."""
    return f"{number(100 * float(share), digits)}{SPACE}%"


class LogTicks(Locator):
    """1, 2, 5 of few decades, or every so many decades of many: never more labels than `most`."""

    def __init__(self, most: int = 6):
        self.most = most

    def __call__(self) -> list[float]:
        assert self.axis is not None
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: SupportsFloat, vmax: SupportsFloat) -> list[float]:
        low, high = sorted((max(float(vmin), 1e-300), max(float(vmax), 1e-300)))
        slack = 1e-9
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        for steps in ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3)):
            ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
            ticks = [tick for tick in ticks if low * (1 - slack) <= tick <= high * (1 + slack)]
            few = steps == (1, 2, 5) or math.log10(high / low) < 0.7
            if few and len(ticks) <= self.most:
                return ticks
        inside = range(math.ceil(math.log10(low) - slack), math.floor(math.log10(high) + slack) + 1)
        stride = max(1, -(-len(inside) // self.most))
        return [10.0**power for power in inside if power % stride == 0]


def log_axis(axes: Axes, side: Side, most: int | None = None) -> None:
    """A logarithmic axis with at most `most` labels and no marks between them."""
    (axes.set_xscale if side == "x" else axes.set_yscale)("log")
    own = getattr(axes, f"{side}axis")
    own.set_major_locator(LogTicks(most or (6 if side == "x" else 7)))
    own.set_minor_locator(NullLocator())

    def label(tick: SupportsFloat, _: int) -> str:
        low, high = sorted(own.get_view_interval())
        return decade(tick) if low < 1e-3 or high >= 1e5 else number(float(tick))

    own.set_major_formatter(FuncFormatter(label))


def value_ticks(
    axes: Axes,
    side: Side,
    values: Iterable[SupportsFloat],
    words: Callable[[float], str] = number,
    room: float = LETTER,
) -> None:
    """Labels at these values (those that were run), without those that would touch a neighbour.

    Call it when the limits and the scale stand. `room` is the share of the axis that a letter takes.
    """
    shown = sorted(float(value) for value in values)
    own = getattr(axes, f"{side}axis")
    transform = own.get_transform()
    low, high = transform.transform(np.array(own.get_view_interval()))
    places = (transform.transform(np.array(shown)) - low) / (high - low)
    sizes = [room * (len(words(value)) + 1.2) if side == "x" else 0.09 for value in shown]
    kept: list[int] = []
    for this in (0, len(shown) - 1, *range(1, len(shown) - 1)):
        if this not in kept and all(abs(places[this] - places[n]) >= (sizes[this] + sizes[n]) / 2 for n in kept):
            kept.append(this)
    own.set_major_locator(FixedLocator([shown[this] for this in sorted(kept)]))
    own.set_minor_locator(NullLocator())
    own.set_major_formatter(FuncFormatter(lambda tick, _: words(tick)))


def number_axis(axes: Axes, side: Side, words: Callable[[float], str] = number) -> None:
    """A linear axis whose labels are numbers as people write them."""
    getattr(axes, f"{side}axis").set_major_formatter(FuncFormatter(lambda tick, _: words(tick)))


def percent_axis(axes: Axes, side: Side = "y") -> None:
    """A linear axis of shares, labelled in percent."""
    number_axis(axes, side, percent)


def named(axes: Axes, x: str = "", y: str = "") -> None:
    """What the axes show: y above its axis, so that nobody tilts the head, and only the lines of the y grid."""
    axes.set_xlabel(x)
    axes.set_title(y, loc="left", fontsize=axes.xaxis.label.get_fontsize(), fontweight="normal", color=SOFT, pad=7)
    axes.grid(visible=False, axis="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=3)
