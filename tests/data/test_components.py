"""Classes of several components keep their distances and their norms."""

import numpy as np
import pytest

from widenet.data.components import antipodal_polygon, cap_points, gaussian_components, spread_centres, xor_balls
from widenet.errors import DataError


def rng(seed=0):
    return np.random.default_rng(seed)


def test_centres_are_far_from_each_other_and_each_others_mirror_image():
    centres = spread_centres(rng(), 3, 2, 20, 0.9).reshape(6, 20)
    classes = np.repeat(np.arange(3), 2)
    for sign in (1, -1):
        apart = np.linalg.norm(centres[:, None] - sign * centres, axis=2)[classes[:, None] != classes]
        assert apart.min() >= 0.9


def test_distances_out_of_reach_are_refused():
    with pytest.raises(DataError, match="no 4 unit vectors"):
        spread_centres(rng(), 2, 2, 2, 1.42)


def test_caps():
    centres = np.tile([[0.0, 0.6, 0.8]], (2000, 1))
    points = cap_points(rng(), centres, 0.2)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    chords = np.linalg.norm(points - centres, axis=1)
    assert 0.199 < chords.max() <= 0.2
    assert np.median(chords) == pytest.approx(0.2 / 2**0.5, rel=0.05)


def test_gaussians():
    means = np.eye(2)
    raw = gaussian_components(rng(), means, np.array([0, 1, 1]), 0.0, unit_norm=False)
    np.testing.assert_array_equal(raw, means[[0, 1, 1]])
    units = gaussian_components(rng(), 5 * np.eye(400)[:1], np.zeros(50, int), 2.0)
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1)
    assert np.mean(units[:, 0]) == pytest.approx(5 / 29**0.5, rel=0.02)


def test_the_balls_of_figure_3():
    points, classes, components = xor_balls(rng(), 100)
    centres = np.array([[0, 0], [2, 2], [0, 2], [2, 0]])
    assert np.linalg.norm(points - centres[components], axis=1).max() <= 0.05
    np.testing.assert_array_equal(classes, components // 2)


def test_the_polygon_is_antipodal_to_the_bit():
    points, classes = antipodal_polygon()
    np.testing.assert_array_equal(points[:3], -points[3:])
    np.testing.assert_array_equal(classes, [0, 0, 0, 1, 1, 1])
    turned, _ = antipodal_polygon(3, 0.1)
    assert turned[3] @ -points[0] == pytest.approx(np.cos(0.1))
