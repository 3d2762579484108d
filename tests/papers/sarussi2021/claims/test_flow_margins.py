"""Margins and directions along gradient flow, judged on altered records of a path whose limit is known."""

import functools
from typing import Any

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, spared
from tests.controls import unmet_in
from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.inputs import handed, looks_read, promised
from tests.papers.sarussi2021.paths import toy_path
from tests.papers.sarussi2021.toys import changed_weights
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.diagnostics.kkt import kkt_residuals
from widenet.papers.sarussi2021.claims import flow_margins
from widenet.papers.sarussi2021.claims.flow_margins import (
    assumption_6_1,
    directions_converge,
    draw_falling,
    footnote_9,
    limit_is_kkt,
    smoothed_margin_grows,
    smoothed_margin_level,
    smoothed_margin_level_as_printed,
    smoothed_margin_order,
)
from widenet.papers.sarussi2021.claims.paths import Paths
from widenet.papers.sarussi2021.formulas import approach_bound, least_norm
from widenet.papers.sarussi2021.runs.falling_margins import FallingMargins, falling_margins
from widenet.papers.sarussi2021.runs.flows import READINGS
from widenet.records import Scale


@functools.cache
def negated_path():
    return altered(toy_path(), weights=-toy_path().weights)


@pytest.mark.parametrize(
    "claim",
    [smoothed_margin_order, smoothed_margin_grows, footnote_9, directions_converge, limit_is_kkt],
    ids=lambda claim: claim.name,
)
def test_it_holds_on_the_toy_path(claim):
    assert claim([toy_path()]).verdict is Verdict.HOLDS


NEAR = "W/‖W‖ is near its limit at every time"
MISSING, SLACK = "stationarity is near at every time", "the slack is small at every time"


def test_which_looks_are_read():
    """All; the first one sets the bound of the others."""
    assert looks_read(directions_converge, toy_path())[NEAR] == set(READINGS)
    read = looks_read(limit_is_kkt, toy_path())
    assert read[MISSING] == read[SLACK] == set(READINGS)


def test_both_sides_of_the_directions():
    """1 − cos to Eq. 7, and E_0/(γ*‖W‖) with γ* = v√(k/val)."""
    parts, _ = handed(directions_converge, [toy_path()])
    (course,) = toy_path().each()
    flat = course.weights.reshape(len(READINGS), -1)
    goal = np.repeat(course.solution.reshape(2, 2), 3, axis=0).ravel()
    cosines = flat @ goal / np.linalg.norm(flat, axis=1) / np.linalg.norm(goal)
    np.testing.assert_allclose(parts[NEAR].measured, np.sqrt(2 * (1 - cosines)), atol=1e-8)
    limit = 0.4 * np.sqrt(3 / course.value)
    smooth = -np.log(np.prod(1 + np.exp(-course.margins[0])) - 1)
    bounds = (limit * np.linalg.norm(flat[0]) - smooth) / (limit * np.linalg.norm(flat, axis=1))
    np.testing.assert_allclose(parts[NEAR].promised, np.sqrt(2 * bounds), rtol=1e-9)


def test_both_sides_of_stationarity_and_slack():
    parts, _ = handed(limit_is_kkt, [toy_path()])
    (course,) = toy_path().each()
    limit, norms = 0.4 * np.sqrt(3 / course.value), np.linalg.norm(course.weights, axis=(1, 2))
    moved = np.linalg.norm(course.weights - course.weights[0], axis=(1, 2))
    excess = limit * norms[0] + np.log(np.prod(1 + np.exp(-course.margins[0])) - 1)
    bounds = np.sqrt(2 * excess / (limit * norms)) + np.sqrt(2 * excess / (limit * moved + excess))
    np.testing.assert_allclose(parts[MISSING].promised, bounds, rtol=1e-9)
    pushes = 0.278464542761074 * (1 + np.exp(-course.margins.min(axis=1)))
    np.testing.assert_allclose(parts[SLACK].promised, pushes / (limit * norms), rtol=1e-9)


@pytest.mark.parametrize("claim", [smoothed_margin_grows, footnote_9, directions_converge, limit_is_kkt])
def test_control_a_run_that_never_separates(claim):
    assert "separating" in {h.key for h in claim([negated_path()]).hypotheses if not h.met}


def late_start(reading, negated=slice(None, 20)):
    """Nothing is separated before the look that was at 20, which is moved to this reading."""
    weights, readings = toy_path().weights.copy(), toy_path().readings.copy()
    weights[0, negated] *= -1
    readings[20] = reading
    return altered(toy_path(), weights=weights, readings=readings)


@pytest.mark.parametrize(("reading", "met"), [(20, True), (21, False)])
def test_a_run_must_separate_by_20(reading, met):
    found = directions_converge([late_start(reading)])
    assert {h.key: h.met for h in found.hypotheses}["separating"] is met


def wrong_on_the_first(scale):
    """Plus rows (−1, 1), minus rows 0: wrong on (2, 1), right on (−1, −3)."""

    def change(weights, look=-1):
        weights[look] = scale * np.repeat([[-1.0, 1.0], [0.0, 0.0]], 3, axis=0)

    return change


def test_one_margin_that_is_not_positive():
    spoilt = changed_weights(toy_path(), wrong_on_the_first(1.0))
    assert spoilt.margins[0, -1].tolist() == pytest.approx([-0.4, 0.8])
    assert limit_is_kkt([spoilt]).parts[2].kept is False


def test_a_margin_of_zero_is_not_positive():
    """Plus rows (−1, 2), minus rows 0: the output at (2, 1) is 0, and (−1, −3) is right."""

    def change(weights):
        weights[-1] = np.repeat([[-1.0, 2.0], [0.0, 0.0]], 3, axis=0)

    level = changed_weights(toy_path(), change)
    assert level.margins[0, -1].min() == 0
    with np.errstate(all="ignore"):
        assert limit_is_kkt([level]).parts[2].kept is False


def test_a_margin_a_little_above_zero():
    found = limit_is_kkt([changed_weights(toy_path(), lambda weights: weights[-1].__imul__(1e-4))])
    assert found.parts[2].kept is True


def test_the_norm_is_asked_to_grow_only_while_every_point_is_right():
    """At the third look one point is wrong, by however little; at the fourth all are right, by however little."""
    n_looks = len(toy_path().readings)
    for scale, right in ((1.0, False), (0.01, False), (0.0, False), (1e-3, True)):

        def change(weights, scale=scale, right=right):
            (weights[2].__imul__(scale) if right else wrong_on_the_first(scale)(weights, 2))

        parts, _ = handed(footnote_9, [changed_weights(toy_path(), change)])
        fewer = 0 if right else 1
        assert [part.scored.sum() for part in parts.values()] == [n_looks - 1 - fewer, n_looks - fewer]


def test_the_smoothed_margin_counts_from_the_look_at_which_it_starts():
    run = Paths.join([late_start(20)])
    growth: Any = smoothed_margin_grows.clauses["growth"]([late_start(20)])
    then = late_start(20).readings[:-1]
    assert 0 < run.started[0] in then
    assert growth.scored.sum() == (then >= run.started[0]).sum()


def test_a_norm_that_falls_a_little_does_not_grow():
    def change(weights):
        weights[-1] = 0.95 * weights[-2]

    parts, _ = handed(footnote_9, [changed_weights(toy_path(), change)])
    assert [part.broken.sum() for part in parts.values()] == [1, 0]


def test_a_margin_a_little_below_zero():
    found = limit_is_kkt([changed_weights(toy_path(), lambda weights: weights[-1].__imul__(-1e-4))])
    assert found.parts[2].kept is False


def test_between_the_two_levels_the_margin_may_fall():
    found = smoothed_margin_level(draw_falling(Scale.QUICK, 0))
    assert found.verdict is Verdict.HOLDS
    np.testing.assert_allclose(found.details["rates"], [-0.435, -0.269, -0.015], atol=1e-3)


def test_the_printed_level_is_too_high():
    found = smoothed_margin_level_as_printed(draw_falling(Scale.QUICK, 0))
    assert found.verdict is Verdict.VIOLATED
    assert found.parts[0].broken == found.parts[0].n_cases == 15


@pytest.mark.parametrize(("rate", "kept"), [(0.01 * (1 + 1e-6), True), (0.01 * (1 - 1e-6), False)])
def test_how_fast_it_falls(rate, kept):
    path = altered(falling_margins((200.0,)), margins=-rate * 1e-6 * np.arange(6.0)[None])
    assert smoothed_margin_level(path).parts[0].kept is kept


def attained():
    """One point x, w = x, u = −αx: the norm is as small as it can be."""
    point = np.array([1.0, 2.0])
    rows = np.concatenate([np.tile(point, (3, 1)), np.tile(-point / 3, (3, 1))])
    growing = (toy_path().readings[:, None, None] + 1.0) * rows
    return altered(
        toy_path(),
        weights=growing[None],
        inputs=point[None, None],
        labels=np.ones((1, 1)),
        plus_signs=np.ones((1, 1)),
        minus_signs=-np.ones((1, 1)),
    )


def test_a_run_that_ends_on_a_kink_decides_nothing():
    found = directions_converge([changed_weights(toy_path(), onto_a_kink), toy_path()])
    assert (found.parts[0].kept, found.parts[0].undecided, found.parts[0].n_cases) == (None, 1, 1 + len(READINGS))


def times(bound, factor):
    return lambda *given: factor * bound(*given)


def onto_a_kink(weights):
    weights[-1, 0] = np.linalg.norm(weights[-1, 0]) * np.array([3.0, -1.0]) / 10**0.5


def test_control_equal_multipliers():
    (run,) = Paths.join([toy_path()]).each()
    equal = [kkt_residuals(rows, *run.kkt_inputs, np.ones(2)) for rows in run.weights]
    assert broken_in(limit_is_kkt([toy(residuals=np.array([equal]))])) == ["stationarity", "slackness"]


def toy(**columns):
    """The toy path with other columns, computed ones among them."""
    return Paths.join([toy_path()]).cells[0].replace(**columns)


def test_they_speak_about_a_readers_data():
    (setting,) = smoothed_margin_order.on(UserData(from_arrays(*toys.E1)))
    assert setting.cases[0].slope == 0.2
    for scale in (1e-165, 1.0, 1e150):
        (setting,) = smoothed_margin_order.on(UserData(from_arrays(scale * toys.E1[0], toys.E1[1])))
        case = setting.cases[0]
        # ‖(2, 1)‖ and ‖(1, 3)‖; the SVM of the two points has a margin of √5.
        assert case.factor * scale == pytest.approx(1 / 5**0.5, rel=1e-6)
        assert case.deviation == pytest.approx(1e-3 / 2**0.5, rel=1e-6)
    thin = np.array([(1e-3, 1.0), (1e-3, -1.0), (-1e-3, 1.0), (-1e-3, -1.0)])
    assert "1e+03 times as long" in str(smoothed_margin_order.on(UserData(from_arrays(thin, np.sign(thin[:, 0])))))
    points = np.random.default_rng(0).normal(size=(150, 2)) + 0.1
    said = smoothed_margin_order.on(UserData(from_arrays(points, np.sign(points[:, 0]))))
    assert isinstance(said, NotApplicable)
    assert "at most 100 points" in said


def exchanged(weights):
    weights[[25, 26]] = weights[[26, 25]]


def turned_at_the_end(weights):
    """By an angle of 0.058: the bound at s = 400 is 0.0574."""
    flat = weights[-1].ravel()
    other = np.tile([1.0, -2.0], 6) * np.repeat([1.0, -1.0], 6)
    other -= flat * (other @ flat) / (flat @ flat)
    weights[-1] = (flat + 0.06 * np.linalg.norm(flat) * other / np.linalg.norm(other)).reshape(6, 2)


def changed(change):
    return at(lambda: changed_weights(toy_path(), change))


def far_at(look):
    """Far below what it was, at one look: the first one is the start, which is not compared."""
    return lambda values: np.where(np.arange(len(READINGS)) == look, values - 10.0, values)


def short_by(distance):
    """At the first look the bound is so far below what is measured."""

    def bound(*given):
        limit = approach_bound(*given)
        limit[0] = (np.sqrt(2 * Paths.join([toy_path()]).pattern_error[0, 0]) - distance) ** 2 / 2
        return limit

    return bound


def beyond(rooms):
    """At the first look stationarity misses its bound by so many times what rounding may add."""
    part = promised(limit_is_kkt, "stationarity", [toy_path()])
    first = np.arange(len(READINGS)) == 0
    return {"stationarity": lambda found: np.where(first, part.promised[0] + rooms * part.room[0], found)}


def test_where_the_norm_is_least_it_is_attained():
    assert footnote_9([attained()]).parts[1].tightness == pytest.approx(1, rel=1e-12)


TOYS = {Paths: toy_path, FallingMargins: lambda: draw_falling(Scale.QUICK, 0)}
test_control = controls(
    flow_margins,
    TOYS,
    (limit_is_kkt, "slackness"),
    (limit_is_kkt, "margins"),
    (footnote_9, "growth"),
    (smoothed_margin_order, "order", {}, {"mean": True}),
    (smoothed_margin_order, "order", at(attained), at(attained, normalized=lambda q: (1 - 5e-9) * q)),
    (smoothed_margin_order, "one_point", {}, {"alone": 1e-6}),
    (smoothed_margin_order, "one_point", {}, {"first_margin": lambda q: q + 5e-9 * (1 + q)}),
    (smoothed_margin_order, "order", {"normalized": far_at(0)}, {"normalized": far_at(1)}),
    (smoothed_margin_order, "one_point", {"first_margin": far_at(0)}, {"first_margin": far_at(1)}),
    (smoothed_margin_grows, "growth", {}, changed(exchanged)),
    (
        smoothed_margin_level,
        "rate",
        at(falling_margins((400.0,))),
        at(falling_margins((400.0, 150.0))),
    ),  # there it grows
    (footnote_9, "least_norm", at(attained), at(attained, bound=lambda *given: (1 + 5e-9) * least_norm(*given))),
    (directions_converge, "direction", {}, changed(turned_at_the_end)),
    (directions_converge, "direction", {"bound": short_by(5e-8)}, {"bound": short_by(5e-7)}),
    (limit_is_kkt, "stationarity", beyond(0.5), beyond(3)),
    but=(assumption_6_1, smoothed_margin_level_as_printed),
)


def test_a_nearer_point_lets_the_margin_grow():
    spared(smoothed_margin_level_as_printed, at(falling_margins((150.0,))))
    high = altered(falling_margins((150.0,)), totals=np.ones_like)
    assert unmet_in(smoothed_margin_level_as_printed(high)) == ["below_one"]
