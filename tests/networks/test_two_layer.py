import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.networks import leaky_relu, make_two_layer, plus_minus
from widenet.types import Layers


def test_output_is_the_formula():
    network = make_two_layer(jax.random.key(0), 6, 4, leaky_relu(0.2), bias=True)
    network = eqx.tree_at(lambda net: net.bias, network, jnp.arange(6.0) - 3)
    x = np.array([0.3, -0.2, 0.9, 0.1])
    z = np.asarray(network.hidden_weights) @ x + np.asarray(network.bias)
    expected = np.asarray(network.output_weights) @ np.where(z > 0, z, 0.2 * z)
    np.testing.assert_allclose(network(jnp.asarray(x)), expected, rtol=1e-14)


def test_default_initialization_is_equation_6():
    network = make_two_layer(jax.random.key(1), 50, 7, leaky_relu(0.2))
    np.testing.assert_allclose(np.linalg.norm(network.hidden_weights, axis=1), 50**-0.5, rtol=1e-14)
    np.testing.assert_array_equal(network.output_weights, np.repeat([50**-0.5, -(50**-0.5)], 25))
    assert network.bias is None
    other = make_two_layer(jax.random.key(1), 50, 7, leaky_relu(0.2), output_weight=3.0)
    np.testing.assert_array_equal(other.output_weights, np.repeat([3.0, -3.0], 25))
    np.testing.assert_array_equal(other.hidden_weights, network.hidden_weights)


def test_float32_starts_at_the_rounded_float64_weights():
    wide, narrow = (
        make_two_layer(jax.random.key(2), 10, 5, leaky_relu(0.2), dtype=dtype) for dtype in (jnp.float64, jnp.float32)
    )
    np.testing.assert_array_equal(np.asarray(wide.hidden_weights).astype(np.float32), narrow.hidden_weights)


@pytest.mark.parametrize("bias", [True, False])
def test_trainable_marks_the_moving_leaves(bias):
    network = make_two_layer(jax.random.key(0), 4, 3, leaky_relu(0.2), bias=bias)
    for layers in Layers:
        moving, fixed = eqx.partition(network, network.trainable(layers))
        assert moving.hidden_weights is not None
        assert (moving.bias is not None) == bias
        assert (moving.output_weights is not None) == (layers is Layers.BOTH)
        assert fixed.activation.slope == 0.2


def test_odd_plus_minus_is_refused():
    with pytest.raises(ValueError, match="even number of neurons, got 5"):
        plus_minus(5, 1.0)
