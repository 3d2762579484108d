import jax
import numpy as np
import pytest

from widenet.data import make_caps
from widenet.diagnostics.components import find_components, measure_structure
from widenet.errors import DataError

KEY = jax.random.key(3)


def drawn(n_samples=600, **arguments):
    made = make_caps(KEY, **arguments)
    data = made.sample(KEY, n_samples)
    return made, np.asarray(data.inputs), np.asarray(data.labels)


@pytest.mark.parametrize(("n_classes", "per_class", "widest"), [(3, 2, 1 / 16), (4, 1, 1 / 8), (2, 3, 1 / 24)])
def test_the_assumption_is_met_with_as_many_components(n_classes, per_class, widest):
    made, points, labels = drawn(n_classes=n_classes, per_class=per_class, dim=12)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-14)
    own = np.linalg.norm(points[:, None] - np.asarray(made.centres), axis=2).argmin(axis=1)
    np.testing.assert_array_equal(np.unique(labels), [-1, 1] if n_classes == 2 else np.arange(n_classes))
    classes = np.unique(labels, return_inverse=True)[1]
    np.testing.assert_array_equal(classes, own // per_class)
    found = measure_structure(points, classes, own)
    assert (found.n_classes, found.per_class) == (n_classes, per_class)
    assert 0.7 * widest < found.relative_diameter <= widest == found.widest_allowed
    assert len(np.unique(find_components(points, classes))) == n_classes * per_class


def test_distances_from_the_centre_are_uniform():
    made, points, _ = drawn(4000, per_class=1, dim=5, relative_diameter=0.5)
    gaps = np.linalg.norm(points[:, None] - np.asarray(made.centres), axis=2).min(axis=1)
    assert gaps.max() <= float(made.radius)
    np.testing.assert_allclose(np.quantile(gaps / float(made.radius), [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.03)


def test_every_cap_has_its_share():
    made, points, _ = drawn(6000, dim=10)
    own = np.linalg.norm(points[:, None] - np.asarray(made.centres), axis=2).argmin(axis=1)
    assert np.bincount(own) == pytest.approx(1000, abs=150)


def test_what_cannot_be_is_refused():
    for whole in ({"n_classes": 1}, {"per_class": 0}, {"dim": 1}):
        with pytest.raises(ValueError, match="got"):
            make_caps(KEY, **whole)
    with pytest.raises(ValueError, match="between 0 and 1"):
        make_caps(KEY, relative_diameter=-0.1)
    with pytest.raises(DataError, match="unit vectors"):
        make_caps(KEY, dim=2, least_distance=1.4)
