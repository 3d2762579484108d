"""Lemmas 6.1, E.3, E.15 and E.19: exact probabilities, and controls with a smaller radius or a larger start."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.start import (
    CLAIMS,
    Starts,
    check_lemma_6_1,
    check_lemma_e_3,
    check_lemma_e_15,
    check_lemma_e_19,
    deviation_hypothesis,
    draw_filters,
    is_small,
    small_starts,
)
from widenet.papers.brutzkus2019.formulas import c_value, large_start_probability, largest_deviation
from widenet.types import Scale

CHECKS = [check_lemma_6_1, check_lemma_e_15, check_lemma_e_19]


def starts(half_width=120, n_runs=500):
    return Starts((50, 120), draw_filters(1, n_runs, half_width))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_holds_on_its_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness is not None
    assert 0 < evidence.tightness < 1


@pytest.mark.parametrize(("check", "tail"), [(CHECKS[0], 1.458e-4), (CHECKS[1], 1.842e-5), (CHECKS[2], 3.684e-5)])
def test_the_tails_at_120(check, tail):
    assert math.isclose(check(starts()).config["at_120"], tail, rel_tol=1e-3)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_control_a_quarter_of_the_radius(check):
    evidence = check(starts(), radius=Fraction(1, 2))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured > 10 * evidence.promised


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_control_directions_that_are_not_uniform(check):
    tilted = Starts((50,), draw_filters(1, 500, 120) * np.array([1.0, 3.0]))
    assert check(tilted).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_control_starts_that_do_not_follow_the_law(check):
    """All filters of a run in one octant: every octant equally often, but not independently."""
    one = np.repeat(draw_filters(1, 800, 120)[:, :1], 240, axis=1)
    evidence = check(Starts((50,), one))
    assert evidence.conclusion is False


def test_nothing_computed_decides_nothing():
    assert check_lemma_6_1(Starts((), draw_filters(0, 5, 2))).conclusion is None


def test_control_eight_times_as_large_a_start():
    evidence = check_lemma_e_3(small_starts(0, (17,), 17, 2000, relative_deviation=8.0))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["drawn"]["failures"] > 0.9 * 2000


def test_control_a_larger_start_than_stated_is_measured():
    honest = small_starts(0, (1, 2), 1, 20_000)
    evidence = check_lemma_e_3(dataclasses.replace(honest, filters=1.5 * honest.filters))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False  # the draws no longer have the probability of the formula


def test_control_a_start_away_from_zero_is_not_small():
    """σ_g is measured around 0: filters that are all alike have no deviation around their mean."""
    filters = np.full((10, 4, 2), 0.1)
    assert not deviation_hypothesis(filters, 0.01).met
    assert deviation_hypothesis(draw_filters(0, 100, 2, largest_deviation(0.02, 2)), 0.01).met


def test_the_exact_event_of_lemma_e_3():
    """k = 2: 1.27e-7 allowed, 1.23e-7 exact, and not below the 1e-10 that Appendix F speaks of."""
    assert math.isclose(c_value(2), 1.27e-7, rel_tol=1e-2)
    assert math.isclose(large_start_probability(2), 1.233e-7, rel_tol=1e-3)
    for half_width in (1, 2, 5, 17):
        assert large_start_probability(half_width) <= c_value(half_width)


@pytest.mark.parametrize("half_width", [1, 5])
def test_draws_have_the_exact_probability_of_a_large_start(half_width):
    setting = small_starts(2, (1,), half_width, 20_000, relative_deviation=3.0)
    share = 1 - is_small(setting.filters, setting.step_size).mean()
    exact = large_start_probability(half_width, 3.0)
    assert abs(share - exact) < 5 * math.sqrt(exact * (1 - exact) / 20_000)


def test_a_start_that_is_not_a_number_is_not_small():
    filters = draw_filters(0, 1, 2)
    filters[0, 0, 0] = np.nan
    assert not is_small(filters, 1e9)[0]
