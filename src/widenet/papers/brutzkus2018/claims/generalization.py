"""Theorems 5 and 6: few compression points mean a small test error, whatever the width."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, less_than, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import clopper_pearson, fails_at_most
from widenet.papers.brutzkus2018.formulas import corollary_3_constant, max_nonzero_updates
from widenet.papers.brutzkus2018.runs.learning import (
    Learned,
    Learning,
    Rule,
    describe,
    draw_samples,
    setting_of_the_paper,
)
from widenet.types import Progress, Scale, silent

DELTA = 0.1
HEURISTIC = (
    "A heuristic here: w* was found on the data, so c_k was not fixed before the sample, and trials share points."
)

ErrorBound = Callable[[float, int, int, float], float]
RunOf = Callable[[Learning, int], Learned]


def compression_bound(unused_error: float, size: int, n_samples: int, delta: float) -> float:
    """Theorem 5: L_V + √(L_V·4c ln(n/δ)/n) + 8c ln(n/δ)/n, with c = `size`."""
    unit = size * math.log(n_samples / delta) / n_samples
    return unused_error + math.sqrt(4 * unused_error * unit) + 8 * unit


@dataclass(frozen=True)
class Outcomes:
    """One case: L_V, L_D, T and the loss of every trial, and the c_k that was fixed before."""

    size: int
    unused_error: np.ndarray
    error: np.ndarray
    updates: np.ndarray
    loss: np.ndarray


def _outcomes(learning: Learning, run: RunOf) -> Outcomes:
    rule, samples = learning.rule, learning.samples
    rows = []
    for trial in range(len(samples)):
        learned = run(learning, trial)
        wrong = samples.labels[trial] * rule.outputs(learned.weights, samples.inputs[trial]) <= 0
        outside = learned.unused(samples.n_samples)
        fresh = samples.fresh_labels * rule.outputs(learned.weights, samples.fresh_inputs) <= 0
        unused = wrong[outside].mean() if outside.any() else np.nan  # V may be empty where M_k is large
        rows.append((unused, fresh.mean(), len(learned.updated), learned.loss))
    return Outcomes(compression_size(learning), *(np.array(column) for column in zip(*rows, strict=True)))


def compression_size(learning: Learning) -> int:
    """c_k: the number of updates after which the rule stops, or ⌊M_k⌋ with the w* of the distribution."""
    if learning.rule.max_updates is not None:
        return learning.rule.max_updates
    bound = learning.rule.update_bound(learning.samples.separator_norm) if learning.samples.separator.any() else 0.0
    return int(bound)


def _conditions(learnings: Sequence[Learning], every: Sequence[Outcomes]) -> list[Hypothesis]:
    given = all(learning.samples.separator_is_given for learning in learnings)
    spare = [learning.samples.n_samples - 2 * case.size for learning, case in zip(learnings, every, strict=True)]
    return [
        *setting_of_the_paper(learnings),
        at_least("smallest_n_2c_k", "smallest n − 2c_k", min(spare), 0),
        at_most("largest_t_c_k", "largest T − c_k", max(float(case.updates.max()) - case.size for case in every), 0),
        Hypothesis(
            key="c_k_fixed_before_the_samples",
            name="c_k fixed before the samples, which are independent",
            required="w* of the distribution",
            actual="w* of the distribution" if given else "w* found on the data",
            slack=None,
            met=given,
        ),
    ]


def check_theorem_5(
    learnings: Sequence[Learning],
    progress: Progress = silent,
    *,
    delta: float = DELTA,
    bound: ErrorBound = compression_bound,
) -> Evidence:
    """L_D exceeds the bound in at most a share δ of the trials, in every case."""
    every, limits = [], []
    for index, learning in enumerate(learnings):
        every.append(_outcomes(learning, Learning.run))
        size, n_samples = every[-1].size, learning.samples.n_samples
        limits.append(np.array([bound(float(e), size, n_samples, delta) for e in every[-1].unused_error]))
        progress((index + 1) / len(learnings), "cases")
    failed = [case.error > limit for case, limit in zip(every, limits, strict=True)]
    extra = {"mean_unused_error": [float(case.unused_error.mean()) for case in every]}
    return _judge(learnings, every, limits, failed, delta, extra)


def check_theorem_6(
    learnings: Sequence[Learning], progress: Progress = silent, *, delta: float = DELTA, run: RunOf = Learning.run
) -> Evidence:
    """In at most a share δ of the trials the loss is not 0 or L_D exceeds (8/n)·M ln(n/δ), at every width.

    A control passes another `run`: a global minimum that SGD would not find.
    """
    every, limits, integer_limits = [], [], []
    for index, learning in enumerate(learnings):
        every.append(_outcomes(learning, run))
        n_samples = learning.samples.n_samples
        unit = 8 * math.log(n_samples / delta) / n_samples
        limit = learning.rule.update_bound(learning.samples.separator_norm) * unit if every[-1].size else math.inf
        limits.append(np.full(len(learning.samples), limit))
        integer_limits.append(every[-1].size * unit)
        progress((index + 1) / len(learnings), "widths")
    failed = [
        (case.error > limit) | ((case.loss > 0) & learning.is_waited_for)
        for case, limit, learning in zip(every, limits, learnings, strict=True)
    ]
    return _judge(learnings, every, limits, failed, delta, {"bounds_with_integer_c_k": integer_limits})


def _judge(
    learnings: Sequence[Learning],
    every: Sequence[Outcomes],
    limits: Sequence[np.ndarray],
    failed: Sequence[np.ndarray],
    delta: float,
    extra: dict,
) -> Evidence:
    conditions = _conditions(learnings, every)
    answers = [fails_at_most(int(trials.sum()), len(trials), delta) for trials in failed]
    conclusion = False if False in answers else None if None in answers else True
    intervals = [clopper_pearson(int(trials.sum()), len(trials)) for trials in failed]
    errors, promised = np.concatenate([case.error for case in every]), np.concatenate(limits)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = int(np.argmax(np.nan_to_num(errors / promised)))
    total, bad = len(errors), int(sum(trials.sum() for trials in failed))
    heuristic = not all(learning.samples.separator_is_given for learning in learnings)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=total),
        conclusion=conclusion,
        quantity="0-1 test error in the tightest trial",
        promised=float(promised[worst]),
        measured=float(errors[worst]),
        tightness=ratio(float(errors[worst]), float(promised[worst])),
        vacuous=bool((promised >= 1).all()),
        interval=max(intervals, key=lambda ends: ends[1]),
        config={
            "dtype": "float64",
            "delta": delta,
            "compression_sizes": [case.size for case in every],
            "largest_training_loss": [float(case.loss.max()) for case in every],
            "most_updates": [int(case.updates.max()) for case in every],
            "mean_test_error": [float(case.error.mean()) for case in every],
            "fresh_points": [len(learning.samples.fresh_labels) for learning in learnings],
            "failures": [int(trials.sum()) for trials in failed],
            "cases": describe(learnings),
            **extra,
        },
        note=(
            f"The bound failed in {bad} of {total} trials; the interval is for the rate of failures in the worst case, "
            f"against δ = {delta:g}.{' ' + HEURISTIC if heuristic else ''}"
        ),
    )


@dataclass(frozen=True)
class StepSizes:
    """Parameters ‖w*‖, α, k at which M_k is followed over growing step sizes η."""

    separator_norms: np.ndarray
    slopes: np.ndarray
    half_widths: np.ndarray
    step_sizes: np.ndarray


def _equal_to_output_weight(output_weight: np.ndarray, step_size: np.ndarray) -> np.ndarray:
    return output_weight + 0 * step_size


def check_remark_1(
    grid: StepSizes,
    progress: Progress = silent,
    *,
    row_bound: Callable[[np.ndarray, np.ndarray], np.ndarray] = _equal_to_output_weight,
    limit: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda norm, slope: (norm / slope) ** 2,
) -> Evidence:
    """M_k falls strictly with η, and its distance from ‖w*‖²/α² is at most K(α)‖w*‖²/√η for η ≥ 1."""
    weights = (2.0 * grid.half_widths[:, None]) ** -0.5
    norms, slopes, etas = grid.separator_norms[:, None], grid.slopes[:, None], grid.step_sizes[None, :]
    radii = row_bound(weights, etas)
    values = max_nonzero_updates(norms, slopes, etas, weights, radii, grid.half_widths[:, None])
    floors = limit(norms, slopes)
    excess = values - floors
    allowed = corollary_3_constant(slopes) * norms**2 / np.sqrt(etas)
    falling = bool((np.diff(values, axis=1) < 0).all())
    near = bool((excess >= -1e-9 * values).all() and (excess <= allowed * (1 + 1e-9))[:, grid.step_sizes >= 1].all())
    conditions = [
        at_least("smallest_w", "smallest ‖w*‖", float(norms.min()), 1),
        more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", float(slopes.min()), 0),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", float(slopes.max()), 1),
        at_most("eq_6", "Eq. 6: largest |R/v − 1|", float(np.abs(radii / weights - 1).max()), 0, tolerance=1e-12),
        at_least("largest_step_size_step_size", "largest step size η", float(etas.max()), 1e9),
    ]
    conclusion = falling and near
    progress(1.0, "step sizes")
    last = values[:, -1] / floors[:, 0]
    worst = int(np.argmax(last))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=values.size),
        conclusion=conclusion,
        quantity=f"M_k at η = {grid.step_sizes[-1]:.0e} where it is farthest from its limit ‖w*‖²/α²",
        promised=float(floors[worst, 0]),
        measured=float(values[worst, -1]),
        tightness=ratio(float(values[worst, -1]), float(floors[worst, 0])),
        config={"dtype": "float64", "decreasing": falling, "step_sizes": [float(etas.min()), float(etas.max())]},
    )


def _sizes(scale: Scale) -> tuple[int, int]:
    """Trials and fresh points: an error of one in two is measured to about .01, or .004 at the paper's scale."""
    return (100, 2_000) if scale is Scale.QUICK else (200, 20_000)


def _theorem_5_setting(scale: Scale, seed: int) -> list[Learning]:
    """Runs to loss 0, and runs stopped after four updates, where the unused points are misclassified too."""
    trials, fresh = _sizes(scale)
    wide = draw_samples(seed + 1, trials, 2000, 2.0, 0.7, fresh=fresh)
    narrow = draw_samples(seed + 2, trials, 2000, 20.0, 0.1, fresh=fresh)
    return [
        Learning(wide, Rule(5, 0.9, 10.0), seed),
        Learning(narrow, Rule(5, 0.2, 1.0, max_updates=4), seed),
        Learning(wide, Rule(5, 0.2, 0.1, max_updates=4), seed),
    ]


def _theorem_6_setting(scale: Scale, seed: int) -> list[Learning]:
    """An example in which the bound is far below 1: M = 7.99, so c_k = 7 of 2000 points. Three widths."""
    trials, fresh = _sizes(scale)
    samples = draw_samples(seed, trials, 2000, 2.0, 0.7, fresh=fresh)
    return [Learning(samples, Rule(half, 0.9, 10.0), seed + index) for index, half in enumerate((1, 5, 50))]


def _remark_1_setting(scale: Scale, seed: int) -> StepSizes:
    draw = np.random.default_rng(seed)
    count = 200 if scale is Scale.QUICK else 1000
    return StepSizes(
        1 + draw.exponential(10, count),
        draw.uniform(0.01, 0.99, count),
        draw.integers(1, 1000, count) * 1.0,
        np.geomspace(1e-3, 1e12, 100),
    )


theorem_5 = Claim(
    id="brutzkus2018.theorem_5",
    kind=Kind.MAIN,
    statement=(
        "If n ≥ 2c_k and SGD is determined by c_k of its n points, then with probability at least 1 − δ over S and W_0 "
        "the 0-1 risk is at most L_V + √(L_V·4c_k ln(n/δ)/n) + 8c_k ln(n/δ)/n, L_V the error on the other points. "
        "Tested at δ = 0.1, also on runs stopped early, where L_V > 0."
    ),
    where="Theorem 5, Section 6.1",
    judge=check_theorem_5,
    draws=_theorem_5_setting,
)

theorem_6 = Claim(
    id="brutzkus2018.theorem_6",
    kind=Kind.MAIN,
    statement=(
        "If n ≥ 2c_k and R = v = 1/√(2k), then with probability at least 1 − δ SGD reaches loss 0 with 0-1 test error "
        "at most (8/n)·M·ln(n/δ), M the bound of Corollary 3, which does not depend on the width. Tested at δ = 0.1."
    ),
    where="Theorem 6 and Eq. 7, Section 6.1",
    judge=check_theorem_6,
    draws=_theorem_6_setting,
)

remark_1 = Claim(
    id="brutzkus2018.remark_1",
    kind=Kind.TREND,
    statement=(
        "With R = v = 1/√(2k) the bound M on updates, and with it the generalization bound of Eq. 7, falls with the "
        "step size η and tends to ‖w*‖²/α² as η → ∞."
    ),
    where="Remark 1, Section 6.1",
    judge=check_remark_1,
    draws=_remark_1_setting,
)
