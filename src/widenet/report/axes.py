"""One axis of a small drawing: where a value stands, and which values are labelled."""

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from widenet.report.numerals import written

WIDE = 30.0
"""From this ratio of the largest to the smallest value on, an axis is logarithmic."""
DEEPEST = 1e-16
"""A share of the largest value below which a value stands with 0."""


@dataclass(frozen=True)
class Axis:
    """From `low` to `high` in the units of the values, from `start` to `end` in those of the drawing.

    Attributes:
      unit: 0 for a linear axis. Otherwise values below this size stand close to 0, and those above it are spread by
        their logarithm, with their sign.
      has_zero: whether the values reach 0 or both signs.
    """

    low: float
    high: float
    start: float
    end: float
    unit: float = 0.0
    has_zero: bool = True

    def at(self, value: float) -> float:
        """Where a value stands; one beyond the axis stands at its end."""
        low, high = self._ends
        share = (self._stretched(min(max(value, self.low), self.high)) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    @functools.cached_property
    def _ends(self) -> tuple[float, float]:
        return self._stretched(self.low), self._stretched(self.high)

    def ticks(self, most: int = 5) -> list[tuple[float, str]]:
        """Values to label, and their labels; where these would be equal, one value and distances from it."""
        values = self._decades(most) if self.unit else _steps(self.low, self.high, most)
        found = [(value, written(value, 3)) for value in values]
        if len({label for _, label in found}) == len(found):
            return found
        middle = (self.low + self.high) / 2
        base = float(f"{middle:.3g}")
        base = base if self.low <= base <= self.high else middle
        return [
            (base + away, f"{'+' if away > 0 else ''}{written(away, 3)}" if away else written(base, 3))
            for away in _steps(self.low - base, self.high - base, most)
        ]

    def _stretched(self, value: float) -> float:
        if not self.unit:
            return value
        if not self.has_zero:
            return math.log10(abs(value) / self.unit) * (1 if value > 0 else -1)
        size = abs(value) / self.unit
        spread = size * 0.6 if size <= 1 else 0.6 + math.log10(size)
        return math.copysign(spread, value)

    def _decades(self, most: int) -> list[float]:
        powers: list[float] = [0.0] if self.low <= 0 <= self.high else []
        top = max(abs(self.low), abs(self.high))
        first, last = math.ceil(math.log10(self.unit) - 1e-9), math.floor(math.log10(top) + 1e-9)
        n_sides = (self.low < 0) + (self.high > 0)
        step = max(1, math.ceil((last - first + 1) * n_sides / max(1, most - len(powers))))
        for power in range(last, first - 1, -step):
            powers += [each for each in (10.0**power, -(10.0**power)) if self.low <= each <= self.high]
        return sorted(powers) if len(powers) > 1 else _steps(self.low, self.high, 3)


def axis_of(values: Iterable[float], start: float, end: float, margin: float = 0.04) -> Axis:
    """An axis that shows all of these values, which are finite."""
    found = sorted(values)
    low, high = found[0], found[-1]
    sizes = sorted(abs(each) for each in found if each)
    if sizes and sizes[-1] / sizes[0] > WIDE and (low >= 0 or sizes[-1] / max(sizes[len(sizes) // 2], 1e-300) > WIDE):
        smallest = 10.0 ** math.floor(math.log10(max(sizes[0], sizes[-1] * DEEPEST)))
        if low > high * DEEPEST:
            reach = (high / low) ** margin
            return Axis(low / reach, high * reach, start, end, min(smallest, low / reach), has_zero=False)
        return Axis(low * 1.3 if low < 0 else 0.0, high * 1.3 if high > 0 else 0.0, start, end, smallest)
    if low == high:
        around = abs(low) or 1.0
        return Axis(low - around / 2, high + around / 2, start, end)
    reach = margin * (high - low)
    return Axis(low - reach, high + reach, start, end)


def _steps(low: float, high: float, most: int) -> list[float]:
    """Round numbers between the ends: multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [
        round(place * step, 12) if step > 1e-9 else place * step
        for place in range(first, math.floor(high / step + 1e-9) + 1)
    ]
