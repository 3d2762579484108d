"""Section 5.3: both layers are trained. Eq. 13 bounds the updates if no output weight changes its sign."""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, claim, more_than
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.brutzkus2018.claims.conditions import conditions, ended, zero_loss
from widenet.papers.brutzkus2018.formulas import both_layers_bound, largest_square_gain, least_alignment_gain
from widenet.papers.brutzkus2018.runs.ledgers import Ledgers, LedgerSetting, joined, ledgers
from widenet.papers.brutzkus2018.runs.trials import SmallSteps
from widenet.records import Scale
from widenet.types import Layers, RunStatus

MOST_UPDATES = 20_000


def both_layers_settings(scale: Scale, seed: int) -> list[LedgerSetting]:
    """Three widths, small steps, in the trials' own orders."""
    trials = SmallSteps(seed=seed, per_width=7 if scale is Scale.QUICK else 20)
    return [LedgerSetting(trials=trials, adversarial=False, layers=Layers.BOTH, most_updates=MOST_UPDATES)]


@claim(
    "brutzkus2018.equation_13",
    Kind.MAIN,
    "Eq. 13, Section 9.1.2; Section 5.3",
    reads=ledgers.at(both_layers_settings),
)
def equation_13(cells: Sequence[Ledgers], *, bound: Callable[..., np.ndarray] = both_layers_bound) -> Evidence:
    """With both layers trained from output weights ±v, as long as 0 < c ≤ v_t/v_0 ≤ C for every output weight, SGD
    makes at most C²‖w*‖²/(c²α²) + ‖w*‖²/(kηc²v²α²) + √(R(8k²η²C²v² + 8ηk))·‖w*‖^1.5/(2k(ηcvα)^1.5) +
    2R‖w*‖/(ηcvα) non-zero updates (c and C as measured in the run).

    Checked at every update t with the c and C of the run so far: the first t updates used the output weights before
    the t-th. The two inequalities behind it are checked at every update too.
    """
    runs = joined(cells)
    of, low, high = runs.update_run, runs.before(runs.smallest_ratios), runs.before(runs.largest_ratios)
    limits = bound(*(values[of] for values in runs.parameters), low, high)
    k, eta, v = runs.half_width[of], runs.step_size[of], runs.output_weight[of]
    squares, aligned = runs.norms**2, runs.alignments
    sizes = np.maximum(np.abs(runs.after(aligned)), np.abs(runs.before(aligned)))
    lost = runs.status == RunStatus.DIVERGED
    smallest = runs.smallest_ratios.min()
    return evidence(
        {
            "t is at most the bound with c and C so far": Sides(
                runs.update_number,
                limits,
                Sense.AT_MOST,
                room=ROUNDING * limits,
                undecided=lost[of],
                quantity="non-zero updates in the tightest run, against the bound with its own c and C",
            ),
            "G² grows by at most 2η + 2kη²C²v²": Sides(
                runs.after(squares) - runs.before(squares),
                largest_square_gain(eta, v, k, high),
                Sense.AT_MOST,
                room=STEP * runs.after(squares),
            ),
            "F grows by at least 2kηcvα": Sides(
                runs.after(aligned) - runs.before(aligned),
                least_alignment_gain(eta, v, k, runs.slope[of], low),
                Sense.AT_LEAST,
                room=STEP * sizes,
                trivial=0.0,
            ),
            # Where a run was cut off or blew up, what came later is not known.
            "every run ends at loss 0": zero_loss(runs, lost | (runs.status == RunStatus.BUDGET_SPENT)),
        },
        (
            *conditions(runs),
            more_than("no_sign_change", "c: smallest v_t/v_0 of all runs (no sign changes)", smallest, 0),
        ),
        runs=ended(runs),
        details={
            "updates": int(runs.updates.sum()),
            "smallest_c": float(smallest),
            "largest_C": float(runs.largest_ratios.max()),
        },
    )
