"""Theorems 5 and 6: few compression points mean a small test error, whatever the width."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from widenet.claims.base import Hypothesis, Kind, claim
from widenet.claims.given import slope_below_one, slope_positive
from widenet.claims.implication import Given, Promise, at_least, at_most, hypothesis, less_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.rates import Rate
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.formulas import (
    compression_bound,
    corollary_3_constant,
    max_nonzero_updates,
    risk_bound,
)
from widenet.papers.brutzkus2018.hypotheses import LEARNING
from widenet.papers.brutzkus2018.runs.learning import (
    LearningRuns,
    test_errors,
    theorem_6_settings,
)
from widenet.papers.brutzkus2018.runs.parameters import StepSizes, growing_steps

DELTA = 0.1
HEURISTIC = (
    "A heuristic here: w* was found on the data, so c_k was not fixed before the sample, and trials share points."
)
CASES = 3
"""How many settings there are, each with a rate of its own; on your data there is one."""

ErrorBound = Callable[[float, int, int, float], float]


@hypothesis("$n − 2c_k$")
def enough_samples(runs: LearningRuns) -> Sides:
    """n ≥ 2c_k."""
    return at_least(runs.n_samples - 2 * runs.compression_size, 0)


class InWords(Given):
    """A hypothesis that has no numbers: w* is that of the distribution, or was found on the data."""

    def measured(self, sides: Sides) -> Hypothesis:
        """In words."""
        found = super().measured(sides)
        words = {"required": "w* of the distribution", "slack": None}
        actual = "w* of the distribution" if found.met else "w* found on the data"
        return found.model_copy(update={**words, "actual": actual})


def _separator_is_given(runs: LearningRuns) -> Sides:
    return at_least(1.0 * runs.separator_is_given, 1)


fixed_before = InWords(
    "fixed_before", "$c_k$ fixed before the samples, which are independent", _separator_is_given, extreme=False
)


@hypothesis("$T − c_k$")
def few_updates(runs: LearningRuns) -> Sides:
    """T ≤ c_k."""
    return at_most(runs.updates - runs.compression_size, 0)


@claim(
    "brutzkus2018.theorem_5",
    Kind.MAIN,
    "Theorem 5, Section 6.1",
    reads=test_errors,
    given=[*LEARNING, enough_samples, fixed_before, few_updates],
    title="Few updated points bound the test error",
    means=Meaning(
        topic=Topic.TEST_ERROR,
        promise="A network whose weights training changed at few of the points errs on at most a share {promised} of "
        "new points, with probability 0.9.",
        seen="it erred on a share {measured} of the held-out points",
    ),
)
def theorem_5(runs: LearningRuns, *, delta: float = DELTA, bound: ErrorBound = compression_bound) -> Promise:
    """If $n ≥ 2c_k$ and SGD is determined by $c_k$ of its $n$ points, then with probability at least $1 − δ$ over $S$
    and $W_0$ the 0-1 risk is at most $L_V + √(L_V·4c_k ln(n/δ)/n) + 8c_k ln(n/δ)/n$, where $L_V$ is the error on the
    other points. Tested at $δ = 0.1$, also on runs stopped early, where $L_V > 0$.
    """
    limits = _each(bound, runs.unused_error, runs.compression_size, runs.n_samples, delta)
    none = np.zeros(len(runs), bool)
    promise = _rarely_fails(runs, limits, none, none, delta, "an error within its bound")
    extra = {"mean_unused_error": lambda cell: cell.unused_error.mean()}
    return dataclasses.replace(promise, details=lambda: _details(runs, delta, extra))


@claim(
    "brutzkus2018.theorem_6",
    Kind.MAIN,
    "Theorem 6 and Eq. 7, Section 6.1",
    reads=test_errors.at(theorem_6_settings),
    given=[*LEARNING, enough_samples, fixed_before],
    title="Loss 0 and a small test error, at every width",
    means=Meaning(
        topic=Topic.TEST_ERROR,
        promise="SGD fits the training points and errs on at most a share {promised} of new points, at every width, "
        "with probability 0.9.",
        seen="it erred on a share {measured} of the held-out points",
    ),
)
def theorem_6(
    runs: LearningRuns, *, delta: float = DELTA, bound: Callable[..., np.ndarray] = max_nonzero_updates
) -> Promise:
    """If $n ≥ 2c_k$ and $R = v = 1/√(2k)$, then with probability at least $1 − δ$ SGD reaches loss $0$ with 0-1 test
    error at most $(8/n)·M·ln(n/δ)$, where $M$ is the bound of Corollary 3, which does not depend on the width. Tested
    at $δ = 0.1$.
    """
    scale = (2 * runs.half_width) ** -0.5
    with np.errstate(all="ignore"):  # without a separator there is no M, and c_k is 0
        most = bound(runs.separator_norm, runs.slope, runs.step_size, scale, scale, runs.half_width)
    limits = np.where(runs.compression_size == 0, np.inf, _each(risk_bound, most, runs.n_samples, delta))
    # Loss 0, after at most ⌊M⌋ updates, is part of the promise. A run that was not given the time it is promised to
    # need says nothing about its loss; one that was has failed.
    unknown = runs.loss > 0
    failed = (unknown & runs.is_waited_for) | (runs.updates > runs.compression_size)
    promise = _rarely_fails(runs, limits, failed, unknown, delta, "loss 0 and an error within the bound")
    extra = {"bounds_with_integer_c_k": lambda cell: risk_bound(cell.compression_size, cell.n_samples, delta)}
    return dataclasses.replace(promise, details=lambda: _details(runs, delta, extra))


def _each(function: Callable[..., float], *columns: Any) -> np.ndarray:
    """A function of numbers, in every row."""
    return np.vectorize(function, otypes=[np.float64])(*columns)


def _rarely_fails(
    runs: LearningRuns, limits: np.ndarray, otherwise: np.ndarray, lost: np.ndarray, delta: float, promise: str
) -> Promise:
    """In at most a share δ of the trials the error exceeds its limit, or the run failed otherwise; case by case."""
    sides = at_most(runs.error, limits, trivial=1.0, quantity="0-1 test error in the tightest trial")
    undecided = ~otherwise & (lost | ~np.isfinite(runs.error - limits))
    failed = otherwise | sides.broken
    n_cases = max(CASES, len(runs.cells))
    parts = {
        f"case_{number}": Rate(
            failed,
            delta,
            undecided=undecided,
            sides=sides.only(runs.cell == number - 1),
            where=runs.cell == number - 1,
            event=f"case {number}",
            text=f"case {number}: {promise}, but for a share $δ$ of the trials",
            optional=number > 1,
        )
        for number in range(1, n_cases + 1)
    }
    tightest = dict(sorted(parts.items(), key=lambda item: -(item[1].part("").tightness or 0.0)))
    counts = (int((failed & ~undecided).sum()), int(undecided.sum()), len(runs))
    return Promise(tightest, note=_note(*counts, delta, heuristic=not np.all(runs.separator_is_given)))


def _details(runs: LearningRuns, delta: float, extra: dict[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Of each case."""
    each = runs.per("cell")
    told = {
        "compression_sizes": lambda cell: cell.compression_size,
        "largest_training_loss": lambda cell: cell.loss.max(),
        "most_updates": lambda cell: cell.updates.max(),
        "mean_test_error": lambda cell: cell.error.mean(),
        "fresh_points": lambda cell: cell.n_fresh,
        **extra,
    }
    return {"delta": delta, **{name: each.map(of, object).tolist() for name, of in told.items()}}


def _note(failed: int, undecided: int, total: int, delta: float, *, heuristic: bool) -> str:
    also = f", and {undecided} decide nothing" if undecided else ""
    words = (
        f"The bound failed in {failed} of {total} trials{also}; the interval is for the rate of failures in the case "
        f"shown, against δ = {delta:g}."
    )
    return f"{words} {HEURISTIC}" if heuristic else words


@hypothesis("$‖w*‖$")
def separator_norm(grid: StepSizes) -> Sides:
    """‖w*‖ ≥ 1."""
    return at_least(grid.separator_norm, 1)


@hypothesis("Eq. 6: largest $|R/v − 1|$", extreme=False)
def equal_scale(grid: StepSizes) -> Sides:
    """R = v."""
    return at_most(np.abs(grid.per("step").relative_radius - 1), 0, within=ROUNDING)


@hypothesis("largest step size $η$", extreme=False)
def large_steps(grid: StepSizes) -> Sides:
    """η is followed far enough."""
    return at_least(grid.per("cell").largest_step, 1e9)


def _limit_of_large_steps(norm: np.ndarray, slope: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):  # α = 0 is a hypothesis that fails
        return (norm / slope) ** 2


@claim(
    "brutzkus2018.remark_1",
    Kind.TREND,
    "Remark 1, Section 6.1",
    draws=growing_steps,
    given=[separator_norm, slope_positive, slope_below_one, equal_scale, large_steps],
    title="The bound on updates falls with the step size",
)
def remark_1(
    grid: StepSizes, *, limit: Callable[[np.ndarray, np.ndarray], np.ndarray] = _limit_of_large_steps
) -> Promise:
    """With $R = v = 1/√(2k)$ the bound $M$ on updates, and with it the generalization bound of Eq. 7, falls with the
    step size $η$ and tends to $‖w*‖²/α²$ as $η → ∞$.

    It tends there at the rate that Corollary 3 gives: the distance is at most K(α)‖w*‖²/√η for η ≥ 1.
    """
    at = grid.per("step")
    later = at.where(at.is_later)
    floors = limit(at.separator_norm, at.slope)
    allowed = floors + corollary_3_constant(at.slope) * at.separator_norm**2 / np.sqrt(at.step_sizes)
    furthest = at.step_sizes.max(initial=1.0)
    last = f"M_k at η = {furthest:.0e} where it is farthest from its limit ‖w*‖²/α²"
    large = {"where": at.step_sizes >= 1, "event": "steps from 1 on"}
    return Promise(
        {
            "floor": at_least(
                at.bound, floors, within=STEP, of=at.bound, text="$M$ is at least $‖w*‖²/α²$", quantity=last
            ),
            "falls": less_than(later.bound, later.before, text="$M$ falls with $η$"),
            "rate": at_most(at.bound, allowed, within=STEP, text="$M$ is at most $K(α)‖w*‖²/√η$ above it", **large),
        },
        details=lambda: {"step_sizes": [at.step_sizes.min(), at.step_sizes.max()]},
    )
