"""Mistakes are counted input by input, whatever the blocks."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.diagnostics.error_rates import error_rates
from widenet.networks.conv_classifier import ConvClassifier, PooledHead, cut_patches, make_conv_classifier

SIDE, N_SAMPLES, N_RUNS = 6, 24, 3
DRAW = np.random.default_rng(0)
IMAGES = DRAW.random((N_SAMPLES, SIDE, SIDE))
CLASSES = DRAW.integers(0, 3, N_SAMPLES).astype(np.int32)


def images():
    return jnp.asarray(IMAGES)


def classes():
    return jnp.asarray(CLASSES)


@functools.cache
def made() -> ConvClassifier:
    """Networks from three keys."""
    keys = jax.random.split(jax.random.key(7), N_RUNS)
    return jax.vmap(lambda key: make_conv_classifier(key, 2, 3, 0.3, image_side=SIDE, dtype=jnp.float64))(keys)


def one_of(tree, run: int):
    return jax.tree.map(lambda leaf: leaf[run], tree)


def by_hand(networks):
    outputs = [np.asarray(jax.vmap(one_of(networks, run))(images())) for run in range(N_RUNS)]
    return [np.mean(own.argmax(axis=1) != np.asarray(CLASSES)) for own in outputs]


def test_every_input_counts_once():
    for block in (7, 24, 100):
        rates = error_rates(made(), images(), classes(), forward=ConvClassifier.__call__, block=block)
        np.testing.assert_array_equal(rates, by_hand(made()))


def test_inputs_may_be_prepared_block_by_block():
    seen = []

    def prepare(images):
        seen.append(len(images))
        return cut_patches(images, 3)

    rates = error_rates(made(), images(), classes(), forward=ConvClassifier.on_patches, block=10, prepare=prepare)
    np.testing.assert_array_equal(rates, by_hand(made()))
    assert seen == [10, 10, 4]


def test_every_run_may_have_its_own_inputs():
    responses = jnp.stack([IMAGES[:, :2, :4] + run for run in range(N_RUNS)])
    rates = error_rates(made().head, responses, classes(), forward=PooledHead.__call__, inputs_per_run=True)
    for run, rate in enumerate(rates):
        outputs = jax.vmap(one_of(made().head, run))(responses[run])
        assert rate == np.mean(np.asarray(outputs).argmax(axis=1) != np.asarray(CLASSES))


def test_what_is_not_finite_is_wrong():
    weights = made().output.weight.at[1].set(jnp.nan)
    broken = eqx.tree_at(lambda net: net.output.weight, made(), weights)
    rates = error_rates(broken, images(), classes(), forward=ConvClassifier.__call__, block=5)
    assert rates[1] == 1
    np.testing.assert_array_equal(np.delete(rates, 1), np.delete(by_hand(made()), 1))


def test_one_output_that_is_not_finite_is_enough():
    """The first class is right and wins; the second is NaN, or infinite the wrong way."""
    for bad in (jnp.nan, -jnp.inf):
        weights = jnp.array([[1.0, 0.0], [1.0, bad]])
        rates = error_rates(weights, jnp.ones((3, 1)), jnp.zeros(3, jnp.int32), forward=lambda net, x: net * x[0])
        assert rates.tolist() == [0, 1]


def test_more_inputs_than_fit_into_one_block():
    inputs = np.linspace(-1, 1, 251)[:, None]
    classes = jnp.asarray(inputs[:, 0] > 0.5, jnp.int32)

    def forward(cut, x):
        return jnp.array([cut, x[0]])

    rates = error_rates(jnp.array([0.5, 0.0, -2.0]), jnp.asarray(inputs), classes, forward=forward)
    assert rates == pytest.approx([0, np.mean((inputs > 0) & (inputs <= 0.5)), np.mean(inputs <= 0.5)])


def test_side_by_side_as_on_a_gpu(monkeypatch):
    """The same counts where all runs are looked at together."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    inputs = np.linspace(-1, 1, 21)[:, None]

    def forward(cut, x):
        return jnp.stack([cut[0], x[0]])

    cuts, classes = jnp.array([[0.5, 9.0], [0.0, 9.0], [-2.0, 9.0]]), jnp.asarray(inputs[:, 0] > 0.5, jnp.int32)
    rates = error_rates(cuts, jnp.asarray(inputs), classes, forward=forward)
    expected = [0, np.mean((inputs > 0) & (inputs <= 0.5)), np.mean(inputs <= 0.5)]
    assert rates == pytest.approx(expected)
    own = jnp.tile(jnp.asarray(inputs), (3, 1, 1))
    assert error_rates(cuts, own, classes, forward=forward, inputs_per_run=True) == pytest.approx(expected)
