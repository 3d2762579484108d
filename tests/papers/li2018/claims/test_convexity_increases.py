"""Lemma B.6: sums of functions under a smooth one, with instances that attain each term."""

import functools

import pytest

from tests.control_table import at, controls
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import convexity
from widenet.papers.li2018.claims.convexity import lemma_a_5, lemma_b_5, lemma_b_6, lemma_b_6_as_printed
from widenet.papers.li2018.runs.convex_functions import (
    draw_flat_increase,
    draw_increases,
    flat_instance,
    listed_increases,
    rough_instance,
    smooth_instance,
)
from widenet.records import Scale


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_holds_for_random_increases(seed):
    found = lemma_b_6(draw_increases(Scale.QUICK, seed))
    assert found.verdict is Verdict.HOLDS
    assert found.parts[0].n_cases > 30


@pytest.mark.parametrize(("radius", "share"), [(0.1, 0.90375), (0.01, 0.9900375)])
def test_the_smooth_instance(radius, share):
    increase, linear, *_ = smooth_instance(radius)
    assert (increase - linear) / radius**2 == pytest.approx(share, rel=1e-10)


@functools.cache
def attained():
    return listed_increases(smooth_instance(0.01), rough_instance(0.001))


def test_the_printed_lemma_fails_for_small_functions():
    found = lemma_b_6_as_printed(draw_flat_increase(Scale.QUICK, 0))
    assert found.verdict is Verdict.VIOLATED
    assert (found.measured, found.promised) == (pytest.approx(0.005), pytest.approx(0.001))


def test_rounding_is_no_excuse_for_an_increase():
    """A value off by a billionth is off."""
    assert lemma_b_6(altered(attained(), largest=lambda size: size * (1 + 5e-12))).hypotheses[0].met is False
    assert lemma_b_6(altered(attained(), lipschitz=lambda size: size * (1 - 5e-12))).hypotheses[1].met is False


def test_values_of_the_instances_of_b_6():
    assert rough_instance(0.3) == (0.3, 0.0, 1.0, 1.0, 1.0, 0.3, 0.3)
    assert rough_instance(0.3, 2.0) == (1.2, 0.0, 2.0, 1.0, 1.0, 0.3, 0.3)
    assert smooth_instance(0.2)[2:] == (1.0, 1.0, 0.0, 0.2, 0.2)
    assert flat_instance(0.2) == pytest.approx((0.02, 0.0, 0.2, 1.0, 0.0, 1.0, 1.0))
    for lipschitz in (1.0, 2.0, 5.0):
        found = lemma_b_6(listed_increases(smooth_instance(0.01), rough_instance(1e-3, lipschitz)))
        # L³m²p² is small beside L²rp.
        assert found.parts[1].tightness == pytest.approx(1 / (1 + lipschitz * 1e-3))


def test_the_room_of_b_6_is_a_rounding_of_what_was_computed():
    """1e-12·(1 + |linear| + L), at L = 2 and a linear term of 3: 6e-12."""
    for excess, kept in ((5.9e-12, True), (6.1e-12, False)):
        for rough in (0.0, 1.0):
            bound = 8 * 0.1**2 + 4 * rough * 0.1
            one = listed_increases((3 + bound + excess, 3.0, 2.0, 1.0, rough, 0.1, 0.1))
            assert lemma_b_6(one).parts[int(rough)].kept is kept
    for excess, kept in ((0.9e-12, True), (1.1e-12, False)):
        printed = listed_increases((0.012 + excess, 0.0, 1.0, 1.0, 0.0, 0.1, 0.1), (0.01, 0.0, 1.0, 1.0, 0.0, 0.1, 0.1))
        assert lemma_b_6_as_printed(altered(printed, increase=printed.increase - [0.002, 0])).conclusion is kept


def test_small_functions_break_it():
    assert lemma_b_6(listed_increases(flat_instance(), rough_instance(0.001))).conclusion is False


test_control = controls(
    convexity,
    attained,
    (
        lemma_b_6,
        "smooth",
        at(listed_increases(rough_instance(0.001), smooth_instance(0.01)), quadratic=0.991),
        {"quadratic": 0.98},
    ),
    (lemma_b_6, "rough", {}, {"rough": 0.99}),
    (lemma_b_6, "radius", {"largest": 1e-3 * (1 + 5e-13)}, {"largest": 1e-3 * (1 + 2e-12)}),
    (lemma_b_6, "scale", {"n_terms": 1 - 5e-13}, {"n_terms": 1 - 2e-12}),
    (lemma_b_6_as_printed, "bound", {}, at(draw_flat_increase(Scale.QUICK, 0))),
    but=(lemma_a_5, lemma_b_5),
)
