"""Lemmas 6.1, E.3, E.15 and E.19: exact probabilities, and controls with a smaller radius, rate or a larger start."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.networks import broken, number
from widenet.claims import Verdict
from widenet.papers.brutzkus2019.claims.start import (
    deviation_hypothesis,
    draw_small_starts,
    lemma_6_1,
    lemma_e_3,
    lemma_e_15,
    lemma_e_19,
    small_starts,
)
from widenet.papers.brutzkus2019.formulas import c_value, large_start_probability, largest_deviation
from widenet.papers.brutzkus2019.runs.explored import explore
from widenet.papers.brutzkus2019.runs.starts import draw_filters
from widenet.records import Scale

COUNTS = [lemma_6_1, lemma_e_15, lemma_e_19]
EXACT, DRAWN = "the exact probability at every width", "drawn starts follow this law"


def explored(filters=None, widths=(14, 50, 105, 120), **choices):
    return [explore(widths, draw_filters(1, 500, 120) if filters is None else filters, **choices)]


@pytest.mark.parametrize("lemma", COUNTS, ids=lambda claim: claim.name)
def test_the_counts_hold(lemma):
    evidence = lemma(explored())
    assert evidence.verdict is Verdict.HOLDS
    assert 0 < number(evidence.tightness) < 1
    assert not evidence.vacuous


@pytest.mark.parametrize(
    ("lemma", "tail", "promised"),
    [
        (lemma_6_1, 1.458e-4, 0.00134185051161),
        (lemma_e_15, 1.842e-5, 0.00134185051161),
        (lemma_e_19, 3.684e-5, 0.00268370102322),
    ],
)
def test_the_tails_at_120_and_what_is_promised(lemma, tail, promised):
    evidence = lemma(explored())
    assert math.isclose(evidence.details["at_120"], tail, rel_tol=1e-3)
    assert math.isclose(number(evidence.promised), promised, rel_tol=1e-11)


@pytest.mark.parametrize("lemma", COUNTS, ids=lambda claim: claim.name)
def test_control_a_quarter_of_the_radius(lemma):
    evidence = lemma(explored(radius=Fraction(1, 2)))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == [EXACT]
    assert number(evidence.measured) > 10 * number(evidence.promised)


@pytest.mark.parametrize(
    ("lemma", "below", "above"),
    [(lemma_6_1, 1.5e-4, 1.6e-4), (lemma_e_15, 7.9e-5, 8.0e-5), (lemma_e_19, 1.59e-4, 1.6e-4)],
)
def test_control_a_rate_below_the_worst_width(lemma, below, above):
    """The worst widths are 105, 14 and 14."""
    assert broken(lemma(explored(), allowed=below)) == [EXACT]
    assert lemma(explored(), allowed=above).verdict is Verdict.HOLDS


@pytest.mark.parametrize("lemma", COUNTS, ids=lambda claim: claim.name)
def test_control_directions_that_are_not_uniform(lemma):
    tilted = draw_filters(1, 500, 120) * np.array([1.0, 3.0])
    assert lemma(explored(tilted)).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize("lemma", COUNTS, ids=lambda claim: claim.name)
def test_control_starts_that_do_not_follow_the_law(lemma):
    """All filters of a run in one octant: every octant equally often, but not independently."""
    one = np.repeat(draw_filters(1, 800, 120)[:, :1], 240, axis=1)
    assert broken(lemma(explored(one))) == [DRAWN]


@pytest.mark.parametrize("lemma", COUNTS, ids=lambda claim: claim.name)
def test_nothing_computed_decides_nothing(lemma):
    assert lemma(explored(draw_filters(0, 5, 2), widths=())).conclusion is None


def test_lemma_e_3_holds():
    evidence = lemma_e_3(draw_small_starts(Scale.QUICK, 1))
    assert evidence.verdict is Verdict.HOLDS
    assert 0.999 < number(evidence.tightness) < 1
    assert evidence.promised == 1


def test_control_a_smaller_rate_in_lemma_e_3():
    """The union over 4k products is 0.9713 of c at k = 2."""
    starts = dataclasses.replace(draw_small_starts(Scale.QUICK, 1), widths=(2,))
    assert broken(lemma_e_3(starts, factor=0.971)) == [EXACT]
    assert lemma_e_3(starts, factor=0.972).verdict is Verdict.HOLDS


def test_control_eight_times_as_large_a_start():
    evidence = lemma_e_3(small_starts(0, (17,), 17, 2000, relative_deviation=8.0))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.details["drawn"]["failures"] > 0.9 * 2000


def test_control_a_larger_start_than_stated_is_measured():
    honest = small_starts(0, (1, 2), 1, 20_000)
    evidence = lemma_e_3(dataclasses.replace(honest, filters=1.5 * honest.filters))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert broken(evidence) == ["drawn starts have this probability"]


def test_control_a_start_away_from_zero_is_not_small():
    """σ_g is measured around 0: filters that are all alike have no deviation around their mean."""
    filters = np.full((10, 4, 2), 0.1)
    assert not deviation_hypothesis(filters, 0.01).met
    assert deviation_hypothesis(draw_filters(0, 100, 2, largest_deviation(0.02, 2)), 0.01).met


def test_control_a_deviation_a_fifth_too_large():
    limit = largest_deviation(0.02, 2)
    assert deviation_hypothesis(draw_filters(0, 1000, 2, limit), 0.01).met
    assert not deviation_hypothesis(draw_filters(0, 1000, 2, 1.2 * limit), 0.01).met


def test_the_exact_event_of_lemma_e_3():
    """k = 2: 1.27e-7 allowed, 1.23e-7 exact, and not below the 1e-10 that Appendix F speaks of."""
    assert math.isclose(c_value(2), 1.27e-7, rel_tol=1e-2)
    assert math.isclose(large_start_probability(2), 1.233e-7, rel_tol=1e-3)
    for half_width in (1, 2, 5, 17):
        assert large_start_probability(half_width) <= c_value(half_width)


def test_widths_beyond_the_range_of_a_float_are_not_refuted_by_it():
    """At k = 100 the rate c is 0 in float64."""
    evidence = lemma_e_3(small_starts(0, (100,), 1, 5000, relative_deviation=1.001))
    assert evidence.parts[0].kept is None
