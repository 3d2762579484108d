"""Theorem 6.2 for single states: one hypothesis broken at a time, and one side of one class."""

import dataclasses
import functools

import numpy as np
import pytest

from tests.control_table import controls
from tests.controls import unmet_in
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.diagnostics.agreement_program import solve_regime
from widenet.papers.sarussi2021.claims import states as module
from widenet.papers.sarussi2021.claims.states import theorem_6_2_state
from widenet.papers.sarussi2021.runs.states import StateSetting, run_states, states_of
from widenet.papers.sarussi2021.sources import CROSS, TWO_POINTS, WEDGE, WEDGE_MINUS, WEDGE_PLUS, SignedNetwork
from widenet.progress import silent

K, V = 3, 0.4


def solution_of(points, slope, plus=None, minus=None, shares=(1.0, 1.0)):
    """The network at the solution of the program of these signs; (y, −y) by default."""
    inputs, labels = points.draw(0)
    signs = (labels if plus is None else np.array(plus), -labels if minus is None else np.array(minus))
    solved = solve_regime(inputs, labels, *signs, slope)
    rows = [
        share * np.tile(each, (K, 1)) / (V * K) for share, each in zip(shares, (solved.plus, solved.minus), strict=True)
    ]
    return SignedNetwork(rows[0], rows[1], V, slope), inputs, labels


@functools.cache
def two_points():
    return states_of([solution_of(TWO_POINTS, 1 / 3)])


@functools.cache
def wedge():
    """A regime that is not of perfect agreement; only the data hypothesis is not met."""
    return states_of([solution_of(WEDGE, 1 / 20, WEDGE_PLUS, WEDGE_MINUS)])


@functools.cache
def small_plus():
    """Antipodal points, plus rows that point the wrong way and are short: only the margin is too small."""
    return states_of([solution_of(CROSS, 1 / 5, shares=(-0.1, 1.0))])


def test_the_pinned_numbers():
    one = two_points()
    np.testing.assert_allclose([one.margins[0], one.thresholds[0]], [1.55872692593, 0.73029674334], rtol=1e-7)
    np.testing.assert_allclose([one.betas[0], one.critical[0]], [2.03025890455, 1.0], rtol=1e-7)
    np.testing.assert_allclose([wedge().margins[0], wedge().thresholds[0]], [1.05635528832, 0.146969384567], rtol=1e-7)
    np.testing.assert_allclose([wedge().betas[0], wedge().critical[0]], [1.00878587648, 2.18282062533], rtol=1e-6)
    low = small_plus()
    np.testing.assert_allclose([low.margins[0], low.thresholds[0]], [0.26323200624, 0.415692193817], rtol=1e-7)
    assert low.critical[0] == 0
    assert low.agreeing[0]


def test_it_holds_on_two_points_and_on_random_states():
    assert theorem_6_2_state([two_points()]).verdict is Verdict.HOLDS
    drawn = run_states(StateSetting(n_sets=6), silent)
    found = theorem_6_2_state([drawn, two_points()])
    assert found.verdict is Verdict.HOLDS
    assert 0 < found.runs.outside < found.runs.tried == len(drawn) + 1


def test_control_a_wedge():
    found = theorem_6_2_state([wedge()])
    assert found.conclusion is False  # a check without this hypothesis would call it a refutation
    edge = two_points().betas
    assert unmet_in(found) == ["critical_margin"]
    for share, met in ((-2e-9, True), (-0.5e-9, False), (1e-9, False)):
        moved = altered(two_points(), critical=edge * (1 + share))
        assert unmet_in(theorem_6_2_state([moved])) == ([] if met else ["critical_margin"])


def test_control_a_small_margin():
    found = theorem_6_2_state([small_plus()])
    assert found.conclusion is False
    edge = two_points().thresholds
    assert unmet_in(found) == ["high_margin"]
    for share, met in ((2e-9, True), (0.5e-9, False), (-1e-9, False)):
        moved = altered(two_points(), margins=edge * (1 + share))
        assert unmet_in(theorem_6_2_state([moved])) == ([] if met else ["high_margin"])


def test_the_nearest_state_is_shown_where_none_meets_the_hypotheses():
    both = [wedge(), altered(two_points(), critical=two_points().betas * (1 + 1e-3))]
    found = theorem_6_2_state(both)
    assert found.conclusion is True
    assert found.runs.outside == 2


def placed(high, room, **fields):
    """The two points with γ̄ at `high` thresholds, and the critical β a share `room` below β."""
    one = two_points()
    return altered(one, margins=high * one.thresholds, critical=(1 - room) * one.betas, **fields)


def test_all_states_inside_are_judged_and_the_nearest_shown():
    found = theorem_6_2_state([placed(1.5, 0.2), placed(1.2, 0.4), wedge()])
    assert [part.n_cases for part in found.parts] == [2, 2, 2, 2]
    shown = {h.key: h.actual for h in found.hypotheses}
    assert (shown["high_margin"], shown["critical_margin"]) == pytest.approx((1.2, 0.2))
    wrong = {"plus_on_plus": np.array([False])}
    assert theorem_6_2_state([two_points(), placed(1.05, 0.5, **wrong)]).verdict is Verdict.VIOLATED
    assert theorem_6_2_state([two_points(), placed(1.5, 0.05, **wrong)]).verdict is Verdict.VIOLATED
    apart = placed(1.5, 0.5, agreeing=np.array([False]), **wrong)
    assert theorem_6_2_state([two_points(), apart]).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("first", "second", "shown"), [((0.7, 0.5), (2.0, -0.35), 2.0), ((0.8, 0.5), (2.0, -0.35), 0.8)]
)
def test_the_state_that_is_least_short_is_shown(first, second, shown):
    for states in ([placed(*first), placed(*second)], [placed(*second), placed(*first)]):
        found = {h.key: h.actual for h in theorem_6_2_state(states).hypotheses}
        assert found["high_margin"] == pytest.approx(shown)


def test_an_edge_that_rounding_decides_counts_as_outside():
    same = altered(two_points(), critical=two_points().betas, plus_on_plus=np.array([False]))
    assert theorem_6_2_state([two_points(), same]).verdict is Verdict.HOLDS
    level = altered(two_points(), margins=two_points().thresholds * (1 + 1e-12), plus_on_plus=np.array([False]))
    assert theorem_6_2_state([two_points(), level]).verdict is Verdict.HOLDS


def test_each_side_is_measured_on_its_class():
    """One row turned around spoils its own two answers."""
    network, points, labels = solution_of(TWO_POINTS, 1 / 3)
    turned = dataclasses.replace(network, plus=-network.plus)
    found = states_of([(turned, points, labels)])
    answers = [found.plus_on_plus[0], found.plus_on_minus[0], found.minus_on_minus[0], found.minus_on_plus[0]]
    assert answers == [False, False, True, True]


def apart(field):
    return {field: np.array([False])}


test_control = controls(
    module,
    two_points,
    (theorem_6_2_state, "agreement", {}, apart("agreeing")),
    (theorem_6_2_state, "plus_on_positive", {}, apart("plus_on_plus")),
    (theorem_6_2_state, "minus_on_negative", {}, apart("minus_on_minus")),
    (theorem_6_2_state, "plus_on_negative", {}, apart("plus_on_minus")),
    (theorem_6_2_state, "minus_on_positive", {}, apart("minus_on_plus")),
)
