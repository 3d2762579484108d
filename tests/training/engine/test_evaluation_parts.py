"""A look at several samples of which one alone is no number, and at networks larger than one piece."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import hinge
from widenet.networks import PiecewiseLinear, TwoLayer, relu
from widenet.training.engine.evaluation import any_sample_moves, look
from widenet.training.stopping import zero_loss
from widenet.types import Dataset, Layers


def line(row, activation=None):
    """x ↦ max(row · x, 0)"""
    return TwoLayer(jnp.asarray([[row]]), jnp.asarray([1.0]), None, activation or relu())


def seen(network, points, labels):
    data = Dataset(jnp.asarray(points)[:, None], jnp.asarray(labels))
    found = look(network, data, loss=hinge, goal=zero_loss)
    return bool(found.finite), float(found.loss)


@pytest.mark.parametrize(
    ("row", "points", "labels", "loss"),
    [
        (2.0, [1.0, 2.0], [1.0, np.nan], np.nan),
        (2.0, [1.0, np.nan], [1.0, 1.0], np.nan),
        (1e308, [1.0, 100.0], [1.0, 1.0], np.nan),  # an infinite output, on the right side
        (1e308, [1.0, 100.0], [1.0, -1.0], np.inf),
        (1e308, [1.0, 1.0], [-1.0, -1.0], np.inf),  # two finite losses whose sum is not
    ],
)
def test_one_sample_that_is_no_number_is_enough(row, points, labels, loss):
    finite, found = seen(line(row), points, labels)
    assert not finite
    np.testing.assert_equal(found, loss)


def test_a_weight_that_is_no_number_is_seen_where_no_sample_meets_it():
    """Samples that activate the unit do not meet the slope below 0."""
    assert seen(line(2.0, PiecewiseLinear(jnp.asarray(jnp.nan), jnp.asarray(1.0))), [1.0, 2.0], [1.0, 1.0])[0] is False
    assert seen(line(2.0), [1.0, 2.0], [1.0, 1.0]) == (True, 0)


class Wide(eqx.Module):
    """Of all its weights one answers."""

    weights: jax.Array

    def __call__(self, x):
        return self.weights[0] * x[0]

    def trainable(self, layers):
        return Wide(True)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("first", "moves"), [(2.0, False), (0.5, True)])
def test_samples_of_a_network_larger_than_a_piece_are_taken_one_by_one(first, moves):
    """A million weights are what gradients are held for at a time."""
    network = Wide(jnp.zeros((1 << 20) + 1).at[0].set(first))
    data = Dataset(jnp.ones((3, 1)), jnp.ones(3))
    assert bool(any_sample_moves(network, data, loss=hinge, layers=Layers.HIDDEN)) == moves
