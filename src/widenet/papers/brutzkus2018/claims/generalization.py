"""Theorems 5 and 6: few compression points mean a small test error, whatever the width."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.base import (
    Evidence,
    Hypothesis,
    Kind,
    Runs,
    Silence,
    at_least,
    at_most,
    claim,
    less_than,
    more_than,
)
from widenet.claims.meaning import Topic
from widenet.claims.sides import Rate, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.compression import learning_on, rule_on, setting_of_the_paper
from widenet.papers.brutzkus2018.formulas import (
    compression_bound,
    corollary_3_constant,
    max_nonzero_updates,
    risk_bound,
)
from widenet.papers.brutzkus2018.runs.learning import LearningRule, LearningRuns, LearningSetting, learning_runs
from widenet.papers.brutzkus2018.runs.sample_sets import DrawnSamples
from widenet.records import Scale

DELTA = 0.1
HEURISTIC = (
    "A heuristic here: w* was found on the data, so c_k was not fixed before the sample, and trials share points."
)
TRIALS_THAT_DECIDE = 60
"""Enough to decide "at most δ of them fail" with a failure or two."""

ErrorBound = Callable[[float, int, int, float], float]


def theorem_5_settings(scale: Scale, seed: int) -> list[LearningSetting]:
    """Runs to loss 0, and runs stopped after four updates, where the unused points are misclassified too."""
    wide, narrow = _samples(scale, seed + 1, 2.0, 0.7), _samples(scale, seed + 2, 20.0, 0.1)
    return [
        LearningSetting(samples=wide, rule=LearningRule(half_width=5, slope=0.9, step_size=10.0), seed=seed),
        LearningSetting(samples=narrow, rule=_stopped(step_size=1.0), seed=seed),
        LearningSetting(samples=wide, rule=_stopped(step_size=0.1), seed=seed),
    ]


def theorem_6_settings(scale: Scale, seed: int) -> list[LearningSetting]:
    """An example in which the bound is far below 1: M = 7.99, so c_k = 7 of 2000 points. Three widths."""
    samples = _samples(scale, seed, 2.0, 0.7)
    return [
        LearningSetting(
            samples=samples, rule=LearningRule(half_width=half, slope=0.9, step_size=10.0), seed=seed + index
        )
        for index, half in enumerate((1, 5, 50))
    ]


def _samples(scale: Scale, seed: int, separator_norm: float, largest_margin: float) -> DrawnSamples:
    """An error of one in two is measured to about .01, or .004 at the paper's scale."""
    trials, fresh = (100, 2_000) if scale is Scale.QUICK else (200, 20_000)
    return DrawnSamples(
        seed=seed,
        trials=trials,
        n_samples=2000,
        separator_norm=separator_norm,
        largest_margin=largest_margin,
        fresh=fresh,
    )


def _stopped(step_size: float) -> LearningRule:
    return LearningRule(half_width=5, slope=0.2, step_size=step_size, max_updates=4)


@claim("brutzkus2018.theorem_5", Kind.MAIN, "Theorem 5, Section 6.1", reads=learning_runs.at(theorem_5_settings))
def theorem_5(
    cells: Sequence[LearningRuns], *, delta: float = DELTA, bound: ErrorBound = compression_bound
) -> Evidence:
    """If n ≥ 2c_k and SGD is determined by c_k of its n points, then with probability at least 1 − δ over S and W_0
    the 0-1 risk is at most L_V + √(L_V·4c_k ln(n/δ)/n) + 8c_k ln(n/δ)/n, L_V the error on the other points. Tested at
    δ = 0.1, also on runs stopped early, where L_V > 0.
    """
    limits = [
        np.array([bound(float(each), runs.compression_size, runs.n_samples, delta) for each in runs.unused_error])
        for runs in cells
    ]
    extra = {"mean_unused_error": [float(runs.unused_error.mean()) for runs in cells]}
    none = [np.zeros(len(runs.updates), bool) for runs in cells]
    excess = max(float(runs.updates.max()) - runs.compression_size for runs in cells)
    few = at_most("few_updates", "largest T − c_k", excess, 0)
    return _judge(cells, limits, none, none, delta, "an error within its bound", (*_fixed_before(cells), few), extra)


@claim(
    "brutzkus2018.theorem_6",
    Kind.MAIN,
    "Theorem 6 and Eq. 7, Section 6.1",
    reads=learning_runs.at(theorem_6_settings),
)
def theorem_6(
    cells: Sequence[LearningRuns], *, delta: float = DELTA, updates: Callable[..., np.ndarray] = max_nonzero_updates
) -> Evidence:
    """If n ≥ 2c_k and R = v = 1/√(2k), then with probability at least 1 − δ SGD reaches loss 0 with 0-1 test error
    at most (8/n)·M·ln(n/δ), M the bound of Corollary 3, which does not depend on the width. Tested at δ = 0.1.
    """
    limits = [_limit(runs, delta, updates) for runs in cells]
    # Loss 0, after at most ⌊M⌋ updates, is part of the promise. A run that was not given the time it is promised to
    # need says nothing about its loss; one that was has failed.
    failed = [((runs.loss > 0) & runs.is_waited_for) | (runs.updates > runs.compression_size) for runs in cells]
    unknown = [runs.loss > 0 for runs in cells]
    integer = [risk_bound(runs.compression_size, runs.n_samples, delta) for runs in cells]
    promise = "loss 0 and an error within the bound"
    extra = {"bounds_with_integer_c_k": integer}
    return _judge(cells, limits, failed, unknown, delta, promise, _fixed_before(cells), extra)


def _limit(runs: LearningRuns, delta: float, updates: Callable[..., np.ndarray]) -> np.ndarray:
    rule = runs.rule
    if not runs.compression_size:
        return np.full(len(runs.updates), np.inf)
    bound = float(updates(runs.separator_norm, rule.slope, rule.step_size, rule.scale, rule.scale, rule.half_width))
    return np.full(len(runs.updates), risk_bound(bound, runs.n_samples, delta))


def _judge(
    cells: Sequence[LearningRuns],
    limits: Sequence[np.ndarray],
    otherwise_failed: Sequence[np.ndarray],
    unknown: Sequence[np.ndarray],
    delta: float,
    promise: str,
    hypotheses: tuple[Hypothesis, ...],
    extra: dict[str, Any],
) -> Evidence:
    """In at most a share δ of the trials the error exceeds its limit, or the run failed otherwise; case by case."""
    parts = {}
    cases = zip(cells, limits, otherwise_failed, unknown, strict=True)
    for number, (runs, limit, otherwise, lost) in enumerate(cases, start=1):
        sides = Sides(runs.error, limit, Sense.AT_MOST, trivial=1.0, quantity="0-1 test error in the tightest trial")
        undecided = ~otherwise & (lost | ~np.isfinite(runs.error - limit))
        failed = otherwise | sides.broken
        parts[f"case {number}: {promise}, but for a share δ of the trials"] = Rate(
            failed, delta, undecided=undecided, sides=sides
        )
    total = sum(len(runs.updates) for runs in cells)
    bad = sum(rate.part("").broken for rate in parts.values())
    heuristic = not all(runs.separator_is_given for runs in cells)
    open_ = sum(rate.part("").undecided for rate in parts.values())
    tightest = dict(sorted(parts.items(), key=lambda item: -(item[1].part("").tightness or 0.0)))
    return evidence(
        tightest,
        (*setting_of_the_paper(cells), *hypotheses),
        runs=Runs(tried=total),
        details={
            "delta": delta,
            "compression_sizes": [runs.compression_size for runs in cells],
            "largest_training_loss": [float(runs.loss.max()) for runs in cells],
            "most_updates": [int(runs.updates.max()) for runs in cells],
            "mean_test_error": [float(runs.error.mean()) for runs in cells],
            "fresh_points": [runs.n_fresh for runs in cells],
            **extra,
        },
        note=_note(bad, open_, total, delta, heuristic),
    )


def _note(failed: int, undecided: int, total: int, delta: float, heuristic: bool) -> str:
    also = f", and {undecided} decide nothing" if undecided else ""
    words = (
        f"The bound failed in {failed} of {total} trials{also}; the interval is for the rate of failures in the case "
        f"shown, against δ = {delta:g}."
    )
    return f"{words} {HEURISTIC}" if heuristic else words


def _fixed_before(cells: Sequence[LearningRuns]) -> tuple[Hypothesis, ...]:
    given = all(runs.separator_is_given for runs in cells)
    spare = min(runs.n_samples - 2 * runs.compression_size for runs in cells)
    return (
        at_least("enough_samples", "smallest n − 2c_k", spare, 0),
        Hypothesis(
            key="fixed_before",
            name="c_k fixed before the samples, which are independent",
            required="w* of the distribution",
            actual="w* of the distribution" if given else "w* found on the data",
            slack=None,
            met=given,
        ),
    )


@theorem_6.speaks
def theorem_6_on(specimen: Specimen) -> list[LearningSetting] | Silence:
    """As many trials as can decide, where the data is large enough for the theorem to speak."""
    norm = specimen.separation.norm_upper
    speaks = math.isfinite(norm) and rule_on(specimen).update_bound(norm) <= len(specimen.labels)
    return learning_on(specimen, TRIALS_THAT_DECIDE if speaks else 3, replayed=False)


theorem_5.speaks(theorem_6_on)


@dataclass(frozen=True, eq=False)
class StepSizes:
    """Parameters ‖w*‖, α, k at which M_k is followed over growing step sizes η."""

    separator_norms: Float[np.ndarray, " case"]
    slopes: Float[np.ndarray, " case"]
    half_widths: Float[np.ndarray, " case"]
    step_sizes: Float[np.ndarray, " step"]


def growing_steps(scale: Scale, seed: int) -> StepSizes:
    """Random parameters, and step sizes from 1e-3 to 1e12."""
    draw = np.random.default_rng(seed)
    count = 200 if scale is Scale.QUICK else 1000
    return StepSizes(
        1 + draw.exponential(10, count),
        draw.uniform(0.01, 0.99, count),
        draw.integers(1, 1000, count) * 1.0,
        np.geomspace(1e-3, 1e12, 100),
    )


def _equal_to_output_weight(output_weight: np.ndarray, step_size: np.ndarray) -> np.ndarray:
    return output_weight + 0 * step_size


def _limit_of_large_steps(norm: np.ndarray, slope: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):  # α = 0 is a hypothesis that fails
        return (norm / slope) ** 2


@claim("brutzkus2018.remark_1", Kind.TREND, "Remark 1, Section 6.1", draws=growing_steps)
def remark_1(
    grid: StepSizes,
    *,
    row_bound: Callable[[np.ndarray, np.ndarray], np.ndarray] = _equal_to_output_weight,
    limit: Callable[[np.ndarray, np.ndarray], np.ndarray] = _limit_of_large_steps,
) -> Evidence:
    """With R = v = 1/√(2k) the bound M on updates, and with it the generalization bound of Eq. 7, falls with the
    step size η and tends to ‖w*‖²/α² as η → ∞.

    It tends there at the rate that Corollary 3 gives: the distance is at most K(α)‖w*‖²/√η for η ≥ 1.
    """
    weights = (2.0 * grid.half_widths[:, None]) ** -0.5
    norms, slopes, etas = grid.separator_norms[:, None], grid.slopes[:, None], grid.step_sizes[None, :]
    radii = row_bound(weights, etas)
    values = max_nonzero_updates(norms, slopes, etas, weights, radii, grid.half_widths[:, None])
    floors = np.broadcast_to(limit(norms, slopes), values.shape)
    allowed = floors + corollary_3_constant(slopes) * norms**2 / np.sqrt(etas)
    last = f"M_k at η = {grid.step_sizes[-1]:.0e} where it is farthest from its limit ‖w*‖²/α²"
    return evidence(
        {
            "M is at least ‖w*‖²/α²": Sides(values, floors, Sense.AT_LEAST, room=STEP * values, quantity=last),
            "M falls with η": Sides(values[:, 1:], values[:, :-1], Sense.AT_MOST, strict=True),
            "M is at most K(α)‖w*‖²/√η above it": Sides(
                values, allowed, Sense.AT_MOST, room=STEP * allowed, scored=np.broadcast_to(etas >= 1, values.shape)
            ),
        },
        (
            at_least("separator_norm", "smallest ‖w*‖", norms.min(), 1),
            more_than("slope_positive", "smallest Leaky slope α", slopes.min(), 0),
            less_than("slope_below_one", "largest Leaky slope α", slopes.max(), 1),
            at_most(
                "equal_scale", "Eq. 6: largest |R/v − 1|", np.abs(radii / weights - 1).max(), 0, tolerance=ROUNDING
            ),
            at_least("large_steps", "largest step size η", etas.max(), 1e9),
        ),
        runs=Runs(tried=values.size),
        details={"step_sizes": [float(etas.min()), float(etas.max())]},
    )


theorem_5.means(
    Topic.TEST_ERROR,
    "A network whose weights training changed at few of the points errs on at most a share {promised} of new points, "
    "with probability 0.9.",
    "it erred on a share {measured} of the points kept aside",
)
theorem_6.means(
    Topic.TEST_ERROR,
    "SGD fits the training points and errs on at most a share {promised} of new points, at every width, with "
    "probability 0.9.",
    "it erred on a share {measured} of the points kept aside",
)
