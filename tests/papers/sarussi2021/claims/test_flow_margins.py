"""Margins and directions along gradient flow, judged on altered records of a path whose limit is known."""

import functools

import numpy as np
import pytest

from tests.controls import (
    breaks_hypothesis,
    breaks_part,
    broken_in,
    every_part_of,
    hypothesis_edges,
    part_edges,
    spares,
)
from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.inputs import handed, looks_read
from tests.papers.sarussi2021.paths import toy_path
from tests.papers.sarussi2021.toys import changed_weights
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Specimen
from widenet.data import from_arrays
from widenet.papers.sarussi2021.claims import flow_margins
from widenet.papers.sarussi2021.claims.flow_margins import (
    assumption_6_1,
    directions_converge,
    draw_too_early,
    footnote_9,
    limit_is_kkt,
    smoothed_margin_grows,
    smoothed_margin_level,
    smoothed_margin_level_as_printed,
    smoothed_margin_order,
    tends,
    too_early,
)
from widenet.papers.sarussi2021.formulas import approach_bound, least_norm, slack_bound, turning_bound
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
    (course,) = toy_path().courses()
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
    (course,) = toy_path().courses()
    limit, norms = 0.4 * np.sqrt(3 / course.value), np.linalg.norm(course.weights, axis=(1, 2))
    moved = np.linalg.norm(course.weights - course.weights[0], axis=(1, 2))
    excess = limit * norms[0] + np.log(np.prod(1 + np.exp(-course.margins[0])) - 1)
    bounds = np.sqrt(2 * excess / (limit * norms)) + np.sqrt(2 * excess / (limit * moved + excess))
    np.testing.assert_allclose(parts[MISSING].promised, bounds, rtol=1e-9)
    pushes = 0.278464542761074 * (1 + np.exp(-course.margins.min(axis=1)))
    np.testing.assert_allclose(parts[SLACK].promised, pushes / (limit * norms), rtol=1e-9)


@breaks_part(smoothed_margin_order, "γ̃ ≤ γ̄")
def test_control_the_mean_loss_in_place_of_the_sum():
    return smoothed_margin_order([toy_path()]), smoothed_margin_order([toy_path()], mean=True)


@breaks_part(smoothed_margin_order, "equal for a single point")
def test_control_a_loss_of_one_point_that_is_too_large():
    """By a millionth of itself: the margin is then too small by about as much."""
    return smoothed_margin_order([toy_path()]), smoothed_margin_order([toy_path()], alone=1e-6)


def exchanged(weights):
    weights[[25, 26]] = weights[[26, 25]]


@breaks_part(smoothed_margin_grows, "γ̃ does not decrease")
def test_control_two_looks_exchanged():
    return smoothed_margin_grows([toy_path()]), smoothed_margin_grows([changed_weights(toy_path(), exchanged)])


@pytest.mark.parametrize("claim", [smoothed_margin_grows, footnote_9, directions_converge, limit_is_kkt])
def test_control_a_run_that_never_separates(claim):
    assert "separating" in {h.key for h in claim([negated_path()]).hypotheses if not h.met}


def test_what_tends_to_a_limit():
    measured = np.array([0.9, 1.0, 1.5, 2.0, 2.1])
    found = tends(measured, 1.0, 2.0)
    assert found.decided.tolist() == [True, True, False, False, True]
    assert found.broken.tolist() == [False, False, False, False, True]


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


def test_the_latest_run_is_shown():
    found = directions_converge([toy_path(), late_start(21)])
    assert found.hypotheses[0].actual == 21
    assert directions_converge([late_start(21), toy_path()]).hypotheses[0].actual == 21


def wrong_on_the_first(scale):
    """Plus rows (−1, 1), minus rows 0: wrong on (2, 1), right on (−1, −3)."""

    def change(weights, look=-1):
        weights[look] = scale * np.repeat([[-1.0, 1.0], [0.0, 0.0]], 3, axis=0)

    return change


def test_one_margin_that_is_not_positive():
    spoilt = changed_weights(toy_path(), wrong_on_the_first(1.0))
    assert spoilt.courses()[0].margins[-1].tolist() == pytest.approx([-0.4, 0.8])
    assert limit_is_kkt([spoilt]).parts[2].kept is False


def test_a_margin_of_zero_is_not_positive():
    """Plus rows (−1, 2), minus rows 0: the output at (2, 1) is 0, and (−1, −3) is right."""

    def change(weights):
        weights[-1] = np.repeat([[-1.0, 2.0], [0.0, 0.0]], 3, axis=0)

    level = changed_weights(toy_path(), change)
    assert level.courses()[0].margins[-1].min() == 0
    with np.errstate(all="ignore"):
        assert limit_is_kkt([level]).parts[2].kept is False


def test_a_margin_a_little_above_zero():
    found = limit_is_kkt([changed_weights(toy_path(), lambda weights: weights[-1].__imul__(1e-4))])
    assert found.parts[2].kept is True


def test_one_run_on_a_kink_is_enough():
    bad = changed_weights(toy_path(), onto_a_kink)
    for cells in ([toy_path(), bad], [bad, toy_path()]):
        assert [h.key for h in limit_is_kkt(cells).hypotheses if not h.met] == ["off_the_kinks"]


def test_the_norm_is_asked_to_grow_only_while_every_point_is_right():
    """At the third look one point is wrong, by however little; at the fourth all are right, by however little."""
    n_looks = len(toy_path().readings)
    for scale, right in ((1.0, False), (0.01, False), (0.0, False), (1e-3, True)):

        def change(weights, scale=scale, right=right):
            (weights[2].__imul__(scale) if right else wrong_on_the_first(scale)(weights, 2))

        parts, _ = handed(footnote_9, [changed_weights(toy_path(), change)])
        fewer = 0 if right else 1
        assert [part.scored.sum() for part in parts.values()] == [n_looks - 1 - fewer, n_looks - fewer]


def test_a_margin_a_little_below_zero():
    found = limit_is_kkt([changed_weights(toy_path(), lambda weights: weights[-1].__imul__(-1e-4))])
    assert found.parts[2].kept is False


for _claim in (smoothed_margin_grows, footnote_9, directions_converge, limit_is_kkt):
    globals()[f"test_control_never_separated_{_claim.name}"] = breaks_hypothesis(_claim, "separating")(
        lambda c=_claim: c([negated_path()])
    )


def test_between_the_two_levels_the_margin_may_fall():
    found = smoothed_margin_level(draw_too_early(Scale.QUICK, 0))
    assert found.verdict is Verdict.HOLDS
    np.testing.assert_allclose(found.details["rates"], [-0.435, -0.269, -0.015], atol=1e-3)


@breaks_part(smoothed_margin_level, "γ̃ falls at a rate of at least 0.01")
def test_control_a_nearer_point():
    """At t = 150 the margin grows although log 2 < nL < 1."""
    return smoothed_margin_level(too_early((400.0,))), smoothed_margin_level(too_early((400.0, 150.0)))


def test_the_printed_level_is_too_high():
    found = smoothed_margin_level_as_printed(draw_too_early(Scale.QUICK, 0))
    assert found.verdict is Verdict.VIOLATED
    assert found.parts[0].broken == found.parts[0].cases == 15


@spares(smoothed_margin_level_as_printed)
def test_a_nearer_point_lets_it_grow():
    return smoothed_margin_level_as_printed(too_early((150.0,)))


@breaks_hypothesis(smoothed_margin_level_as_printed, "below_one")
def test_control_a_sum_of_losses_that_is_not_below_one():
    path = too_early((200.0,))
    return smoothed_margin_level_as_printed(altered(path, totals=np.ones_like(path.totals)))


@pytest.mark.parametrize(("rate", "kept"), [(0.01 * (1 + 1e-6), True), (0.01 * (1 - 1e-6), False)])
def test_how_fast_it_falls(rate, kept):
    path = altered(too_early((200.0,)), margins=-rate * 1e-6 * np.arange(6.0)[None])
    assert smoothed_margin_level(path).parts[0].kept is kept


def at_level(total):
    path = too_early((200.0, 400.0))
    return smoothed_margin_level(altered(path, totals=np.array([path.totals[0], 0 * path.totals[0] + total])))


test_control_the_two_levels = hypothesis_edges(
    smoothed_margin_level,
    at_level,
    below_one=({"total": 1 - 1e-9}, {"total": 1.0}),
    above_log_2=({"total": 0.6931471806}, {"total": 0.6931471805}),
)


def last_like(share):
    def change(weights):
        weights[-1] = share * weights[-2]

    return changed_weights(toy_path(), change)


@breaks_part(footnote_9, "‖W‖ grows")
def test_control_weights_that_do_not_grow():
    return footnote_9([last_like(1 + 1e-9)]), footnote_9([last_like(1.0)])


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


@breaks_part(footnote_9, "‖W‖ ≥ min q/(v√(k(1 + α²))R_x)")
def test_control_a_bound_without_the_slope():
    found = footnote_9([attained()])
    assert found.parts[1].tightness == pytest.approx(1, rel=1e-12)
    return found, footnote_9([attained()], bound=lambda q, a, *shape: least_norm(q, 0.0, *shape))


def turned_at_the_end(weights):
    """By an angle of 0.058: the bound at s = 400 is 0.0574."""
    flat = weights[-1].ravel()
    other = np.tile([1.0, -2.0], 6) * np.repeat([1.0, -1.0], 6)
    other -= flat * (other @ flat) / (flat @ flat)
    weights[-1] = (flat + 0.06 * np.linalg.norm(flat) * other / np.linalg.norm(other)).reshape(6, 2)


@breaks_part(directions_converge, NEAR)
def test_control_a_last_look_that_is_turned():
    return directions_converge([toy_path()]), directions_converge([changed_weights(toy_path(), turned_at_the_end)])


@breaks_part(directions_converge, NEAR)
def test_control_a_bound_on_the_direction_that_is_too_small():
    return directions_converge([toy_path()]), directions_converge([toy_path()], bound=times(approach_bound, 0.1))


def test_a_run_that_ends_on_a_kink_decides_nothing():
    found = directions_converge([changed_weights(toy_path(), onto_a_kink), toy_path()])
    assert (found.parts[0].kept, found.parts[0].undecided, found.parts[0].cases) == (None, 1, 1 + len(READINGS))


def times(bound, factor):
    return lambda *given: factor * bound(*given)


test_control_each_residual = part_edges(
    limit_is_kkt,
    lambda bounds: limit_is_kkt([toy_path()], bounds=bounds),
    {
        MISSING: (
            {"bounds": (approach_bound, turning_bound, slack_bound)},
            {"bounds": (times(approach_bound, 1e-3), times(turning_bound, 1e-3), slack_bound)},
        ),
        SLACK: (
            {"bounds": (approach_bound, turning_bound, slack_bound)},
            {"bounds": (approach_bound, turning_bound, times(slack_bound, 0.999))},
        ),
    },
)


@breaks_part(limit_is_kkt, "every margin is positive")
def test_control_a_wrong_sign_at_the_end():
    return limit_is_kkt([changed_weights(toy_path(), lambda weights: weights[-1].__imul__(-1.0))])


def onto_a_kink(weights):
    weights[-1, 0] = np.linalg.norm(weights[-1, 0]) * np.array([3.0, -1.0]) / 10**0.5


@breaks_hypothesis(limit_is_kkt, "off_the_kinks")
def test_control_a_neuron_on_a_kink():
    return limit_is_kkt([toy_path()]), limit_is_kkt([changed_weights(toy_path(), onto_a_kink)])


def test_control_equal_multipliers():
    assert broken_in(limit_is_kkt([toy_path()], uniform=True)) == [MISSING, SLACK]


def test_they_speak_about_a_readers_data():
    (setting,) = smoothed_margin_order.on(Specimen(from_arrays(*toys.E1)))
    assert setting.cases[0].slope == 0.2
    for scale in (1e-165, 1.0, 1e150):
        (setting,) = smoothed_margin_order.on(Specimen(from_arrays(scale * toys.E1[0], toys.E1[1])))
        case = setting.cases[0]
        # ‖(2, 1)‖ and ‖(1, 3)‖; the SVM of the two points has a margin of √5.
        assert case.factor * scale == pytest.approx(1 / 5**0.5, rel=1e-6)
        assert case.deviation == pytest.approx(1e-3 / 2**0.5, rel=1e-6)
    thin = np.array([(1e-3, 1.0), (1e-3, -1.0), (-1e-3, 1.0), (-1e-3, -1.0)])
    assert "1e+03 times as long" in str(smoothed_margin_order.on(Specimen(from_arrays(thin, np.sign(thin[:, 0])))))
    points = np.random.default_rng(0).normal(size=(150, 2)) + 0.1
    said = smoothed_margin_order.on(Specimen(from_arrays(points, np.sign(points[:, 0]))))
    assert isinstance(said, Silence)
    assert "at most 100 points" in said


test_every_part_has_a_control = every_part_of(flow_margins, elsewhere=(assumption_6_1,))
