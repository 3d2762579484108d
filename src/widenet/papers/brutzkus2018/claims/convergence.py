"""Section 5.1: SGD stops after a bounded number of non-zero updates, with loss exactly 0."""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.meaning import Topic
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.claims.conditions import (
    active_before,
    conditions,
    ended,
    lost,
    promised_updates,
    zero_loss,
)
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.ledgers import Ledgers, joined, ledgers, ledgers_on, theorem_2_settings
from widenet.types import RunStatus

UpdateBound = Callable[..., np.ndarray]


@claim("brutzkus2018.theorem_2", Kind.MAIN, "Theorem 2, Section 5.1", reads=ledgers.at(theorem_2_settings))
def theorem_2(cells: Sequence[Ledgers], *, bound: UpdateBound = max_nonzero_updates) -> Evidence:
    """SGD with the hinge loss makes at most M_k non-zero updates, whatever the order of the samples, and then
    the training loss is exactly 0. M_k = ‖w*‖²/α² + ‖w*‖²/(kηv²α²) + √(R(8k²η²v² + 8ηk))·‖w*‖^1.5/(2k(ηvα)^1.5) +
    2R‖w*‖/(ηvα).

    A run is given one update more than M_k, so one that spends them has broken the bound. Overflow, and margins that
    rounding could carry across 1, are this program's limits and not the theorem's: such runs decide nothing.
    """
    runs = joined(cells)
    limits = promised_updates(runs, bound(*runs.parameters))
    gone = lost(runs)
    over = (runs.updates > np.floor(limits * (1 + ROUNDING))) & ~gone
    # Whether an unfinished run would stay below the bound and reach loss 0 is not known; that it exceeds it is.
    cut_off = (runs.status == RunStatus.BUDGET_SPENT) | gone
    return evidence(
        {
            "at most M_k non-zero updates": Sides(
                runs.updates,
                limits,
                Sense.AT_MOST,
                room=ROUNDING * limits,
                undecided=cut_off & ~over,
                quantity="non-zero updates in the tightest run",
            ),
            "training loss 0 at the end": zero_loss(runs, cut_off),
            # A point that is counted though it makes no update could neither break nor keep the bound.
            "y N(x) < 1 before every update": active_before(runs),
        },
        conditions(runs),
        runs=ended(runs),
        details={"largest_update_count": int(runs.updates.max()), **_median(runs.updates, limits, gone)},
        note=_note(runs, over, runs.updates / limits, limits),
    )


def _median(counts: np.ndarray, limits: np.ndarray, gone: np.ndarray) -> dict[str, float]:
    finite = np.isfinite(limits) & ~gone
    return {"median_tightness": float(np.median(counts[finite] / limits[finite]))} if finite.any() else {}


def _note(runs: Ledgers, over: np.ndarray, shares: np.ndarray, limits: np.ndarray) -> str:
    counted = (
        (int(over.sum()), "made more updates than the bound"),
        (runs.count(RunStatus.STALLED), "stalled at a positive loss"),
        (runs.count(RunStatus.DIVERGED), "overflowed"),
        (int(((runs.status == RunStatus.BUDGET_SPENT) & ~over).sum()), "spent their updates before the loss was 0"),
    )
    troubles = ", ".join(f"{count} {what}" for count, what in counted if count)
    if troubles:
        return f"Of {len(runs)} runs, {troubles}.{_what_to_do(runs, ~over, limits)}"
    if len(runs) < 2 or not np.isfinite(limits).all():
        return ""
    return f"The median tightness of the {len(runs)} runs is {np.median(shares):.2g}."


def _what_to_do(runs: Ledgers, within: np.ndarray, limits: np.ndarray) -> str:
    """What runs that were cut off had, and what they would need."""
    cut_off = (runs.status == RunStatus.BUDGET_SPENT) & within & np.isfinite(limits)
    if not cut_off.any():
        return ""
    return (
        f" They were allowed {runs.updates[cut_off].max():,} updates, and M_k is {limits[cut_off].max():.3g}: a larger "
        "max_updates lets them go on, and a wider margin, or a larger slope, makes M_k smaller."
    )


theorem_2.speaks(ledgers_on)

theorem_2.means(
    Topic.UPDATES,
    "Training (SGD with the hinge loss) ends with every training point right, after at most {promised} changes of the "
    "weights, in whatever order the points come.",
    "the longest run made {measured}",
)
