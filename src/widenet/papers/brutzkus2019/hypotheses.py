"""What the statements of the paper assume, measured."""

from typing import Any

from widenet.claims.implication import at_least, at_most, equal, hypothesis, less_than, more_than
from widenet.claims.sides import Sides
from widenet.claims.tolerances import BY_CHANCE, ROUNDING
from widenet.papers.brutzkus2019.formulas import LARGEST_STEP, SMALLEST_MARGIN, SMALLEST_WIDTH, start_limit
from widenet.papers.brutzkus2019.xor_formulas import LARGEST_STEP as LARGEST_XOR_STEP

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


@hypothesis("runs that start in the event, fewest of a setting", extreme=False, key="in_event")
def runs_in_both_events(runs: Any) -> Sides:
    """Each setting has a run in the events of Lemmas B.2 and 3.1."""
    return at_least(runs.per("cell").n_in_both, 1)


@hypothesis("runs that start in the event and reach loss 0, fewest of a setting", extreme=False, key="in_event")
def runs_that_reach_zero(runs: Any) -> Sides:
    """Each setting has a run in the event of Lemma B.2 that reaches loss 0."""
    return at_least(runs.per("cell").n_reached, 1)


@hypothesis("drawn runs that start in the event", extreme=False, key="in_event")
def drawn_runs_in_event(runs: Any) -> Sides:
    """Each setting of drawn runs has one in the event of Lemma B.2."""
    return at_least(runs.per("cell").n_inside, 1)


@hypothesis("$c_η$", key="step_constant")
def xor_step_constant(runs: Any) -> Sides:
    """c_η < 1/2."""
    return less_than(runs.per("cell").step_constant, LARGEST_XOR_STEP)


@hypothesis("$kη/c_η$", key="step_size")
def xor_step_size(runs: Any) -> Sides:
    """η ≤ c_η/k."""
    return at_most(runs.per("cell").step_share, 1, within=ROUNDING)


DRAWN = {"event": "settings that were drawn", "optional": True}


@hypothesis("$16√k·σ_g/η$, σ_g as drawn", key="deviation")
def xor_deviation(runs: Any) -> Sides:
    """σ_g ≤ η/(16√k): the paper allows c_η/(16k^{3/2}), and Lemma B.2 compares σ_g with η."""
    each = runs.per("cell")
    return at_most(each.spread, 1, room=each.spread_error, where=each.is_drawn, **DRAWN)


@hypothesis("$16k^{3/2}·σ_g/c_η$, σ_g as drawn", key="deviation")
def xor_deviation_as_printed(runs: Any) -> Sides:
    """σ_g ≤ c_η/(16k^{3/2}), the paper's own limit."""
    each = runs.per("cell")
    return at_most(each.spread * each.step_share, 1, room=each.spread_error, where=each.is_drawn, **DRAWN)


@hypothesis("half-width $k$", key="width")
def two_filters(runs: Any) -> Sides:
    """k = 2."""
    return equal(runs.per("cell").half_width, 2)


@hypothesis("filters of each sign in the construction", extreme=False, key="width")
def two_filters_of_each_sign(networks: Any) -> Sides:
    """k ≤ 2."""
    return at_most(networks.per("cell").half_width, 2)


SECTION_3 = (xor_step_constant, xor_step_size, xor_deviation)
"""What Section 3 asks for, with the σ_g that Lemma B.2 needs."""
SECTION_3_AS_PRINTED = (xor_step_constant, xor_step_size, xor_deviation_as_printed)
TRAJECTORIES = (runs_in_event, deviation_of_starts, step_of_lemmas, margin_of_lemmas)
"""What the lemmas of Appendix E up to E.16 need."""
AT_ZERO_LOSS = (runs_at_zero_loss, *TRAJECTORIES[1:])
IN_REGIME = (runs_in_event, deviation_of_starts, step_of_theorem_6_3, margin_of_theorem_6_3, width_of_theorem_6_3)
"""The regime of Theorem 6.3."""
AT_ZERO_LOSS_IN_REGIME = (runs_at_zero_loss, *IN_REGIME[1:])
