import jax
import numpy as np
import pytest
import scipy.stats

from widenet.claims.tolerances import BY_CHANCE
from widenet.data.gaussians import make_gaussians, two_gaussians, with_outlier
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


KEY = jax.random.key(3)
MEAN = np.array([2.0, -1.0, 2.0])


def test_the_distribution_has_the_truncated_law():
    drawn = make_gaussians(MEAN, spread=1.5, least_margin=2.0).sample(KEY, 4000)
    signed = np.asarray(drawn.labels)[:, None] * np.asarray(drawn.inputs)
    along = signed @ MEAN / 3
    assert along.min() >= 2.0 * (1 - 1e-15)
    law = scipy.stats.truncnorm((2.0 - 3.0) / 1.5, np.inf, loc=3.0, scale=1.5)
    assert scipy.stats.kstest(along, law.cdf).pvalue > BY_CHANCE
    for across in (np.array([1.0, 2.0, 0.0]) / 5**0.5, np.array([4.0, -2.0, -5.0]) / 45**0.5):
        assert scipy.stats.kstest(signed @ across, scipy.stats.norm(scale=1.5).cdf).pvalue > BY_CHANCE
    assert abs(np.asarray(drawn.labels).mean()) < 5 / 4000**0.5


def test_control_another_margin_is_seen():
    along = np.asarray(make_gaussians((3.0,)).sample(KEY, 4000).inputs)[:, 0]
    assert np.abs(along).min() < 1.0


def test_mirrored_samples_and_outliers():
    drawn = make_gaussians(MEAN, mirrored=True, outlier=(9.0, 0.0, 0.0)).sample(KEY, 7)
    points, labels = np.asarray(drawn.inputs), np.asarray(drawn.labels)
    np.testing.assert_array_equal(points[3:6], -points[:3])
    np.testing.assert_array_equal(labels[3:6], -labels[:3])
    assert (points[6].tolist(), labels[6]) == ([9.0, 0.0, 0.0], 1.0)
    with pytest.raises(DataError, match="pairs, got 3"):
        make_gaussians(MEAN, mirrored=True).sample(KEY, 3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mean": (0.0, 0.0)}, "not 0"),
        ({"spread": 0.0}, "spread must be positive, got 0"),
        ({"mean": (1.0, 0.0), "least_margin": 6.0}, "got 6"),
        ({"outlier": (1.0,)}, "2 coordinates"),
    ],
)
def test_the_distribution_refuses(given, words):
    with pytest.raises(ValueError, match=words):
        make_gaussians(**given)


def test_just_inside_what_is_refused():
    make_gaussians((1.0, 0.0), least_margin=5.999).sample(KEY, 10)
