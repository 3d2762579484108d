"""Certificates that the loss is not convex."""

import numpy as np
import pytest

from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.runs.landscapes import balanced_landscape, random_landscape
from widenet.papers.brutzkus2018.runs.nonconvexity import Landscape, find_nonconvex_segment, from_balance, from_zero


def test_certificates_of_both_kinds_are_found_everywhere():
    draw = np.random.default_rng(7)
    for number in range(150):
        balanced = number % 2 == 0
        certificate = find_nonconvex_segment(
            balanced_landscape(draw) if balanced else random_landscape(draw), seed=number
        )
        assert certificate is not None
        assert certificate.balanced == balanced
        assert certificate.measured == pytest.approx(certificate.predicted, rel=1e-6)


def test_balanced_data_defeats_the_simple_certificate():
    """Σ y‖x‖ = 0 on each line, so moving the plus rows along ±z from 0 changes nothing, whatever z."""
    draw = np.random.default_rng(0)
    scape = balanced_landscape(draw)
    for _ in range(20):
        end = 0.01 * np.outer(scape.outputs > 0, draw.normal(size=scape.inputs.shape[1]))
        assert scape.loss(0 * end) == pytest.approx((scape.loss(end) + scape.loss(-end)) / 2, abs=1e-14)


@pytest.mark.parametrize(
    ("inputs", "labels", "direction", "half", "weight", "slope", "gap"),
    [
        ([[0.6, 0.8], [0.5, 0.0]], [1, -1], [1, 0], 2, 0.5, 0.2, 1 / 60),
        ([[0.8, 0.0], [0.1, 0.5], [0.2, -0.5]], [-1, 1, 1], [1, 1], 1, 3.0, 0.7, 1 / 320),
    ],
)
def test_the_gap_from_zero(inputs, labels, direction, half, weight, slope, gap):
    inputs, labels, direction = (np.array(each, float) for each in (inputs, labels, direction))
    scape = Landscape(inputs, labels, np.zeros(2), plus_minus_weights(half, weight), slope)
    found = from_zero(scape, direction, float(labels @ np.abs(inputs @ direction)))
    assert found.predicted == pytest.approx(gap, rel=1e-12)
    assert found.gap(scape) == pytest.approx(gap, rel=1e-12)


def test_the_gap_on_a_balanced_line():
    """(1, +), (−1/2, −), (−1/2, −): base 0 has gap 1/288 at θ = 3/2 and at θ = 3/4."""
    scape = Landscape(
        np.array([[1.0], [-0.5], [-0.5]]), np.array([1.0, -1.0, -1.0]), 2 * np.ones(1), plus_minus_weights(1), 0.5
    )
    ends = list(from_balance(scape, np.random.default_rng(0)))
    gaps = [found.predicted for found in ends]
    np.testing.assert_allclose(gaps, [found.gap(scape) for found in ends], rtol=1e-10)
    assert sum(np.isclose(gaps, 1 / 288, rtol=1e-12)) >= 2


def test_points_that_are_only_nearly_balanced():
    """x and −x(1 + 1e-9), data times 1e-8, and a slope of almost 1: a certificate is exact or there is none."""
    draw = np.random.default_rng(3)
    first = random_landscape(draw)
    pairs = np.concatenate([first.inputs, -first.inputs * (1 + 1e-9)])
    twice = np.concatenate([first.labels, -first.labels])
    for factor, slope in ((1.0, 0.3), (1e-8, 0.3), (1.0, 1 - 1e-6)):
        scape = Landscape(factor * pairs, twice, first.separator / factor, first.outputs, slope)
        found = find_nonconvex_segment(scape)
        assert found is None or found.measured == pytest.approx(found.predicted, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("factor", [1e-40, 1e-3, 1e9, 1e46])
def test_the_gap_on_balanced_data_does_not_depend_on_the_units(factor):
    scape = balanced_landscape(np.random.default_rng(5))
    other = Landscape(factor * scape.inputs, scape.labels, scape.separator / factor, scape.outputs, scape.slope)
    first, second = find_nonconvex_segment(scape), find_nonconvex_segment(other)
    assert first is not None
    assert second is not None
    assert first.balanced
    assert second.measured == pytest.approx(second.predicted, rel=1e-6)
    assert second.predicted == pytest.approx(first.predicted, rel=1e-6)


def test_no_certificate_for_a_linear_network():
    draw = np.random.default_rng(1)
    for make in (random_landscape, balanced_landscape):
        scape = make(draw)
        assert (
            find_nonconvex_segment(Landscape(scape.inputs, scape.labels, scape.separator, scape.outputs, 1.0)) is None
        )


def test_many_balanced_points_take_a_moment():
    draw = np.random.default_rng(0)
    positive = np.abs(draw.normal(size=(10_000, 20))) / 20
    separator = np.ones(20) / positive.sum(axis=1).min()
    inputs, labels = np.concatenate([positive, -positive]), np.repeat([1.0, -1.0], 10_000)
    found = find_nonconvex_segment(Landscape(inputs, labels, separator, plus_minus_weights(10, 0.2), 0.2))
    assert found is None or found.measured == pytest.approx(found.predicted, rel=1e-5, abs=1e-12)
