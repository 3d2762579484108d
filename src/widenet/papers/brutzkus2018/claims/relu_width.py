"""Theorem 9: on orthonormal points a narrow ReLU network gets stuck and a wide one succeeds, with probabilities.

A point is in K_0 with probability 2^{−k}, so with independent signs a run succeeds with probability
(1 − 2^{−k})^d exactly. Both halves of the theorem bound this number.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import clopper_pearson, fails_at_most, matches_rate
from widenet.papers.brutzkus2018.runs.online import Start, train_online
from widenet.types import Progress, Scale, silent

Width = Callable[[int, float], float]
"""The width k that a statement asks for, from the dimension d and the confidence parameter δ."""


def narrow_width(dim: int, delta: float) -> float:
    """log2(d/ln(1/δ)): up to this k, SGD gets stuck with probability at least 1 − δ."""
    return math.log2(dim / math.log(1 / delta))


def wide_width(dim: int, delta: float) -> float:
    """log2(2d/δ): from this k on, SGD succeeds with probability at least 1 − δ."""
    return math.log2(2 * dim / delta)


def success_probability(dim: int, half_width: int) -> float:
    """P(K_0 = ∅) = (1 − 2^{−k})^d."""
    return math.exp(dim * math.log1p(-(2.0**-half_width)))


@dataclass(frozen=True, eq=False)
class Initializations:
    """Many starts of one shape, of which only K_0 is kept, and a few that are trained.

    Attributes:
      dim, delta, half_width: d, δ and k.
      solvable: whether K_0 is empty, for every start.
      imbalance: the largest |mean sign| of an entry of W_0.
      correlation: the largest |mean product of signs| of neighbouring entries, along rows and columns.
      sample: the starts that are trained in full, the first of all.
    """

    dim: int
    delta: float
    half_width: int
    solvable: np.ndarray
    imbalance: float
    correlation: float
    sample: Start


Draw = Callable[[np.random.Generator, tuple[int, int, int]], np.ndarray]


def uniform_entries(draw: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    """Independent entries, uniform on [−1, 1]."""
    return draw.uniform(-1, 1, shape)


def initializations(
    seed: int,
    dim: int,
    delta: float,
    half_width: int,
    count: int,
    *,
    entries: Draw = uniform_entries,
    trained: int = 50,
    step_size: float = 0.6,
) -> Initializations:
    """K_0 of `count` starts, drawn in pieces that fit in memory. K_0 depends on the +1 neurons alone."""
    draw = np.random.default_rng([seed, dim, half_width])
    first = entries(draw, (trained, 2 * half_width, dim))
    sample = Start(np.eye(dim), np.ones((trained, dim)), first, step_size, seed=seed)
    signs, rows, columns, empty, done = 0.0, 0.0, 0.0, [~sample.stuck(first).any(axis=1)], trained
    while done < count:
        piece = min(2_000, count - done)
        on = entries(draw, (piece, half_width, dim)) > 0
        empty.append(np.all(np.any(on, axis=1), axis=1))
        sign = np.where(on, np.float32(1), np.float32(-1))
        signs = signs + sign.sum(axis=0)
        columns = columns + (sign[:, :, 1:] * sign[:, :, :-1]).sum(axis=0)
        rows = rows + (sign[:, 1:] * sign[:, :-1]).sum(axis=0)
        done += piece
    drawn = count - trained
    largest = [float(np.abs(total).max(initial=0)) / drawn for total in (np.asarray(signs), columns, rows)]
    return Initializations(
        dim, delta, half_width, np.concatenate(empty), largest[0], max(largest[1], largest[2]), sample
    )


def check_theorem_9a(
    cases: Sequence[Initializations], progress: Progress = silent, *, width: Width = narrow_width
) -> Evidence:
    """Stuck with probability at least 1 − δ for k up to log2(d/ln(1/δ)). A control passes a larger width."""
    excess = max(case.half_width - width(case.dim, case.delta) for case in cases)
    limit = at_most("largest_k_log2_d_ln_1", "largest k − log2(d/ln(1/δ))", excess, 0)
    return _judge(cases, progress, limit, succeeds=False)


def check_theorem_9b(
    cases: Sequence[Initializations], progress: Progress = silent, *, width: Width = wide_width
) -> Evidence:
    """Global minimum with probability at least 1 − δ for k from log2(2d/δ) on. A control passes a smaller width."""
    excess = min(case.half_width - width(case.dim, case.delta) for case in cases)
    limit = at_least("smallest_k_log2_2d", "smallest k − log2(2d/δ)", excess, 0)
    return _judge(cases, progress, limit, succeeds=True)


def _judge(cases: Sequence[Initializations], progress: Progress, limit: Hypothesis, *, succeeds: bool) -> Evidence:
    """Both halves: the rate of the other outcome is at most δ, and it is the exact one.

    Thousands of starts are judged by K_0; those trained in full must end as K_0 says.
    """
    conditions = [limit, *_independent(cases)]
    rows, verdicts, disagree, unfinished = [], [], 0, 0
    for index, case in enumerate(cases):
        run = train_online(case.sample)
        reached = case.sample.loss(run.weights) == 0
        disagree += int((run.ended & (reached != case.solvable[: len(reached)])).sum())
        unfinished += int((~run.ended).sum())
        failures, total = int((case.solvable != succeeds).sum()), len(case.solvable)
        exact = success_probability(case.dim, case.half_width)
        exact = 1 - exact if succeeds else exact
        verdicts.append(fails_at_most(failures, total, case.delta))
        rows.append(
            {
                "dim": case.dim,
                "delta": case.delta,
                "half_width": case.half_width,
                "starts": total,
                "trained": len(reached),
                "failure_rate": failures / total,
                "exact_rate": exact,
                "p_value": matches_rate(failures, total, exact),
                "interval": list(clopper_pearson(failures, total)),
            }
        )
        progress((index + 1) / len(cases), f"d = {case.dim}, k = {case.half_width}")
    off_law = any(row["p_value"] < 1e-6 for row in rows)
    if disagree or off_law or False in verdicts:
        conclusion = False
    else:
        conclusion = None if unfinished or None in verdicts or not rows else True
    worst = max(rows, key=lambda row: row["failure_rate"] / row["delta"])
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=sum(row["starts"] for row in rows), unfinished=unfinished),
        conclusion=conclusion,
        quantity=f"share of runs that {'get stuck' if succeeds else 'reach loss 0'}, in the case nearest its δ",
        promised=worst["delta"],
        measured=worst["failure_rate"],
        tightness=ratio(worst["failure_rate"], worst["delta"]),
        vacuous=all(row["delta"] >= 1 for row in rows),
        interval=tuple(worst["interval"]),
        config={"cases": rows, "trained_runs_that_disagree_with_K_0": disagree},
        note=f"Every start is judged by its K_0; {sum(row['trained'] for row in rows)} were trained in full, of which "
        f"{disagree} ended otherwise.",
    )


def _independent(cases: Sequence[Initializations]) -> list[Hypothesis]:
    """Symmetric and independent signs, up to what chance does to a mean of so many (six standard errors)."""
    noise = [6 / math.sqrt(len(case.solvable)) for case in cases]
    pairs = list(zip(cases, noise, strict=True))
    return [
        at_most(
            "w_0_symmetric",
            "W_0 symmetric: |mean sign| of an entry, in six standard errors",
            max(c.imbalance / n for c, n in pairs),
            1,
        ),
        at_most(
            "w_0_independent",
            "W_0 independent: |mean product of neighbouring signs|, in six standard errors",
            max(c.correlation / n for c, n in pairs),
            1,
        ),
    ]


@dataclass(frozen=True)
class Exponents:
    """δ = e^{−ad} in the first half of Theorem 9, for these a and dimensions 1, …, max_dim."""

    values: tuple[float, ...]
    max_dim: int


def check_theorem_9_remark(
    setting: Exponents, progress: Progress = silent, *, largest_exponent: float = 0.5
) -> Evidence:
    """For a ≤ ½ the width k = 1 is allowed, and (1 − 2^{−k})^d ≤ e^{−ad} for every k ≤ log2(1/a).

    Compared as logarithms: d·ln(1 − 2^{−k}) ≤ −ad. The dimension cancels, and is run through all the same.
    """
    conditions = [
        more_than("smallest_exponent_a", "smallest exponent a", min(setting.values), 0),
        at_most("largest_exponent_a", "largest exponent a", max(setting.values), largest_exponent),
    ]
    broken, tried, worst = 0, 0, (0.0, 1.0, 1.0)
    for exponent in setting.values:
        # k = 1 is always tried: the remark needs a width that the theorem allows.
        for half_width in range(1, max(1, math.floor(math.log2(1 / exponent))) + 1):
            for dim in range(1, setting.max_dim + 1):
                stays, promised = dim * math.log1p(-(2.0**-half_width)), -exponent * dim
                allowed = half_width <= narrow_width(dim, math.exp(promised)) + 1e-9 if promised > -700 else True
                broken += not (stays <= promised and allowed)
                tried += 1
                if promised / stays > worst[0] * (1 + 1e-9):
                    worst = (promised / stays, math.exp(promised), math.exp(stays))
    conclusion = None if not tried else broken == 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=tried),
        conclusion=conclusion,
        quantity="probability of not getting stuck, where its logarithm is nearest to −ad",
        promised=worst[1],
        measured=worst[2],
        tightness=ratio(worst[2], worst[1]),
        config={"exponents": list(setting.values), "max_dim": setting.max_dim, "broken": broken},
    )


NARROW = ((100, 0.05), (64, 0.1), (20, 0.05))
"""Dimension and δ of the spec's table, for both halves."""


def _narrow_setting(scale: Scale, seed: int) -> list[Initializations]:
    count, full = (20_000, 50) if scale is Scale.QUICK else (100_000, 200)
    return [
        initializations(seed, dim, delta, math.floor(narrow_width(dim, delta)), count, trained=full)
        for dim, delta in NARROW
    ]


def _wide_setting(scale: Scale, seed: int) -> list[Initializations]:
    count, full = (8_000, 30) if scale is Scale.QUICK else (100_000, 200)
    return [
        initializations(seed, dim, delta, math.ceil(wide_width(dim, delta)), count, trained=full)
        for dim, delta in NARROW
    ]


def _remark_setting(scale: Scale, seed: int) -> Exponents:
    return Exponents((0.5, 0.25, 0.1, 0.01), 200)


theorem_9a = Claim(
    id="brutzkus2018.theorem_9a",
    kind=Kind.MAIN,
    statement=(
        "ReLU with ±1 output weights on e_1, …, e_d labelled +1, from a continuous symmetric start with independent "
        "entries: if k ≤ log2(d/ln(1/δ)), then with probability at least 1 − δ SGD ends at a non-global point. The "
        "exact probability is 1 − (1 − 2^{−k})^d."
    ),
    where="Theorem 9, first part, Section 7.2",
    judge=check_theorem_9a,
    draws=_narrow_setting,
)

theorem_9b = Claim(
    id="brutzkus2018.theorem_9b",
    kind=Kind.MAIN,
    statement=(
        "ReLU with ±1 output weights on e_1, …, e_d labelled +1, from a continuous symmetric start with independent "
        "entries: if k ≥ log2(2d/δ), then with probability at least 1 − δ SGD ends at a global minimum (loss 0). The "
        "exact probability is (1 − 2^{−k})^d."
    ),
    where="Theorem 9, second part, Section 7.2",
    judge=check_theorem_9b,
    draws=_wide_setting,
)

theorem_9_remark = Claim(
    id="brutzkus2018.theorem_9_remark",
    kind=Kind.STEP,
    statement=(
        "The basin of the non-global points can be exponentially large: δ = e^{−ad} with a ≤ ½ allows k = 1 and every "
        "k ≤ log2(1/a), and the probability of not getting stuck, (1 − 2^{−k})^d, is then at most e^{−ad}."
    ),
    where="Remark after Theorem 9, Section 7.2",
    judge=check_theorem_9_remark,
    draws=_remark_setting,
)
