"""Theorem 9: on orthonormal points a narrow ReLU network gets stuck and a wide one succeeds, with probabilities.

A point is in K_0 with probability 2^{−k}, so with independent signs a run succeeds with probability
(1 − 2^{−k})^d exactly. Both halves of the theorem bound this number.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_least, at_most, claim, less_than, more_than
from widenet.claims.sides import Conjunct, Fact, Rate, Sense, Sides, evidence
from widenet.claims.statistics import clopper_pearson, matches_rate
from widenet.claims.tolerances import STEP
from widenet.papers.brutzkus2018.formulas import narrow_width, proof_width, success_probability, wide_width
from widenet.papers.brutzkus2018.runs.initializations import (
    Initializations,
    equal_entries_settings,
    equal_rows_settings,
    initializations,
    wide_settings,
)
from widenet.records import Scale

Width = Callable[[int, float], float]
"""The width k that a statement asks for, from the dimension d and the confidence parameter δ."""

OFF_THE_LAW = 2e-5
"""Counts that the exact law makes less likely than this do not follow it."""
STANDARD_ERRORS = 6
"""What chance does to a mean of signs, at most."""


@claim("brutzkus2018.theorem_9a", Kind.MAIN, "Theorem 9, first part, Section 7.2", reads=initializations)
def theorem_9a(runs: Sequence[Initializations], *, width: Width = narrow_width, independent: bool = True) -> Evidence:
    """ReLU with ±1 output weights on e_1, …, e_d labelled +1, from a continuous symmetric start with independent
    entries: if k ≤ log2(d/ln(1/δ)), then with probability at least 1 − δ SGD ends at a non-global point. The
    exact probability is 1 − (1 − 2^{−k})^d.

    A control passes a larger width; `independent` is False for the statement as printed.
    """
    excess = max(case.half_width - width(case.dim, case.delta) for case in runs)
    limit = at_most("width", "largest k − log2(d/ln(1/δ))", excess, 0)
    return _judge(runs, limit, succeeds=False, independent=independent)


theorem_9a_as_printed = theorem_9a.variant(
    "theorem_9a_as_printed",
    where="Theorem 9, first part, Section 7.2",
    statement=(
        "ReLU with ±1 output weights on e_1, …, e_d labelled +1, from a continuous symmetric distribution with bounded "
        "norm: if k ≤ log2(d/ln(1/δ)), then with probability at least 1 − δ SGD ends at a non-global point. "
        "Counterexample: rows ξ·(1, …, 1) + noise, with a random sign of its own for each row and noise too small to "
        "change it. All points are stuck together, when all k signs are negative: probability 2^{−k} = 1/4 at d = 20, "
        "k = 2, δ = 0.05, and 0.95 is promised. The proof uses independent entries."
    ),
    reads=initializations.at(equal_entries_settings),
    independent=False,
)


@claim(
    "brutzkus2018.theorem_9b",
    Kind.MAIN,
    "Theorem 9, second part, Section 7.2",
    reads=initializations.at(wide_settings),
)
def theorem_9b(runs: Sequence[Initializations], *, width: Width = proof_width, independent: bool = True) -> Evidence:
    """ReLU with ±1 output weights on e_1, …, e_d labelled +1, from a continuous symmetric start with independent
    entries: if k ≥ log2(2d/δ) (the proof needs log2(d/δ) only), then with probability at least 1 − δ SGD ends at a
    global minimum (loss 0). The exact probability is (1 − 2^{−k})^d.

    Judged from the width of the proof on, which includes what the statement says. A control passes a smaller width;
    `independent` is False for the statement as printed.
    """
    excess = min(case.half_width - width(case.dim, case.delta) for case in runs)
    least = "log2(2d/δ)" if width is wide_width else "log2(d/δ)"
    limit = at_least("width", f"smallest k − {least}", excess, 0)
    return _judge(runs, limit, succeeds=True, independent=independent)


theorem_9b_as_printed = theorem_9b.variant(
    "theorem_9b_as_printed",
    where="Theorem 9, second part, Section 7.2",
    statement=(
        "ReLU with ±1 output weights on e_1, …, e_d labelled +1, from a continuous symmetric distribution with bounded "
        "norm: if k ≥ log2(2d/δ), then with probability at least 1 − δ SGD ends at a global minimum. Counterexample: "
        "all rows equal one random vector, up to noise too small to change a sign. A point is then solved or not by "
        "all neurons at once: probability 2^{−d} = 1/8 at d = 3, k = 5, δ = 0.2, and 0.8 is promised. The proof uses "
        "rows that are independent of each other."
    ),
    reads=initializations.at(equal_rows_settings),
    width=wide_width,
    independent=False,
)


def _case_words(case: Initializations, runs: Sequence[Initializations]) -> str:
    """What tells this case from the others: δ only where d and k do not, so that no part takes another one's place."""
    alike = [each for each in runs if (each.dim, each.half_width) == (case.dim, case.half_width)]
    return f"d = {case.dim}, k = {case.half_width}" + (f", δ = {case.delta:g}" if len(alike) > 1 else "")


def _judge(runs: Sequence[Initializations], limit: Hypothesis, *, succeeds: bool, independent: bool) -> Evidence:
    """Both halves: the rate of the other outcome is at most δ, and it is the exact one.

    Starts are judged by K_0; those trained in full must end as K_0 says. The exact law needs independence.
    """
    rows = [_row(case, succeeds) for case in runs]
    ended = np.concatenate([case.ended for case in runs])
    agree = np.concatenate([case.reached == case.solvable[: len(case.reached)] for case in runs])
    disagree = int((ended & ~agree).sum())
    outcome = "get stuck" if succeeds else "reach loss 0"
    # The case nearest its δ first.
    nearest = sorted(range(len(runs)), key=lambda index: -rows[index]["failure_rate"] / rows[index]["delta"])
    parts: dict[str, Conjunct] = {
        f"at most a share δ of the runs {outcome} ({_case_words(runs[index], runs)})": Rate(
            runs[index].solvable != succeeds, runs[index].delta, quantity=f"share of runs that {outcome}"
        )
        for index in nearest
    }
    if independent:
        parts["the share that the exact law gives"] = Sides(
            [row["p_value"] for row in rows],
            OFF_THE_LAW,
            Sense.AT_LEAST,
            quantity="p-value under the exact law",
        )
    parts["trained runs end as K_0 says"] = Fact(agree, undecided=~ended)
    highest = max(case.largest_entry for case in runs)
    return evidence(
        parts,
        [
            limit,
            *_signs(runs, independent),
            less_than("bounded", "W_0 bounded: largest |entry|", highest, math.inf),
        ],
        runs=Runs(tried=sum(row["starts"] for row in rows), unfinished=int((~ended).sum())),
        details={"cases": rows, "trained_runs_that_disagree_with_K_0": disagree},
        note=f"Every start is judged by its K_0; {len(ended)} were trained in full, of which "
        f"{disagree} ended otherwise.",
    )


def _row(case: Initializations, succeeds: bool) -> dict[str, Any]:
    failures, total = int((case.solvable != succeeds).sum()), len(case.solvable)
    success = success_probability(case.dim, case.half_width)
    exact = 1 - success if succeeds else success
    return {
        "dim": case.dim,
        "delta": case.delta,
        "half_width": case.half_width,
        "starts": total,
        "trained": len(case.reached),
        "failure_rate": failures / total,
        "exact_rate": exact,
        "p_value": matches_rate(failures, total, exact),
        "interval": list(clopper_pearson(failures, total)),
    }


def _signs(runs: Sequence[Initializations], independent: bool) -> list[Hypothesis]:
    """Symmetric signs, and independent ones, up to what chance does to a mean of so many."""
    noise = [STANDARD_ERRORS / math.sqrt(len(case.solvable)) for case in runs]
    imbalance = max(case.imbalance / each for case, each in zip(runs, noise, strict=True))
    correlation = max(case.correlation / each for case, each in zip(runs, noise, strict=True))
    symmetric = at_most("symmetric", "W_0 symmetric: |mean sign| of an entry, in six standard errors", imbalance, 1)
    words = "W_0 independent: |mean product of neighbouring signs|, in six standard errors"
    return [symmetric, at_most("independent", words, correlation, 1)] if independent else [symmetric]


@dataclass(frozen=True)
class Exponents:
    """δ = e^{−ad} in the first half of Theorem 9, for these a and dimensions 1, …, max_dim."""

    values: tuple[float, ...]
    max_dim: int


def some_exponents(scale: Scale, seed: int) -> Exponents:
    """From the largest that the remark allows."""
    return Exponents((0.5, 0.25, 0.1, 0.01), 200)


@claim("brutzkus2018.theorem_9_remark", Kind.STEP, "Remark after Theorem 9, Section 7.2", draws=some_exponents)
def theorem_9_remark(exponents: Exponents, *, largest_exponent: float = 0.5) -> Evidence:
    """The basin of the non-global points can be exponentially large: δ = e^{−ad} with a ≤ ½ allows k = 1 and every
    k ≤ log2(1/a), and the probability of not getting stuck, (1 − 2^{−k})^d, is then at most e^{−ad}.

    The dimension cancels, and is run through all the same.
    """
    # k = 1 is always tried: the remark needs a width that the theorem allows.
    pairs = [
        (exponent, half)
        for exponent in exponents.values
        if exponent > 0
        for half in range(1, max(1, math.floor(math.log2(1 / exponent))) + 1)
    ]
    cases = [(exponent, half, dim) for exponent, half in pairs for dim in range(1, exponents.max_dim + 1)]
    deltas = np.array([math.exp(-exponent * dim) for exponent, _, dim in cases])
    stays = np.array([success_probability(dim, half) for _, half, dim in cases])
    widths = [narrow_width(dim, delta) for (_, _, dim), delta in zip(cases, deltas, strict=True)]
    bound = Sides(stays, deltas, room=STEP * deltas, quantity="probability of not getting stuck, against e^{−ad}")
    allowed = Sides([half for _, half, _ in cases], widths, room=STEP, quantity="k, against log2(d/ln(1/δ))")
    return evidence(
        {"(1 − 2^{−k})^d ≤ e^{−ad}": bound, "k is allowed": allowed},
        [
            more_than("exponent_positive", "smallest exponent a", min(exponents.values), 0),
            at_most("exponent_at_most_half", "largest exponent a", max(exponents.values), largest_exponent),
        ],
        details={
            "exponents": list(exponents.values),
            "max_dim": exponents.max_dim,
            "broken": int((bound.broken | allowed.broken).sum()),
        },
    )
