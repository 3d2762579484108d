"""Theorem 6.2 for a single state: what its proof uses of gradient flow is one network."""

from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, Runs, at_most, claim, more_than
from widenet.claims.sides import Fact, evidence
from widenet.claims.tolerances import STEP
from widenet.papers.sarussi2021.runs.states import States, states

SIDES = {
    "plus neurons are right on positive points": "plus_on_plus",
    "minus neurons are right on negative points": "minus_on_minus",
    "plus neurons are right on negative points": "plus_on_minus",
    "minus neurons are right on positive points": "minus_on_plus",
}


@claim("sarussi2021.theorem_6_2_state", Kind.STEP, "Section 14.1, of a single network", reads=states)
def theorem_6_2_state(cells: Sequence[States]) -> Evidence:
    """Whatever its past: a network whose neurons of one sign agree on every point with margin β, whose normalized
    margin is above √k·αvR_x, on data with V_β⁺ and V_β⁻ empty, is in perfect agreement with the labels.

    States that rounding puts on an edge count as outside.
    """
    joined = {name: np.concatenate([getattr(each, name) for each in cells]) for name in States.__annotations__}
    high = joined["margins"] / joined["thresholds"]
    room = (joined["betas"] - joined["critical"]) / np.maximum(joined["betas"], joined["critical"])
    inside = joined["agreeing"] & (high > 1 + STEP) & (room > STEP)
    nearest = np.minimum(high - 1, room) + np.where(joined["agreeing"], 0.0, -np.inf)
    chosen = inside if inside.any() else np.arange(len(inside)) == np.argmax(nearest)
    apart = int((~joined["agreeing"][chosen]).sum())
    return evidence(
        {name: Fact(joined[field][chosen]) for name, field in SIDES.items()},
        (
            at_most("agreement", "states in which neurons of one sign do not agree", apart, 0),
            more_than("high_margin", "smallest normalized margin γ̄/(√k·αvR_x)", high[chosen].min(), 1),
            more_than("critical_margin", "smallest β beyond V_β⁺ and V_β⁻ not empty, relative", room[chosen].min(), 0),
        ),
        runs=Runs(tried=len(inside), outside=int((~inside).sum())),
        details={"states_that_meet_the_hypotheses": int(inside.sum())},
    )
