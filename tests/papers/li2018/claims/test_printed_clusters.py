"""The lines of the proof of Lemma B.2, each at the instance in which it fails, and where it does not."""

import functools

import numpy as np
import pytest
from scipy.special import ndtr

from tests.control_table import at, controls
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import printed_clusters
from widenet.papers.li2018.claims.printed_clusters import lemma_b_2_event_as_printed, lemma_b_2_spread_as_printed
from widenet.papers.li2018.runs.mixtures_of_pieces import (
    ComponentSpread,
    MeanEvents,
    draw_printed_events,
    draw_spread,
    measure_mean_events,
    measure_spread,
)
from widenet.papers.li2018.sources import Basis
from widenet.records import Scale


@functools.cache
def events():
    return draw_printed_events(Scale.QUICK, 0)


def inside(share):
    return 2 * ndtr(share) - 1


def test_the_event_at_the_printed_threshold():
    """Orthonormal, l = 2: 4τ/σ = √2/6, hit with 0.18634; 58 indicators, none of them 1 with 0.81366^58 = 6.4e-6."""
    found = lemma_b_2_event_as_printed(events())
    assert found.verdict is Verdict.VIOLATED
    assert [part.kept for part in found.parts] == [False] * 3
    hit = inside(2**0.5 / 6)
    assert (found.parts[0].measured, found.parts[0].promised) == (pytest.approx(hit), pytest.approx(1 / 6))
    assert (found.parts[1].measured, found.parts[1].promised) == (pytest.approx(58 * hit), pytest.approx(1 / 3))
    assert found.parts[2].measured == pytest.approx(inside(2**0.5 / 24) * (1 - hit) ** 58, rel=1e-9)
    assert events().exact[0] == pytest.approx(6.4e-6, rel=0.01)


@pytest.mark.parametrize(("classes", "pinned"), [(3, 0.4383), (10, 0.02444), (30, 6.4e-6)])
def test_it_falls_with_the_number_of_classes(classes, pinned):
    factor = 2.0 * (classes - 1)
    assert measure_mean_events([Basis(n_classes=classes)], 0, factor=factor).exact[0] == pytest.approx(pinned, rel=0.01)


def test_each_line_at_its_edge():
    """For small τ the first says c_G ≤ s/δ, so it fails beyond δ = s·1.2533; with s² = δ²(1 − δ²/4) that is 1.2056."""
    for distance, kept in ((1.25, True), (1.256, False)):
        found = altered(events(), thresholds=np.array([1e-4]), distances=np.array([distance]))
        assert lemma_b_2_event_as_printed(found).parts[0].kept is kept
    for distance, kept in ((1.2055, True), (1.2057, False)):
        assert (inside(4e-4 / (distance * (1 - distance**2 / 4) ** 0.5)) <= 4e-4 / distance) == kept
    few = altered(events(), thresholds=np.array([0.01]), distances=np.array([1.0]), per_class=np.array([1.0]))
    for others, kept in ((1.25, True), (1.26, False)):
        assert lemma_b_2_event_as_printed(altered(few, others=np.array([others]))).parts[1].kept is kept
    for exact, kept in ((0.414, True), (0.413, False)):  # 0.33·τ over 2Φ(τ) − 1 = 0.79788·τ
        assert lemma_b_2_event_as_printed(altered(few, exact=np.array([exact]))).parts[2].kept is kept


def test_a_component_as_wide_as_allowed():
    """Φ(1/3) = 0.6306 of the draws are within τ/4."""
    found = lemma_b_2_spread_as_printed(draw_spread(Scale.QUICK, 0))
    assert found.verdict is Verdict.VIOLATED
    assert [part.kept for part in found.parts] == [False] * 2
    assert (found.parts[0].measured, found.parts[0].promised) == (3 / 16, pytest.approx(1 / 6))
    assert found.parts[1].measured == pytest.approx(1 - ndtr(1 / 3), abs=5 * (0.25 / 4000) ** 0.5)


def test_the_product_by_hand():
    """Two unit vectors at ±ψ from e₁: ⟨β, e₁ − x⟩ = −sin ψ·β₂."""
    for per_class, width in ((1, 1 / 8), (3, 1 / 24)):
        distance = 2**0.5
        angle = np.arcsin(width * distance / 2)
        ends = np.array([[np.cos(angle), np.sin(angle)], [np.cos(angle), -np.sin(angle)]])
        assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(width * distance)
        beta = np.random.default_rng([4, 75]).normal(size=4000)
        by_hand = np.stack([np.zeros(4000), beta], axis=1) @ (np.array([1.0, 0.0]) - ends[0]) / distance
        np.testing.assert_allclose(measure_spread(per_class, width, 4).products, by_hand, rtol=1e-12)


def test_edges_of_the_spread():
    for width, kept in ((1 / 9 + 1e-9, False), (1 / 9 - 1e-9, True)):
        assert lemma_b_2_spread_as_printed(measure_spread(1, width, 0)).parts[0].kept is kept
    for width, met in ((1 / 16, True), (1 / 15.9, False)):
        assert lemma_b_2_spread_as_printed(measure_spread(2, width, 0)).hypotheses[0].met is met


@functools.cache
def small():
    """One other centre at δ = 1: 4τ/(σs) = (1/3)/√(3/4), hit with 0.300 ≤ 1/3."""
    tau, sine = 1 / 12, 0.75**0.5
    return altered(
        events(),
        thresholds=np.array([tau / sine]),
        distances=np.array([1 / sine]),
        exact=np.array([1 - inside(4 * tau / sine)]),
        others=np.array([1.0]),
        per_class=np.array([1.0]),
    )


def narrow():
    return measure_spread(1, 1 / 100, 0)


def at_distance(factor):
    """The distance at which 4τ/(δσ) is what one indicator is."""
    tau = small().thresholds
    return {"distances": 4 * tau / inside(4 * tau) / factor, "per_class": 2.0}


def with_others(factor):
    tau, distance = small().thresholds, small().distances
    return {"others": factor * 4 * tau / distance / inside(4 * tau)}


def with_exact(factor):
    return {"exact": factor * 0.33 * small().thresholds / inside(small().thresholds)}


def reaching(size):
    """One product of sixty is of this size; one of a hundred may be above τ/4."""
    return {"products": lambda q: np.where(np.arange(4000) % 60 == 0, size, q)}


MORE, LESS = 1 + 1e-12, 1 - 1e-3
test_control = controls(
    printed_clusters,
    {MeanEvents: small, ComponentSpread: narrow},
    (lemma_b_2_event_as_printed, "one", at_distance(MORE), at_distance(LESS)),
    (lemma_b_2_event_as_printed, "sum", with_others(1 / MORE), with_others(1 / LESS)),
    (lemma_b_2_event_as_printed, "event", with_exact(MORE), with_exact(LESS)),
    (lemma_b_2_event_as_printed, "one", {}, at(events), "sum", "event"),
    (lemma_b_2_spread_as_printed, "width", {"relative_diameter": 1 / 9 - 1e-9}, {"relative_diameter": 1 / 9}),
    # τ/4 is 1/48 at σ = δ = l = 1.
    (lemma_b_2_spread_as_printed, "products", reaching(0.999 / 48), reaching(1.001 / 48)),
)
