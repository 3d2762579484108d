"""The oracle itself: its parts against NumPy, and a segment against SGD written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.kernels.test_block import hold_against
from widenet.losses import hinge, logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import Cyclic
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels import plain
from widenet.types import Dataset, Layers


@pytest.mark.parametrize(
    ("loss", "layers", "batch", "bias"), [(hinge, Layers.HIDDEN, 2, False), (logistic, Layers.BOTH, 1, True)]
)
def test_a_segment_is_sgd(loss, layers, batch, bias):
    hold_against("plain", loss, layers, batch, bias)


def test_one_entry_that_is_not_zero_is_enough():
    zeros, one = jnp.zeros(2), jnp.asarray([0.0, 1.0])
    assert not plain.is_any_nonzero((zeros, zeros))
    assert plain.is_any_nonzero((zeros, one))
    assert plain.is_any_nonzero((one, zeros))
    assert plain.is_any_nonzero((zeros, jnp.asarray([0.0, jnp.nan])))
    last = jnp.zeros((3, 2)).at[2, 1].set(-1e-300)
    for leaf in (last, last[2, 1], last[None]):
        assert plain.is_any_nonzero(leaf)
        assert not plain.is_any_nonzero(0 * leaf)


@pytest.mark.parametrize("layers", list(Layers))
def test_the_gradient_has_no_part_at_weights_that_stay(layers):
    network = TwoLayer(jnp.asarray([[2.0, 0.0]]), jnp.asarray([0.25]), None, leaky_relu(0.5))
    inputs, labels = jnp.asarray([[1.0, 0.0], [-1.0, 1.0]]), jnp.asarray([1.0, 1.0])
    gradient, outputs, _ = plain.gradient_of(network, inputs, labels, loss=hinge, layers=layers)
    np.testing.assert_allclose(outputs, [0.5, -0.25])
    np.testing.assert_allclose(gradient.hidden_weights, [[(-0.25 + 0.125) / 2, -0.125 / 2]])
    if layers is Layers.BOTH:
        np.testing.assert_allclose(gradient.output_weights, [(-2 + 1) / 2])
    else:
        assert gradient.output_weights is None


def test_descent_goes_the_step_times_the_gradient_down():
    (change,) = plain.descend((jnp.asarray([2.0, -4.0], jnp.float32),), jnp.asarray(0.25))
    np.testing.assert_array_equal(change, [-0.5, 1.0])
    assert change.dtype == jnp.float32


def test_a_watch_is_told_the_number_of_each_step():
    network = TwoLayer(jnp.asarray([[2.0, 0.0]]), jnp.asarray([0.25]), None, leaky_relu(0.5))
    data = Dataset(jnp.asarray([[1.0, 0.0], [-1.0, 1.0]]), jnp.asarray([1.0, 1.0]))
    tally = jax.tree.map(lambda leaf: leaf[0], Tally.zero(1))
    step = jnp.asarray(0.5)
    segment = Segment(
        data, Cyclic(), jax.random.key(0), step, None, jnp.int32(6), jnp.int32(9), hinge, Layers.HIDDEN, 2
    )
    seen = plain.seen_step(State(network, tally), segment)
    assert int(seen.number) == 7
    np.testing.assert_allclose(seen.outputs, [0.5, -0.25])
