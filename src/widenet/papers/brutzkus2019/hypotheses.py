"""What the statements of the paper assume, measured."""

from typing import Any

from widenet.claims.implication import at_least, at_most, hypothesis, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import BY_CHANCE
from widenet.papers.brutzkus2019.formulas import LARGEST_STEP, SMALLEST_MARGIN, SMALLEST_WIDTH, start_limit

# XOR and the traces of Appendix E

LARGEST_STEP_OF_LEMMAS = 1 / 8
"""Appendix E up to Lemma E.16 needs no smaller c_η."""


@hypothesis("runs that start in the event, fewest of a setting", extreme=False, key="in_event")
def runs_in_event(runs: Any) -> Sides:
    """Each setting has a run in the event: one without would pass unseen beside others."""
    return at_least(runs.per("cell").n_inside, 1)


@hypothesis("runs that start in the event and reach zero loss, fewest of a setting", extreme=False, key="in_event")
def runs_at_zero_loss(runs: Any) -> Sides:
    """Each setting has a run in the event that reaches zero loss."""
    return at_least(runs.per("cell").n_at_zero_loss, 1)


@hypothesis("σ_g as drawn, over $c_η/(16k^{3/2})$", extreme=False, key="deviation")
def deviation_of_starts(runs: Any) -> Sides:
    """σ_g ≤ c_η/(16k^{3/2}), measured on all drawn starts, scored or not, up to six standard errors."""
    each = runs.per("cell")
    return at_most(
        each.relative_deviation,
        1,
        room=each.deviation_error,
        where=each.has_deviation,
        event="settings with 100 starting fits or more",
        optional=True,
    )


@hypothesis("$c_η$", key="step_constant")
def step_of_lemmas(runs: Any) -> Sides:
    """c_η ≤ 1/8."""
    return at_most(runs.per("cell").step_constant, LARGEST_STEP_OF_LEMMAS)


@hypothesis("$γ$", key="margin")
def margin_of_lemmas(runs: Any) -> Sides:
    """γ ≥ 1."""
    return at_least(runs.per("cell").margin, 1)


@hypothesis("$c_η$", key="step_constant")
def step_of_theorem_6_3(runs: Any) -> Sides:
    """c_η ≤ 1/410."""
    return at_most(runs.per("cell").step_constant, LARGEST_STEP)


@hypothesis("$γ$", key="margin")
def margin_of_theorem_6_3(runs: Any) -> Sides:
    """γ ≥ 8."""
    return at_least(runs.per("cell").margin, SMALLEST_MARGIN)


@hypothesis("half-width $k$", key="width")
def width_of_theorem_6_3(runs: Any) -> Sides:
    """k ≥ 120."""
    return at_least(runs.per("cell").half_width, SMALLEST_WIDTH)


@hypothesis("half-width $k$", key="width")
def width_above_16(runs: Any) -> Sides:
    """k > 16."""
    return more_than(runs.per("cell").half_width, 16)


@hypothesis("$|⟨u_0, p⟩|$ in units of $η$")
def start_size(units: Any) -> Sides:
    """Units start inside the event of Lemma E.3."""
    return at_most(units.largest_fit, start_limit(1.0))


@hypothesis("units, all of them in U13 at the start", extreme=False)
def units_in_u13(units: Any) -> Sides:
    """There are units, and no other."""
    return at_least(units.per("cell").n_in_u13, 1)


@hypothesis(
    "directions uniform: p-value that a filter is in each octant equally often", extreme=False, key="uniform_directions"
)
def uniform_directions(runs: Any) -> Sides:
    """The filters that were drawn look in every direction."""
    return at_least(runs.per("cell").uniform, BY_CHANCE)


@hypothesis("σ_g as drawn, over $c_η/(16k^{3/2})$", extreme=False, key="deviation")
def deviation_of_small_starts(starts: Any) -> Sides:
    """σ_g ≤ c_η/(16k^{3/2}), measured on the entries drawn around 0, up to six standard errors."""
    each = starts.per("cell")
    return at_most(each.measured_deviation, 1, room=each.deviation_error)


TRAJECTORIES = (runs_in_event, deviation_of_starts, step_of_lemmas, margin_of_lemmas)
"""What the lemmas of Appendix E up to E.16 need."""
AT_ZERO_LOSS = (runs_at_zero_loss, *TRAJECTORIES[1:])
IN_REGIME = (runs_in_event, deviation_of_starts, step_of_theorem_6_3, margin_of_theorem_6_3, width_of_theorem_6_3)
"""The regime of Theorem 6.3."""
AT_ZERO_LOSS_IN_REGIME = (runs_at_zero_loss, *IN_REGIME[1:])
