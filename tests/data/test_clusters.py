import jax
import numpy as np
import pytest

from widenet.data import make_clusters

KEY = jax.random.key(0)


@pytest.mark.parametrize(("dim", "radius", "overlap"), [(2, 0.1, 0.0), (7, 0.5, 0.3)])
def test_unit_vectors_within_the_radius_of_their_centres(dim, radius, overlap):
    made = make_clusters(dim, radius, overlap)
    data = made.sample(KEY, 400)
    points, own, centres = np.asarray(data.inputs), made.clusters(400), np.asarray(made.centres)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 1, atol=1e-14)
    distances = np.linalg.norm(points - centres[own], axis=1)
    assert 0.98 * radius < distances.max() <= radius * (1 + 1e-12)
    assert distances.mean() == pytest.approx(radius / 2, rel=0.1)
    np.testing.assert_allclose(centres[:2] @ centres[2:].T, overlap * np.array([[1, -1], [-1, 1]]), atol=1e-15)
    assert (np.asarray(data.labels) == np.where(own < 2, 1, -1)).all()


def test_points_lie_on_all_sides_of_a_centre():
    made = make_clusters(4, 0.5)
    offsets = np.asarray(made.sample(KEY, 800).inputs)[:200] - np.asarray(made.centres)[0]
    assert np.abs(offsets.mean(axis=0)).max() < 0.06
    assert (offsets[:, 2:].std(axis=0) > 0.1).all()


def test_the_clusters_follow_the_shares():
    made = make_clusters(shares=(0.4, 0.1, 0.25, 0.25))
    assert np.bincount(made.clusters(40)).tolist() == [16, 4, 10, 10]
    assert make_clusters().clusters(4).tolist() == [0, 1, 2, 3]


def test_radius_zero_gives_the_centres():
    made = make_clusters(3, 0.0)
    np.testing.assert_allclose(made.sample(KEY, 4).inputs, made.centres, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"dim": 1}, "dim"),
        ({"radius": -0.1}, "radius"),
        ({"radius": 1.1}, "radius"),
        ({"overlap": 1.1}, "overlap"),
        ({"shares": (0.5, 0.5, 0.1, -0.1)}, "shares"),
        ({"shares": (0.5, 0.5, 0.1, 0.1)}, "shares"),
    ],
)
def test_impossible_clusters_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        make_clusters(**arguments)
