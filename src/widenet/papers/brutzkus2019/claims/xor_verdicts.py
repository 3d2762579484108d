"""How the statements of Section 3 are judged: their common hypotheses, and verdicts over many runs.

Most of them hold in every run that starts in the event of Lemma B.2 (all initial fits are at most √2η/4). Runs outside
are counted and not scored. Where none is inside, the conclusion is measured all the same and the hypothesis fails.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Evidence, Hypothesis, Runs, at_least, at_most, less_than, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import clopper_pearson, fails_at_most
from widenet.papers.brutzkus2019.formulas import UNEXPLORED, c_value
from widenet.papers.brutzkus2019.runs.xor import XorStart

ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Judged:
    """The runs of one start, judged.

    Attributes:
      scored: the runs that the statement speaks about.
      broken: those in which it fails.
      measured, promised: its two sides, in each run.
      ended: whether a run has come to a standstill.
    """

    start: XorStart
    scored: Bool[np.ndarray, " run"]
    broken: Bool[np.ndarray, " run"]
    measured: Float[np.ndarray, " run"]
    promised: Float[np.ndarray, " run"]
    ended: Bool[np.ndarray, " run"]


def setting_of_section_3(
    starts: Sequence[XorStart], *, wide: bool = False, as_printed: bool = False
) -> list[Hypothesis]:
    """What Section 3 asks for, each at the start nearest to breaking it.

    The paper allows η ≤ c_η/k and σ_g ≤ c_η/(16k^{3/2}). Lemma B.2 compares σ_g with η, so with a smaller η it needs
    σ_g ≤ η/(16√k), which is the same at η = c_η/k. With `as_printed` the paper's own limit is measured.
    """
    name = "largest 16k^{3/2}·σ_g/c_η, σ_g as drawn" if as_printed else "largest 16√k·σ_g/η, σ_g as drawn"
    # An empirical deviation of n numbers is off by a share of 1/√(2n); six of these are not chance.
    spreads = [
        (s.spread * (s.half_width * s.step_size / s.step_constant if as_printed else 1), 6 / math.sqrt(2 * s.fits.size))
        for s in starts
        if s.deviation is not None
    ]
    worst = [max(spreads, key=lambda pair: pair[0] - pair[1])] if spreads else []
    widths = (
        [more_than("smallest_half_width_k", "smallest half-width k", min(s.half_width for s in starts), 16)]
        if wide
        else []
    )
    return [
        *widths,
        less_than("largest_c_step_size", "largest c_η", max(s.step_constant for s in starts), 0.5),
        at_most(
            "largest_k_step_size_c_step",
            "largest kη/c_η",
            max(s.half_width * s.step_size / s.step_constant for s in starts),
            1,
            tolerance=ROUNDING,
        ),
        *(at_most(name, spread, 1, tolerance=error) for spread, error in worst),
    ]


def allowed_failures(half_width: int) -> float:
    """√(2k/π)e^{−8k} + 8e⁻⁸: how often Theorem 3.3 may fail."""
    return c_value(half_width) + 8 * UNEXPLORED


def evidence_of(
    cases: Sequence[Judged],
    conditions: Sequence[Hypothesis],
    quantity: str,
    *,
    allowed: Sequence[float] | None = None,
    is_lower_bound: bool = False,
    config: dict | None = None,
    note: str = "",
) -> Evidence:
    """The verdict over all runs that are scored.

    Without `allowed`, one scored run in which the statement fails refutes it. With it, the statement is one about
    probabilities: each case may fail at this rate, judged by exact binomial limits.
    """
    inside = sum(int(case.scored.sum()) for case in cases)
    # A setting without a scored run would pass unseen beside others that have some.
    fewest = min((int(case.scored.sum()) for case in cases), default=0)
    conditions = [
        *conditions,
        at_least("runs_that_start_in_the_event", "runs that start in the event, fewest of a setting", fewest, 1),
    ]
    # Outside the event nothing is promised; what happens there is shown if there is nothing else to show.
    masks = [case.scored if inside else np.ones_like(case.scored) for case in cases]
    broken = [int((case.broken & mask).sum()) for case, mask in zip(cases, masks, strict=True)]
    counts = [int(mask.sum()) for mask in masks]
    unfinished = sum(int((~case.ended & mask).sum()) for case, mask in zip(cases, masks, strict=True))
    if allowed is None:
        conclusion = None if not sum(counts) else False if sum(broken) else None if unfinished else True
    else:
        answers = [fails_at_most(*numbers) for numbers in zip(broken, counts, allowed, strict=True)]
        conclusion = False if False in answers else None if None in answers or unfinished else True
    promised, measured = _worst(cases, masks, is_lower_bound)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(
            tried=sum(case.start.n_runs for case in cases),
            unfinished=unfinished,
            outside=sum(int((~case.scored).sum()) for case in cases),
        ),
        conclusion=conclusion,
        quantity=quantity,
        promised=promised,
        measured=measured,
        tightness=None if promised is None or measured is None else ratio(measured, promised),
        interval=None if allowed is None else _widest(broken, counts),
        config={
            "cases": [
                {
                    "half_width": case.start.half_width,
                    "step_constant": case.start.step_constant,
                    "step_size": case.start.step_size,
                    "runs": case.start.n_runs,
                    "scored": count,
                    "broken": failures,
                }
                for case, count, failures in zip(cases, counts, broken, strict=True)
            ],
            "dtype": "float64, exact on a grid",
            **(config or {}),
        },
        note=note,
    )


def _worst(
    cases: Sequence[Judged], masks: Sequence[np.ndarray], is_lower_bound: bool
) -> tuple[float | None, float | None]:
    """(promised, measured) of the run that comes closest to breaking, or breaks most."""
    promised = np.concatenate([case.promised[mask] for case, mask in zip(cases, masks, strict=True)])
    measured = np.concatenate([case.measured[mask] for case, mask in zip(cases, masks, strict=True)])
    if not len(promised):
        return None, None
    room = (measured - promised) if is_lower_bound else (promised - measured)
    place = int(np.argmin(room / np.where(promised == 0, 1, np.abs(promised))))
    return float(promised[place]), float(measured[place])


def _widest(broken: Sequence[int], counts: Sequence[int]) -> tuple[float, float]:
    """The limits of the failure rate in the case where most runs fail."""
    failures, runs = max(zip(broken, counts, strict=True), key=lambda pair: pair[0] / max(pair[1], 1))
    return clopper_pearson(failures, runs)
