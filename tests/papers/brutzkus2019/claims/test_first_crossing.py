"""Lemma E.16: true with the W24 term, false as printed where the specification says so."""

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.settings import FAST, SMALL, TINY, altered, broken, part_of, plus, toy, traced
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.first_crossing import allowed_drop, lemma_e_16, lemma_e_16_steps

AT_T2, LATER = "S⁺ ≥ γ + 1 − 2c_η(1 + |W24|/k) at T2", "S⁺ does not fall after T2"
DROP, GROWS = "N(x⁺) ≥ γ: at least γ − 2c_η(1 + |W24|/k) after", "N(x⁺) < γ: it grows by 2η|W13|"


def test_both_hold_in_every_run():
    for claim in (lemma_e_16, lemma_e_16_steps):
        evidence = claim([traced(FAST), traced(SMALL)])
        assert evidence.verdict is Verdict.HOLDS
        assert evidence.parts[0].cases >= 100


def test_control_lemma_e_16_with_two():
    evidence = lemma_e_16([traced(FAST)], deficit=2.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert 0 < part_of(evidence, AT_T2).broken < 50


@pytest.mark.parametrize("name", ["J1", "J2"])
def test_control_lemma_e_16_just_below_what_is_attained(name):
    """Both lack 127/64 c_η of 2. J2 first crosses at T = 12, so T2 is 11: at 12 nothing would be missing."""
    assert part_of(lemma_e_16([toy(name)]), AT_T2).promised == 2
    assert broken(lemma_e_16([toy(name)], deficit=1.98)) == [AT_T2]
    assert broken(lemma_e_16([toy(name)], deficit=1.99)) == []


def test_control_lemma_e_16_after_t2():
    assert broken(lemma_e_16([altered(toy("D4"), "s_plus", 18, plus(-4.0))])) == [LATER]


def test_the_allowed_drop_is_that_of_the_table():
    """γ + 1 − 2c_η(1 + |W24|/k) at |W24| = 2 of 3 and 1 of 2."""
    assert 3 - allowed_drop(toy("D3"))[0, 0] / 8 == pytest.approx(2.58333333333)
    assert np.array_equal(allowed_drop(toy("D2")), [[3.0]])


def test_control_lemma_e_16_steps_as_printed():
    evidence = lemma_e_16_steps([traced(FAST)], drop=2.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert part_of(evidence, DROP).broken >= 95
    # Without filters in W24 the print is right.
    assert broken(lemma_e_16_steps([toy("D4")], drop=2.0)) == []


def test_control_lemma_e_16_steps_just_below_what_is_attained():
    """J8 drops by 313/96 c_η of 10/3."""
    assert part_of(lemma_e_16_steps([toy("J8")]), DROP).promised == pytest.approx(10 / 3)
    assert broken(lemma_e_16_steps([toy("J8")], drop=3.26)) == [DROP]
    assert broken(lemma_e_16_steps([toy("J8")], drop=3.27)) == []


def test_control_lemma_e_16_steps_below_the_margin():
    """Step 10 of D4 starts below γ."""
    assert broken(lemma_e_16_steps([altered(toy("D4"), "x", 11, plus(TINY))])) == [GROWS]


def test_control_larger_steps_are_no_counterexample():
    """A refutation of the print needs k ≥ 120, c_η ≤ 1/410 and γ ≥ 8; these runs are outside."""
    evidence = lemma_e_16_steps([traced(FAST)], drop=2.0, regime=True)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
