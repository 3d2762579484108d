"""A number under a figure, drawn: the band that counts as agreement, what was measured, and what the paper reports."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from widenet.console import wording
from widenet.console.wording import Badge
from widenet.figures import Comparison
from widenet.report import numerals
from widenet.report.axes import axis_of
from widenet.report.runs import Tick
from widenet.report.typesetting import set_in_type

WIDTH = 300.0
EDGE = 30.0
"""Labels this near to an end lie beside their tick."""
LETTER = 9.0
"""The width of a digit of a label."""
MARKS = {"AGREES": "", "DIFFERS": "false", "AS EXPECTED": "own", "NOT AS EXPECTED": "own false", "MEASURED": "own"}


@dataclass(frozen=True)
class ComparisonPicture:
    """Places on a line of `WIDTH`; None for what there is none of. `scale` has labelled places."""

    band: tuple[float, float] | None
    interval: tuple[float, float] | None
    measured: float | None
    reported: tuple[float, float] | None
    scale: tuple[Tick, ...]
    width: float = WIDTH
    edge: float = EDGE


@dataclass(frozen=True)
class ComparisonRow:
    """One row: a quantity, what the paper says about it, and what was measured."""

    comparison: Comparison

    @property
    def name(self) -> Markup:
        """The quantity."""
        return set_in_type(self.comparison.name)

    @property
    def badge(self) -> Badge:
        """Whether it agrees."""
        return wording.agreement(self.comparison)

    @property
    def mark(self) -> str:
        """How its dot looks."""
        return MARKS[self.comparison.verdict]

    @property
    def measured(self) -> Markup:
        """The number."""
        return numerals.number(self.comparison.measured)

    @property
    def interval(self) -> Markup:
        """Its 95 % interval."""
        return _range(self.comparison.interval)

    @property
    def band(self) -> Markup:
        """What counts as agreement."""
        return Markup("none") if self.comparison.verdict == "MEASURED" else _range(self.comparison.band)

    @property
    def picture(self) -> ComparisonPicture | None:
        """The row as a drawing; None where nothing is finite."""
        one = self.comparison
        reported = one.reported_value if isinstance(one.reported_value, tuple) else (one.reported_value,) * 2
        told = None if reported[0] is None or reported[1] is None else (reported[0], reported[1])
        ends = [*one.band, *(one.interval or ()), one.measured, *(told or ())]
        finite = [each for each in ends if math.isfinite(each)]
        if not finite or one.verdict == "MEASURED":
            return None
        axis = axis_of(finite, 10.0, WIDTH - 10.0, margin=0.12)
        low, high = (
            (0.0 if one.band[0] == -math.inf else axis.at(one.band[0])),
            (WIDTH if one.band[1] == math.inf else axis.at(one.band[1])),
        )
        return ComparisonPicture(
            band=_placed(low, high),
            interval=_placed(*(axis.at(each) for each in one.interval))
            if one.interval and all(map(math.isfinite, one.interval))
            else None,
            measured=round(axis.at(one.measured), 1) if math.isfinite(one.measured) else None,
            reported=_placed(*(axis.at(each) for each in told)) if told else None,
            scale=labels_apart([Tick(round(axis.at(value), 1), text) for value, text in axis.ticks(4)]),
        )

    @property
    def says(self) -> str:
        """The drawing in words."""
        words = f"measured {numerals.written(self.comparison.measured)}"
        return f"{words}; counts as agreement: {wording.band(self.comparison)}"


def labels_apart(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Without those whose labels would lie on others: 0 stays, and of the others the first from the left."""
    kept: list[Tick] = []
    for tick in sorted(ticks, key=lambda each: (each.text != "0", each.at)):
        if all(_extent(tick)[1] < _extent(each)[0] or _extent(each)[1] < _extent(tick)[0] for each in kept):
            kept.append(tick)
    return tuple(sorted(kept, key=lambda each: each.at))


def _extent(tick: Tick) -> tuple[float, float]:
    """Of a label: the template starts it at its tick near the left end, and ends it there near the right one."""
    size = LETTER * (len(tick.text) + 1)
    low = tick.at if tick.at < EDGE else tick.at - size if tick.at > WIDTH - EDGE else tick.at - size / 2
    return low, low + size


def _placed(low: float, high: float) -> tuple[float, float]:
    return round(low, 1), round(high, 1)


def _range(ends: tuple[float, float] | None) -> Markup:
    if ends is None:
        return Markup("–")
    low, high = ends
    if low == high:
        return numerals.number(low)
    if low == -math.inf and high == math.inf:
        return Markup("any")
    if low == -math.inf:
        return Markup("≤ {}").format(numerals.number(high))
    if high == math.inf:
        return Markup("≥ {}").format(numerals.number(low))
    return Markup("{} to {}").format(*numerals.two_sides(low, high))
