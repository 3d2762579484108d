"""Theorem 9, how long it takes: the number of updates until a solvable ReLU run on orthonormal points is solved.

A point outside K_0 has a +1 neuron that is on. Each update on it raises that neuron by η and lowers every −1 neuron
that is on by η, so after m = ⌈max{C, 1}/η⌉ of them the first stands above 1 and the others are off: N > 1. Hence at
most m updates on each point, as the proof says, and d·m in all. The statement rounds up once for all points,
⌈d·max{C, 1}/η⌉, which is smaller when η does not divide max{C, 1}, and false: no matter how large η is, d points that
start unsolved take d updates.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.given import step_size
from widenet.claims.implication import Promise, at_least, at_most, hypothesis
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact, Sides
from widenet.papers.brutzkus2018.formulas import updates_allowed, updates_allowed_as_printed, wide_width
from widenet.papers.brutzkus2018.hypotheses import entry_bound, orthonormal, plus_labels, relu, unit_output_weights
from widenet.papers.brutzkus2018.runs.update_counts import UpdateCounts, exact_settings, update_counts
from widenet.records import Form

Allowed = Callable[[int, float | Fraction, float | Fraction], int]
"""How many updates are allowed, from d, C and η."""


class Counted(UpdateCounts):
    """Updates of each run, and how much wider than needed its network is."""

    step_size: Number = derived(lambda case: float(case.exact_step))  #: η
    delta: Number = derived(lambda case: case.setting.delta)  #: δ
    #: k − log2(2d/δ)
    spare: Number = derived(lambda case: case.setting.half_width - wide_width(case.setting.dim, case.setting.delta))
    total: Int[np.ndarray, " run"] = derived(lambda case: case.updates.sum(axis=1))  #: T
    most: Int[np.ndarray, " run"] = derived(lambda case: case.updates.max(axis=1))  #: on one point
    words: str = derived(lambda case: f"d = {case.setting.dim}, η = {case.exact_step}, C = {case.exact_bound}")


class SolvableRuns(Counted):
    """The same, for a statement about runs whose K_0 is empty."""

    def counts(self) -> dict[str, int]:
        """Those runs."""
        return {"tried": int(self.solvable.sum()), "unfinished": int((self.solvable & ~self.ended).sum())}


@hypothesis("$k − log2(2d/δ)$")
def width(runs: Counted) -> Sides:
    """k ≥ log2(2d/δ)."""
    return at_least(runs.spare, 0)


GIVEN = (width, entry_bound, step_size, orthonormal, relu, unit_output_weights, plus_labels)


@claim(
    "brutzkus2018.theorem_9b_updates",
    Kind.MAIN,
    "Theorem 9, second part, with the count its proof gives (Section 9.3.2)",
    reads=update_counts,
    given=GIVEN,
    form=Form.REPAIR,
    title="Solvable ReLU runs end within $d·⌈max{C, 1}/η⌉$ updates",
)
def theorem_9b_updates(runs: SolvableRuns, *, allowed: Allowed = updates_allowed) -> Promise:
    """ReLU on $e_1, …, e_d$ labelled $+1$, with entries of $W_0$ of size at most $C$: when $K_0$ is empty (which $k ≥
    log2(2d/δ)$ gives with probability at least $1 − δ$), SGD reaches loss $0$ after at most $d·⌈max{C, 1}/η⌉$ non-zero
    updates, $⌈max{C, 1}/η⌉$ on each point.

    Whatever the order. One point alone is the case d = 1.
    """
    solvable = runs.where(runs.solvable)
    limit = runs.map(lambda case: _limit(case, allowed), int)[runs.solvable]
    on_one = runs.map(lambda case: _limit_on_one_point(case, allowed), int)[runs.solvable]
    return Promise(
        {
            "updates": at_most(
                solvable.total,
                limit,
                text="at most $d·⌈max{C, 1}/η⌉$ updates",
                quantity="non-zero updates until the loss is 0",
            ),
            "on_each_point": at_most(
                solvable.most,
                on_one,
                text="at most $⌈max{C, 1}/η⌉$ on each point",
                quantity="non-zero updates on one point",
            ),
            "zero_loss": Fact(solvable.reached, undecided=~solvable.ended, text="loss 0"),
        },
        details=lambda: {"cases": runs.per("cell").map(lambda case: _row(case, allowed), object).tolist()},
        note=_note((solvable.total > limit) | (solvable.most > on_one) | ~solvable.reached),
    )


@claim(
    "brutzkus2018.theorem_9b_updates_as_printed",
    Kind.MAIN,
    "Theorem 9, second part, Section 7.2",
    reads=update_counts.at(exact_settings),
    given=GIVEN,
    title="Wide ReLU runs end within $⌈max{dC/η, d/η}⌉$ updates",
)
def theorem_9b_updates_as_printed(runs: Counted, *, allowed: Allowed = updates_allowed_as_printed) -> Promise:
    """If $k ≥ log2(2d/δ)$, then with probability at least $1 − δ$ SGD converges to a global minimum after $⌈max{dC/η,
    d/η}⌉$ iterations. Counterexample for every start: $d = 2$, $k = 3$, $δ = 1/2$, $C = 1/4$, $η = 2$. Both points
    start with $N ≤ kC = 3/4 < 1$, so each needs an update of its own, and an iteration updates on one point. The
    printed count is $1$.

    A start with a stuck point is a failure too. Iterations are counted as non-zero updates, of which there are fewer.
    """
    beyond = runs.total > runs.map(lambda case: _limit(case, allowed), int)
    instance = f" ({'; '.join(runs.per('cell').words)})" if runs.cells else ""
    return Promise(
        {
            "on_time": Rate(
                beyond | ~runs.reached,
                runs.delta,
                undecided=~runs.ended & ~beyond,
                setting=runs.cell,
                text=f"loss 0 after the printed count, but for a share $δ$ of the runs{instance}",
                quantity="share of runs that are not at loss 0 after the printed count",
            )
        },
        details=lambda: {"cases": runs.per("cell").map(lambda case: _row(case, allowed), object).tolist()},
        note=_note(beyond[runs.solvable]),
    )


def _limit(case: UpdateCounts, allowed: Allowed) -> int:
    return allowed(case.setting.dim, case.exact_bound, case.exact_step)


def _limit_on_one_point(case: UpdateCounts, allowed: Allowed) -> int:
    return allowed(1, case.exact_bound, case.exact_step)


def _note(over: np.ndarray) -> str:
    """How many runs with an empty K_0 are over their count."""
    words = f"{over.sum()} of {len(over)} runs with K_0 = ∅ make more updates than the count allows."
    return words if over.any() else ""


def _row(case: Counted, allowed: Allowed) -> dict[str, Any]:
    limit, each = _limit(case, allowed), _limit_on_one_point(case, allowed)
    totals, most = case.total[case.solvable], case.most[case.solvable]
    failed = (totals > limit) | (most > each) | ~case.reached[case.solvable]
    return {
        "dim": case.setting.dim,
        "half_width": case.setting.half_width,
        "delta": case.setting.delta,
        "entry_bound": str(case.exact_bound),
        "step_size": str(case.exact_step),
        "allowed": limit,
        "most_updates": int(totals.max(initial=0)),
        "allowed_on_one_point": each,
        "most_on_one_point": int(most.max(initial=0)),
        "runs_with_empty_K_0": len(totals),
        "runs_over": int(failed.sum()),
    }
