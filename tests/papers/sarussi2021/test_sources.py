"""The data of this room: pairs of digits, Gaussians, and a cloud with an outlier."""

import numpy as np
import pytest

from widenet.data.mnist import load_mnist
from widenet.diagnostics.agreement_program import separate
from widenet.papers.sarussi2021.sources import DigitPair, OutlierCloud, TwoGaussians


def test_images_of_a_pair():
    """The first images train, the others are for the test; none occurs twice, and the training ones are separable."""
    pair = DigitPair(digits=(3, 5), n_samples=60, n_test=40)
    points, labels = pair.draw_all(0)
    train, signs = pair.draw(0)
    np.testing.assert_array_equal(points[:60], train)
    assert len(np.unique(points, axis=0)) == len(labels) == 100
    assert points.max() == 1
    assert separate(train, signs).separable
    assert not np.array_equal(pair.draw(1)[0], train)
    ones = load_mnist("train")[1]
    assert set(np.unique(labels)) == {-1.0, 1.0}
    assert DigitPair(digits=(5, 3), n_samples=60).draw(0)[1].tolist() == (-signs).tolist()
    assert len(ones) == 60_000


def test_gaussians_with_test_points():
    cloud = TwoGaussians(n_samples=10, n_test=6)
    points, labels = cloud.draw_all(0)
    np.testing.assert_array_equal(points[:10], TwoGaussians(n_samples=10).draw(0)[0])
    assert len(labels) == 16
    assert (labels * (points @ np.array([1.0, 1.0])) / 2**0.5).min() >= 0.5
    assert TwoGaussians(n_samples=10).draw_all(0)[0].shape == (10, 2)


def test_the_outlier_is_behind_the_negative_points():
    points, labels = OutlierCloud().draw(0)
    assert np.linalg.norm(points[-1]) == pytest.approx(30)
    assert labels[-1] == 1
    assert len(OutlierCloud(with_outlier=False).draw(0)[1]) == len(labels) - 1
