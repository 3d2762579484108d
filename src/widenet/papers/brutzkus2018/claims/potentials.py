"""The proof of Theorem 2 (Section 9.1.2), step by step: F grows linearly, G like a square root, and F ≤ G‖W*‖.

All claims here read the same runs: every run is trained once, under its own order and under three orders that look
at the network, and every inequality is checked at every non-zero update.
"""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, Promised, at_least, at_most
from widenet.claims.sides import Fact
from widenet.claims.tolerances import BOUND, ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.convergence import active_before, lost, promised_updates, zero_loss
from widenet.papers.brutzkus2018.formulas import (
    largest_square_gain,
    least_alignment_gain,
    max_nonzero_updates,
    root_bound,
    start_bound,
)
from widenet.papers.brutzkus2018.hypotheses import ALIGNMENT, SGD, SQUARE
from widenet.papers.brutzkus2018.runs.recorded_runs import PerRun, RecordedRuns, Updates, recorded_runs
from widenet.records import Form
from widenet.types import RunStatus


class Potentials(RecordedRuns):
    """The recorded runs, with F and G before and after every update, and the three bounds of the proof."""

    norm_before: Updates = derived(lambda runs: runs.before(runs.norms))  #: G_{t−1}
    norm_after: Updates = derived(lambda runs: runs.after(runs.norms))  #: G_t
    start_norm: PerRun = derived(lambda runs: runs.norms[runs.starts])  #: G_0
    alignment_before: Updates = derived(lambda runs: runs.before(runs.alignments))  #: F_{t−1}
    alignment_after: Updates = derived(lambda runs: runs.after(runs.alignments))  #: F_t
    start_alignment: PerRun = derived(lambda runs: runs.alignments[runs.starts])  #: F_0
    number: Updates = derived(lambda runs: runs.update_number)  #: t, from 1 in each run

    @property
    def stacked_norm(self) -> np.ndarray:
        """‖W*‖ = √(2k)‖w*‖."""
        return (2 * self.half_width) ** 0.5 * self.separator_norm

    @property
    def square_growth(self) -> np.ndarray:
        """2η + 2kη²v², the most one update adds to G²."""
        return largest_square_gain(self.step_size, self.output_weight, self.half_width)

    @property
    def alignment_growth(self) -> np.ndarray:
        """2kηvα, the least one update adds to F."""
        return least_alignment_gain(self.step_size, self.output_weight, self.half_width, self.slope)

    @property
    def bound_of_start(self) -> np.ndarray:
        """M_0: from the run's own F_0 and G_0."""
        norm, slope, eta, weight, _, half = self.parameters
        return start_bound(norm, slope, eta, weight, half, self.start_alignment, self.start_norm)

    @property
    def bound_of_rows(self) -> np.ndarray:
        """M_R: from R."""
        return root_bound(*self.parameters)

    @property
    def bound_of_theorem_2(self) -> np.ndarray:
        """M_k."""
        return max_nonzero_updates(*self.parameters)


Constant = Callable[[Potentials], np.ndarray]
"""One number per case, which a control replaces."""


def updates_checked(runs: Potentials) -> dict[str, int]:
    """How many."""
    return {"updates_checked": int(runs.updates.sum())}


@claim("brutzkus2018.equation_9", Kind.STEP, "Eq. 9, Section 9.1.2", reads=recorded_runs, given=[],
       details=updates_checked, title="$|F|$ is at most $‖W*‖$ times $G$, at every step")  # fmt: skip
def equation_9(runs: Potentials, *, constant: Constant = lambda t: t.stacked_norm) -> Promised:
    """$|F_t| ≤ ‖W*‖·G_t$, where $F_t = ⟨W_t, W*⟩$, $G_t = ‖W_t‖$, and $W*$ stacks $k$ copies of $w*$ and $k$ of $−w*$,
    so that $‖W*‖ = √(2k)‖w*‖$.

    Checked from t = 0 on.
    """
    t = runs.per("time")
    limit = t.norms * constant(t)
    # A start at W = 0 has 0 on both sides, and so has data without a separator: they show nothing.
    seen = (t.norms > 0) & (t.separator_norm > 0)
    how = {"within": ROUNDING, "where": seen, "event": "runs on data with a separator, where $W_t ≠ 0$"}
    words = "{} against G‖W*‖ where they are closest"
    return {
        "above": at_most(t.alignments, limit, text="$F_t ≤ ‖W*‖·G_t$", quantity=words.format("F"), **how),
        "below": at_most(-t.alignments, limit, text="$−F_t ≤ ‖W*‖·G_t$", quantity=words.format("−F"), **how),
    }


@claim("brutzkus2018.equation_11_step", Kind.STEP, "the display before Eq. 11, Section 9.1.2", reads=recorded_runs,
       given=SQUARE, details=updates_checked, title="An update adds less than $2η + 2kη²v²$ to $G²$")  # fmt: skip
def equation_11_step(runs: Potentials, *, constant: Constant = lambda u: u.square_growth) -> Promised:
    """Every non-zero update adds less than $2η + 2kη²v²$ to $G²$, the square of the norm of all trained weights."""
    u = runs.per("update")
    closest = "growth of G² in the update that comes closest to 2η + 2kη²v²"
    size = np.maximum(u.norm_after, u.norm_before) ** 2
    return {
        "growth": at_most(
            u.norm_gains, constant(u), within=STEP, text="$G²$ grows by less than $2η + 2kη²v²$", quantity=closest
        ),
        # The bound is approached and never met, because only a point with y N(x) < 1 makes an update.
        "active": active_before(runs),
        "identity": same("G²", u.norm_after**2 - u.norm_before**2, u.norm_gains, size),
    }


@claim("brutzkus2018.equation_11", Kind.STEP, "Eq. 11 with C = 1, Section 9.1.2", reads=recorded_runs, given=SQUARE,
       details=updates_checked, title="$G²$ grows at most linearly in the updates")  # fmt: skip
def equation_11(runs: Potentials, *, constant: Constant = lambda u: u.square_growth) -> Promised:
    """After $t$ non-zero updates, $G_t² ≤ G_0² + t(2kη²v² + 2η)$."""
    u = runs.per("update")
    limit = u.start_norm**2 + u.number * constant(u)
    closest = "G² in the run and at the update where it comes closest to its bound"
    text = "$G_t² ≤ G_0² + t(2kη²v² + 2η)$"
    return {"square": at_most(u.norm_after**2, limit, within=STEP, text=text, quantity=closest)}


@claim("brutzkus2018.equation_12_step", Kind.STEP, "the display before Eq. 12, Section 9.1.2", reads=recorded_runs,
       given=ALIGNMENT, details=updates_checked, title="An update adds at least $2kηvα$ to $F$")  # fmt: skip
def equation_12_step(runs: Potentials, *, constant: Constant = lambda u: u.alignment_growth) -> Promised:
    """Every non-zero update adds at least $2kηvα$ to $F = ⟨W, W*⟩$."""
    u = runs.per("update")
    closest = "growth of F in the update that comes closest to 2kηvα"
    change, size = u.alignment_after - u.alignment_before, np.maximum(u.norm_after, u.norm_before) * u.stacked_norm
    return {
        "growth": at_least(
            u.alignment_gains,
            constant(u),
            within=STEP,
            trivial=0.0,
            text="$F$ grows by at least $2kηvα$",
            quantity=closest,
        ),
        "identity": same("F", change, u.alignment_gains, size),
    }


@claim("brutzkus2018.equation_12", Kind.STEP, "Eq. 12 with c = 1, Section 9.1.2", reads=recorded_runs, given=ALIGNMENT,
       details=updates_checked, title="$F$ grows at least linearly in the updates")  # fmt: skip
def equation_12(runs: Potentials, *, constant: Constant = lambda u: u.alignment_growth) -> Promised:
    """After $t$ non-zero updates, $F_t ≥ F_0 + 2kηvα·t$."""
    u = runs.per("update")
    # F is a sum that may cancel: it is known to a share of G‖W*‖, not of itself.
    grows = at_least(
        u.alignment_after - u.start_alignment,
        u.number * constant(u),
        within=STEP,
        of=np.maximum(u.norm_after, u.start_norm) * u.stacked_norm,
        trivial=0.0,
        text="$F_t ≥ F_0 + 2kηvα·t$",
        quantity="F − F_0 in the run and at the update where it comes closest to its bound",
    )
    return {"alignment": grows}


def same(symbol: str, change: np.ndarray, gain: np.ndarray, size: np.ndarray) -> Fact:
    """Whether a quantity changed by what its identity says: otherwise a step read from it proves nothing of the run."""
    error = np.abs(change - gain)
    return Fact(
        error <= STEP * np.where(size > 0, size, 1.0),
        undecided=~np.isfinite(error),
        text=f"every update adds to ${symbol}$ what the identity says",
    )


@claim("brutzkus2018.theorem_2_chain", Kind.STEP,
       "the end of the proof of Theorem 2, Section 9.1.2 (M_0 and M_R are not named there)", reads=recorded_runs,
       given=SGD, form=Form.SHARPER, title="Three bounds on the updates, each below the next")  # fmt: skip
def theorem_2_chain(
    runs: Potentials,
    *,
    innermost: Constant = lambda runs: runs.bound_of_start,
    middle: Constant = lambda runs: runs.bound_of_rows,
    outermost: Constant = lambda runs: runs.bound_of_theorem_2,
) -> Promise:
    """$T ≤ M_0 ≤ M_R ≤ M_k$: the number $T$ of non-zero updates is bounded by the proof's quadratic solved with the
    run's own $F_0$ and $G_0$ ($M_0$), that by the quadratic with row norms at most $R$ ($M_R$), and that by the $M_k$
    of Theorem 2.

    T is counted until the training loss is 0.
    """
    inner, outer, printed = (promised_updates(runs, bound(runs)) for bound in (innermost, middle, outermost))
    # A run that was cut off, or whose margins are below rounding, has no T; a promise that is infinite is none.
    cut = runs.status == RunStatus.BUDGET_SPENT
    gone = lost(runs)
    shown = {"text": "$T ≤ M_0$", "quantity": "non-zero updates in the run closest to M_0"}
    return Promise(
        {
            "updates": at_most(runs.updates, inner, within=BOUND, undecided=gone, cut_off=cut, **shown),
            "start": at_most(inner, outer, within=BOUND, text="$M_0 ≤ M_R$"),
            "rows": at_most(outer, printed, within=BOUND, text="$M_R ≤ M_k$"),
            "zero_loss": zero_loss(runs, gone | cut),
        },
        details=_medians(runs.updates, inner, outer, printed, ~(gone | cut)),
    )


def _medians(
    counts: np.ndarray, inner: np.ndarray, outer: np.ndarray, printed: np.ndarray, ended: np.ndarray
) -> dict[str, float]:
    """How far apart the bounds are, over the runs that have one."""
    finite = np.isfinite(printed) & ended
    if not finite.any():
        return {}
    return {
        "median_M_0_over_M_k": float(np.median(inner[finite] / printed[finite])),
        "median_M_R_over_M_k": float(np.median(outer[finite] / printed[finite])),
        "median_tightness": float(np.median(counts[finite] / inner[finite])),
    }
