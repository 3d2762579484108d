"""The sums of Lemma B.4 and the counts of Proposition B.5, printed and repaired."""

import numpy as np
import pytest
from scipy import stats

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.xor_growth import (
    CLAIMS,
    active_limit_by_width,
    check_lemma_b_4_1,
    check_lemma_b_4_1_as_printed,
    check_lemma_b_4_2,
    check_proposition_b_5,
    check_proposition_b_5_as_printed,
    sure_to_exceed,
)
from widenet.papers.brutzkus2019.runs.xor import draw_start, every_octant, trace
from widenet.types import Scale, silent


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_lemma_b_4_from_every_octant():
    assert check_lemma_b_4_1([every_octant(0.1)]).verdict is Verdict.HOLDS
    assert check_lemma_b_4_2([every_octant(0.1)]).verdict is Verdict.HOLDS


def test_the_printed_bound_fails_nearly_always_and_provably_often():
    evidence = check_lemma_b_4_1_as_printed([draw_start(17, 0.1, 200)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][0]["broken"] >= 195
    # Eleven of the seventeen filters on one side are enough: 11·(2 − √2/4) > 17.
    tail = stats.binom.sf(10, 17, 0.5)
    assert sure_to_exceed(17) == pytest.approx(1 - (1 - 2 * tail) ** 2)
    assert 0 < sure_to_exceed(200) < sure_to_exceed(17)


def test_the_printed_bound_fails_where_the_count_says_so():
    """No chance in it: a run with n > k/(2 − √2/4) filters on one side has its sum above kη at t = 1."""
    start = draw_start(17, 0.1, 200)
    crowded = (17 - start.opposing_counts) * (2 - np.sqrt(2) / 4) > 17
    assert crowded.any()
    assert (trace(start).opposing_sums[1][crowded] > 17).all()


def test_control_lemma_b_4_1_without_its_factor_two():
    start = draw_start(50, 0.1, 60)
    evidence = check_lemma_b_4_1([start], limit=lambda s: 1.0 * (s.half_width - s.opposing_counts))
    assert evidence.verdict is Verdict.VIOLATED


def test_control_lemma_b_4_2_with_half_the_gain():
    evidence = check_lemma_b_4_2([draw_start(50, 0.1, 60)], gain=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.tightness == 2
    assert check_lemma_b_4_2([draw_start(50, 0.1, 60)], gain=1.0, is_exact=False).verdict is Verdict.HOLDS


def test_control_growth_outside_the_event():
    evidence = check_lemma_b_4_1([draw_start(17, 0.1, 20, spread=40.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.runs.outside == 20


def test_the_printed_count_of_proposition_b_5():
    slow, quick = draw_start(50, 0.01, 100), draw_start(50, 0.4, 1200)
    evidence = check_proposition_b_5_as_printed([slow])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][0]["broken"] == 100
    assert evidence.promised == 6
    assert check_proposition_b_5_as_printed([quick]).verdict is Verdict.HOLDS


def test_the_count_by_width():
    start = draw_start(50, 0.1, 60)
    assert active_limit_by_width(start) == pytest.approx(1.2 * np.sqrt(50) / (0.1 * (np.sqrt(50) - 4)))


def test_control_proposition_b_5_with_half_the_count():
    evidence = check_proposition_b_5(
        [draw_start(50, 0.01, 40)], limit=lambda s: (s.goal + 2 * s.half_width) / (4 * s.own_counts)
    )
    assert evidence.verdict is Verdict.VIOLATED


def test_control_proposition_b_5_needs_width():
    assert check_proposition_b_5([draw_start(8, 0.1, 40)]).verdict is Verdict.HYPOTHESES_NOT_MET
