"""The case that breaks a statement, drawn where it has two dimensions: points, and weights before and after."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from widenet.claims.instance import Instance
from widenet.console import wording
from widenet.report.axes import Axis

SIZE, REACH = 220, 92.0
"""A drawing is so wide and high, and reaches so far from its middle."""
FEW = 12
"""So many weights have bold lines."""
NAMES = {1: "plus", -1: "minus", 0: "own"}
CLASSES = ("plus", "minus", "own")
CLASS_COLOURS = ("blue", "red", "grey")


@dataclass(frozen=True)
class PlanePoint:
    """A point, or the end of a weight from the middle; `start` where a weight was before."""

    x: float
    y: float
    name: str
    start: tuple[float, float] | None = None


@dataclass(frozen=True)
class InstancePicture:
    """What the template draws.

    Attributes:
      ball: its middle and radius.
      is_scaled: whether weights and points have units of their own, because one would hide the other.
    """

    instance: Instance
    points: tuple[PlanePoint, ...]
    weights: tuple[PlanePoint, ...]
    is_scaled: bool
    ball: tuple[float, float, float] | None = None
    middle: float = SIZE / 2
    size: int = SIZE

    @property
    def lines(self) -> dict[str, str]:
        """The weights by the sign of their votes, as lines from the middle: points of one path each."""
        return self._paths(lambda each: f"M{self.middle:g} {self.middle:g}L{each.x:g} {each.y:g}")

    @property
    def tips(self) -> dict[str, str]:
        """Their ends, as points with round ends."""
        return self._paths(lambda each: f"M{each.x:g} {each.y:g}h0")

    @property
    def starts(self) -> dict[str, str]:
        """Where they were before."""
        return self._paths(lambda each: f"M{each.start[0]:g} {each.start[1]:g}h0" if each.start else "")

    def _paths(self, drawn: Callable[[PlanePoint], str]) -> dict[str, str]:
        found = {name: "".join(drawn(each) for each in self.weights if each.name == name) for name in CLASSES}
        return {name: path for name, path in found.items() if path}

    @property
    def is_bold(self) -> bool:
        """Whether single weights matter."""
        return len(self.weights) <= FEW

    @property
    def key(self) -> str:
        """What colours and lines mean, in a sentence."""
        counts = Counter(each.name for each in self.points)
        pieces = [f"{words} of class {place} ({CLASS_COLOURS[place - 1]})" for place, words in _counted(counts)]
        if self.weights:
            signs = {each.name for each in self.weights}
            votes = ", blue where they vote plus and red where minus" if signs == {"plus", "minus"} else ""
            pieces.append(f"lines are weights{votes}")
        if any(each.start for each in self.weights):
            pieces.append("rings where they started")
        if self.is_scaled:
            pieces.append("with a scale of their own")
        return ", ".join(pieces)


def _counted(counts: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    for place, name in enumerate(CLASSES, start=1):
        if counts.get(name):
            yield place, wording.counted(counts[name], "point")


def drawn(found: Instance | None) -> InstancePicture | None:
    """The picture of an instance; None where there is none."""
    if found is None:
        return None
    largest = [float(np.abs(each).max(initial=0.0)) for each in (found.points, (*found.weights, *found.starts))]
    units = [each or 1.0 for each in largest]
    is_scaled = bool(found.points and found.weights) and not 0.25 <= units[0] / units[1] <= 4
    if not is_scaled:
        units = [max(largest) or 1.0] * 2
    axes = [Axis(-unit, unit, SIZE / 2 - REACH, SIZE / 2 + REACH) for unit in units]

    def at(pair: tuple[float, float], axis: Axis) -> tuple[float, float]:
        return round(axis.at(pair[0]), 1), round(axis.at(-pair[1]), 1)

    points = tuple(
        PlanePoint(*at(each, axes[0]), CLASSES[min(kind, 2)])
        for each, kind in zip(found.points, found.classes, strict=True)
    )
    starts = found.starts or (None,) * len(found.weights)
    weights = tuple(
        PlanePoint(*at(end, axes[1]), NAMES[sign], None if start is None else at(start, axes[1]))
        for end, sign, start in zip(found.weights, found.signs, starts, strict=True)
    )
    ball = None
    if found.radius is not None and found.weights:
        mean = np.mean(found.weights, axis=0)
        ball = (*at((float(mean[0]), float(mean[1])), axes[1]), round(found.radius / units[1] * REACH, 1))
    return InstancePicture(found, points, weights, is_scaled, ball)
