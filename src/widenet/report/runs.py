"""Every run of one promise as a dot, and the promise as a wall: what was measured beside what is promised."""

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from widenet.claims import Part
from widenet.report.axes import Axis, axis_of
from widenet.report.numerals import in_drawing

LARGE, SMALL = 540, 380
"""Widths of a drawing: the first of a page, and the others."""
FEW, COVERED = 12, 3.0
"""Up to this number dots are counted by eye, and at this distance they look like one."""
EVERY = 101
"""A part keeps both sides of this many cases; of more, those at the percentiles of tightness."""


@dataclass(frozen=True)
class Dot:
    """One case: where it stands, and whether it lies beyond the wall."""

    x: float
    y: float
    is_broken: bool


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class RunPicture:
    """What the template draws.

    Attributes:
      is_strip: the promise is one number, so the dots stand side by side under a wall. Otherwise they stand in a plane,
        and the wall is its diagonal.
      wall: the ends of the wall (x, y, x, y).
      beyond: the corners of the region in which a case would break the promise, or "".
      n_shown, n_cases: dots, and cases behind them.
      limits: the ends of the one-sided 95 % limits of a share that was counted among the cases, then the only
        dot.
      says: what the picture shows, in a sentence.
    """

    is_strip: bool
    width: int
    height: int
    dots: tuple[Dot, ...]
    wall: tuple[float, float, float, float]
    beyond: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    label: str
    wall_label: Markup
    wall_anchor: str
    closest: Dot | None
    n_shown: int
    n_cases: int
    says: str
    limits: tuple[float, float] | None = None
    is_counted: bool = False

    @property
    def kept_path(self) -> str:
        """The dots before the wall, as points of one path with round ends."""
        return _points(each for each in self.dots if not each.is_broken)

    @property
    def broken_path(self) -> str:
        """The dots beyond the wall."""
        return _points(each for each in self.dots if each.is_broken)

    @property
    def hides_some(self) -> bool:
        """Whether few dots seem fewer, because some lie on others; under a wall they are stacked."""
        places = {(round(each.x / COVERED), round(each.y / COVERED)) for each in self.dots}
        return not self.is_strip and len(places) < self.n_shown <= FEW

    @property
    def are_quantiles(self) -> bool:
        """Whether a dot is a percentile and no case of its own."""
        return self.n_cases > self.n_shown and self.n_shown >= EVERY


def picture_of(part: Part, width: int = LARGE) -> RunPicture | None:
    """The drawing of a part; None where it has no two sides that can be drawn."""
    # A promise about how often: its cases are counted, and what is measured is one share.
    counted = ((part.measured, part.promised),) if part.measured is not None and part.promised is not None else ()
    sides = [(m, p) for m, p in part.sides or counted if math.isfinite(m) and math.isfinite(p)]
    if not sides or not part.sense:
        return None
    is_strip = len({promised for _, promised in sides}) == 1
    return (_strip if is_strip else _plane)(part, sides, width)


def _breaks(part: Part, measured: float, promised: float) -> bool:
    """Whether a case lies beyond the wall. In a part that is kept none does: what is beyond is so by rounding."""
    if part.kept is not False:
        return False
    beyond = {"≤": measured > promised, "<": measured >= promised, "≥": measured < promised, ">": measured <= promised}
    return beyond.get(part.sense, measured != promised)


def _says(part: Part, n_shown: int) -> str:
    broken = f"{part.broken:,} of {part.n_cases:,} break the promise" if part.broken else "none breaks the promise"
    cases = "one case" if part.n_cases == 1 else f"{part.n_cases:,} cases"
    shown = "" if n_shown >= part.n_cases else f", drawn at {n_shown} percentiles"
    return f"{cases}{shown}: {broken}"


def _strip(part: Part, sides: list[tuple[float, float]], width: int) -> RunPicture:
    promised = sides[0][1]
    limits = _limits(part)
    axis = axis_of([*(measured for measured, _ in sides), promised, *(limits or ())], 14.0, width - 14.0)
    places, floor = _stacked([axis.at(measured) for measured, _ in sides])
    height = max(96, floor + 74)
    base = height - 40.0
    dots = tuple(
        Dot(round(x, 1), round(base - 7 - level, 1), _breaks(part, *side))
        for (x, level), side in zip(places, sides, strict=True)
    )
    wall = axis.at(promised)
    beyond = ""
    if part.sense != "=":
        left, right = (wall, width - 4.0) if part.sense in ("≤", "<") else (4.0, wall)
        beyond = f"{left:.1f},26 {right:.1f},26 {right:.1f},{base} {left:.1f},{base}"
    anchor = "end" if wall > width / 2 else "start"
    return RunPicture(
        is_strip=True,
        width=width,
        height=round(height),
        dots=dots,
        wall=(round(wall, 1), 20.0, round(wall, 1), base),
        beyond=beyond,
        across=_ticks(axis),
        up=(),
        label="measured",
        wall_label=Markup("promised {} {}").format(part.sense, in_drawing(promised)),
        wall_anchor=anchor,
        closest=None,
        n_shown=len(sides),
        n_cases=max(part.n_cases, len(sides)),
        says=_says(part, len(sides)),
        limits=(round(axis.at(limits[0]), 1), round(axis.at(limits[1]), 1)) if limits else None,
        is_counted=not part.sides,
    )


def _limits(part: Part) -> tuple[float, float] | None:
    """The limits of a share, where the share is what was measured."""
    return None if part.sides or part.interval_of else part.interval


def _stacked(places: list[float], radius: float = 3.2, highest: float = 96.0) -> tuple[list[tuple[float, float]], int]:
    """Dots that would lie on top of each other are stacked, closer where there are many; and how high they reach."""
    columns: dict[int, list[int]] = {}
    for index, place in enumerate(places):
        columns.setdefault(round(place / (2 * radius)), []).append(index)
    tallest = max(len(each) for each in columns.values())
    step = min(2 * radius, highest / max(1, tallest - 1)) if tallest > 1 else 0.0
    found = [(0.0, 0.0)] * len(places)
    for members in columns.values():
        for level, index in enumerate(members):
            found[index] = (places[index], level * step)
    return found, round((tallest - 1) * step)


def _plane(part: Part, sides: list[tuple[float, float]], width: int) -> RunPicture:
    values = [value for side in sides for value in side]
    height = round(0.726 * width)
    right, bottom, top = width - 40.0, height - 42.0, 24.0
    # One pair of ends for both axes, so that the wall is the diagonal.
    across = axis_of(values, 64.0, right)
    up = dataclasses.replace(across, start=bottom, end=top)
    dots = tuple(Dot(round(across.at(p), 1), round(up.at(m), 1), _breaks(part, m, p)) for m, p in sides)
    beyond = ""
    if part.sense != "=":
        corner = f"64,{top:.0f}" if part.sense in ("≤", "<") else f"{right:.0f},{bottom:.0f}"
        beyond = f"64,{bottom:.0f} {right:.0f},{top:.0f} {corner}"
    closest = None
    if (
        part.measured is not None
        and part.promised is not None
        and math.isfinite(part.measured)
        and math.isfinite(part.promised)
    ):
        closest = Dot(round(across.at(part.promised), 1), round(up.at(part.measured), 1), part.kept is False)
    return RunPicture(
        is_strip=False,
        width=width,
        height=height,
        dots=dots,
        wall=(64.0, bottom, right, top),
        beyond=beyond,
        across=_ticks(across),
        up=_ticks(up),
        label="promised",
        wall_label=Markup("measured {} promised").format(part.sense),
        wall_anchor="end" if part.sense in ("≤", "<") else "start",
        closest=closest,
        n_shown=len(sides),
        n_cases=max(part.n_cases, len(sides)),
        says=_says(part, len(sides)),
    )


def _ticks(axis: Axis) -> tuple[Tick, ...]:
    return tuple(Tick(round(axis.at(value), 1), text) for value, text in axis.ticks())


def _points(dots: Iterable[Dot]) -> str:
    return "".join(f"M{each.x:g} {each.y:g}h0" for each in dots)
