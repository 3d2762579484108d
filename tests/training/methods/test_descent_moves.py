"""Whether gradient descent would still move: the gradient decides, not the outputs and not single samples."""

import jax.numpy as jnp
import pytest

from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import GradientDescent
from widenet.types import Dataset, Layers


@pytest.mark.parametrize(
    ("weight", "labels", "moves"),
    [
        (5.0, [1.0], False),  # learned: the output is not zero, the gradient is
        (5.0, [-1.0], True),
        (0.5, [1.0, -1.0], False),  # two samples at one point that pull against each other
        (0.0, [1.0], True),  # no output yet
    ],
)
def test_a_zero_gradient_moves_nothing_whatever_the_outputs_are(weight, labels, moves):
    net = TwoLayer(jnp.full((1, 1), weight), jnp.ones(1), None, leaky_relu(0.5))
    data = Dataset(jnp.ones((len(labels), 1)), jnp.asarray(labels))
    found = GradientDescent.moves_left(net, data, loss=hinge, layers=Layers.HIDDEN)
    assert bool(found) is moves
