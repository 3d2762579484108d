"""The start of XOR: counts of filters, sizes, the first step."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from widenet.claims.base import Verdict
from widenet.claims.brutzkus2019.xor import XorStart, draw_start, solution_start
from widenet.claims.brutzkus2019.xor_exploration import (
    CLAIMS,
    check_lemma_3_1,
    check_lemma_b_2,
    check_observation_active_at_start,
    check_observation_half_planes_cover,
    unexplored,
)
from widenet.types import Scale, silent


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert evidence.runs.tried > 0


def test_the_exact_tail():
    one = 2 * stats.binom.cdf(np.ceil(25 - 2 * np.sqrt(50)) - 1, 50, 0.5)
    assert one == pytest.approx(2.4e-5, rel=0.05)
    assert unexplored(50) == pytest.approx(1 - (1 - one) ** 4, rel=1e-9)
    assert unexplored(17) == pytest.approx(1 - (1 - 2.0**-16) ** 4, rel=1e-9)


def test_control_lemma_3_1_with_a_quarter_of_the_radius():
    evidence = check_lemma_3_1([draw_start(50, 0.1, 1200)], radius=Fraction(1, 2))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(0.79, abs=0.01)


def test_control_lemma_3_1_needs_enough_draws_and_width():
    assert check_lemma_3_1([draw_start(50, 0.1, 500)]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert check_lemma_3_1([draw_start(16, 0.1, 1200)]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_lemma_3_1_with_filters_that_prefer_one_side():
    start = draw_start(50, 0.1, 1200)
    leaning = XorStart(np.abs(start.fits), start.step_size, start.step_constant)
    evidence = check_lemma_3_1([leaning])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_lemma_b_2_with_eight_times_the_deviation():
    start = draw_start(17, 0.1, 200, spread=8.0)
    evidence = check_lemma_b_2([start])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert (~start.in_event).mean() > 0.9


def test_control_lemma_b_2_with_a_step_far_below_its_limit():
    """η ≤ c_η/k alone is not enough: σ_g must be small beside η."""
    evidence = check_lemma_b_2([draw_start(17, 0.1, 200, step_share=1e-3)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest 16√k·σ_g/η, σ_g as drawn"]


def test_control_active_at_start_from_twice_a_solution():
    evidence = check_observation_active_at_start([solution_start(2.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == 0
    assert evidence.runs.outside == 1


def test_control_cover_with_a_filter_on_the_border():
    start = draw_start(17, 0.1, 10)
    fits = start.fits.copy()
    fits[3, 0, 5, 0] = 0.0
    evidence = check_observation_half_planes_cover([dataclasses.replace(start, fits=fits)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == 1
