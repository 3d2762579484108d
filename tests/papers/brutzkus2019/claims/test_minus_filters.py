"""How the filters u move: each statement at every iteration, and the ways in which its check must fail."""

import functools

import numpy as np
import pytest

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
from widenet.papers.brutzkus2019.claims.minus_filters import (
    equation_11,
    lemma_e_6,
    lemma_e_7,
    lemma_e_8,
    lemma_e_20,
    lemma_e_21,
    minus_filters_settle,
)


@pytest.mark.parametrize(
    "claim", [lemma_e_6, lemma_e_7, minus_filters_settle, lemma_e_8, equation_11, lemma_e_20, lemma_e_21]
)
def test_it_holds_at_every_iteration(claim):
    evidence = claim([traced(FAST), traced(SMALL)])
    assert evidence.verdict is Verdict.HOLDS
    assert all(part.cases >= 100 for part in evidence.parts)


@pytest.mark.parametrize(
    ("control", "fails"),
    [
        (functools.partial(lemma_e_6, group="u13"), "steps along p₂ alone"),
        (functools.partial(lemma_e_7, lowest=0), "a in {0, −1}"),
        (functools.partial(lemma_e_7, along_l=-1), "b ≥ 0"),
        (functools.partial(minus_filters_settle, first=0), "U13(t) is empty"),
        (functools.partial(lemma_e_21, from_start=False), "both parts gain alike"),
    ],
    ids=["units of U13", "a = 0", "l the other way", "from t = 0 on", "without Z_0"],
)
def test_control_a_wrong_form_fails_in_every_run(control, fails):
    evidence = control([traced(FAST)])
    assert evidence.verdict is Verdict.VIOLATED
    assert part_of(evidence, fails).broken == 100


def test_control_outside_the_event_units_stay_in_u13():
    evidence = minus_filters_settle([traced(SCATTERED)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


@pytest.mark.parametrize(
    ("name", "change", "fails"),
    [("a_range.u24", now(1), "steps along p₂ alone"), ("u_left", now(1), "U24(0) ⊆ U24(t)")],
)
def test_control_lemma_e_6_part_by_part(name, change, fails):
    assert lemma_e_6([toy("D2")]).verdict is Verdict.HOLDS
    assert broken(lemma_e_6([altered(toy("D2"), name, 5, change)])) == [fails]


@pytest.mark.parametrize(
    ("name", "value", "fails"),
    [
        ("a_range.u13", 1, "a in {0, −1}"),
        ("a_range.u13", -2, "a in {0, −1}"),
        ("b_range.u13", -1, "b ≥ 0"),
    ],
)
def test_control_lemma_e_7_part_by_part(name, value, fails):
    assert lemma_e_7([toy("D4")]).verdict is Verdict.HOLDS
    assert broken(lemma_e_7([altered(toy("D4"), name, 5, now(value))])) == [fails]


ALIKE = "m is the same for all units, m ≥ 0, and nothing along p₁"
DIFFERENCE = "N(x⁺) − N(x⁻) = S⁺ − S⁻"


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        ({"u13": now(1)}, ["U13(t) is empty"]),
        ({"a_range.u13": now(0)}, ["a = −1"]),
        ({"b_range.u13": now(0), "b_range.u24": now(-1)}, ["b ≥ 1", ALIKE]),
        ({"b_range.u13": plus(np.array([[0], [1]]))}, ["b is the same for all units"]),
        ({"b_range.u24": plus(np.array([[0], [1]]))}, [ALIKE]),
        ({"b_range.u24": plus(1)}, ["m = b − 1"]),
        ({"a_range.u24": now(1)}, [ALIKE]),
        # The difference of the outputs follows from P⁺ = P⁻ = 0.
        ({"p_plus": now(TINY)}, ["P⁺ = 0", DIFFERENCE]),
        ({"p_minus": now(TINY)}, ["P⁻ = 0", DIFFERENCE]),
        ({"u_flipped": now(1)}, ["⟨u_t, p₂⟩ keeps its sign"]),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_control_minus_filters_settle_part_by_part(changes, fails):
    trace = toy("D4")
    assert minus_filters_settle([trace]).verdict is Verdict.HOLDS
    for name, change in changes.items():
        trace = altered(trace, name, 5, change)
    assert broken(minus_filters_settle([trace])) == fails


def test_control_lemma_e_8_as_printed():
    """S⁻ lies between 2 − √2/4 and 2 times η|W13| at t = 1."""
    evidence = lemma_e_8([traced(FAST)], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert part_of(evidence, "S⁻ < 2η|W13|").broken == 100
    assert evidence.measured is not None
    assert 1.64 < evidence.measured < 2
    assert lemma_e_8([traced(FAST)], factor=1.64).verdict is Verdict.VIOLATED


def test_control_lemma_e_8_just_below_what_is_attained():
    """J6 comes to 127/128."""
    assert lemma_e_8([toy("J6")]).verdict is Verdict.HOLDS
    assert lemma_e_8([toy("J6")]).promised == 2
    assert lemma_e_8([toy("J6")], factor=2 * 0.993).verdict is Verdict.HOLDS
    assert lemma_e_8([toy("J6")], factor=2 * 0.992).verdict is Verdict.VIOLATED
    assert lemma_e_8([toy("J6")], factor=127 / 64).verdict is Verdict.VIOLATED, "the inequality is strict"
    assert lemma_e_8([toy("J6")], factor=127 / 64, strict=False).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("name", "fails"), [("p_plus", "P⁺ ≤ η|U13|"), ("p_minus", "P⁻ ≤ η|U13|")])
def test_control_lemma_e_8_on_units_of_u13(name, fails):
    one = altered(toy("J6"), "u13", 5, now(1))
    assert broken(lemma_e_8([altered(one, name, 5, now(1.0))])) == []
    assert broken(lemma_e_8([altered(one, name, 5, now(1.01))])) == [fails]


def test_control_equation_11_as_printed():
    evidence = equation_11([traced(FAST)], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised, evidence.tightness) == (2, 1, 2)
    assert equation_11([traced(FAST)]).promised == 2


@pytest.mark.parametrize(
    ("name", "change", "fails"),
    [("y_kept", plus(TINY), "the responses grow by 2η|U24(t)|"), ("u_lost", now(1), "U24(t) ⊆ U24(t+1)")],
)
def test_control_equation_11_part_by_part(name, change, fails):
    """Only x⁻ is active in D4 at t = 9; at t = 8 both are, and nothing is said."""
    assert broken(equation_11([altered(toy("D4"), name, 9, change)])) == [fails]
    assert broken(equation_11([altered(toy("D4"), name, 8, change)])) == []


def test_control_lemma_e_20_on_units_that_took_one_step_more():
    evidence = lemma_e_20([traced(FAST)], pair=("y_2", "z_4"))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(2, abs=0.1)


def test_control_lemma_e_20_just_below_what_is_attained():
    """|R| of the two u of J10 differ by 20/64 at every t."""
    evidence = lemma_e_20([toy("J10")])
    assert (evidence.measured, evidence.promised) == (20 / 64, 1.0)
    assert lemma_e_20([toy("J10")], limit=0.313).verdict is Verdict.HOLDS
    assert lemma_e_20([toy("J10")], limit=0.312).verdict is Verdict.VIOLATED


def test_control_lemma_e_21_at_one_step():
    trace = toy("two units of U13")
    assert lemma_e_21([trace]).verdict is Verdict.HOLDS
    assert lemma_e_21([altered(trace, "z_2", 5, plus(TINY))]).verdict is Verdict.VIOLATED
