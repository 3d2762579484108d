"""Lemma E.16: true with the W24 term, false as printed where the specification says so."""

import pytest

from tests.control_table import at, controls, spared
from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.settings import (
    FAST,
    SMALL,
    TINY,
    WIDE,
    altered,
    only_what_was_seen_counts,
    part_of,
    plus,
    toy,
    traced,
    with_outputs,
)
from tests.papers.brutzkus2019.claims.trace_edges import add, deviation_rows, many, on, printed_in
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import first_crossing
from widenet.papers.brutzkus2019.claims.first_crossing import (
    FirstCrossings,
    lemma_e_16,
    lemma_e_16_as_printed,
    lemma_e_16_steps,
    lemma_e_16_steps_as_printed,
)
from widenet.papers.brutzkus2019.runs.trace_settings import crossing_counterexample
from widenet.records import Scale

AT_T2 = "S⁺ ≥ γ + 1 − 2c_η(1 + |W24|/k) at T2"
DROP, GROWS = "N(x⁺) ≥ γ: at least γ − 2c_η(1 + |W24|/k) after", "N(x⁺) < γ: it grows by 2η|W13|"


def test_both_hold_in_every_run():
    for claim in (lemma_e_16, lemma_e_16_steps):
        evidence = claim([traced(FAST), traced(SMALL)])
        assert evidence.verdict is Verdict.HOLDS
        assert evidence.parts[0].n_cases >= 100


def test_control_lemma_e_16_with_two():
    evidence = lemma_e_16([traced(FAST)], deficit=2.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert 0 < part_of(evidence, "S⁺ ≥ γ + 1 − 2c_η at T2").broken < 50


@pytest.mark.parametrize("name", ["J1", "J2"])
def test_control_lemma_e_16_just_below_what_is_attained(name):
    """Both lack 127/64 c_η of 2. J2 first crosses at T = 12, so T2 is 11: at 12 nothing would be missing."""
    assert part_of(lemma_e_16([toy(name)]), AT_T2).promised == 2
    assert broken_in(lemma_e_16([toy(name)], deficit=1.98)) == ["S⁺ ≥ γ + 1 − 1.98c_η at T2"]
    assert broken_in(lemma_e_16([toy(name)], deficit=1.99)) == []


def test_lemma_e_16_looks_at_t2_and_not_before():
    trace = toy("J1")
    at = int(first_crossing.first_inactive(trace.minus_active)[0])
    assert broken_in(lemma_e_16([altered(trace, "s_plus", slice(None, at), plus(-9.0))])) == []


def test_the_printed_forms_name_the_printed_bounds():
    """The report of an `_as_printed` claim says which bound fails: the paper's, not the repaired one."""
    evidence = lemma_e_16_as_printed([traced(crossing_counterexample(Scale.QUICK, 0)[0])])
    assert broken_in(evidence) == ["S⁺ ≥ γ + 1 − 3c_η at T2"]
    assert broken_in(lemma_e_16_steps_as_printed([traced(WIDE)])) == ["N(x⁺) ≥ γ: at least γ − 2c_η after"]


def test_lemma_e_16_as_printed_with_a_larger_deficit():
    """The instance lacks 3.213 to 3.214 c_η."""
    (setting,) = crossing_counterexample(Scale.QUICK, 0)
    trace = traced(setting.model_copy(update={"n_runs": 1}))
    assert lemma_e_16_as_printed([trace], deficit=3.2).verdict is Verdict.VIOLATED
    spared(lemma_e_16_as_printed, at(trace, deficit=3.25))


def test_the_allowed_drop_is_that_of_the_table():
    """γ + 1 − 2c_η(1 + |W24|/k) at |W24| = 2 of 3 and 1 of 2."""
    drops = FirstCrossings.join([toy("D3"), toy("D2")]).allowed_drop
    assert 3 - drops[0] / 8 == pytest.approx(2.58333333333)
    assert drops[1] == 3


def test_control_lemma_e_16_steps_as_printed():
    evidence = lemma_e_16_steps([traced(FAST)], drop=2.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert part_of(evidence, "N(x⁺) ≥ γ: at least γ − 2c_η after").broken >= 95
    # Without filters in W24 the print is right.
    assert broken_in(lemma_e_16_steps([toy("D4")], drop=2.0)) == []


def test_control_lemma_e_16_steps_just_below_what_is_attained():
    """J8 drops by 313/96 c_η of 10/3."""
    assert part_of(lemma_e_16_steps([toy("J8")]), DROP).promised == pytest.approx(10 / 3)
    assert broken_in(lemma_e_16_steps([toy("J8")], drop=3.26)) == ["N(x⁺) ≥ γ: at least γ − 3.26c_η after"]
    assert broken_in(lemma_e_16_steps([toy("J8")], drop=3.27)) == []


def test_lemma_e_16_steps_speaks_between_the_two_crossings():
    """N(x⁺) reaches γ at t = 9 and −N(x⁻) reaches 1 at t = 16: a step before or after does not count."""
    trace = toy("D4")
    first = (
        first_crossing.first_inactive(trace.plus_active)[0],
        first_crossing.first_inactive(trace.minus_active)[0],
    )
    assert first == (9, 16)
    for t in (5, 17, 18):
        assert broken_in(lemma_e_16_steps([altered(trace, "s_plus", t, plus(TINY))])) == []
    assert broken_in(lemma_e_16_steps([with_outputs(trace, 16, plus=0.0)])) != []


def test_lemma_e_16_steps_tells_the_two_kinds_of_step_apart():
    """D4 is above γ at 9 and 11, below at 10: only x⁻ is active in the steps from 9, both points in that from 10."""
    trace = toy("D4")
    assert DROP in broken_in(lemma_e_16_steps([with_outputs(trace, 10, plus=0.0)]))
    assert broken_in(lemma_e_16_steps([with_outputs(trace, 11, plus=0.0)])) == [GROWS]
    for t in (18, 19):
        assert broken_in(lemma_e_16_steps([with_outputs(trace, t, plus=0.0)])) == []


def test_lemma_e_16_steps_as_printed_with_what_the_other_filters_add():
    spared(lemma_e_16_steps_as_printed, at(traced(WIDE), drop=4.0))


def test_control_larger_steps_are_no_counterexample():
    """A refutation of the print needs k ≥ 120, c_η ≤ 1/410 and γ ≥ 8; these runs are outside."""
    evidence = lemma_e_16_steps_as_printed([traced(FAST)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


test_only_what_was_seen_counts = only_what_was_seen_counts(first_crossing)

UP_TO_T2 = slice(None, 1 + int(first_crossing.first_inactive(toy("J1").minus_active)[0]))
test_control = controls(
    first_crossing,
    many,
    *deviation_rows(first_crossing),
    # J1 lacks 127/64 c_η at T2, the first t with −N(x⁻) ≥ 1: η/32 less is allowed.
    (lemma_e_16, "sum", on("J1", s_plus=add(UP_TO_T2, -1 / 32)), on("J1", s_plus=add(UP_TO_T2, -1 / 32 - TINY))),
    (lemma_e_16, "grows", on("D4"), on("D4", s_plus=add(18, -TINY))),
    # T2 is chosen so: it can only be a wrong one.
    (lemma_e_16, "before", on("D4"), on("D4", crossing=lambda at: at + 2)),
    # J1 has W24 = ∅, and the step at t = 9 leads to γ − 2c_η exactly.
    (lemma_e_16_steps, "falls", on("J1"), on("J1", s_plus=add(10, -TINY))),
    # Step 10 of D4 starts below γ.
    (lemma_e_16_steps, "grows", on("D4"), on("D4", x=add(11, TINY))),
    (lemma_e_16_steps, "grows", on("D4"), on("D4", x=add(11, -TINY))),
    but=printed_in(first_crossing),
)
