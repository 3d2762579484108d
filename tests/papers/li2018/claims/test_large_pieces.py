"""Lemma A.2 and its repair: exact probabilities of two points, and the hexagon."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls, leaves_open
from tests.papers.li2018.toys import printed_rows, sample, separated_rows
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import large_pieces
from widenet.papers.li2018.claims.large_pieces import (
    lemma_a_2,
    lemma_a_2_as_printed,
    lemma_a_2_reflection,
    lemma_a_2_sharp,
    lemma_b_2_as_printed,
)
from widenet.papers.li2018.runs.large_pieces import (
    LargePieces,
    Reflections,
    draw_hexagon_large,
    draw_large,
    draw_reflections,
    idle_cross,
    large_draws,
    least_own,
    measure_large,
    measure_reflections,
    toy_instances,
    two_points,
)
from widenet.papers.li2018.sources import HEXAGON, TOY, Caps, Sample
from widenet.records import Scale


@functools.cache
def large():
    return draw_large(Scale.QUICK, 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_they_hold_for_other_seeds(seed):
    drawn = draw_large(Scale.QUICK, seed)
    assert lemma_a_2(drawn).verdict is Verdict.HOLDS
    assert lemma_a_2_sharp(drawn).verdict is Verdict.HOLDS
    assert lemma_a_2_reflection(draw_reflections(Scale.QUICK, seed)).verdict is Verdict.HOLDS


def unknown(count):
    """No instance of two points."""
    return {"exact": np.full(count, np.nan), "is_known": np.zeros(count, bool)}


NO_ROOM = {"draws": 10**12, **unknown(2)}
"""Chance does nothing to so many draws, and there is no instance of two points."""


def toys(count):
    return toy_instances(np.random.default_rng(0), count)


@functools.cache
def near():
    return measure_large([two_points(0.4), *toys(1)], 0)


def test_control_the_level_is_a_half():
    """At 0.51 the probability at ψ = 0.51 falls from 0.58 to 0.16."""
    assert measure_large([two_points(0.51)], 0).shares[0] == pytest.approx(0.5812, abs=0.03)
    assert measure_large([two_points(0.51)], 0, level=0.51).shares[0] == pytest.approx(0.1623, abs=0.03)


def test_control_a_steeper_bound():
    assert lemma_a_2(measure_large([two_points(0.05)], 0, count=30_000), slope=0.4).conclusion is False


def test_the_hexagon_refutes_the_printed_lemma():
    found = draw_hexagon_large(Scale.QUICK, 0)
    assert found.shares[0] == 0
    assert lemma_a_2_as_printed(found).verdict is Verdict.VIOLATED


def test_it_speaks_about_three_classes():
    own = TOY.draw(4)
    found = lemma_a_2_sharp(lemma_a_2_sharp.on(UserData(from_arrays(2 * own.points, own.classes))).settings)
    assert found.verdict is Verdict.HOLDS
    assert not found.vacuous
    many = UserData(from_arrays(np.random.default_rng(0).normal(size=(301, 2)), np.arange(301) % 3))
    assert isinstance(lemma_a_2_sharp.on(many), NotApplicable)


@functools.cache
def reflections():
    return draw_reflections(Scale.QUICK, 0)


def reflected(**fields):
    return lemma_a_2_reflection(altered(reflections(), **fields))


def test_control_a_larger_jump():
    assert lemma_a_2_reflection(reflections(), size=1.001).conclusion is False


def test_the_slope_at_its_edge():
    """0.0829·δ/((k − 1)l), with next to no room."""
    one = altered(near(), **NO_ROOM)
    for factor, kept in ((1.01, True), (0.98, False)):
        share = factor * 0.0829 * near().slopes
        assert lemma_a_2(altered(one, shares=share)).parts[0].kept is kept
        share = factor * 0.0829 * near().separation / ((near().n_classes - 1) * near().per_class)
        assert lemma_a_2_as_printed(altered(one, shares=share)).parts[0].kept is kept


def test_the_sharp_bound_at_its_edge():
    one = altered(near(), draws=10**12)
    for factor, kept in ((1.001, True), (0.99, False)):
        assert lemma_a_2_sharp(altered(one, shares=factor * near().bounds)).parts[0].kept is kept


def test_the_idle_point():
    sample, coefficients, exact = idle_cross()
    np.testing.assert_array_equal(sample.points, np.eye(2))
    np.testing.assert_array_equal(coefficients, [1.0, 0.0])
    assert exact == 0.5
    assert sample.shares.sum() == 1


def test_what_is_measured_of_instances():
    pair = two_points(0.4)
    found = measure_large([pair, *toys(2)], 0, count=100)
    assert found.slopes[0] == pytest.approx(2 * np.sin(0.2))
    assert found.least_own == min(float((c[s.classes == s.classes[0]] / c[0]).min()) for s, c, _ in (pair, *toys(2)))
    assert found.norm_error < 1e-12
    long = Sample(1.5 * pair[0].points, pair[0].classes, pair[0].components, pair[0].shares)
    assert measure_large([(long, *pair[1:]), pair], 0, count=100).norm_error == pytest.approx(0.5)


def test_instances_are_the_ones_that_were_derived():
    points, coefficients, exact = two_points(0.4)
    np.testing.assert_allclose(points.points, [[1, 0], [np.cos(0.4), np.sin(0.4)]])
    np.testing.assert_array_equal(points.classes, [0, 1])
    np.testing.assert_array_equal(points.components, [0, 1])
    np.testing.assert_array_equal(points.shares, [0.5, 0.5])
    np.testing.assert_array_equal(coefficients, [1, -1])
    assert exact == pytest.approx(0.1273239544735)
    for toy, some, unknown in toys(3):
        own = toy.classes == toy.classes[0]
        assert some[0] == 0.1
        assert (some[own] >= 0).all()
        assert np.abs(some).max() <= 0.1
        assert unknown is None
    assert any(some[2:].min() < 0 for _, some, _ in toys(3))


def test_norms_are_taken_over_v():
    """One point: ‖P‖/v is 1 or 0, whatever v is."""
    one = sample([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    norms = large_draws(one, np.array([0.3, 0.0]), np.random.default_rng(0), 1000)
    assert set(norms.round(12)) == {0.0, 1.0}
    assert norms.mean() == pytest.approx(0.5, abs=0.05)


def test_the_least_coefficient_of_any_instance():
    twice = sample([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]], [0, 0, 1])
    low, high = (twice, np.array([2.0, 0.5, -3.0])), (twice, np.array([2.0, 1.5, -3.0]))
    assert least_own([low, high]) == least_own([high, low]) == 0.25
    assert least_own([(twice, np.array([2.0, 4.0, -3.0]))]) == 1


def test_rooms_are_five_standard_errors():
    """√(0.1·0.9/900) = 0.01: 0.05, within which nothing is decided."""
    one = altered(large(), **unknown(len(large().exact)), draws=900)
    shares = np.full(len(large().shares), 0.1)
    for gap, kept in ((-0.001, True), (0.04, None), (0.06, False)):
        bounds, slopes = shares + gap, (shares + gap) / 0.0829
        assert lemma_a_2_sharp(altered(one, shares=shares, bounds=bounds)).parts[0].kept is kept
        assert lemma_a_2(altered(one, shares=shares, slopes=slopes)).parts[0].kept is kept
        separation = (0.1 + gap) / 0.0829 * (one.n_classes - 1) * one.per_class
        assert lemma_a_2_as_printed(altered(one, shares=shares, separation=separation)).parts[0].kept is kept


def test_a_bound_below_zero_promises_nothing():
    one = altered(large(), **unknown(len(large().exact)))
    for bound, vacuous in ((-0.05, True), (0.0, True), (0.05, False)):
        found = lemma_a_2_sharp(altered(one, bounds=np.full(len(one.bounds), bound), shares=0 * one.shares + 0.06))
        assert found.parts[0].vacuous is vacuous
        assert found.parts[0].promised == pytest.approx(max(bound, 0))


def test_jumps_at_their_edges():
    alone = reflections().alone
    for miss, kept in ((5e-10, True), (5e-9, False)):
        assert reflected(jumps=np.where(alone, 1.0, 1 - miss)).parts[0].kept is kept
        for sign in (1, -1):
            assert reflected(jumps=np.where(alone, 1 + sign * miss, 1.0)).parts[1].kept is kept
    # More than v is fine for a class of several points, and not for one of a single point.
    assert reflected(jumps=np.where(alone, 1.0, 3.0)).conclusion is True
    assert reflected(jumps=np.where(alone, 1.05, 1.0)).parts[1].kept is False
    assert [part.n_cases for part in reflected().parts] == [int((~alone).sum()), int(alone.sum())]


def test_clearances_and_signs_at_their_edges():
    for first, met in ((1.0, False), (1 + 1e-9, True), (0.95, False)):
        clearance = np.where(np.arange(len(reflections().clearance)) == 3, first, 5.0)
        assert reflected(clearance=clearance).hypotheses[0].met is met
    for least, met in ((0.0, True), (-1e-9, False)):
        assert reflected(least_own=least).hypotheses[1].met is met


def test_reflections_are_measured_by_hand():
    """e₁ against a point at 60°: pairs are kept where |β₂|·sin 60° exceeds α·cos 60°."""
    points = sample([[1.0, 0.0], [0.5, 0.75**0.5]], [0, 1])
    both = measure_reflections([(points, np.array([2.0, -1.0]))], 0, keep_all=True)
    weights = np.random.default_rng([0, 67, 0]).normal(size=(3000, 2))
    clearance = np.abs(weights[:, 1]) * 0.75**0.5 / (np.abs(weights[:, 0]) * 0.5)
    np.testing.assert_allclose(both.clearance, clearance)
    moves = np.where(clearance > 1, 0.0, -0.5 * 0.5)  # the other class adds −½·⟨x, e₁⟩ where it changes sides
    np.testing.assert_allclose(both.jumps, 1 + moves)
    kept = measure_reflections([(points, np.array([2.0, -1.0]))], 0)
    assert len(kept.jumps) == (clearance > 1).sum()
    assert kept.alone.all()
    orthogonal = measure_reflections([(sample(np.eye(2), [0, 1]), np.array([1.0, -1.0]))], 0)
    assert len(orthogonal.jumps) == 3000
    twice = sample([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]], [0, 0, 1])
    assert not measure_reflections([(twice, np.ones(3))], 0).alone.any()


def test_it_speaks_with_every_point_as_a_component():
    """Two tight caps of ten points: l = 10, whatever components are found."""
    drawn = Caps(n_classes=2, per_class=1, dim=8, n_points=20, relative_diameter=0.02).draw(0)
    own = UserData(from_arrays(drawn.points, np.where(drawn.classes == 0, -1, 1)))
    found = lemma_a_2.on(own).settings
    assert set(found.per_class) == {int(np.bincount(drawn.classes).max())}
    assert lemma_a_2(found).verdict is Verdict.HOLDS
    assert [part.name for part in lemma_a_2(found).parts] == ["Pr[‖P‖ ≥ v/2] ≥ 0.0829·δ/((k − 1)l)"]


def cancelling():
    """x₂ = x₁ with coefficient −v makes P vanish; with the signs unseen, the bound is what fails."""
    points = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    twice = Sample(points, np.array([0, 0, 1]), np.arange(3), np.full(3, 1 / 3))
    found = measure_large([(twice, np.array([1.0, -1.0, 0.0]), None), idle_cross()], 0)
    assert found.least_own == -1
    return altered(found, least_own=0.0)


def test_a_negated_coefficient_is_outside():
    points = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    twice = Sample(points, np.array([0, 0, 1]), np.arange(3), np.full(3, 1 / 3))
    found = measure_reflections([(twice, np.array([1.0, -1.0, 0.0]))], 0)
    assert [h.met for h in lemma_a_2_reflection(found).hypotheses] == [True, False]
    hexagon = HEXAGON.draw(0)
    found = measure_reflections([(hexagon, np.where(hexagon.classes == 0, 1.0, -1.0))], 0, keep_all=True)
    assert lemma_a_2_reflection(found).conclusion is False
    assert [h.met for h in lemma_a_2_reflection(found).hypotheses] == [False, True]


PRINTED = (lemma_a_2_as_printed, lemma_b_2_as_printed)
HEXAGONAL = draw_hexagon_large(Scale.QUICK, 0)


def exactly(factor):
    """Shares at the promise of Lemma A.2, without chance."""
    return at(near, **NO_ROOM, shares=factor * 0.0829 * near().slopes)


def at_bound(draws, factor):
    """Shares at the sharp bound."""
    return at(near, draws=draws, shares=factor * near().bounds)


def printed(factor, draws=10**12):
    """Shares at the printed promise, without chance."""
    slopes = near().separation / ((near().n_classes - 1) * near().per_class)
    return at(near, draws=draws, shares=factor * 0.0829 * slopes)


test_control = controls(
    large_pieces,
    {**dict.fromkeys(PRINTED, lambda: measure_large(toys(2), 0)), LargePieces: near, Reflections: reflections},
    (lemma_a_2_reflection, "several"),
    (lemma_a_2_reflection, "one"),
    (lemma_a_2, "likely", exactly(1.0), exactly(0.999)),
    (lemma_a_2, "likely", {}, {"shares": lambda share: share / 10}, "two_points"),
    (lemma_a_2, "two_points", {}, {"shares": lambda share: np.array([1.3, 1.0]) * share}),
    (lemma_a_2, "two_points", {}, {"shares": lambda share: np.array([0.7, 1.0]) * share}),
    # A probability that is known to exist, and is NaN, is not one that is not known.
    (lemma_a_2, "two_points", {}, leaves_open(near, exact=lambda exact: np.nan * exact)),
    (lemma_a_2_sharp, "bound", at(large), at(cancelling)),
    (lemma_a_2_sharp, "bound", at_bound(10**12, 1.0), at_bound(10**12, 0.999)),
    (lemma_a_2_sharp, "bound", at_bound(10**8, 0.9999), at_bound(10**8, 0.995)),
    (lemma_a_2_sharp, "attained", at(large), at(large, half=1.1)),
    (lemma_a_2_sharp, "attained", at(large), at(large, half=0.9)),
    *((claim, "likely", {}, at(HEXAGONAL)) for claim in PRINTED),
    *((claim, "likely", printed(1.0), printed(0.99)) for claim in PRINTED),
    *((claim, "likely", printed(1.0, 10**8), printed(0.995, 10**8)) for claim in PRINTED),
    *printed_rows(*PRINTED),
    *separated_rows(lemma_a_2, *PRINTED),
)
