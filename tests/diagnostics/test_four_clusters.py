"""Clusters found and measured where they are known."""

import jax
import numpy as np
import pytest

from widenet.data import make_clusters
from widenet.diagnostics.four_clusters import find_clusters, measure_clusters

CORNERS = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]]) / np.sqrt(2)
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


def test_exact_centres():
    own = find_clusters(CORNERS, SIGNS)
    found = measure_clusters(CORNERS, SIGNS, own)
    assert sorted(own) == [0, 1, 2, 3]
    assert found.imbalance == 0
    assert (found.radius, found.overlap) == pytest.approx((0, 0), abs=1e-15)


def test_clusters_of_the_generator_are_found_whatever_their_order():
    made = make_clusters(5, 0.4, 0.2, (0.3, 0.2, 0.25, 0.25))
    data = made.sample(jax.random.key(3), 40)
    order = np.random.default_rng(0).permutation(40)
    points, labels, known = np.asarray(data.inputs)[order], np.asarray(data.labels)[order], made.clusters(40)[order]
    own = find_clusters(points, labels)
    assert len(np.unique(np.stack([own, known]), axis=1).T) == 4
    given = measure_clusters(points, labels, known, np.asarray(made.centres))
    assert 0.2 < given.radius <= 0.4
    assert given.overlap == pytest.approx(0.2)
    assert given.imbalance == pytest.approx(0.05)
    measured = measure_clusters(points, labels, own)
    assert measured.radius < 0.6
    np.testing.assert_allclose(np.linalg.norm(measured.centres, axis=1), 1)


def test_a_radius_is_the_farthest_point_of_any_cluster():
    moved = np.concatenate([CORNERS, [[0.0, -1.0]]])
    found = measure_clusters(moved, np.append(SIGNS, -1.0), np.array([0, 1, 2, 3, 3]), CORNERS)
    assert found.radius == pytest.approx(2 * np.sin(np.pi / 8))
    assert found.imbalance == pytest.approx(0.4 - 0.25)


def test_overlap_looks_at_opposite_classes_only_and_is_not_negative():
    same = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]])
    assert measure_clusters(same, SIGNS, np.arange(4)).overlap == 0
    turned = measure_clusters(same, np.array([1.0, -1.0, 1.0, -1.0]), np.array([0, 2, 1, 3]))
    assert turned.overlap == 1


def test_one_point_again_and_again():
    points = np.tile([0.6, 0.8], (4, 1))
    assert find_clusters(points, np.ones(4)).tolist() == [0, 1, 0, 1]
    found = measure_clusters(points, np.ones(4), find_clusters(points, np.ones(4)))
    assert (found.overlap, found.imbalance) == (0, 0.25)
    assert found.radius == pytest.approx(0, abs=1e-15)


def test_one_class_alone():
    """Two clusters of the label −1, and none of +1: no overlap, no centres, and shares of ½."""
    points = np.array([[0.6, 0.8], [0.6, 0.8], [-0.8, 0.6], [-0.8, 0.6]])
    own = find_clusters(points, -np.ones(4))
    assert sorted(own.tolist()) == [2, 2, 3, 3]
    assert own[0] == own[1]
    found = measure_clusters(points, -np.ones(4), own)
    assert np.isnan(found.centres[:2]).all()
    np.testing.assert_allclose(found.centres[own], points, atol=1e-15)
    assert (found.overlap, found.imbalance) == (0, 0.25)


def test_a_cluster_whose_mean_is_zero_has_no_centre():
    points = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]])
    found = measure_clusters(points, np.array([1.0, 1.0, -1.0]), np.array([0, 0, 2]))
    assert np.isnan(found.centres).all(axis=1).tolist() == [True, True, False, True]
    assert found.centres[2].tolist() == [0, 1]
    assert np.isnan(found.radius)


def test_the_ends_of_a_class_are_its_farthest_points():
    """Three points in a row: the ends are 0 and 10, and 4 is nearer to 0."""
    points = np.array([[4.0, 0.0], [0.0, 0.0], [10.0, 0.0]])
    own = find_clusters(points, np.ones(3))
    assert own[0] == own[1] != own[2]


def test_the_overlap_of_the_second_centre_with_the_third():
    centres = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [-1.0, 0.0]])
    assert measure_clusters(centres, SIGNS, np.arange(4), centres).overlap == 1


def test_a_cluster_that_is_missing_is_a_quarter_off():
    found = measure_clusters(CORNERS[:3], SIGNS[:3], np.arange(3))
    assert found.imbalance == 0.25


def test_the_first_end_is_the_farthest_from_the_mean():
    points = np.array([[0.0, 0.0], [8.0, 0.0], [9.0, 0.0], [10.0, 0.0]])
    assert find_clusters(points, np.ones(4)).tolist() == [0, 1, 1, 1]
