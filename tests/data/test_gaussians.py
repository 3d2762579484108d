import numpy as np
import pytest

from widenet.data.gaussians import two_gaussians, with_outlier
from widenet.errors import DataError


def test_the_margin_is_kept_and_the_classes_are_even():
    mean = np.array([2.0, 2.0])
    points, labels = two_gaussians(np.random.default_rng(0), 100, mean, least_margin=0.5)
    assert points.shape == (100, 2)
    assert labels.sum() == 0
    assert (labels * (points @ mean) / np.linalg.norm(mean)).min() >= 0.5


def test_mirrored_points():
    points, _ = two_gaussians(np.random.default_rng(0), 10, np.array([1.0, 0.0, 0.0]), mirrored=True)
    np.testing.assert_array_equal(points[5:], -points[:5])
    points, _ = two_gaussians(np.random.default_rng(0), 10, np.array([1.0, 0.0, 0.0]))
    assert not np.array_equal(points[5:], -points[:5])


def test_an_outlier():
    points, labels = with_outlier(np.zeros((2, 2)), np.array([1.0, -1.0]), np.array([3.0, 4.0]))
    assert points[-1].tolist() == [3, 4]
    assert labels.tolist() == [1, -1, 1]


def test_refusals():
    with pytest.raises(DataError, match="even"):
        two_gaussians(np.random.default_rng(0), 3, np.array([1.0]))
    with pytest.raises(DataError, match="hardly ever"):
        two_gaussians(np.random.default_rng(0), 2, np.array([1.0]), least_margin=40.0)
