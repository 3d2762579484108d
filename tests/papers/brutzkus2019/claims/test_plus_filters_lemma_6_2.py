"""Lemma 6.2: where the w filters are after t steps, part by part."""

import numpy as np
import pytest

from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.settings import (
    FAST,
    SCATTERED,
    altered,
    now,
    on_toy,
    part_of,
    plus,
    toy,
    traced,
)
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.plus_filters import lemma_6_2

COEFFICIENT, SIZE, SIGN = (
    "(1) the coefficient of ηp_i is n(t)",
    "(1) |α| ≤ η",
    "(1) α is 0 or against the sign of ⟨w_0, p₂⟩",
)


ALONG, ACROSS = "(1) ⟨v_t, p_i⟩ > 0", "(1) |⟨v_t, p₂⟩| < 2η"
OTHERS, CONES = "(2) whole steps along p₂ on W24(0)", "(3) W_t⁺(i) = W_0⁺(i)"


def test_control_lemma_6_2_with_the_printed_count():
    evidence = lemma_6_2([traced(FAST)], through_t=True)
    assert evidence.verdict is Verdict.VIOLATED
    printed = "(1) the coefficient of ηp_i is a⁺(t)"
    assert part_of(evidence, printed).broken == part_of(evidence, ALONG).broken == 100
    assert broken_in(evidence) == [printed, ALONG]


def test_control_lemma_6_2_without_eta():
    assert lemma_6_2([traced(FAST)], with_eta=False).verdict is Verdict.VIOLATED
    # D2, t = 11: w^(2) = w_0 + p₂/16.
    assert broken_in(lemma_6_2([toy("D2")], with_eta=False)) == [OTHERS]


@pytest.mark.parametrize(
    ("steps", "fails"),
    [
        ((0, 0), []),
        ((16, 16), []),
        ((-16, 32), []),
        ((15, 16), [OTHERS]),
        ((16, 17), [OTHERS]),
        ((8, 24), [OTHERS]),
    ],
)
def test_control_lemma_6_2_without_eta_wants_whole_lengths(steps, fails):
    """η = 1/16 in D2: as printed, sixteen steps of η are one whole m, and all of W24(0) have to make them."""
    ends = np.array(steps)[:, None, None]
    still = altered(toy("D2"), "b_range.w24", slice(None), now(0))
    there = altered(still, "b_range.w24", slice(5, 6), lambda _: ends)
    assert broken_in(lemma_6_2([there], with_eta=False)) == fails


@pytest.mark.parametrize("with_eta", [False, True])
def test_control_lemma_6_2_a_step_along_p1_on_w24(with_eta):
    """With nothing along p₂ at all, it is the only thing that fails, printed or repaired."""
    still = altered(toy("D2"), "b_range.w24", slice(None), now(0))
    assert broken_in(lemma_6_2([still], with_eta=with_eta)) == []
    assert broken_in(lemma_6_2([altered(still, "a_range.w24", 5, now(1))], with_eta=with_eta)) == [OTHERS]


def test_control_lemma_6_2_outside_the_event():
    evidence = lemma_6_2([traced(SCATTERED)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize(("record", "by", "fails"), [("a_range.w13", 1, COEFFICIENT), ("a_range.w24", 1, OTHERS)])
def test_control_lemma_6_2_looks_at_every_filter(record, by, fails, end):
    off = by * np.eye(2)[end][:, None].astype(int)
    assert broken_in(on_toy(lemma_6_2, "D2")(**{record: (5, plus(off))})) == [fails]


@pytest.mark.parametrize("extremes", [(-2, 0), (-2, -1), (-2, -2)])
def test_control_lemma_6_2_looks_at_the_largest_alpha(extremes):
    ends = np.array(extremes)[:, None, None]
    assert broken_in(lemma_6_2([altered(toy("D2"), "b_range.w13", slice(5, 6), lambda _: ends)])) == [SIZE]


def test_lemma_6_2_promises_what_it_says():
    """D2: the only filter of W13 has s_0 = −15/64; the one of W24 has 1/64. A whole step less is 2 less."""
    assert part_of(lemma_6_2([toy("D2")]), SIZE).promised == 1
    along = part_of(lemma_6_2([toy("D2")]), ALONG)
    assert (along.measured, along.promised) == (15 / 64, 0)
    behind = part_of(on_toy(lemma_6_2, "D2")(**{"a_range.w13": (5, plus(-1))}), ALONG)
    assert (behind.measured, behind.promised) == (15 / 64 - 2, 0)


def test_lemma_6_2_is_attained():
    """J6 starts with |r_0| = η/64, and at t = 1 it is 2η less."""
    part = part_of(lemma_6_2([toy("J6")]), ACROSS)
    assert (part.measured, part.promised) == (127 / 64, 2.0)
