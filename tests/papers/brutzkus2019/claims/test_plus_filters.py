"""How the filters w move: each statement at every iteration, and the ways in which its check must fail."""

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.plain import DIVERSE, plain_trace, points
from tests.papers.brutzkus2019.claims.settings import (
    FAST,
    SCATTERED,
    SMALL,
    TINY,
    altered,
    broken,
    now,
    part_of,
    plus,
    toy,
    traced,
)
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.plus_filters import (
    equations_9_10,
    lemma_6_2,
    lemma_e_4,
    lemma_e_9,
    lemma_e_10,
    observation_active_steps,
)
from widenet.papers.brutzkus2019.runs.traces import TraceSetting, draw_fits, follow

BOUND = "N(x⁺) ≤ (2t + √2/4)c_η"
COEFFICIENT, SIZE, SIGN = (
    "(1) the coefficient of ηp_i is n(t)",
    "(1) |α| ≤ η",
    "(1) α is 0 or against the sign of ⟨w_0, p₂⟩",
)
ALONG, ACROSS = "(1) ⟨v_t, p_i⟩ > 0", "(1) |⟨v_t, p₂⟩| < 2η"
OTHERS, CONES = "(2) whole steps along p₂ on W24(0)", "(3) W_t⁺(i) = W_0⁺(i)"
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
    assert broken(evidence) == [BOUND] * (n_broken > 0)


def test_lemma_e_4_promises_what_the_table_says():
    part = part_of(lemma_e_4([toy("J7")]), BOUND)
    assert part.promised == pytest.approx(4.353553390593)
    assert part.tightness == pytest.approx(0.9851866085454196)


@pytest.mark.parametrize(
    ("name", "t", "change", "fails"),
    [
        ("s_plus", 1, now(34.0), [BOUND, "N(x⁺) < 1"]),
        ("s_minus", 1, now(-20.0), ["−N(x⁻) < 1"]),
        ("a_range.w13", 2, plus(1), ["places of W13"]),
        ("b_range.w13", 2, plus(1), ["places of W13"]),
        ("b_range.w24", 2, plus(1), ["places of W24"]),
        ("a_range.u13", 2, plus(1), ["places of U13"]),
        ("b_range.u13", 1, plus(-1), ["places of U13"]),
        ("a_range.u24", 0, plus(-1), ["places of U24"]),
    ],
)
def test_control_lemma_e_4_part_by_part(name, t, change, fails):
    assert broken(lemma_e_4([toy("D2")])) == []
    assert broken(lemma_e_4([altered(toy("D2"), name, t, change)])) == fails


def test_control_lemma_6_2_with_the_printed_count():
    evidence = lemma_6_2([traced(FAST)], through_t=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert part_of(evidence, COEFFICIENT).broken == part_of(evidence, ALONG).broken == 100
    assert broken(evidence) == [COEFFICIENT, ALONG]


def test_control_lemma_6_2_without_eta():
    assert lemma_6_2([traced(FAST)], with_eta=False).verdict is Verdict.VIOLATED
    # D2, t = 11: w^(2) = w_0 + p₂/16.
    assert broken(lemma_6_2([toy("D2")], with_eta=False)) == [OTHERS]


def test_control_lemma_6_2_outside_the_event():
    evidence = lemma_6_2([traced(SCATTERED)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


@pytest.mark.parametrize(
    ("name", "change", "fails"),
    [
        ("a_range.w13", plus(1), [COEFFICIENT]),
        ("a_range.w13", plus(-1), [COEFFICIENT, ALONG]),
        ("b_range.w13", now(-2), [SIZE]),
        ("b_range.w13", now(1), [SIGN]),
        ("largest_r", now(2.0), [ACROSS]),
        ("largest_r", now(1.999), []),
        ("a_range.w24", now(1), [OTHERS]),
        ("w_moved", now(1), [CONES]),
    ],
)
def test_control_lemma_6_2_part_by_part(name, change, fails):
    assert broken(lemma_6_2([altered(toy("D2"), name, 5, change)])) == fails


def test_lemma_6_2_is_attained():
    """J6 starts with |r_0| = η/64, and at t = 1 it is 2η less."""
    part = part_of(lemma_6_2([toy("J6")]), ACROSS)
    assert (part.measured, part.promised) == (127 / 64, 2.0)


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
    assert broken(evidence) == ["b on W13(0)", "a + b on W24(0)"]


def test_control_equations_9_10_with_the_printed_a():
    """D4: N_8(x⁺) < γ ≤ N_9(x⁺), so the print says that the step at t = 8 does not go along p_i."""
    evidence = equations_9_10([toy("D4")], one_step_late=True)
    assert broken(evidence) == ["a on W13(0)"]
    assert equations_9_10([traced(FAST)], one_step_late=True).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("name", "t", "change", "fails"),
    [
        ("a_step.w13", 8, plus(-1), "a on W13(0)"),
        ("b_step.w13", 9, plus(1), "b on W13(0)"),
        ("b_step.w24", 19, plus(1), "a + b on W24(0)"),
        ("a_step.w24", 19, plus(1), "nothing along p₁ on W24(0)"),
    ],
)
def test_control_equations_9_10_part_by_part(name, t, change, fails):
    assert broken(equations_9_10([toy("D2")])) == []
    assert broken(equations_9_10([altered(toy("D2"), name, t, change)])) == [fails]


def test_control_lemma_e_9_with_a_positive_point_that_is_not_diverse():
    """Among six positive points one lacks p₃: the two cones no longer gain alike. With diverse points they do."""
    fits = draw_fits(SMALL)
    diverse = plain_trace(SMALL, fits, points(*DIVERSE), 30)
    # Thirty steps are not the whole run, so nothing is confirmed; but they break nothing either.
    shown = lemma_e_9([diverse])
    assert shown.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert broken(shown) == []
    others = plain_trace(SMALL, fits, points(*((1, 2, 3, 4),) * 5, (1, 2, 4), (2, 4)), 30)
    evidence = lemma_e_9([others])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.promised is not None
    assert abs(evidence.measured - evidence.promised) * SMALL.step_size > 1e-3


def test_control_lemma_e_9_at_one_step():
    assert lemma_e_9([toy("D4")]).verdict is Verdict.HOLDS
    assert lemma_e_9([altered(toy("D4"), "s_plus_1", 7, plus(TINY))]).verdict is Verdict.VIOLATED
    # One of the two cones of D2 is empty.
    assert lemma_e_9([toy("D2")]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_lemma_e_10_as_printed():
    evidence = lemma_e_10([traced(FAST)], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised, evidence.tightness) == (2, 1, 2)
    assert lemma_e_10([traced(FAST)]).promised == 2


@pytest.mark.parametrize(("first", "fails"), [(3, GROWS), (17, GROWS), (10, STAYS)])
def test_control_lemma_e_10_in_each_phase(first, fails):
    """D4: the step before t = 3 has both points active, before t = 17 only x⁺, before t = 10 only x⁻."""
    evidence = lemma_e_10([altered(toy("D4"), "s_plus", slice(first, None), plus(TINY))])
    assert broken(evidence) == [fails]
