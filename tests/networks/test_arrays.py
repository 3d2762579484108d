"""The forms in NumPy do what those in JAX do."""

import jax.numpy as jnp
import numpy as np

from widenet.networks import leaky_relu, plus_minus
from widenet.networks.arrays import leaky, plus_minus_weights


def test_output_weights_are_those_of_jax():
    np.testing.assert_array_equal(plus_minus_weights(3, 0.7), plus_minus(6, 0.7))


def test_leaky_is_that_of_jax():
    z = np.array([-2.0, -0.0, 0.0, 1e-300, 3.0, -np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(leaky(z, 0.25), leaky_relu(0.25)(jnp.asarray(z)))
