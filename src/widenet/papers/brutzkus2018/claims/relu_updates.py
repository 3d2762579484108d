"""Theorem 9, how long it takes: the number of updates until a solvable ReLU run on orthonormal points is solved.

A point outside K_0 has a +1 neuron that is on. Each update on it raises that neuron by η and lowers every −1 neuron
that is on by η, so after m = ⌈max{C, 1}/η⌉ of them the first stands above 1 and the others are off: N > 1. Hence at
most m updates on each point, as the proof says, and d·m in all. The statement rounds up once for all points,
⌈d·max{C, 1}/η⌉, which is smaller when η does not divide max{C, 1}, and false: no matter how large η is, d points that
start unsolved take d updates.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Runs, Verdict, at_least, at_most, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2018.claims.relu_basis import basis_start
from widenet.papers.brutzkus2018.claims.relu_width import wide_width
from widenet.papers.brutzkus2018.runs.online import train_online
from widenet.types import Progress, Scale, silent

Number = float | Fraction
Allowed = Callable[[int, Number, Number], int]
"""How many updates are allowed, from d, C and η."""


def updates_allowed(dim: int, entry_bound: Number, step_size: Number) -> int:
    """d·⌈max{C, 1}/η⌉."""
    return dim * math.ceil(max(entry_bound, 1) / step_size)


def updates_allowed_as_printed(dim: int, entry_bound: Number, step_size: Number) -> int:
    """⌈max{dC/η, d/η}⌉."""
    return math.ceil(dim * max(entry_bound, 1) / step_size)


@dataclass(frozen=True, eq=False)
class UpdateCounts:
    """Counted updates of many runs of one shape.

    Attributes:
      dim, half_width, delta: d, k and δ.
      entry_bound, step_size: C and η; fractions when the counts are exact.
      largest_entry: the largest |entry of W_0|.
      updates: non-zero updates of each run on each point.
      solvable: whether K_0 is empty.
      reached: whether the loss is 0 at the end.
    """

    dim: int
    half_width: int
    delta: float
    entry_bound: Number
    step_size: Number
    largest_entry: Number
    updates: np.ndarray
    solvable: np.ndarray
    reached: np.ndarray


def counted(
    seed: int, n_runs: int, dim: int, half_width: int, delta: float, entry_bound: float, step_size: float
) -> UpdateCounts:
    """Runs of SGD from entries uniform on [−C, C], in float64."""
    draw = np.random.default_rng([seed, 9])
    start = basis_start(draw, n_runs, dim, half_width, step_size, entry_bound=entry_bound, seed=seed)
    run = train_online(start)
    return UpdateCounts(
        dim,
        half_width,
        delta,
        entry_bound,
        step_size,
        float(np.abs(start.weights).max()),
        run.updates,
        np.asarray(~start.stuck(start.weights).any(axis=1)),
        run.ended & (start.loss(run.weights) == 0),
    )


def counted_exactly(
    seed: int, n_runs: int, dim: int, half_width: int, delta: float, entry_bound: Fraction, step_size: Fraction
) -> UpdateCounts:
    """The same in fractions: entries are odd multiples of C/2^20, so none is 0 and nothing is rounded.

    The points never meet, so the count on each does not depend on the order, and each is a scalar recursion.
    """
    draw = np.random.default_rng([seed, 10])
    grid = 2 * draw.integers(-(2**19), 2**19, (n_runs, dim, 2 * half_width)) + 1
    starts = [[[Fraction(int(n), 2**20) * entry_bound for n in point] for point in run] for run in grid]
    ends = [[_solve_point(point, step_size) for point in run] for run in starts]
    return UpdateCounts(
        dim,
        half_width,
        delta,
        entry_bound,
        step_size,
        max(abs(entry) for run in starts for point in run for entry in point),
        np.array([[count for count, _ in run] for run in ends]),
        np.array([all(max(point[:half_width]) > 0 for point in run) for run in starts]),
        np.array([all(output >= 1 for _, output in run) for run in ends]),
    )


def _solve_point(entries: Sequence[Fraction], step_size: Fraction) -> tuple[int, Fraction]:
    """Updates on one point with label +1 until there are no more, and the output there."""
    half, values, count = len(entries) // 2, list(entries), 0
    while True:
        output = sum((max(z, Fraction(0)) for z in values[:half]), Fraction(0))
        output -= sum((max(z, Fraction(0)) for z in values[half:]), Fraction(0))
        if output >= 1 or max(values) <= 0:
            return count, output
        signs = [1] * half + [-1] * half
        values = [z + sign * step_size if z > 0 else z for z, sign in zip(values, signs, strict=True)]
        count += 1


def check_theorem_9b_updates(
    cases: Sequence[UpdateCounts], progress: Progress = silent, *, allowed: Allowed = updates_allowed
) -> Evidence:
    """In every run with K_0 = ∅ the loss is 0 after at most `allowed` non-zero updates, whatever the order.

    One point alone is the case d = 1.
    """
    conditions = [
        at_least(
            "smallest_k_log2_2d",
            "smallest k − log2(2d/δ)",
            min(c.half_width - wide_width(c.dim, c.delta) for c in cases),
            0,
        ),
        at_most(
            "largest_entry_of_w_0_c",
            "largest |entry of W_0| − C",
            float(max(c.largest_entry - c.entry_bound for c in cases)),
            0,
        ),
        more_than("smallest_step_size_step_size", "smallest step size η", float(min(c.step_size for c in cases)), 0),
    ]
    rows, broken, tested = [], 0, 0
    for case in cases:
        limit = allowed(case.dim, case.entry_bound, case.step_size)
        totals = case.updates.sum(axis=1)[case.solvable]
        most = case.updates[case.solvable].max(axis=1, initial=0)
        each = allowed(1, case.entry_bound, case.step_size)
        failed = (totals > limit) | (most > each) | ~case.reached[case.solvable]
        broken += int(failed.sum())
        tested += len(totals)
        rows.append(
            {
                "dim": case.dim,
                "half_width": case.half_width,
                "delta": case.delta,
                "entry_bound": str(case.entry_bound),
                "step_size": str(case.step_size),
                "allowed": limit,
                "most_updates": int(totals.max(initial=0)),
                "allowed_on_one_point": each,
                "most_on_one_point": int(most.max(initial=0)),
                "runs_with_empty_K_0": len(totals),
                "runs_over": int(failed.sum()),
            }
        )
    conclusion = None if not tested else broken == 0
    worst = max(rows, key=lambda row: row["most_updates"] / max(row["allowed"], 1e-9))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=tested),
        conclusion=conclusion,
        quantity=f"non-zero updates until the loss is 0 (d = {worst['dim']}, η = {worst['step_size']}, "
        f"C = {worst['entry_bound']})",
        promised=float(worst["allowed"]),
        measured=float(worst["most_updates"]),
        tightness=ratio(float(worst["most_updates"]), float(worst["allowed"])),
        config={"cases": rows},
        note="" if not broken else f"{broken} of {tested} runs with K_0 = ∅ make more updates than the count allows.",
    )


STEP_SIZES = (0.05, 0.3, 0.6, 1.1, 2.0, 10.0)


def _setting(scale: Scale, seed: int) -> list[UpdateCounts]:
    dim, delta, n_runs = 50, 0.1, 20 if scale is Scale.QUICK else 200
    half = math.ceil(wide_width(dim, delta))
    return [counted(seed, n_runs, dim, half, delta, bound, step) for bound in (0.3, 1.0) for step in STEP_SIZES]


def _exact_setting(scale: Scale, seed: int) -> list[UpdateCounts]:
    """d = 2, δ = ½, k = 3 = log2(2d/δ), C = ¼, η = 2: both points start with N ≤ kC = ¾ < 1, so T ≥ 2 > 1 = printed."""
    return [counted_exactly(seed, 100 if scale is Scale.QUICK else 1000, 2, 3, 0.5, Fraction(1, 4), Fraction(2))]


theorem_9b_updates = Claim(
    id="brutzkus2018.theorem_9b_updates",
    kind=Kind.MAIN,
    statement=(
        "ReLU on e_1, …, e_d labelled +1, |entries of W_0| ≤ C: when K_0 is empty (which k ≥ log2(2d/δ) gives with "
        "probability at least 1 − δ), SGD reaches loss 0 after at most d·⌈max{C, 1}/η⌉ non-zero updates, "
        "⌈max{C, 1}/η⌉ on each point."
    ),
    where="Theorem 9, second part, with the count its proof gives (Section 9.3.2)",
    judge=check_theorem_9b_updates,
    draws=_setting,
)

theorem_9b_updates_as_printed = Claim(
    id="brutzkus2018.theorem_9b_updates_as_printed",
    kind=Kind.MAIN,
    statement=(
        "If k ≥ log2(2d/δ), then with probability at least 1 − δ SGD converges to a global minimum after "
        "⌈max{dC/η, d/η}⌉ iterations. Counterexample for every start: d = 2, k = 3, δ = 1/2, C = 1/4, η = 2. Both "
        "points start with N ≤ kC = 3/4 < 1, so each needs an update of its own, and an iteration updates on one "
        "point; the printed count is 1."
    ),
    where="Theorem 9, second part, Section 7.2",
    judge=functools.partial(check_theorem_9b_updates, allowed=updates_allowed_as_printed),
    draws=_exact_setting,
    expected=Verdict.VIOLATED,
)
