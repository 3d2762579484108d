"""Steps of the proof of Lemma A.2: each probability with its closed form, and what breaks it."""

import functools

import numpy as np
import pytest
from scipy.special import erf

from tests.control_table import at, controls
from tests.controls import unmet_in
from tests.papers.li2018.toys import sample, separated_rows
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import single_neurons
from widenet.papers.li2018.claims.single_neurons import (
    equation_2,
    equation_2_as_printed,
    lemma_a_2_event,
    lemma_a_2_tail,
    lemma_a_2_tail_as_printed,
    share_room,
)
from widenet.papers.li2018.formulas import PUSH_SHARE, event_bound, event_threshold, tail_safe
from widenet.papers.li2018.runs.single_neurons import (
    FAN,
    Pushes,
    PushEvent,
    PushTails,
    draw_event,
    draw_fan_pushes,
    draw_long_tails,
    draw_pushes,
    draw_tails,
    measure_event,
    measure_pushes,
    split_off,
    weights_in_span,
)
from widenet.papers.li2018.sources import TOY, Basis
from widenet.records import Scale


@functools.cache
def toy_event():
    return draw_event(Scale.QUICK, 0)


@functools.cache
def toy_pushes():
    return draw_pushes(Scale.QUICK, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_they_hold_for_other_seeds(seed):
    for claim, draw in ((lemma_a_2_event, draw_event), (equation_2, draw_pushes), (lemma_a_2_tail, draw_tails)):
        assert claim(draw(Scale.QUICK, seed)).verdict is Verdict.HOLDS, claim.id


def test_control_the_level_is_a_hundred_and_twenty_eighth():
    one = measure_pushes(sample(np.eye(2), [0, 1]), np.array([[0.1, 0.0]]), 0.01, 0)
    assert equation_2(one, level=127.0).verdict is Verdict.VIOLATED


def test_the_printed_sign_fails_on_every_draw():
    fan = draw_fan_pushes(Scale.QUICK, 0)
    assert equation_2_as_printed(fan).verdict is Verdict.VIOLATED
    assert (fan.pushes < 0).all()
    assert equation_2(fan).verdict is Verdict.HOLDS


def test_no_weights_push_upwards_in_the_fan():
    """h is linear between the six rays across the points, so it is enough to look there; and δ = 1."""
    rays = np.concatenate([each * FAN.points[:, ::-1] * [1, -1] for each in (1, -1)])
    assert (np.maximum(rays @ FAN.points.T, 0) @ [1, -1, -1]).max() == pytest.approx(0, abs=1e-15)
    found = FAN.measured()
    assert (found.separation, found.opposite_separation) == pytest.approx((1, 3**0.5))
    np.testing.assert_allclose(FAN.points[1] + FAN.points[2], FAN.points[0], atol=1e-15)


@functools.cache
def short_tails():
    return draw_tails(Scale.QUICK, 0)


def test_the_printed_tail_is_passed_on_every_draw():
    long = draw_long_tails(Scale.QUICK, 0)
    assert long.ratios.mean() == pytest.approx(np.sqrt(40_000 / np.pi), rel=0.01)
    assert lemma_a_2_tail_as_printed(long).verdict is Verdict.VIOLATED


def test_weights_keep_their_inner_products():
    points = TOY.draw(0).points
    drawn = weights_in_span(np.random.default_rng(0), 20_000, points)
    np.testing.assert_allclose(np.cov((drawn @ points.T).T), points @ points.T, atol=0.05)
    alpha, beta = split_off(drawn, points[0])
    np.testing.assert_allclose(beta @ points[0], 0, atol=1e-12)
    np.testing.assert_allclose(beta + alpha[:, None] * points[0], drawn)


def test_the_threshold_of_the_toy():
    assert toy_event().threshold == event_threshold(toy_event().distance, 1.0, 6)


def test_only_one_set_of_coefficients_has_to_fail():
    pushes = toy_pushes().pushes.copy()
    pushes[3] = 0.0
    assert equation_2(altered(toy_pushes(), pushes=pushes)).parts[0].kept is False
    assert equation_2_as_printed(altered(toy_pushes(), pushes=np.abs(pushes))).parts[0].kept is False


def test_the_share_given_the_event_at_its_edge():
    """1/(16e) = 0.02299 of the draws have to be large."""
    draws = np.zeros((1, 100_000))
    for share, kept in ((0.0245, True), (0.0215, False)):
        draws[0, :] = np.arange(100_000) < share * 100_000
        assert equation_2(altered(toy_pushes(), pushes=draws)).parts[0].kept is kept
        assert equation_2_as_printed(altered(toy_pushes(), pushes=draws)).parts[0].kept is kept


def test_the_joint_share_at_its_edge():
    level = toy_pushes().threshold / (256 * np.e**3)
    large = np.ones((1, 1000))
    for factor, kept in ((1.01, True), (0.99, False)):
        found = equation_2(altered(toy_pushes(), pushes=large, event_share=factor * level))
        assert found.parts[1].kept is kept


def test_rates_of_the_tail():
    quiet = PushTails(np.full(298, 5.64), 100)
    assert lemma_a_2_tail(quiet).parts[0].kept is None
    assert lemma_a_2_tail(PushTails(np.full(299, 5.64), 100)).parts[0].kept is True
    limit = 10 + np.sqrt(2 * np.log(100))
    assert lemma_a_2_tail(PushTails(np.full(400, limit + 0.01), 100)).parts[0].kept is False
    assert lemma_a_2_tail(PushTails(np.full(400, limit - 0.01), 100)).parts[0].kept is True
    assert lemma_a_2_tail(PushTails(np.full(400, tail_safe(100)), 100)).parts[0].kept is True
    without = PushTails(np.full(400, 3.1), 100)  # √(2 ln 100) = 3.035
    assert lemma_a_2_tail(without, rank=False).parts[0].kept is False
    for factor, kept in ((1.0300, True), (1.0315, False), (0.9715, True), (0.9700, False)):
        assert lemma_a_2_tail(PushTails(np.full(400, factor * np.sqrt(100 / np.pi)), 100)).parts[1].kept is kept


def test_half_of_the_draws_may_be_hit():
    for hit, kept in ((0.48, True), (0.52, False)):
        clear = np.arange(40_000) >= hit * 40_000
        assert lemma_a_2_event(altered(toy_event(), clear=clear)).parts[2].kept is kept


def test_the_printed_tail_begins_at_its_level():
    exactly = PushTails(np.full(20, 100.1), 40_000)
    assert lemma_a_2_tail_as_printed(exactly).verdict is Verdict.VIOLATED
    assert lemma_a_2_tail_as_printed(exactly).promised == pytest.approx(np.exp(-100.2001), rel=1e-12, abs=0)
    below = PushTails(np.full(20, 100.0), 40_000)
    assert lemma_a_2_tail_as_printed(below).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_what_is_counted_is_the_event():
    """On orthonormal points, with a τ so large that the factor 4 is seen."""
    basis = Basis().draw(0)
    near = measure_event(basis, 0, factor=10.0)
    assert near.clear.mean() == pytest.approx((1 - erf(4 * near.threshold / np.sqrt(2))) ** 4, abs=0.012)
    found = measure_event(basis, 0, factor=60.0)
    tau = found.threshold
    inside = erf(4 * tau / np.sqrt(2))
    assert found.hits == pytest.approx(np.full(4, inside), abs=0.02)
    assert found.clear.mean() == pytest.approx((1 - inside) ** 4, abs=0.02)
    assert found.near.mean() == pytest.approx(erf(tau / np.sqrt(2)), abs=0.02)
    np.testing.assert_allclose(found.sines, 1.0)
    assert (found.n_components, found.distance) == (6, pytest.approx(2**0.5))


def test_pushes_are_drawn_given_the_event():
    """With one point of each class, orthogonal: |β| ≥ 4τ, and α is nearly uniform on [−τ, τ]."""
    found = measure_pushes(sample(np.eye(2), [0, 1]), np.array([[1.0, -1.0]]), 0.1, 0)
    alphas = found.pushes[0]
    assert alphas.max() <= 1
    assert ((alphas > 1e-12) | (alphas <= 1)).all()
    assert ((alphas < 1) & (alphas > 0)).mean() == pytest.approx(0.25, abs=0.02)
    assert (alphas <= -3).mean() == pytest.approx(0.5, abs=0.02)
    inside = erf(0.1 / np.sqrt(2))
    assert found.event_share == pytest.approx(inside * (1 - erf(0.4 / np.sqrt(2))), rel=0.02)


def test_numbers_of_the_event():
    """At τ = 0.003, δ = 0.8 and a sine of 0.7, everything computed apart."""
    one = altered(
        toy_event(),
        threshold=0.003,
        distance=0.8,
        sines=np.full(4, 0.7),
        hits=np.full(4, 0.0137),
        clear=np.ones(1000, bool),
        near=np.ones(1000, bool),
    )
    parts = lemma_a_2_event(one).parts
    hit, near = erf(0.012 / 0.7 / 2**0.5), erf(0.003 / 2**0.5)
    assert (parts[0].measured, parts[0].promised) == pytest.approx((hit, 4 * np.e * 0.003 / 0.8), rel=1e-12)
    assert parts[1].promised == pytest.approx(hit, rel=1e-12)
    assert (parts[3].measured, parts[3].promised) == pytest.approx((near, 0.003 / np.e), rel=1e-12)
    assert parts[4].promised == pytest.approx(near, rel=1e-12)
    assert (parts[5].measured, parts[5].promised) == pytest.approx((near, 0.003 / (16 * np.e**2)), rel=1e-12)


def test_the_event_is_as_likely_as_promised_and_no_less():
    level = toy_event().threshold / (16 * np.e**2) / erf(toy_event().threshold / 2**0.5)
    for factor, kept in ((1.03, True), (0.97, False)):
        clear = np.arange(100_000) < factor * level * 100_000
        assert lemma_a_2_event(altered(toy_event(), clear=clear, near=clear)).parts[5].kept is kept


def test_a_threshold_may_be_at_its_limit():
    limit = toy_event().distance / (16 * np.e * 6)
    for factor, met in ((1 + 5e-13, True), (1 + 5e-12, False)):
        assert equation_2(altered(toy_pushes(), threshold=factor * limit)).hypotheses[-1].met is met
        event = altered(toy_event(), threshold=factor * limit, distance=toy_event().distance)
        assert lemma_a_2_event(event).hypotheses[-1].met is met
    fan = draw_fan_pushes(Scale.QUICK, 0)
    assert fan.threshold == pytest.approx(1 / (16 * np.e * 4))
    assert equation_2(fan).hypotheses[-1].met is True


def test_a_little_less_than_nothing_is_negative():
    for least, met in ((0.0, True), (-1e-9, False)):
        assert equation_2(altered(toy_pushes(), least_own=least)).hypotheses[4].met is met


def test_the_level_itself_is_large():
    for level, kept in ((1 / 128, True), (0.99 / 128, False)):
        found = altered(toy_pushes(), pushes=np.full((1, 1000), level))
        assert equation_2(found).parts[0].kept is kept
        assert equation_2_as_printed(found).parts[0].kept is kept
    negative = altered(toy_pushes(), pushes=np.full((1, 1000), -1 / 128))
    assert equation_2(negative).parts[0].kept is True
    assert equation_2_as_printed(negative).parts[0].kept is False


def test_all_points_of_other_classes_are_clear():
    """Two orthogonal points: both |⟨β, x⟩| ≥ 4τ = 0.8."""
    found = measure_pushes(sample(np.eye(3), [0, 1, 1]), np.array([[1.0, -1.0, -1.0]]), 0.2, 0)
    assert found.event_share / erf(0.2 / 2**0.5) == pytest.approx((1 - erf(0.8 / 2**0.5)) ** 2, rel=0.05)


def test_what_chance_may_do():
    """Five standard errors, of one hit at least."""
    assert share_room(0.5, 100) == pytest.approx(0.25)
    assert share_room(0.9, 900) == pytest.approx(0.05)
    assert share_room(0.0, 100) == share_room(1.0, 100) == pytest.approx(0.05)
    np.testing.assert_allclose(share_room(np.array([0.5, 0.0]), np.array([100, 1000])), [0.25, 0.005])


def one_point():
    """With one point h = v·ReLU(α) ≤ vτ."""
    found = measure_pushes(sample(np.eye(2), [0, 1]), np.array([[0.1, 0.0]]), 0.01, 0)
    assert (np.abs(found.pushes) >= 1 / 128).mean() == pytest.approx(127 / 256, abs=0.02)
    return found


def some_large(share):
    """In one set of twenty, so many draws are large."""
    return lambda h: np.concatenate([h[:-1], (np.arange(h.shape[1]) < share * h.shape[1])[None] * 1.0])


@pytest.mark.parametrize("sign", [1, -1])
def test_mirror_images_and_points_of_two_classes_are_outside(sign):
    """⟨β, ∓x⟩ = 0 always: the union bound fails as well."""
    pair = sample([[1.0, 0.0], [float(sign), 0.0]], [0, 1])
    found = lemma_a_2_event(measure_event(pair, 0, distance=2.0))
    assert found.conclusion is False
    assert unmet_in(found) == ["distance" if sign == 1 else "opposite_distance"]


def all_large(factor):
    """The probability of the event is all that counts, and is what is promised."""
    level = PUSH_SHARE * event_bound(toy_pushes().threshold, 1.0)
    return at(toy_pushes, pushes=np.ones((1, 1000)), event_share=factor * level)


test_control = controls(
    single_neurons,
    {
        PushEvent: toy_event,
        equation_2_as_printed: lambda: altered(toy_pushes(), pushes=np.abs),
        Pushes: toy_pushes,
        lemma_a_2_tail_as_printed: lambda: altered(short_tails(), ratios=lambda r: 0 * r),
        PushTails: short_tails,
    },
    (lemma_a_2_event, "hit", {"hit": 0.32}, {"hit": 0.31}),
    (lemma_a_2_event, "hit_frequency", {}, {"hits": lambda share: 1.4 * share}),
    (lemma_a_2_event, "hit_frequency", {}, {"hits": lambda share: share / 1.6}),
    (lemma_a_2_event, "no_hit", {"union": 0.94}, {"union": 0.96}),
    (lemma_a_2_event, "near", {"near_chance": toy_event().near_share}, {"near_chance": 0.001}, "near_frequency"),
    (lemma_a_2_event, "near_frequency", {}, {"near": lambda near: np.roll(near, 1) | near}),
    (lemma_a_2_event, "near_frequency", {}, {"near": lambda near: near & (np.arange(len(near)) % 2 == 0)}),
    (lemma_a_2_event, "event", {}, {"event": 100.0}),
    (equation_2, "given_event", {"pushes": some_large(0.029)}, {"pushes": some_large(0.018)}),
    (equation_2, "given_event", at(one_point), at(one_point, level=127.0)),
    (equation_2, "joint", all_large(1.0), all_large(0.999)),
    (equation_2, "distance", {}, {"separation": 0.0}, "threshold"),
    (equation_2, "opposite_distance", {}, {"opposite_separation": 0.0}, "threshold"),
    (equation_2_as_printed, "distance", {}, {"separation": 0.0}, "threshold"),
    (equation_2_as_printed, "opposite_distance", {}, {"opposite_separation": 0.0}, "threshold"),
    *separated_rows(lemma_a_2_event),
    (equation_2_as_printed, "given_event", {}, at(draw_fan_pushes(Scale.QUICK, 0))),
    (lemma_a_2_tail, "tail", {}, {"rank": False}),
    (lemma_a_2_tail, "tail", {}, {"ratios": lambda r: np.where(np.arange(len(r)) % 50 == 0, 14.0, 5.5)}),
    (lemma_a_2_tail, "mean", {}, {"ratios": lambda r: 1.05 * r}),
    (lemma_a_2_tail, "mean", {}, {"ratios": lambda r: 0.95 * r}),
    (lemma_a_2_tail_as_printed, "tail", {"c": 1.0}, at(draw_long_tails(Scale.QUICK, 0))),
)
