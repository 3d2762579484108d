"""One battery for every data set. A new one adds its line to INSTANCES."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data import (
    DATASETS,
    Distribution,
    load_digits,
    make_clusters,
    make_separable,
    make_shoulders,
    make_xor_mixture,
    make_xord,
)

KEY = jax.random.key(0)
N_SAMPLES = 20

INSTANCES = {
    "separable": lambda: make_separable(KEY, dim=6, separator_norm=4.0),
    "xord": lambda: make_xord(n_patches=8),
    "clusters": lambda: make_clusters(dim=6, radius=0.3, overlap=0.2),
    "xor_mixture": make_xor_mixture,
    "shoulders": make_shoulders,
    "mnist": lambda: load_digits((3, 5), "test"),
}


RADIUS = {"xord": 4.0, "clusters": 1 + 1e-15, "xor_mixture": 2.0, "shoulders": 2.0}
"""Data sets that do not live in the unit ball: points of {±1}^{2d} have norm √(2d), those of clusters norm 1
up to rounding, and Gaussians no bound."""


@pytest.fixture(scope="module", params=DATASETS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def distribution(name):
    return INSTANCES[name]()


@pytest.fixture(scope="module")
def drawn(distribution):
    return distribution.sample(KEY, N_SAMPLES)


def same(one, other):
    return np.array_equal(one.inputs, other.inputs) and np.array_equal(one.labels, other.labels)


def test_every_data_set_is_here_and_described():
    assert INSTANCES.keys() == DATASETS.keys()
    assert all(entry.description and callable(entry.make) for entry in DATASETS.values())


def test_offers_sample(distribution):
    assert isinstance(distribution, Distribution)


def test_shapes(drawn):
    assert drawn.n_samples == N_SAMPLES
    assert drawn.inputs.shape == (N_SAMPLES, drawn.dim)


def test_float64(drawn):
    assert drawn.inputs.dtype == drawn.labels.dtype == jnp.float64


def test_labels_are_signs_or_numbers_of_classes(name, drawn):
    assert np.isin(drawn.labels, (-1.0, 1.0)).all()


def test_inputs_are_finite_and_in_their_ball(name, drawn):
    assert np.isfinite(drawn.inputs).all()
    assert np.linalg.norm(drawn.inputs, axis=1).max() <= RADIUS.get(name, 1)
    assert jnp.linalg.norm(drawn.inputs, axis=1).max() <= RADIUS.get(name, 1)


def test_same_key_same_bits(distribution, drawn):
    assert same(distribution.sample(KEY, N_SAMPLES), drawn)


def test_control_another_key_differs(distribution, drawn):
    assert not same(distribution.sample(jax.random.key(1), N_SAMPLES), drawn)


def test_compiled_equals_eager(distribution, drawn):
    # The distribution is a constant of the program here, which lets the compiler do most.
    assert same(jax.jit(lambda key: distribution.sample(key, N_SAMPLES))(KEY), drawn)


def test_a_draw_does_not_depend_on_its_batch_mates(distribution):
    keys = jax.random.split(KEY, 7)
    together = jax.vmap(lambda key: distribution.sample(key, N_SAMPLES))(keys)
    for run in range(7):
        assert same(together[run], distribution.sample(keys[run], N_SAMPLES))
