"""Theorem 9, how long it takes: the number of updates until a solvable ReLU run on orthonormal points is solved.

A point outside K_0 has a +1 neuron that is on. Each update on it raises that neuron by η and lowers every −1 neuron
that is on by η, so after m = ⌈max{C, 1}/η⌉ of them the first stands above 1 and the others are off: N > 1. Hence at
most m updates on each point, as the proof says, and d·m in all. The statement rounds up once for all points,
⌈d·max{C, 1}/η⌉, which is smaller when η does not divide max{C, 1}, and false: no matter how large η is, d points that
start unsolved take d updates.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_least, at_most, claim, more_than
from widenet.claims.sides import Fact, Rate, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.formulas import updates_allowed, updates_allowed_as_printed, wide_width
from widenet.papers.brutzkus2018.runs.update_counts import AllCounts, UpdateCounts, exact_settings, update_counts

Allowed = Callable[[int, float | Fraction, float | Fraction], int]
"""How many updates are allowed, from d, C and η."""


@claim(
    "brutzkus2018.theorem_9b_updates",
    Kind.MAIN,
    "Theorem 9, second part, with the count its proof gives (Section 9.3.2)",
    reads=update_counts,
)
def theorem_9b_updates(runs: Sequence[AllCounts], *, allowed: Allowed = updates_allowed) -> Evidence:
    """ReLU on e_1, …, e_d labelled +1, |entries of W_0| ≤ C: when K_0 is empty (which k ≥ log2(2d/δ) gives with
    probability at least 1 − δ), SGD reaches loss 0 after at most d·⌈max{C, 1}/η⌉ non-zero updates,
    ⌈max{C, 1}/η⌉ on each point.

    Whatever the order. One point alone is the case d = 1.
    """
    cases = [case for run in runs for case in run.cases]
    ended = np.concatenate([case.ended[case.solvable] for case in cases])
    rows = [_row(case, allowed) for case in cases]
    broken = sum(row["runs_over"] for row in rows)
    return evidence(
        {
            "at most d·⌈max{C, 1}/η⌉ updates": Sides(
                np.concatenate([case.totals[case.solvable] for case in cases]),
                _spread(cases, [_limit(case, allowed) for case in cases]),
                quantity="non-zero updates until the loss is 0",
            ),
            "at most ⌈max{C, 1}/η⌉ on each point": Sides(
                np.concatenate([case.updates[case.solvable].max(axis=1) for case in cases]),
                _spread(cases, [_limit_on_one_point(case, allowed) for case in cases]),
                quantity="non-zero updates on one point",
            ),
            "loss 0": Fact(np.concatenate([case.reached[case.solvable] for case in cases]), undecided=~ended),
        },
        _hypotheses(cases),
        runs=Runs(tried=len(ended), unfinished=int((~ended).sum())),
        details={"cases": rows},
        note=f"{broken} of {len(ended)} runs with K_0 = ∅ make more updates than the count allows." if broken else "",
    )


@claim(
    "brutzkus2018.theorem_9b_updates_as_printed",
    Kind.MAIN,
    "Theorem 9, second part, Section 7.2",
    reads=update_counts.at(exact_settings),
)
def theorem_9b_updates_as_printed(
    runs: Sequence[AllCounts], *, allowed: Allowed = updates_allowed_as_printed
) -> Evidence:
    """If k ≥ log2(2d/δ), then with probability at least 1 − δ SGD converges to a global minimum after
    ⌈max{dC/η, d/η}⌉ iterations. Counterexample for every start: d = 2, k = 3, δ = 1/2, C = 1/4, η = 2. Both
    points start with N ≤ kC = 3/4 < 1, so each needs an update of its own, and an iteration updates on one
    point; the printed count is 1.

    A start with a stuck point is a failure too. Iterations are counted as non-zero updates, of which there are fewer.
    """
    cases = [case for run in runs for case in run.cases]
    beyond = [case.totals > _limit(case, allowed) for case in cases]
    solvable = sum(int(case.solvable.sum()) for case in cases)
    over = sum(int((each & case.solvable).sum()) for each, case in zip(beyond, cases, strict=True))
    return evidence(
        {
            f"loss 0 after the printed count, but for a share δ of the runs ({_words(case)})": Rate(
                each | ~case.reached,
                case.setting.delta,
                undecided=~case.ended & ~each,
                quantity="share of runs that are not at loss 0 after the printed count",
            )
            for each, case in zip(beyond, cases, strict=True)
        },
        _hypotheses(cases),
        details={"cases": [_row(case, allowed) for case in cases]},
        note=f"{over} of {solvable} runs with K_0 = ∅ make more updates than the count allows." if over else "",
    )


def _limit(case: UpdateCounts, allowed: Allowed) -> int:
    return allowed(case.setting.dim, case.entry_bound, case.step_size)


def _limit_on_one_point(case: UpdateCounts, allowed: Allowed) -> int:
    return allowed(1, case.entry_bound, case.step_size)


def _spread(cases: Sequence[UpdateCounts], limits: Sequence[int]) -> np.ndarray:
    """The limit of each case, once per run with K_0 = ∅."""
    return np.repeat(limits, [int(case.solvable.sum()) for case in cases])


def _words(case: UpdateCounts) -> str:
    return f"d = {case.setting.dim}, η = {case.step_size}, C = {case.entry_bound}"


def _hypotheses(cases: Sequence[UpdateCounts]) -> list[Hypothesis]:
    spare = min(case.setting.half_width - wide_width(case.setting.dim, case.setting.delta) for case in cases)
    return [
        at_least("width", "smallest k − log2(2d/δ)", spare, 0),
        at_most("entry_bound", "largest |entry of W_0| − C", max(case.excess for case in cases), 0),
        more_than("step_size", "smallest step size η", float(min(case.step_size for case in cases)), 0),
        at_most(
            "orthonormal",
            "orthonormal points: largest entry of XXᵀ − I",
            max(case.gram_error for case in cases),
            0,
            tolerance=ROUNDING,
        ),
        at_most("relu", "ReLU: slope for z < 0", max(case.slope for case in cases), 0),
        at_most("unit_output_weights", "output weights ±1: |v − 1|", max(case.weight_error for case in cases), 0),
        at_least("plus_labels", "every label is +1: smallest label", min(case.smallest_label for case in cases), 1),
    ]


def _row(case: UpdateCounts, allowed: Allowed) -> dict[str, Any]:
    limit, each = _limit(case, allowed), _limit_on_one_point(case, allowed)
    totals, most = case.totals[case.solvable], case.updates[case.solvable].max(axis=1)
    failed = (totals > limit) | (most > each) | ~case.reached[case.solvable]
    return {
        "dim": case.setting.dim,
        "half_width": case.setting.half_width,
        "delta": case.setting.delta,
        "entry_bound": str(case.entry_bound),
        "step_size": str(case.step_size),
        "allowed": limit,
        "most_updates": int(totals.max(initial=0)),
        "allowed_on_one_point": each,
        "most_on_one_point": int(most.max(initial=0)),
        "runs_with_empty_K_0": len(totals),
        "runs_over": int(failed.sum()),
    }
