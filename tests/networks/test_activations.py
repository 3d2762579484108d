import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.networks import Huberized, PiecewiseLinear, huberized_relu, leaky_relu, relu

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


H = 1 / 7
HUBER_TABLE = [
    # z, h, φ, φ': computed apart from the code
    (-0.02, H, 0, 0),
    (0.05, H, 0.00875, 0.35),
    (0.3, H, 0.228571428571, 1),
    (H, H, 0.0714285714286, 1),
    (0.0, H, 0, 0),
    (0.1, 0.4, 0.0125, 0.25),
    (0.4, 0.4, 0.2, 1),
    (1.3, 0.4, 1.1, 1),
]


@pytest.mark.parametrize(("z", "h", "value", "slope"), HUBER_TABLE)
def test_huberized_relu_and_its_derivatives(z, h, value, slope):
    activation, at = huberized_relu(h), jnp.asarray(z)
    assert activation(at) == pytest.approx(value, rel=1e-11)
    assert activation.derivative(at) == pytest.approx(slope, rel=1e-12)
    assert jax.grad(activation)(at) == pytest.approx(slope, rel=1e-12)


@pytest.mark.parametrize("z", [-1e200, 1e200])
def test_a_huberized_relu_does_not_overflow_where_it_is_linear(z):
    activation = huberized_relu(1e-3)
    assert activation(jnp.asarray(z)) == max(z, 0)
    assert jax.grad(activation)(jnp.asarray(z)) == (z > 0)


def test_bandwidths_may_differ_between_runs():
    outputs = jax.vmap(lambda h: Huberized(h)(jnp.asarray(0.5)))(jnp.asarray([1.0, 0.5, 0.1]))
    np.testing.assert_allclose(outputs, [0.125, 0.25, 0.45])


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, float("inf"), float("nan")])
def test_a_bandwidth_is_positive(bandwidth):
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        huberized_relu(bandwidth)
