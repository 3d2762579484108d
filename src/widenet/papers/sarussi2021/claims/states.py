"""Theorem 6.2 for a single state: what its proof uses of gradient flow is one network."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promised, at_most, hypothesis, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import STEP
from widenet.papers.sarussi2021.hypotheses import met
from widenet.papers.sarussi2021.runs.states import AgreeingStates, Values, states
from widenet.records import Form


def beyond(edge: float, values: Values) -> Values:
    """The same, and exactly at the edge where rounding could put them on either side of it."""
    return np.where(np.abs(values - edge) <= STEP, edge, values)


class Judged(AgreeingStates):
    """States with what the theorem asks of them."""

    disagrees: Values = derived(lambda states: 1.0 - states.agreeing)
    high: Values = derived(lambda states: beyond(1.0, states.margins / states.thresholds))  #: γ̄/(√k·αvR_x)
    #: how far β lies beyond the critical one, relative to the larger
    clear: Values = derived(
        lambda states: beyond(0.0, (states.betas - states.critical) / np.maximum(states.betas, states.critical))
    )


@hypothesis("states in which neurons of one sign do not agree", extreme=False)
def agreement(states: Judged) -> Sides:
    """Neurons of one sign agree on every point."""
    return at_most(states.disagrees, 0)


@hypothesis("normalized margin $γ̄/(√k·αvR_x)$")
def high_margin(states: Judged) -> Sides:
    """γ̄ > √k·αvR_x."""
    return more_than(states.high, 1)


@hypothesis("$β$ beyond $V_β⁺$ and $V_β⁻$ not empty, relative")
def critical_margin(states: Judged) -> Sides:
    """V_β⁺ and V_β⁻ are empty."""
    return more_than(states.clear, 0)


GIVEN = (agreement, high_margin, critical_margin)


def how_many_meet(states: Judged) -> dict[str, int]:
    """How many states are judged; none, where the one that is shown is only the nearest."""
    return {"states_that_meet_the_hypotheses": int(met(states, GIVEN).sum())}


@claim("sarussi2021.theorem_6_2_state", Kind.STEP, "Section 14.1, of a single network", reads=states, given=GIVEN,
       form=Form.SHARPER, among_given=True, details=how_many_meet,
       title="A large margin and agreement put every neuron right")  # fmt: skip
def theorem_6_2_state(states: Judged) -> Promised:
    """Whatever its past, a network is in perfect agreement with the labels if its neurons of one sign agree on every
    point with margin $β$, its normalized margin is above $√k·αvR_x$, and $V_β⁺$ and $V_β⁻$ of the data are empty.

    States that rounding puts on an edge count as outside.
    """
    return {
        "plus_on_positive": at_most(
            ~states.plus_on_plus.astype(bool), 0, text="plus neurons are right on positive points"
        ),
        "minus_on_negative": at_most(
            ~states.minus_on_minus.astype(bool), 0, text="minus neurons are right on negative points"
        ),
        "plus_on_negative": at_most(
            ~states.plus_on_minus.astype(bool), 0, text="plus neurons are right on negative points"
        ),
        "minus_on_positive": at_most(
            ~states.minus_on_plus.astype(bool), 0, text="minus neurons are right on positive points"
        ),
    }
