"""Section 5.1: SGD stops after a bounded number of non-zero updates, with loss exactly 0."""

from collections.abc import Callable
from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise, at_most, less_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.hypotheses import SGD
from widenet.papers.brutzkus2018.runs.lifted import LiftedRuns
from widenet.papers.brutzkus2018.runs.recorded_runs import RecordedRuns, recorded_runs, theorem_2_settings
from widenet.types import RunStatus

UpdateBound = Callable[..., np.ndarray]


@claim(
    "brutzkus2018.theorem_2",
    Kind.MAIN,
    "Theorem 2, Section 5.1",
    reads=recorded_runs.at(theorem_2_settings),
    given=SGD,
    title="SGD reaches loss 0 within $M_k$ updates, in any order",
    means=Meaning(
        topic=Topic.UPDATES,
        promise="Training (SGD with the hinge loss) ends with every training point right, after at most {promised} "
        "changes of the weights, in whatever order the points come.",
        seen="the longest run made {measured}",
    ),
)
def theorem_2(runs: RecordedRuns, *, bound: UpdateBound = max_nonzero_updates) -> Promise:
    """SGD with the hinge loss makes at most $M_k$ non-zero updates, whatever the order of the samples, and then the
    training loss is exactly $0$. Here $M_k = ‖w*‖²/α² + ‖w*‖²/(kηv²α²) + √(R(8k²η²v² + 8ηk))·‖w*‖^{1.5}/(2k(ηvα)^{1.5})
    + 2R‖w*‖/(ηvα)$.

    A run is given one update more than M_k, so one that spends them has broken the bound. Overflow, and margins that
    rounding could carry across 1, are this program's limits and not the theorem's: such runs decide nothing.
    """
    limits = promised_updates(runs, bound(*runs.parameters))
    gone = lost(runs)
    over = (runs.updates > np.floor(limits * (1 + ROUNDING))) & ~gone
    # Whether an unfinished run would stay below the bound and reach loss 0 is not known; that it exceeds it is.
    cut_off = (runs.status == RunStatus.BUDGET_SPENT) | gone
    return Promise(
        {
            "updates": at_most(
                runs.updates,
                limits,
                within=ROUNDING,
                undecided=cut_off & ~over,
                text="at most $M_k$ non-zero updates",
                quantity="non-zero updates in the tightest run",
            ),
            "zero_loss": zero_loss(runs, cut_off),
            # A point that is counted though it makes no update could neither break nor keep the bound.
            "active": active_before(runs),
        },
        details=lambda: {"largest_update_count": int(runs.updates.max()), **_median(runs.updates, limits, gone)},
        note=lambda: _note(runs, over, runs.updates / limits, limits),
    )


def lost(runs: RecordedRuns) -> np.ndarray:
    """Runs that float64 lost: they overflowed, rounding could carry a margin across 1, or their updates round to 0.

    Where η, v and α are positive every point with y N(x) < 1 but 0 has a gradient, so nothing else makes a run stall.
    """
    moves = (runs.step_size > 0) & (runs.smallest_output > 0) & (runs.slope > 0)
    vanished = (runs.status == RunStatus.STALLED) & moves
    return (runs.status == RunStatus.DIVERGED) | runs.blurred | vanished


def promised_updates(runs: RecordedRuns, bounds: np.ndarray) -> np.ndarray:
    """Bounds per run; infinite where w* does not separate the data, because then nothing is promised."""
    return np.where(runs.has_separator, bounds, np.inf)


def zero_loss(
    runs: RecordedRuns | LiftedRuns, undecided: np.ndarray, text: str = "training loss 0 at the end"
) -> Sides:
    """The hinge loss is 0 at the end on every training point, so the training loss is. Shown is the largest of them.

    SGD stops where y N(x) ≥ 1 on every point. A run that ends within rounding below 1 has not shown that, nor that its
    loss is positive: it decides nothing.
    """
    closest = "largest hinge loss of a training point at the end of a run"
    hinge = np.maximum(1 - runs.last_margin, 0.0)
    near = (hinge > 0) & (hinge <= ROUNDING)
    return at_most(hinge, 0.0, undecided=undecided | near, text=text, quantity=closest)


def active_before(runs: RecordedRuns) -> Sides:
    """Only points with y N(x) < 1 make updates. Within rounding of 1, or in a blurred run, nothing is broken."""
    u = runs.per("update")
    near = (u.margins >= 1) & ((u.margins <= 1 + STEP) | u.blurred)
    text = "$y N(x) < 1$ before every update"
    return less_than(u.margins, 1.0, undecided=near, text=text, quantity="y N(x) before an update")


def _median(counts: np.ndarray, limits: np.ndarray, gone: np.ndarray) -> dict[str, Any]:
    finite = np.isfinite(limits) & ~gone
    return {"median_tightness": float(np.median(counts[finite] / limits[finite]))} if finite.any() else {}


def _note(runs: RecordedRuns, over: np.ndarray, shares: np.ndarray, limits: np.ndarray) -> str:
    cut_off = (runs.status == RunStatus.BUDGET_SPENT) & ~over
    counted = (
        (over, "made more updates than the bound"),
        (runs.status == RunStatus.STALLED, "stalled at a positive loss"),
        (runs.status == RunStatus.DIVERGED, "overflowed"),
        (cut_off, "spent their updates before the loss was 0"),
    )
    troubles = ", ".join(f"{which.sum()} {what}" for which, what in counted if which.any())
    if troubles:
        return f"Of {len(runs)} runs, {troubles}.{_what_to_do(runs, cut_off & np.isfinite(limits), limits)}"
    if len(runs) < 2 or not np.isfinite(limits).all():
        return ""
    return f"The median tightness of the {len(runs)} runs is {np.median(shares):.2g}."


def _what_to_do(runs: RecordedRuns, cut_off: np.ndarray, limits: np.ndarray) -> str:
    """What runs that were cut off had, and what they would need."""
    if not cut_off.any():
        return ""
    return (
        f" They were allowed {runs.updates[cut_off].max():,} updates, and M_k is {limits[cut_off].max():.3g}: a larger "
        "max_updates lets them go on, and a wider margin, or a larger slope, makes M_k smaller."
    )
