"""Section 5.3: both layers are trained. Eq. 13 bounds the updates if no output weight changes its sign."""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, at_least, at_most, hypothesis, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.convergence import zero_loss
from widenet.papers.brutzkus2018.claims.potentials import Potentials
from widenet.papers.brutzkus2018.formulas import both_layers_bound, largest_square_gain, least_alignment_gain
from widenet.papers.brutzkus2018.hypotheses import SGD
from widenet.papers.brutzkus2018.runs.recorded_runs import (
    Updates,
    both_layers_runs,
)
from widenet.types import RunStatus


class MovingOutputs(Potentials):
    """The runs with their potentials, and the extremes of the output weights before every update."""

    low: Updates = derived(lambda runs: runs.before(runs.smallest_ratios))  #: c so far, of what the update used
    high: Updates = derived(lambda runs: runs.before(runs.largest_ratios))  #: C so far


@hypothesis("$c$: smallest $v_t/v_0$ of all runs (no sign changes)", extreme=False)
def no_sign_change(runs: MovingOutputs) -> Sides:
    """v_t/v_0 > 0, at every time."""
    return more_than(runs.per("time").smallest_ratios, 0)


@claim(
    "brutzkus2018.equation_13",
    Kind.MAIN,
    "Eq. 13, Section 9.1.2; Section 5.3",
    reads=both_layers_runs,
    given=[*SGD, no_sign_change],
    title="Bounded updates with both layers trained, if signs stay",
)
def equation_13(runs: MovingOutputs, *, bound: Callable[..., np.ndarray] = both_layers_bound) -> Promise:
    """With both layers trained from output weights $±v$, as long as $0 < c ≤ v_t/v_0 ≤ C$ for every output weight, SGD
    makes at most $C²‖w*‖²/(c²α²) + ‖w*‖²/(kηc²v²α²) + √(R(8k²η²C²v² + 8ηk))·‖w*‖^{1.5}/(2k(ηcvα)^{1.5}) +
    2R‖w*‖/(ηcvα)$ non-zero updates, with $c$ and $C$ as measured in the run.

    Checked at every update t with the c and C of the run so far: the first t updates used the output weights before
    the t-th. The two inequalities behind it are checked at every update too.
    """
    u = runs.per("update")
    sizes = np.maximum(np.abs(u.alignment_after), np.abs(u.alignment_before))
    # Where a run was cut off or blew up, what came later is not known.
    unknown = (runs.status == RunStatus.DIVERGED) | (runs.status == RunStatus.BUDGET_SPENT)
    return Promise(
        {
            "updates": at_most(
                u.number,
                bound(*u.parameters, u.low, u.high),
                within=ROUNDING,
                undecided=u.status == RunStatus.DIVERGED,
                text="$t$ is at most the bound with $c$ and $C$ so far",
                quantity="non-zero updates in the tightest run, against the bound with its own c and C",
            ),
            "square": at_most(
                u.norm_after**2 - u.norm_before**2,
                largest_square_gain(u.step_size, u.output_weight, u.half_width, u.high),
                within=STEP,
                of=u.norm_after**2,
                text="$G²$ grows by at most $2η + 2kη²C²v²$",
            ),
            "alignment": at_least(
                u.alignment_after - u.alignment_before,
                least_alignment_gain(u.step_size, u.output_weight, u.half_width, u.slope, u.low),
                within=STEP,
                of=sizes,
                trivial=0.0,
                text="$F$ grows by at least $2kηcvα$",
            ),
            "zero_loss": zero_loss(runs, unknown, "every run ends at loss 0"),
        },
        details=lambda: {
            "updates": int(runs.updates.sum()),
            "smallest_c": float(runs.per("time").smallest_ratios.min()),
            "largest_C": float(runs.per("time").largest_ratios.max()),
        },
    )
