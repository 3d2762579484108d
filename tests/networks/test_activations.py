import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.networks import PiecewiseLinear, leaky_relu, relu

POINTS = np.array([-3.0, -1e-300, -0.0, 0.0, 1e-300, 2.0])


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_values(dtype):
    z = jnp.asarray(POINTS, dtype)
    np.testing.assert_array_equal(leaky_relu(0.25)(z), np.where(POINTS > 0, z, 0.25 * z))
    np.testing.assert_array_equal(relu()(z), np.maximum(z, 0))
    assert leaky_relu(0.25)(z).dtype == dtype


@pytest.mark.parametrize(
    ("activation", "at_zero"),
    [(leaky_relu(0.2), 1.0), (relu(), 0.0), (relu(1.0), 1.0), (PiecewiseLinear(0.2, 0.6), 0.6)],
)
def test_autodiff_sits_exactly_on_the_kink(activation, at_zero):
    for zero in (0.0, -0.0):
        assert jax.grad(activation)(jnp.asarray(zero)) == at_zero
    slopes = jax.vmap(jax.grad(activation))(jnp.asarray(POINTS))
    np.testing.assert_array_equal(slopes, activation.derivative(jnp.asarray(POINTS)))


def test_control_the_two_conventions_differ():
    zero = jnp.asarray(0.0)
    assert jax.grad(relu())(zero) != jax.grad(relu(1.0))(zero)


def test_slopes_may_differ_between_runs():
    slopes = jnp.asarray([0.0, 0.5])
    outputs = jax.vmap(lambda slope: PiecewiseLinear(slope, 1.0)(jnp.asarray(-2.0)))(slopes)
    np.testing.assert_array_equal(outputs, [0.0, -1.0])
