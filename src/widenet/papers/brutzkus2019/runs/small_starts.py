"""Widths at which Lemma E.3 is computed, σ_g over its largest value, and drawn starts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.cases import Cases, Count, Number, column
from widenet.papers.brutzkus2019.formulas import largest_deviation
from widenet.papers.brutzkus2019.runs.octants import equally_likely
from widenet.papers.brutzkus2019.runs.starts import is_small
from widenet.papers.brutzkus2019.sources import draw_filters
from widenet.records import Scale

Widths = Float[np.ndarray, " width"]


@dataclass(frozen=True, eq=False)
class SmallStarts(Cases):
    """One row per width, beside starts of one width."""

    rows: ClassVar = "width"

    widths: Int[np.ndarray, " width"]  #: k
    relative_deviation: Number  #: σ_g over c_η/(16k^{3/2})
    start: Float[np.ndarray, "start filter 2"]  #: starts of one width, drawn with this σ_g
    step_size: Number  #: η = c_η/k of those starts

    def counts(self) -> dict[str, int]:
        """The drawn starts."""
        return {"tried": int(np.sum(self.per("cell").n_starts)), "diverged": 0, "unfinished": 0}

    @column
    def half_width(self) -> Count:
        """k of the drawn starts."""
        return self.start.shape[1] // 2

    @column
    def n_starts(self) -> Count:
        """How many were drawn."""
        return len(self.start)

    @column
    def n_large(self) -> Count:
        """How many of them are outside the event of Lemma E.3."""
        return int((~is_small(self.start, float(self.step_size))).sum())

    @column
    def uniform(self) -> Number:
        """The p-value that their filters lie in every octant equally often."""
        return equally_likely(self.start)


def small_starts(
    seed: int,
    widths: tuple[int, ...],
    half_width: int,
    n_runs: int,
    relative_deviation: float = 1.0,
    step_constant: float = 1 / 41,
) -> SmallStarts:
    """Starts of width `half_width` beside the widths at which the probability is computed."""
    deviation = relative_deviation * largest_deviation(step_constant, half_width)
    filters = draw_filters(seed, n_runs, half_width, deviation)
    return SmallStarts(np.array(widths, int), relative_deviation, filters, step_constant / half_width)


def draw_small_starts(scale: Scale, seed: int) -> SmallStarts:
    """Drawn at k = 1, where the event is rare (2.5e-4) and not yet impossible."""
    return small_starts(seed, (*range(1, 1001), 10**4, 10**5), 1, 40_000 if scale is Scale.QUICK else 400_000)


def draw_two_filters(scale: Scale, seed: int) -> SmallStarts:
    """Starts of width 2, the width of Theorem 6.4."""
    return small_starts(seed, (2,), 2, 10_000)
