"""The start of XOR: counts of filters, sizes, the first step."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.xor_exploration import (
    CLAIMS,
    check_lemma_3_1,
    check_lemma_b_2,
    check_lemma_b_2_as_printed,
    check_observation_active_at_start,
    check_observation_half_planes_cover,
    unexplored,
)
from widenet.papers.brutzkus2019.runs.xor import XorStart, draw_start, solution_start
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


def test_lemma_b_2_as_printed_fails_in_both_ways():
    small = check_lemma_b_2_as_printed([draw_start(17, 0.1, 200, step_share=0.1)])
    assert small.verdict is Verdict.VIOLATED
    assert all(h.met for h in small.hypotheses)
    # The limit √2η/4 is 0.4·√17 deviations of a fit, and 4·17 fits are independent.
    assert small.measured == pytest.approx(1 - (1 - 2 * stats.norm.sf(0.4 * np.sqrt(17))) ** 68, rel=1e-9)
    assert small.config["settings"][0]["outside"] > 190
    # At η = c_η/k no draw shows it, but the exact tail does: π is printed for √π.
    cap = check_lemma_b_2_as_printed([draw_start(17, 0.1, 200)])
    assert cap.verdict is Verdict.VIOLATED
    assert cap.config["settings"][0]["outside"] == 0
    assert cap.config["settings"][0]["ratio"] == pytest.approx(np.sqrt(np.pi), rel=0.01)


def test_control_lemma_b_2_as_printed_outside_its_setting_and_far_inside():
    assert check_lemma_b_2_as_printed([draw_start(2, 0.1, 200)]).verdict is Verdict.HYPOTHESES_NOT_MET
    assert check_lemma_b_2_as_printed([draw_start(17, 0.1, 200, spread=2.0)]).verdict is Verdict.HYPOTHESES_NOT_MET
    assert check_lemma_b_2_as_printed([draw_start(17, 0.1, 200, spread=0.9)]).verdict is Verdict.HOLDS


def test_two_large_starts_of_two_hundred_are_chance_at_k_1():
    """c is 2.7e-4 at k = 1: a seed in a thousand draws two of 200 outside."""
    start = draw_start(1, 0.1, 200)
    fits = np.clip(start.fits, -0.35, 0.35)
    fits[:2, 0, 0, 0] = 0.36
    evidence = check_lemma_b_2([dataclasses.replace(start, fits=fits)])
    assert evidence.config["widths"][0]["outside"] == 2
    assert evidence.verdict is Verdict.HOLDS


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
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 1
    leaning = dataclasses.replace(start, fits=np.abs(start.fits))
    assert check_observation_half_planes_cover([leaning]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_a_fit_is_not_rounded_to_zero():
    """Among four million fits (seed 6 at k = 200) one is closer to 0 than half a step of the grid."""
    start = draw_start(2, 0.1, 1)
    fits = start.fits.copy()
    fits[0, 0, 0] = 1e-11, -1e-11
    moved = dataclasses.replace(start, fits=fits)
    assert np.array_equal(np.sign(moved.fits), np.sign(fits))
    assert np.abs(moved.fits - fits).max() < 2.0**-32
    assert moved.in_event.all()
    assert check_observation_half_planes_cover([draw_start(200, 0.1, 5000, 6)]).verdict is Verdict.HOLDS
