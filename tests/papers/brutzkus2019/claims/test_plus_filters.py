"""How the filters w move: each statement at every iteration, and the ways in which its check must fail."""

import numpy as np
import pytest

from tests.control_table import at, controls, spared
from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.plain import DIVERSE, plain_trace, points
from tests.papers.brutzkus2019.claims.settings import (
    FAST,
    SMALL,
    TINY,
    WIDE,
    altered,
    now,
    on_toy,
    only_what_was_seen_counts,
    part_of,
    plus,
    toy,
    traced,
    with_outputs,
)
from tests.papers.brutzkus2019.claims.trace_edges import add, deviation_rows, many, on, printed_in, put
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import plus_filters
from widenet.papers.brutzkus2019.claims.plus_filters import (
    equations_9_10,
    equations_9_10_as_printed,
    lemma_6_2,
    lemma_6_2_as_printed,
    lemma_e_4,
    lemma_e_9,
    lemma_e_10,
    lemma_e_10_as_printed,
    observation_active_steps,
)
from widenet.papers.brutzkus2019.runs.traces import Trace, TraceSetting, draw_fits, follow

BOUND = "N(x⁺) ≤ (2t + √2/4)c_η"
ALONG, ACROSS = "(1) ⟨v_t, p_i⟩ > 0", "(1) |⟨v_t, p₂⟩| < 2η"
GROWS, STAYS = "S⁺ grows by 2η|W13| where N(x⁺) < γ", "S⁺ stays where N(x⁺) ≥ γ"


@pytest.mark.parametrize(
    "claim", [lemma_e_4, observation_active_steps, lemma_6_2, equations_9_10, lemma_e_9, lemma_e_10]
)
def test_it_holds_at_every_iteration(claim):
    evidence = claim([traced(FAST), traced(SMALL)])
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.runs.tried, evidence.runs.outside) == (106, 0)


def test_control_lemma_e_4_with_a_step_that_reaches_the_margin():
    evidence = lemma_e_4([traced(TraceSetting(half_width=120, step_constant=1.0, margin=1.0, n_runs=100, seed=2))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


@pytest.mark.parametrize(("share", "n_broken"), [(0.986, 0), (0.985, 1), (0.972, 2), (0.817, 3)])
def test_control_lemma_e_4_with_a_smaller_bound(share, n_broken):
    """J7 comes to .8176, .9726 and .9852 of it at t = 0, 1, 2."""
    evidence = lemma_e_4([toy("J7")], share=share)
    assert part_of(evidence, BOUND).broken == n_broken
    assert broken_in(evidence) == [BOUND] * (n_broken > 0)


def test_lemma_e_4_promises_what_the_table_says():
    part = part_of(lemma_e_4([toy("J7")]), BOUND)
    assert part.promised == pytest.approx(4.353553390593)
    assert part.tightness == pytest.approx(0.9851866085454196)


def outputs_at(t: int, **outputs: float):
    return lemma_e_4([with_outputs(toy("D2"), t, **outputs)])


@pytest.mark.parametrize("t", range(3))
def test_control_the_bound_of_lemma_e_4_at_each_time(t):
    limit = 2 * (2 * t + np.sqrt(2) / 4)
    assert broken_in(outputs_at(t, plus=limit - TINY)) == []
    assert broken_in(outputs_at(t, plus=limit + TINY)) == [BOUND]
    assert broken_in(outputs_at(t, minus=16.0 - TINY)) == []
    assert broken_in(outputs_at(t, minus=16.0)) == ["−N(x⁻) < 1"]


@pytest.mark.parametrize("group", ["w13", "w24", "u13", "u24"])
@pytest.mark.parametrize("t", range(3))
@pytest.mark.parametrize("record", ["a_range", "b_range"])
@pytest.mark.parametrize("end", [0, 1])
def test_control_lemma_e_4_at_each_time(group, t, record, end):
    off = np.eye(2)[end][:, None].astype(int)
    evidence = on_toy(lemma_e_4, "D2")(**{f"{record}.{group}": (t, plus(off))})
    assert broken_in(evidence) == [f"places of {group.upper()}"]


@pytest.mark.parametrize("group", ["w13", "w24", "u13", "u24"])
def test_lemma_e_4_says_nothing_of_places_without_a_filter_in_w13(group):
    """Such a run stands still from t = 1 on, so there is no t = 2 to look at."""
    trace = toy("no w in W13")
    assert trace.steps.tolist() == [1]
    part = part_of(lemma_e_4([trace]), f"places of {group.upper()}")
    assert (part.kept, part.n_cases) == (None, 0)


def on_a_tie() -> Trace:
    """One filter of each cone, and one with s = −5/64 and r = 5/64: p₂ and p₃ fit it equally, and p₂ comes first."""
    setting = TraceSetting(half_width=3, step_constant=1 / 8, margin=2.0, n_runs=1)
    trace = follow(setting, np.array([[(11, 3), (-9, 4), (-5, 5), (5, -13), (-7, 2), (3, 8)]]) / 64)
    assert trace.w13[0, 0] == 2
    return trace


def test_a_filter_on_a_tie_is_in_neither_cone():
    """Such a start is outside the event, and its numbers are shown all the same."""
    assert part_of(lemma_6_2([on_a_tie()]), ALONG).measured == 9 / 64
    (part,) = lemma_e_9([on_a_tie()]).parts
    assert part.kept is True
    assert part.measured == part.promised


def test_control_a_plus_from_a_start_that_fits_the_positive_point():
    """w = 3p₁ and u = p₂, in units of η: N(x⁺) = 16 ≥ γ, so a⁺(0) = 0."""
    size = 2 / SMALL.step_size
    fits = np.broadcast_to(np.repeat([[3 * size, 1.0], [1.0, size]], 4, axis=0), (6, 8, 2))
    evidence = observation_active_steps([follow(SMALL.model_copy(update={"margin": 1.0}), fits)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert (evidence.measured, evidence.promised) == (0, 1)


def test_control_equations_9_10_without_the_negative_point():
    evidence = equations_9_10([traced(FAST)], minus_moves=False)
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["b on W13(0)", "a + b on W24(0)"]


PRINTED_A = "a = a⁺(t + 1) − a⁺(t) on W13(0)"


def test_equation_9_as_printed_on_a_run_by_hand():
    """D4: N_8(x⁺) = 253/128 < γ = 2 ≤ N_9(x⁺), so the print says that the step at t = 8 does not go along p_i."""
    trace = toy("D4")
    assert trace.a_step["w13"][:, 0, 8].tolist() == [1, 1]
    assert (trace.plus_active[0, 8], trace.plus_active[0, 9]) == (True, False)
    evidence = equations_9_10_as_printed([trace])
    assert broken_in(evidence) == [PRINTED_A]
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET, "a refutation needs k ≥ 120, c_η ≤ 1/410 and γ ≥ 8"
    assert broken_in(equations_9_10([trace], one_step_late=True)) == [PRINTED_A]


def test_equation_9_as_printed_fails_in_the_regime_of_theorem_6_3():
    evidence = equations_9_10_as_printed([traced(WIDE)])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [PRINTED_A], "Eq. 10 gives no formula for a and is right"
    assert part_of(evidence, PRINTED_A).broken == 1
    assert part_of(evidence, "a + b on W24(0)").kept


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("record", ["a_step.w13", "b_step.w13", "b_step.w24", "a_step.w24"])
@pytest.mark.parametrize("t", [0, 10, 19, 24])
def test_control_equations_9_10_at_every_kind_of_step(record, end, t):
    """D2 has both points active at t = 0, only x⁻ at 10 and 24, only x⁺ at 19; T = 25."""
    off = np.eye(2)[end][:, None].astype(int)
    evidence = on_toy(equations_9_10, "D2")(**{record: (t, plus(off))})
    assert len(broken_in(evidence)) == 1


def test_control_lemma_e_9_with_a_positive_point_that_is_not_diverse():
    """Among six positive points one lacks p₃: the two cones no longer gain alike. With diverse points they do."""
    fits = draw_fits(SMALL)
    diverse = plain_trace(SMALL, fits, points(*DIVERSE), 30)
    # Thirty steps are not the whole run, so nothing is confirmed; but they break nothing either.
    shown = lemma_e_9([diverse])
    assert shown.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert broken_in(shown) == []
    others = plain_trace(SMALL, fits, points(*((1, 2, 3, 4),) * 5, (1, 2, 4), (2, 4)), 30)
    evidence = lemma_e_9([others])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.promised is not None
    assert abs(evidence.measured - evidence.promised) * SMALL.step_size > 1e-3


def test_lemma_e_9_says_nothing_where_a_cone_is_empty():
    assert lemma_e_9([toy("D2")]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("off", "fails"), [(0.9e-9, []), (1.1e-9, ["the two cones gain alike"])])
def test_control_the_room_of_lemma_e_9(off, fails):
    """One filter in each cone of D4: what one gains more, the other gains less."""
    assert broken_in(lemma_e_9([altered(toy("D4"), "s_plus_1", 7, plus(off / 2))])) == fails


def test_lemma_e_9_takes_the_mean_over_each_cone():
    """Two filters of W⁺(1) and one of W⁺(3): X(1) gains twice as much."""
    trace = toy("two in one cone")
    gains = trace.s_plus_1[0, 5] - trace.s_plus_1[0, 0], (trace.s_plus - trace.s_plus_1)[0, [5, 0]] @ [1, -1]
    assert gains == (20, 10)
    assert lemma_e_9([trace]).verdict is Verdict.HOLDS


def test_lemma_e_10_as_printed_names_the_printed_growth():
    assert broken_in(lemma_e_10_as_printed([traced(WIDE)])) == ["S⁺ grows by η|W13| where N(x⁺) < γ"]


def test_control_lemma_e_10_as_printed():
    evidence = lemma_e_10([traced(FAST)], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised, evidence.tightness) == (2, 1, 2)
    assert lemma_e_10([traced(FAST)]).promised == 2


def from_on(first: int, **more: float):
    return lemma_e_10([altered(toy("D4"), "s_plus", slice(first, None), plus(more.get("by", TINY)))])


@pytest.mark.parametrize(("first", "fails"), [(3, GROWS), (17, GROWS), (10, STAYS)])
def test_control_lemma_e_10_in_each_phase(first, fails):
    """D4: the step before t = 3 has both points active, before t = 17 only x⁺, before t = 10 only x⁻."""
    assert broken_in(from_on(first)) == [fails]


def test_lemma_e_10_where_no_filter_is_left():
    """It divides by |W13(t)|, and by 1 where there is none: two filters grow by 2η each."""
    part = part_of(lemma_e_10([altered(toy("D4"), "w13", 3, now(0))]), GROWS)
    assert (part.measured, part.promised) == (4, 2)


test_only_what_was_seen_counts = only_what_was_seen_counts(plus_filters)


def test_printed_forms_with_the_repaired_constants_hold():
    spared(equations_9_10_as_printed, at(traced(WIDE), one_step_late=False))
    spared(lemma_e_10_as_printed, at(traced(WIDE), factor=2.0))
    spared(lemma_6_2_as_printed, at(traced(WIDE), through_t=False))


def with_output(t, name="D2", **outputs):
    return at(with_outputs(toy(name), t, **outputs))


GAMMA = toy("D4").goals[0]
ENDS = (1, 0), (0, 1), (-1, 0), (0, -1)
test_control = controls(
    plus_filters,
    many,
    *deviation_rows(plus_filters),
    (lemma_e_4, "bound", with_output(2, plus=8.707), with_output(2, plus=8.708)),
    # (4 + √2/4)c_η is at most 0.55 for c_η ≤ 1/8, so the bound falls with it.
    (lemma_e_4, "plus_active", on("D2"), with_output(2, plus=16.0), "bound"),
    (lemma_e_4, "minus_active", with_output(2, minus=16.0 - TINY), with_output(2, minus=16.0)),
    (lemma_e_4, "places_w13", on("D2"), on("D2", a_w13=add(2, 1))),
    (lemma_e_4, "places_w24", on("D2"), on("D2", b_w24=add(2, 1))),
    (lemma_e_4, "places_u13", on("D2"), on("D2", a_u13=add(2, 1))),
    (lemma_e_4, "places_u24", on("D2"), on("D2", a_u24=add(0, -1))),
    # N_0(x⁺) just below γ, and γ itself.
    (observation_active_steps, "first", with_output(0, "D4", plus=GAMMA - TINY), with_output(0, "D4", plus=GAMMA)),
    (observation_active_steps, "first", on("D4"), on("D4", active_count=add(slice(None), 1))),
    (observation_active_steps, "grows", on("D4"), on("D4", active_count=add(5, -2))),
    (lemma_6_2, "coefficient", on("D2"), on("D2", a_w13=add(5, 1))),
    (lemma_6_2, "alpha", on("D2", b_w13=put(5, -1)), on("D2", b_w13=put(5, -2))),
    (lemma_6_2, "alpha_sign", on("D2", b_w13=put(5, 0)), on("D2", b_w13=put(5, 1))),
    # The fit of v_t with p_i is that of w_0, and whole steps more: it falls only where the coefficient does.
    (lemma_6_2, "lead", on("D2"), on("D2", a_w13=add(5, -1)), "coefficient"),
    (lemma_6_2, "coefficient", on("D2"), on("D2", a_w13=add(5, -1)), "lead"),
    (lemma_6_2, "lead", on("D2", smallest_s=TINY), on("D2", smallest_s=0.0)),
    (lemma_6_2, "across", on("D2", largest_r=put(5, 2 - TINY)), on("D2", largest_r=put(5, 2.0))),
    (lemma_6_2, "whole_steps", on("D2"), on("D2", a_w24=put(5, 1))),
    (lemma_6_2, "cones", on("D2"), on("D2", w_moved=put(5, 1))),
    *((equations_9_10, "along_own", on("D2"), on("D2", a_step_w13=add(8, by))) for by in ENDS),
    *((equations_9_10, "across", on("D2"), on("D2", b_step_w13=add(9, by))) for by in ENDS),
    *((equations_9_10, "along_other", on("D2"), on("D2", b_step_w24=add(19, by))) for by in ENDS),
    *((equations_9_10, "nothing_else", on("D2"), on("D2", a_step_w24=add(19, by))) for by in ENDS),
    # One filter in each cone of D4: what one gains more, the other gains less.
    (lemma_e_9, "alike", on("D4", s_plus_1=add(7, 0.45e-9)), on("D4", s_plus_1=add(7, 0.55e-9))),
    (lemma_e_9, "alike", on("D4", s_plus_1=add(7, -0.45e-9)), on("D4", s_plus_1=add(7, -0.55e-9))),
    # The step of D4 before t = 3 has both points active, that before t = 10 only x⁻.
    (lemma_e_10, "grows", on("D4"), on("D4", s_plus=add(slice(3, None), TINY))),
    (lemma_e_10, "grows", on("D4"), on("D4", s_plus=add(slice(3, None), -TINY))),
    (lemma_e_10, "stays", on("D4"), on("D4", s_plus=add(slice(10, None), TINY))),
    (lemma_e_10, "stays", on("D4"), on("D4", s_plus=add(slice(10, None), -TINY))),
    but=printed_in(plus_filters),
)
