"""Eq. 12 and 13: what one step does to the filters u that still look at p₁ or p₃.

On trajectories there are none after the first step (`minus_filters`), and at t = 0 both points are active. So these two
statements are tested on units made for the purpose (`placed_units`).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Evidence, Kind, Runs, at_least, at_most, claim
from widenet.claims.sides import Conjunct, Fact, Sense, Sides, evidence
from widenet.papers.brutzkus2019.runs.lattice import in_13
from widenet.papers.brutzkus2019.runs.placed_units import PlacedUnits, placed_units
from widenet.papers.brutzkus2019.runs.traces import EVENT_RADIUS, Trace, traces


@claim("brutzkus2019.equation_12", Kind.STEP, "Eq. 12, proof of Lemma E.11", reads=(placed_units, traces))
def equation_12(units: Sequence[PlacedUnits], seen: Sequence[Trace], *, plus: bool = False) -> Evidence:
    """In a step where only x⁻ is active, every unit of U13(t) moves to U24(t+1), and the responses of these units to
    x⁺ do not fall. (After t = 0 no trajectory in the event has such a unit, so it is tested on units placed there.)

    A control makes only x⁺ active.
    """
    before = np.concatenate([each.fits for each in units])
    after = np.concatenate([each.after_plus if plus else each.after_minus for each in units])
    parts = {
        "the response to x⁺ does not fall": Sides(
            np.abs(after).max(axis=1),
            np.abs(before).max(axis=1),
            Sense.AT_LEAST,
            quantity="a unit's response to x⁺ after the step, in units of η",
        ),
        "every unit moves to U24": Fact(~in_13(after[:, 0], after[:, 1])),
    }
    return _evidence(units, parts, [(trace, trace.only_minus) for trace in seen])


@claim("brutzkus2019.equation_13", Kind.STEP, "Eq. 13, proof of Lemma E.12", reads=(placed_units, traces))
def equation_13(units: Sequence[PlacedUnits], seen: Sequence[Trace], *, plus: bool = True) -> Evidence:
    """In a step where only x⁺ is active, the response to x⁻ of a unit of U13(t) does not change. (Printed for
    U13(t+1). After t = 0 no trajectory in the event has such a unit, so it is tested on units placed there.)

    A control makes only x⁻ active.
    """
    before = np.concatenate([each.fits for each in units])
    after = np.concatenate([each.after_plus if plus else each.after_minus for each in units])
    change = np.abs(np.abs(after[:, 1]) - np.abs(before[:, 1]))
    part = Sides(change, 0.0, Sense.EQUAL, quantity="largest change of |R|, in units of η")
    return _evidence(units, {"|R| does not change": part}, [(trace, trace.only_plus) for trace in seen])


def _evidence(
    units: Sequence[PlacedUnits],
    parts: dict[str, Conjunct],
    steps: list[tuple[Trace, Bool[np.ndarray, "run time"]]],
) -> Evidence:
    starts = np.concatenate([each.starts for each in units])
    positive = np.abs(starts[:, 0]) > np.abs(starts[:, 1])
    n_units = sum(len(each.fits) for each in units)
    # The same steps on trajectories, and how many of them have a unit that these statements speak about.
    taken = sum(int(where[trace.in_event].sum()) for trace, where in steps)
    met = sum(int((where & (trace.u13 > 0))[trace.in_event].sum()) for trace, where in steps)
    return evidence(
        parts,
        (
            at_most(
                "start_size",
                "largest |⟨u_0, p⟩| in units of η",
                float(np.abs(starts).max(initial=0.0)),
                EVENT_RADIUS,
            ),
            at_least(
                "units_in_u13",
                "units, all of them in U13 at the start",
                int(positive.sum()) if positive.all() else 0,
                1,
            ),
        ),
        runs=Runs(tried=n_units),
        details={"steps_on_trajectories": taken, "of_them_with_a_unit_in_U13": met},
        note=f"Tested on {n_units} units placed in U13; {met} of {taken} such steps on trajectories have one.",
    )
