import jax
import numpy as np
import pytest

from widenet.data import make_shoulders, make_xor_mixture

KEY = jax.random.key(0)


@pytest.mark.parametrize("make", [make_xor_mixture, make_shoulders])
def test_every_gaussian_has_a_quarter_of_the_points(make):
    made = make()
    data = made.sample(KEY, 4000)
    centres = np.asarray(made.centres)
    gaps = np.linalg.norm(np.asarray(data.inputs)[:, None] - centres, axis=2)
    own = gaps.argmin(axis=1)
    assert np.bincount(own) == pytest.approx(1000, abs=120)
    assert (np.asarray(data.labels) == np.where(own < 2, 1, -1)).mean() > 0.99
    offsets = np.asarray(data.inputs) - centres[own]
    np.testing.assert_allclose(offsets.std(axis=0), 0.1, rtol=0.05)
    np.testing.assert_allclose(offsets.mean(axis=0), 0, atol=0.01)


def test_the_centres_are_those_of_the_paper():
    half = np.sqrt(0.5)
    np.testing.assert_allclose(make_xor_mixture().centres, [(half, -half), (-half, half), (half, half), (-half, -half)])
    np.testing.assert_allclose(make_shoulders().centres, [(1, 0), (0, 1), (half, half), (-half, -half)])


def test_no_spread_gives_the_centres_and_a_negative_one_is_refused():
    points = np.asarray(make_shoulders(0.0).sample(KEY, 50).inputs)
    assert len(np.unique(points, axis=0)) == 4
    with pytest.raises(ValueError, match="spread"):
        make_shoulders(-1.0)
