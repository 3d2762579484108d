import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.networks import ConvMaxPool, make_conv_maxpool, plus_minus
from widenet.types import Layers

PATCHES = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])


def point(*numbers):
    return jnp.asarray(PATCHES[np.array(numbers) - 1].ravel())


def gradient(network, x):
    return jax.grad(lambda filters: ConvMaxPool(filters, network.output_weights)(x))(network.filters)


def test_output_is_the_formula():
    network = make_conv_maxpool(jax.random.key(0), 6, 1.0)
    x = point(1, 4, 2, 2, 3)
    fits = np.asarray(network.filters) @ np.asarray(x).reshape(5, 2).T
    expected = np.maximum(fits, 0).max(axis=1) @ np.array([1, 1, 1, -1, -1, -1])
    np.testing.assert_allclose(network(x), expected, rtol=1e-14)


def test_the_order_and_number_of_patches_do_not_matter():
    network = make_conv_maxpool(jax.random.key(1), 6, 1.0)
    for other in (point(2, 1, 4), point(4, 2, 1, 1, 1), point(1, 2, 4, 4)):
        assert network(other) == network(point(1, 2, 4))
        np.testing.assert_array_equal(gradient(network, other), gradient(network, point(1, 2, 4)))


@pytest.mark.parametrize(
    ("weights", "numbers", "winner"),
    [
        ([1.0, 0.0], (2, 1), (1.0, 1.0)),  # p₁ and p₂ fit equally: the larger second coordinate
        ([1.0, 0.0], (1, 2, 2, 2), (1.0, 1.0)),  # whatever the multiplicity
        ([0.0, -1.0], (3, 2), (1.0, -1.0)),  # p₂ and p₃: the larger first coordinate
        ([-1.0, 0.0], (3, 4), (-1.0, 1.0)),  # p₃ and p₄
        ([0.0, 1.0], (4, 1), (1.0, 1.0)),  # p₄ and p₁
        ([0.0, 0.0], (1, 2, 3, 4), (0.0, 0.0)),  # ReLU'(0) = 0
        ([1.0, -1.0], (1, 3), (0.0, 0.0)),  # a best fit of exactly 0
        ([1.0, 1.0], (2, 3, 4), (0.0, 0.0)),  # a best fit of 0 beside a negative one
    ],
)
def test_the_derivative_at_ties_and_kinks(weights, numbers, winner):
    network = ConvMaxPool(jnp.asarray([weights, [0.0, 0.0]]), plus_minus(2, 1.0))
    np.testing.assert_array_equal(gradient(network, point(*numbers)), [winner, (0.0, 0.0)])


def test_initial_filters_do_not_depend_on_the_batch_and_have_the_scale():
    keys = jax.random.split(jax.random.key(2), 50)
    together = jax.jit(jax.vmap(lambda key: make_conv_maxpool(key, 40, 0.01)))(keys)
    np.testing.assert_array_equal(together.filters[7], make_conv_maxpool(keys[7], 40, 0.01).filters)
    assert np.std(together.filters) == pytest.approx(0.01, rel=0.05)
    np.testing.assert_array_equal(together.output_weights[0], np.repeat([1.0, -1.0], 20))


def test_trainable_marks_the_moving_leaves():
    network = make_conv_maxpool(jax.random.key(0), 4, 1.0)
    assert jax.tree.leaves(network.trainable(Layers.HIDDEN)) == [True, False]
    assert jax.tree.leaves(network.trainable(Layers.BOTH)) == [True, True]
