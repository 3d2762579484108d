"""How often a random start explores too little: exact probabilities at many widths, and drawn starts beside them."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.octants import RADIUS
from widenet.papers.brutzkus2019.runs.starts import (
    axes_are_explored,
    negative_parts_are_explored,
    positive_cones_are_explored,
)
from widenet.papers.brutzkus2019.sources import draw_filters
from widenet.progress import Progress, over, silent
from widenet.records import ClosedModel, Scale

LAWS: dict[str, tuple[Callable[[int, Fraction], Fraction], Callable[..., Bool[np.ndarray, "*run"]]]] = {
    "axes": (octants.both_axes_explored, axes_are_explored),
    "positive_cones": (octants.positive_cones_explored, positive_cones_are_explored),
    "negative_parts": (octants.negative_parts_explored, negative_parts_are_explored),
}
"""The events of Lemmas 6.1, E.15 and E.19: the exact probability, and whether given starts are inside."""


class ExploredSetting(ClosedModel):
    """Widths k at which the probabilities are computed, and how many starts of one width are drawn."""

    widths: tuple[int, ...]
    half_width: int
    n_starts: int
    seed: int


@dataclass(frozen=True, eq=False)
class Explored(Cases):
    """What was computed and drawn; the axis of 3 has the events of `LAWS`."""

    rows: ClassVar = "width"

    widths: Int[np.ndarray, " width"]  #: k
    half_width: Count  #: of the drawn starts
    n_starts: Count
    uniform: Number  #: the p-value of the χ² test that their filters lie in every octant equally often
    exact: Float[np.ndarray, "width 3"]  #: the probability to miss an event, at every width
    expected: Float[np.ndarray, " 3"]  #: at the width of the drawn starts
    at_120: Float[np.ndarray, " 3"]  #: at the width of Theorem 6.3
    missed: Int[np.ndarray, " 3"]  #: how many of the drawn starts missed it

    def counts(self) -> dict[str, int]:
        """The drawn starts."""
        return {"tried": int(np.sum(self.per("cell").n_starts)), "diverged": 0, "unfinished": 0}


def explore(
    widths: tuple[int, ...],
    filters: Float[np.ndarray, "run filter 2"],
    radius: Fraction = RADIUS,
    progress: Progress = silent,
) -> Explored:
    """The probabilities at these widths, and the events of these starts. A control passes a smaller radius."""
    half_width = filters.shape[1] // 2

    def missing(width: int) -> list[float]:
        return [float(1 - law(width, radius)) for law, _ in LAWS.values()]

    return Explored(
        np.array(widths, int),
        half_width,
        len(filters),
        octants.equally_likely(filters),
        np.array([missing(width) for width in over(widths, progress, "widths")]).reshape(-1, len(LAWS)),
        np.array(missing(half_width)),
        np.array(missing(120)),
        np.array([int((~event(filters, radius)).sum()) for _, event in LAWS.values()]),
    )


def run(setting: ExploredSetting, progress: Progress = silent) -> Explored:
    """Computed and drawn as the setting says."""
    filters = draw_filters(setting.seed, setting.n_starts, setting.half_width)
    return explore(setting.widths, filters, progress=progress)


def settings(scale: Scale, seed: int) -> list[ExploredSetting]:
    """Starts of the width of Theorem 6.3."""
    if scale is Scale.QUICK:
        return [ExploredSetting(widths=(*range(1, 131), 200, 300), half_width=120, n_starts=2300, seed=seed)]
    widths = (*range(1, 401), 600, 1000, 2000)
    return [ExploredSetting(widths=widths, half_width=120, n_starts=20_000, seed=seed)]


explored = Experiment("brutzkus2019.explored", settings, run, seconds=0.3)
