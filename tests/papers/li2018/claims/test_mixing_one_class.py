"""One class alone: the event of Lemma B.2, and clusters."""

import functools

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import binom

from tests.control_table import at, controls, leaves_open
from tests.papers.li2018.toys import own_toy, sample, separated_rows, too_many
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.papers.li2018.claims import mixing
from widenet.papers.li2018.claims.mixing import (
    lemma_5_2,
    lemma_5_2_as_printed,
    lemma_a_3_mixing,
    lemma_a_3_mixing_as_printed,
    lemma_b_2,
    lemma_b_2_event,
    lemma_b_3,
    lemma_b_3_as_printed,
    lemma_b_4_batches,
)
from widenet.papers.li2018.runs.mixtures_of_pieces import (
    ComponentPieces,
    MeanEvents,
    draw_clusters,
    draw_mean_events,
    measure_clusters,
    measure_mean_events,
)
from widenet.papers.li2018.runs.single_neurons import random_coefficients
from widenet.papers.li2018.sources import Basis, Caps, SpreadPoints
from widenet.records import Scale


@functools.cache
def events():
    return draw_mean_events(Scale.QUICK, 0)


@functools.cache
def clusters():
    return draw_clusters(Scale.QUICK, 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_classes_hold_for_other_seeds(seed):
    for claim, draw in ((lemma_b_2_event, draw_mean_events), (lemma_b_2, draw_clusters)):
        assert claim(draw(Scale.QUICK, seed)).verdict is Verdict.HOLDS, claim.id


def test_control_the_printed_threshold():
    """σδ/(12l): with 20 classes S ≤ v/3 has probability 4e-4; a constant of 4 in place of 24 gives 0.318."""
    printed = measure_mean_events([Basis(n_classes=20)], 0, factor=24 * 19 / 12)
    assert printed.exact[0] == pytest.approx(3.952829543214e-4, rel=1e-6)
    assert lemma_b_2_event(printed).conclusion is False
    wider = measure_mean_events([Basis(n_classes=20)], 0, factor=24 / 4)
    assert wider.exact[0] == pytest.approx(0.318, abs=1e-3)
    assert lemma_b_2_event(wider).conclusion is False
    assert events().exact[:2] == pytest.approx([0.8248830403986, 0.828176577835], rel=1e-10)


def test_large_shares_of_clusters_at_their_edges():
    for factor, kept in ((1.01, True), (0.99, False)):
        share = factor * 0.0829 * clusters().slopes
        assert lemma_b_2(altered(clusters(), shares=share, draws=10**12)).parts[0].kept is kept


def test_the_events_at_their_edges():
    for factor, kept in ((1.01, True), (0.98, False)):
        levels = 1 - 0.7978845608 / (2 * np.sqrt(1 - events().distances ** 2 / 4))
        unknown = {"exact": np.full(4, np.nan), "orthonormal": np.zeros(4, bool)}
        found = altered(events(), shares=factor * levels, **unknown, draws=10**12)
        assert lemma_b_2_event(found).parts[0].kept is kept
        joint = factor * 0.33 / 0.7978845608
        found = altered(events(), shares=np.full(4, joint), thresholds=np.full(4, 1e-6))
        assert lemma_b_2_event(found).parts[2].kept is kept


def test_caps_have_coefficients_as_the_lemma_asks():
    """λ = 0: P is a sum of six points, each with its whole coefficient."""
    points = Caps(dim=15, n_points=240, relative_diameter=0.0).draw(5)
    found = measure_clusters([points], 5)
    assert 0 <= found.least_own <= 1
    assert found.relative_diameter[0] == pytest.approx(0, abs=1e-12)
    assert found.slopes[0] == pytest.approx(min(found.separation[0], found.opposite_separation[0]) / 4)
    assert measure_clusters([points], 5, factor=0.5).shares[0] < found.shares[0]


def test_shares_of_the_mean_event_are_those_of_the_law():
    """One other class of one point: S ≤ v/3 exactly when it is not hit, at 4τ."""
    for factor in (1.0, 6.0):
        found = measure_mean_events([Basis(n_classes=2, per_class=1)], 0, factor=factor)
        tau = factor * 2**0.5 / 24
        assert found.thresholds[0] == pytest.approx(tau)
        assert found.exact[0] == pytest.approx(1 - erf(4 * tau / 2**0.5))
        assert found.shares[0] == pytest.approx(found.exact[0], abs=0.025)
    wide = measure_mean_events([SpreadPoints(dim=30, least_distance=0.5)], 3, factor=8.0)
    sample = SpreadPoints(dim=30, least_distance=0.5).draw(3)
    assert wide.distances[0] == sample.measured().distance
    assert np.isnan(wide.exact[0])
    # The points of other classes are nearly orthogonal, so the hits are nearly independent.
    assert wide.shares[0] == pytest.approx((1 - erf(4 * wide.thresholds[0] / 2**0.5)) ** 4, abs=0.05)


@pytest.mark.parametrize(("largest", "allowed"), [(0.33, 1), (1 / 3, 1), (0.34, 0), (0.17, 1), (0.16, 2)])
def test_a_third_of_v_may_be_hit(largest, allowed):
    """So many of four points may be hit where each has |p v| = largest·v."""
    found = measure_mean_events([Basis(n_classes=3)], 0, factor=8.0, largest=largest)
    hit = erf(4 * 8 * 2**0.5 / (24 * 4) / 2**0.5)
    assert found.shares[0] == pytest.approx(binom.cdf(allowed, 4, hit), abs=0.03)


def test_the_numbers_of_the_mean_event():
    found = lemma_b_2_event(altered(events(), distances=np.full(4, 0.8), shares=np.full(4, 0.7), draws=10**9))
    assert found.parts[0].promised == pytest.approx(0.5647182862243, rel=1e-10)
    assert found.parts[1].promised in events().exact
    worst = np.argmin(erf(events().thresholds / 2**0.5) / events().thresholds)
    assert found.parts[2].measured == pytest.approx(0.7 * erf(events().thresholds[worst] / 2**0.5))
    assert found.parts[2].promised == pytest.approx(0.33 * events().thresholds[worst])


def test_hypotheses_of_the_mean_event_at_their_edges():
    for distances, met in (([0.5, 2**0.5 + 5e-13], True), ([0.5, 2**0.5 + 5e-12], False), ([1.5, 0.5], False)):
        one = altered(events(), distances=np.array(distances * 2))
        assert lemma_b_2_event(one).hypotheses[1].met is met
    for largest, met in ((1 + 5e-13, True), (1 + 5e-12, False), (1.05, False)):
        assert lemma_b_2_event(altered(events(), largest=largest)).hypotheses[2].met is met


def test_clusters_are_measured_by_hand():
    """Two components of one class, one of another; the shares of points weigh within a component."""
    points = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-0.6, 0.8]])
    own = sample(points, [0, 0, 0, 1], components=[7, 7, 9, 4], shares=[0.1, 0.3, 0.2, 0.4])
    found = measure_clusters([own], 0)
    draw = np.random.default_rng([0, 74, 0])
    # Components in the order of their numbers, so 4 comes first and is the class of its own.
    coefficients = random_coefficients(draw, np.array([True, False, False]))[0]
    assert coefficients[0] == 1
    weights = np.array([0.25, 0.75, 1.0, 1.0]) * coefficients[[1, 1, 2, 0]]
    gates = draw.normal(size=(800, 2)) @ points.T >= 0
    norms = np.linalg.norm((gates * weights) @ points, axis=1)
    assert found.shares[0] == (norms >= 0.25).mean()
    assert found.least_own == 1
    half = measure_clusters([own], 0, factor=0.5)
    assert half.shares[0] == (norms >= 0.5).mean()
    one = sample(np.eye(2), [0, 1])
    for factor, share in ((0.25, 0.5), (0.24, 0.0)):  # ‖P‖ is 0 or v: v/4 itself is large enough
        alone = measure_clusters([altered(one, points=np.array([[1.0, 0.0], [0.0, 0.0]]))], 0, factor=factor)
        assert alone.shares[0] == pytest.approx(share, abs=0.06)


def test_all_clusters_are_seen():
    good, caps = sample(np.eye(3), [0, 1, 2]), Caps(dim=8, n_points=60)
    long = sample(1.5 * np.eye(3), [0, 1, 2])
    for given in ([good, long], [long, good]):
        assert measure_clusters(given, 0).norm_error == pytest.approx(0.5)
    both = [caps.draw(0), caps.draw(1)]
    least = [measure_clusters([each], 0).least_own for each in both[:1]]
    assert measure_clusters(both, 0).least_own <= least[0] < 1


def test_the_least_coefficient_of_the_own_class():
    """Three components of the class of the first one."""
    own = sample(np.eye(4), [0, 0, 0, 1])
    expected = random_coefficients(np.random.default_rng([0, 74, 0]), np.array([True, True, True, False]))[0]
    assert measure_clusters([own], 0).least_own == expected[:3].min()
    other = random_coefficients(np.random.default_rng([0, 74, 1]), np.array([True, True, True, False]))[0]
    assert measure_clusters([own, own], 0).least_own == min(expected[:3].min(), other[:3].min())


def test_clusters_speak_about_three_classes():
    assert lemma_b_2(lemma_b_2.on(own_toy()).settings).verdict is Verdict.HOLDS
    assert isinstance(lemma_b_2.on(too_many()), NotApplicable)


def at_level(factor, draws):
    """Frequencies at the promise, of so many draws."""
    levels = 1 - 0.7978845608028654 / (2 * np.sqrt(1 - events().distances ** 2 / 4))
    return at(events, shares=factor * levels, draws=draws, exact=factor * levels)


def at_slope(factor, draws):
    return at(clusters, shares=factor * 0.0829 * clusters().slopes, draws=draws)


test_control = controls(
    mixing,
    {MeanEvents: events, ComponentPieces: clusters},
    (lemma_b_2_event, "small_sum", {}, {"share": 2.0}),
    (lemma_b_2_event, "small_sum", at_level(1 + 1e-9, 10**14), at_level(0.999, 10**14)),
    (lemma_b_2_event, "small_sum", at_level(1 + 1e-9, 10**8), at_level(0.998, 10**8)),
    (lemma_b_2_event, "orthonormal", {}, {"exact": lambda e: 1.1 * e}),
    (lemma_b_2_event, "orthonormal", {}, {"exact": lambda e: 0.9 * e}),
    (lemma_b_2_event, "orthonormal", {}, leaves_open(events, exact=lambda e: np.where(np.arange(4) == 1, np.nan, e))),
    (lemma_b_2_event, "event", {}, {"joint": 0.7}),
    # τ = 0 then, and what is left of ⟨β, x*⟩ = 0 is rounding: it must not decide.
    (lemma_b_2_event, "distance", {"distances": 2e-12}, {"distances": 1e-12}),
    (lemma_b_2, "likely", {}, at(measure_clusters([Caps(dim=15, n_points=240).draw(0)], 0, factor=0.04))),
    (lemma_b_2, "likely", at_slope(1 + 1e-9, 10**14), at_slope(0.999, 10**14)),
    (lemma_b_2, "likely", at_slope(1 + 1e-9, 10**8), at_slope(0.995, 10**8)),
    *separated_rows(lemma_b_2),
    but=(
        lemma_5_2,
        lemma_5_2_as_printed,
        lemma_a_3_mixing,
        lemma_a_3_mixing_as_printed,
        lemma_b_3_as_printed,
        lemma_b_3,
        lemma_b_4_batches,
    ),
)


def test_larger_coefficients_of_other_classes_are_outside():
    """k = 2, l = 1, p = ½, 1 − o₁(x₁) = 0.1, o₁(x₂) = 0.9: |p v| of the other class is 9v."""
    found = lemma_b_2_event(measure_mean_events([Basis(n_classes=2, per_class=1)], 0, largest=9.0))
    assert [h.met for h in found.hypotheses] == [True, True, False]
