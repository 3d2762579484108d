import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data import from_arrays
from widenet.diagnostics import margins, mean_loss, training_error
from widenet.losses import hinge
from widenet.networks import leaky_relu, make_two_layer
from widenet.types import Dataset


@functools.cache
def four() -> Dataset:
    return from_arrays([[1.0], [2.0], [-3.0], [0.0]], [1, -1, -1, 1])


def identity(x):
    return x[0]


def test_margins_are_signed_outputs():
    np.testing.assert_array_equal(margins(identity, four()), [1, -2, 3, 0])


def test_an_undecided_point_is_an_error():
    assert training_error(identity, four()) == 0.5


def test_an_output_that_is_not_a_number_is_an_error():
    assert training_error(lambda x: x[0] * jnp.nan, four()) == 1


def test_mean_loss_is_the_mean_of_the_losses():
    assert mean_loss(identity, four(), hinge) == (0 + 3 + 0 + 1) / 4


def test_margins_of_a_network_are_those_of_its_points_one_by_one():
    key = jax.random.key(0)
    network = make_two_layer(key, 10, 1, leaky_relu(0.2))
    one_by_one = [float(y * network(x)) for x, y in zip(four().inputs, four().labels, strict=True)]
    assert margins(network, four()).tolist() == pytest.approx(one_by_one, rel=1e-12)
