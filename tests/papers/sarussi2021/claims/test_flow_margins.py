"""Margins and directions along gradient flow, judged on altered records of a path whose limit is known."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.inputs import handed, looks_read
from tests.papers.sarussi2021.paths import toy_path
from tests.papers.sarussi2021.toys import changed_weights
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Specimen
from widenet.data import from_arrays
from widenet.diagnostics.kkt import push_condition
from widenet.papers.sarussi2021.claims import flow_margins
from widenet.papers.sarussi2021.claims.flow_margins import (
    assumption_6_1,
    directions_converge,
    draw_too_early,
    footnote_9,
    limit_is_kkt,
    moves_less,
    settles,
    smoothed_margin_grows,
    smoothed_margin_level,
    smoothed_margin_order,
    tends,
    too_early,
    turned,
)
from widenet.papers.sarussi2021.formulas import least_norm
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


def test_which_looks_are_read():
    assert looks_read(directions_converge, toy_path())["‖Ŵ(2s) − Ŵ(s)‖ decreases"] == {50, 100, 200, 400}
    read = looks_read(limit_is_kkt, toy_path())
    assert read["stationarity halves"] == {100, 400}
    assert read["slack ends below 0.01"] == read["stationarity ends below 0.03"] == {400}


def test_the_doublings_are_compared_in_turn():
    """50 to 100, then 100 to 200, then 200 to 400."""
    parts, _ = handed(directions_converge, [toy_path()])
    units = toy_path().weights[0] / np.sqrt((toy_path().weights[0] ** 2).sum(axis=(1, 2)))[:, None, None]
    at = {reading: units[toy_path().readings.tolist().index(reading)] for reading in (50, 100, 200, 400)}
    gaps = [np.sqrt(((at[2 * s] - at[s]) ** 2).sum()) for s in (50, 100, 200)]
    np.testing.assert_allclose(parts["‖Ŵ(2s) − Ŵ(s)‖ decreases"].measured, gaps[1:], rtol=1e-9)
    np.testing.assert_allclose(parts["‖Ŵ(2s) − Ŵ(s)‖ decreases"].promised, gaps[:2], rtol=1e-9)


def test_what_moves_less():
    steps, still = (1.0, 1 + 1e-9, 2.0, 2 + 1e-9), np.zeros(1, bool)
    answers = [moves_less(np.array([step]), np.ones(1), still).part("").kept for step in steps]
    assert answers == [True, None, None, False]
    answers = [moves_less(np.array([step]), np.ones(1), still, np.ones(1)).part("").kept for step in (3.0, 3 + 1e-9)]
    assert answers == [None, False]


@pytest.mark.parametrize(("moved", "kept"), [(1e-7, None), (1.000001e-7, False)])
def test_what_moves_less_than_the_solver_can_tell(moved, kept):
    now, before = np.array([moved]), np.array([1e-16])
    assert moves_less(now, before, np.zeros(1, bool)).part("").kept is kept
    assert settles(now, before).part("").kept is kept


def test_how_far_the_flow_itself_turned():
    """At s = 320 the points have exchanged their margins, 1 and 5; then the other one pushes. The end is not asked."""
    points, labels, slope = *toys.E1, 1 / 3
    (course,) = toy_path().courses()
    rows = course.weights.copy()
    for look, margins in ((course.at(100), (1.0, 5.0)), (course.at(320), (5.0, 1.0))):
        separator = np.linalg.solve(points, 1e3 * labels * margins)
        rows[look] = np.repeat([separator, -separator], 3, axis=0)
    rows[course.later(100)[1:-2]] = rows[course.at(100)]
    changed = altered(course, weights=rows)
    pulls = [np.concatenate([np.where(y > 0, 1, slope) * x, -np.where(y > 0, slope, 1) * x]) * y
             for x, y in zip(points, labels, strict=True)]  # fmt: skip
    first, second = (pull / np.linalg.norm(pull) for pull in pulls)
    assert turned(changed, 100) == pytest.approx(np.linalg.norm(second - first), rel=1e-9)
    assert turned(altered(changed, weights=rows[:-1], readings=course.readings[:-1]), 100) < 1e-9


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
    assert limit_is_kkt([spoilt]).parts[3].kept is False


def test_a_margin_of_zero_is_not_positive():
    """Plus rows (−1, 2), minus rows 0: the output at (2, 1) is 0, and (−1, −3) is right."""

    def change(weights):
        weights[-1] = np.repeat([[-1.0, 2.0], [0.0, 0.0]], 3, axis=0)

    level = changed_weights(toy_path(), change)
    assert level.courses()[0].margins[-1].min() == 0
    with np.errstate(all="ignore"):
        assert limit_is_kkt([level]).parts[3].kept is False


def test_a_margin_a_little_above_zero():
    found = limit_is_kkt([changed_weights(toy_path(), lambda weights: weights[-1].__imul__(1e-4))])
    assert found.parts[3].kept is True


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
    assert found.parts[3].kept is False


@pytest.mark.parametrize(("constant", "part"), [("share", 0), ("stationary", 1), ("slack", 2)])
def test_what_is_on_its_way_decides_nothing(constant, part):
    """Up to twice, or ten times, what is allowed."""
    first = limit_is_kkt([toy_path()]).parts[part]
    assert first.measured is not None
    assert first.promised is not None
    attained = first.measured / first.promised * {"share": 0.5, "stationary": 0.03, "slack": 0.01}[constant]
    most = {"share": 2.0, "stationary": 10.0, "slack": 10.0}[constant]
    answers = [limit_is_kkt([toy_path()], **{constant: attained / factor}).parts[part].kept
               for factor in (0.99, 1.01, 0.99 * most, 1.01 * most)]  # fmt: skip
    assert answers == [True, None, None, False]


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


def spiral(weights):
    readings = toy_path().readings
    lengths = np.linalg.norm(weights, axis=(1, 2))
    weights[:] = 0
    weights[:, 0, 0], weights[:, 0, 1] = np.cos(np.log(readings + 1.0)), np.sin(np.log(readings + 1.0))
    weights[:] *= lengths[:, None, None]


@pytest.mark.parametrize(("crossing", "kept"), [(50.0, False), (50.1, None)])
def test_a_neuron_that_crosses_a_kink_late_turns_the_direction_once_more(crossing, kept):
    turned = changed_weights(toy_path(), lambda weights: weights[-1].__imul__(np.array([[1.0, 1.2]])))
    late = altered(turned, last_crossing=lambda times: 0 * times + crossing)
    assert directions_converge([late]).parts[0].kept is kept


def test_a_direction_follows_a_flow_that_turned_since_50(monkeypatch):
    moved = changed_weights(toy_path(), lambda weights: weights[-1].__imul__(np.array([[1.0, 1.2]])))
    for turn, kept in ((0.0, False), (9.0, None)):
        monkeypatch.setattr(flow_margins, "turned", lambda course, since, turn=turn: turn if since == 50 else np.nan)
        assert directions_converge([moved]).parts[0].kept is kept


@breaks_part(directions_converge, "‖Ŵ(2s) − Ŵ(s)‖ decreases")
def test_control_a_spiral_in_the_logarithm():
    turned = changed_weights(toy_path(), lambda weights: weights[-1].__imul__(np.array([[1.0, 1.2]])))
    return directions_converge([toy_path()]), directions_converge([turned])


def test_a_spiral_does_not_converge():
    assert directions_converge([changed_weights(toy_path(), spiral)]).conclusion is not True


test_control_each_residual = part_edges(
    limit_is_kkt,
    lambda **constants: limit_is_kkt([toy_path()], **constants),
    {
        "stationarity halves": ({}, {"share": 1e-3}),
        "stationarity ends below 0.03": ({}, {"stationary": 1e-9}),
        "slack ends below 0.01": ({}, {"slack": 1e-9}),
    },
)


def with_residuals(monkeypatch, early, late, turn, runs=None):
    runs = runs or toy_path()
    answers = iter([(early, 0.0), (late, 0.0)] * len(runs))
    monkeypatch.setattr(flow_margins, "kkt_residuals", lambda *_: next(answers))
    monkeypatch.setattr(flow_margins, "turned", lambda course, since: turn if since == 100 else np.nan)
    return limit_is_kkt([runs]).parts[0].kept


@pytest.mark.parametrize(("share", "kept"), [(1 - 1e-9, None), (1 + 1e-9, False)])
def test_what_is_missing_below_the_tolerance_of_the_solver_decides_nothing(share, kept, monkeypatch):
    """Margins near 400 to 1e-7, without gradients that cancel: some 1e-4."""
    course = toy_path().courses()[0]
    signs = 0.4 * np.repeat([1.0, -1.0], 3)
    least = 1e-7 * push_condition(course.weights[-1], signs, 1 / 3, *toys.E1)
    assert 5e-5 < least < 2e-4
    assert with_residuals(monkeypatch, 1e-5, share * least, 0.0) is kept


@pytest.mark.parametrize(("late", "kept"), [(0.005, True), (0.03 - 1e-9, None), (0.03 + 1e-9, False)])
def test_weights_may_lag_behind_a_flow_that_turned(late, kept, monkeypatch):
    assert with_residuals(monkeypatch, 0.01, late, 0.02) is kept


@pytest.mark.parametrize(("crossing", "kept"), [(100.0, False), (101.0, None)])
def test_a_neuron_that_crosses_a_kink_late_turns_the_flow_once_more(crossing, kept, monkeypatch):
    late = altered(toy_path(), last_crossing=lambda times: 0 * times + crossing)
    assert with_residuals(monkeypatch, 0.01, 0.02, 0.0, late) is kept


@breaks_part(limit_is_kkt, "every margin is positive")
def test_control_a_wrong_sign_at_the_end():
    return limit_is_kkt([changed_weights(toy_path(), lambda weights: weights[-1].__imul__(-1.0))])


def onto_a_kink(weights):
    weights[-1, 0] = np.linalg.norm(weights[-1, 0]) * np.array([3.0, -1.0]) / 10**0.5


@breaks_hypothesis(limit_is_kkt, "off_the_kinks")
def test_control_a_neuron_on_a_kink():
    return limit_is_kkt([toy_path()]), limit_is_kkt([changed_weights(toy_path(), onto_a_kink)])


def test_control_equal_multipliers():
    assert limit_is_kkt([toy_path()], uniform=True).conclusion is False


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
