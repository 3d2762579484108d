import numpy as np
import pytest

from widenet.diagnostics.filter_clusters import angles_to, cluster_filters


def planted(noise: float, sizes=(40, 30, 20, 10)) -> tuple[np.ndarray, np.ndarray]:
    """Filters of several lengths around four axes."""
    labels, draw = np.repeat(np.arange(4), sizes), np.random.default_rng(0)
    filters = np.eye(9)[labels] + noise * draw.standard_normal((len(labels), 9))
    return filters * draw.uniform(0.1, 5, len(labels))[:, None], labels


def test_planted_clusters_are_found_largest_first():
    filters, labels = planted(noise=0.02)
    found = cluster_filters(filters)
    np.testing.assert_array_equal(found.cluster, labels)
    assert angles_to(found.centres, np.eye(9)[:4]).diagonal().max() < 2
    assert found.angles.max() < 10


def test_control_noise_without_clusters_stays_far_from_any_centre():
    found = cluster_filters(np.random.default_rng(1).standard_normal((120, 9)))
    assert found.angles.mean() > 45


def test_length_matters_only_without_unit():
    filters, _ = planted(noise=0.02)
    scaled = filters * np.geomspace(1, 1e3, len(filters))[:, None]
    np.testing.assert_allclose(cluster_filters(scaled).angles, cluster_filters(filters).angles, atol=1e-9)
    assert cluster_filters(scaled, unit=False).angles.mean() > cluster_filters(scaled).angles.mean()


def test_angles_in_closed_form():
    turn = np.radians([0, 1e-6, 30, 90, 179])
    filters = 3 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    np.testing.assert_allclose(angles_to(filters, np.array([[0.5, 0.0]]))[:, 0], np.degrees(turn), rtol=1e-9)


def test_the_same_seed_gives_the_same_clusters():
    filters = np.random.default_rng(1).standard_normal((50, 9))
    one, other = (cluster_filters(filters, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.centres, other.centres)


def test_four_clusters_and_the_first_seed_unless_told_otherwise():
    filters = np.random.default_rng(1).standard_normal((50, 9))
    found, same, other = cluster_filters(filters), cluster_filters(filters, 4, 0), cluster_filters(filters, 4, 1)
    assert found.centres.shape == (4, 9)
    np.testing.assert_array_equal(found.centres, same.centres)
    assert not np.array_equal(found.centres, other.centres)
    np.testing.assert_allclose(found.angles, angles_to(filters, found.centres).min(axis=1))


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_filter_without_direction_is_refused(bad: float):
    filters = np.random.default_rng(1).standard_normal((10, 9))
    filters[3] = bad
    with pytest.raises(ValueError, match="direction"):
        cluster_filters(filters)
