"""The forms in NumPy do what those in JAX do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.networks import TwoLayer, arrays, leaky_relu, plus_minus
from widenet.networks.arrays import leaky, outputs_by_blocks, outputs_of, plus_minus_weights


def test_output_weights_are_those_of_jax():
    np.testing.assert_array_equal(plus_minus_weights(3, 0.7), plus_minus(6, 0.7))


def test_leaky_is_that_of_jax():
    z = np.array([-2.0, -0.0, 0.0, 1e-300, 3.0, -np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(leaky(z, 0.25), leaky_relu(0.25)(jnp.asarray(z)))


@pytest.mark.parametrize("kinds", [(), (3,)])
@pytest.mark.parametrize("biased", [False, True])
def test_outputs_are_those_of_jax(kinds, biased, monkeypatch):
    draw = np.random.default_rng(0)
    hidden, output, inputs = draw.normal(size=(4, 2)), draw.normal(size=(*kinds, 4)), draw.normal(size=(7, 2))
    bias = draw.normal(size=4) if biased else None
    biases = None if bias is None else jnp.asarray(bias)
    network = TwoLayer(jnp.asarray(hidden), jnp.asarray(output), biases, leaky_relu(0.2))
    found = outputs_of(hidden, output, inputs, 0.2, bias)
    np.testing.assert_allclose(found, jax.vmap(network)(jnp.asarray(inputs)), rtol=1e-13)
    monkeypatch.setattr(arrays, "BLOCK", 12)
    np.testing.assert_allclose(outputs_by_blocks(hidden, output, inputs, 0.2, bias), found, rtol=1e-13)
    assert outputs_by_blocks(hidden, output, inputs[:0], 0.2, bias).shape == (0, *kinds)
