"""Section 5.1: the measured number of updates does not grow with the width."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least
from widenet.claims.legacy import Evidence_, decide
from widenet.claims.statistics import CONFIDENCE
from widenet.papers.brutzkus2018.claims.width import Normalization, equation_6, normalized
from widenet.papers.brutzkus2018.runs.draws import plus_minus_weights, separable_points, unit_rows
from widenet.papers.brutzkus2018.runs.ledger import Ledger, Start, keep_ledger
from widenet.papers.brutzkus2018.runs.trials import ROUNDING
from widenet.training import WithReplacement
from widenet.types import Progress, RunStatus, Scale, silent

FLAT = 0.05
"""Slopes of log T against log k up to this are called flat: 32 times the width, a fifth more updates."""
RESAMPLES = 4000


@dataclass(frozen=True)
class Widths:
    """One data set, trained at several widths from several random starts each."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]
    half_widths: tuple[int, ...]
    n_seeds: int
    slope: float
    step_size: float
    seed: int

    def run(self, half: int, size: float, number: int) -> Ledger:
        """Rows on the sphere of radius R = v = `size`; samples drawn uniformly with replacement."""
        draw = np.random.default_rng((self.seed, half, number))
        start = Start(
            self.inputs,
            self.labels,
            self.separator,
            size * unit_rows(draw, 2 * half, self.inputs.shape[1]),
            plus_minus_weights(half, size),
            self.slope,
            self.step_size,
            size,
        )
        return keep_ledger(start, WithReplacement(), 100_000, int(draw.integers(2**31)))


def check_corollary_3_width_free(
    widths: Widths, progress: Progress = silent, *, normalization: Normalization = equation_6
) -> Evidence:
    """The slope of log(mean T) against log k, with bootstrap limits; a control passes another normalization."""
    ledgers = []
    for number, half in enumerate(widths.half_widths):
        ledgers.append([widths.run(half, normalization(half), seed) for seed in range(widths.n_seeds)])
        progress((number + 1) / len(widths.half_widths), "widths")
    flat = [ledger for row in ledgers for ledger in row]
    counts = np.asarray([[float(ledger.updates) for ledger in row] for row in ledgers])
    margin = float((widths.labels * (widths.inputs @ widths.separator)).min())
    conditions = (
        at_least("separable", "separable: smallest y⟨w*, x⟩", margin, 1, tolerance=ROUNDING),
        *normalized(flat),
    )
    slope, lower, upper = _slope(np.log(np.asarray(widths.half_widths, np.float64)), counts, widths.seed)
    unfinished = sum(ledger.end is not RunStatus.CONVERGED for ledger in flat)
    enough = widths.n_seeds >= 5 and len(widths.half_widths) >= 3 and not unfinished
    conclusion = _flat(lower, upper) if enough else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(flat), unfinished=unfinished),
        conclusion=conclusion,
        quantity="slope of log(mean updates) against log k, and the largest one called flat",
        promised=FLAT,
        measured=slope,
        interval=(lower, upper),
        config={
            "half_widths": list(widths.half_widths),
            "mean_updates": [float(mean) for mean in counts.mean(axis=1)],
            "seeds_per_width": widths.n_seeds,
            "alpha": widths.slope,
            "eta": widths.step_size,
            "separator_norm": float(np.linalg.norm(widths.separator)),
            "limits": f"bootstrap over starts and orders, one-sided, {CONFIDENCE:.0%} each",
        },
    )


def _flat(lower: float, upper: float) -> bool | None:
    """Flat if the upper limit says so, growing if the lower limit does, else undecided."""
    if upper <= FLAT:
        return True
    return False if lower > FLAT else None


def _slope(logs: np.ndarray, counts: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Least-squares slope of log(mean count), and its bootstrap limits."""
    centred = logs - logs.mean()
    weights = centred / max(float(centred @ centred), np.finfo(float).tiny)
    draw = np.random.default_rng(seed)
    chosen = draw.integers(counts.shape[1], size=(RESAMPLES, *counts.shape))
    means = np.take_along_axis(np.broadcast_to(counts, chosen.shape), chosen, axis=2).mean(axis=2)
    lower, upper = np.quantile(np.log(np.maximum(means, 1)) @ weights, (1 - CONFIDENCE, CONFIDENCE))
    return float(np.log(np.maximum(counts.mean(axis=1), 1)) @ weights), float(lower), float(upper)


def _setting(scale: Scale, seed: int) -> Widths:
    draw = np.random.default_rng(seed)
    points = separable_points(draw, 10, 60, 5.0, 0.4)
    half_widths, n_seeds = ((1, 4, 16, 64), 20) if scale is Scale.QUICK else ((1, 4, 16, 64, 256), 100)
    return Widths(*points, half_widths, n_seeds, 0.2, 1.0, seed)


corollary_3_width_free = Claim(
    id="brutzkus2018.corollary_3_width_free",
    kind=Kind.TREND,
    statement=(
        "With R = v = 1/√(2k) the number of non-zero updates SGD really makes does not grow with the width: the slope "
        f"of log T against log k is at most {FLAT}."
    ),
    where="Corollary 3 and the remark after it, Section 5.1",
    judge=check_corollary_3_width_free,
    draws=_setting,
)
