"""Blocks in which every coefficient is the same number, or in which one row of a batch alone moves anything."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import hinge, logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import Cyclic
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels import KERNELS
from widenet.types import Dataset, Layers


def trained(kernel, loss, inputs, labels, rows, outer, bias, steps, batch=1, rate=1.0):
    """One segment from the beginning; (weights, biases, [updates, mistakes, last update])."""
    tally = jax.tree.map(lambda leaf: leaf[0], Tally.zero(1))
    shift = None if bias is None else jnp.asarray(bias)
    network = TwoLayer(jnp.asarray(rows), jnp.asarray(outer), shift, leaky_relu(0.5))
    data, key = Dataset(jnp.asarray(inputs), jnp.asarray(labels)), jax.random.key(0)
    span = jnp.int32(0), jnp.int32(steps)
    segment = Segment(data, Cyclic(), key, jnp.asarray(rate), None, *span, loss, Layers.HIDDEN, batch)
    after = jax.jit(lambda: KERNELS[kernel](State(network, tally), segment))()
    counts = [int(each) for each in (after.tally.updates, after.tally.mistakes, after.tally.last_update)]
    return after.network.hidden_weights, after.network.bias, counts


def hold_ones(kernel):
    """Coefficients that are all 1, and all −1: neither is a block without an update."""
    rows, _, counts = trained(kernel, hinge, [[1.0], [0.5]], [1.0, 1.0], [[0.125]], [1.0], None, 2)
    np.testing.assert_array_equal(rows, [[1.625]])
    assert counts == [2, 0, 2]
    rows, _, counts = trained(kernel, hinge, [[1.0], [0.5]], [-1.0, -1.0], [[4.0]], [1.0], None, 2)
    np.testing.assert_array_equal(rows, [[2.5]])
    assert counts == [2, 2, 2]


def hold_rows_that_move(kernel):
    """A row of zeros moves nothing without a bias, and the bias alone with one; one of ones, or of −1, moves all."""
    inputs, labels = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, -1.0], [1.0, 0.0]]), np.ones(4)
    for bias in (None, np.array([0.25])):
        rows, shift, expected = np.zeros(2), 0.0 if bias is None else bias[0], 0
        rows += [0.5, 0.25]
        for x in inputs:
            z = rows @ x + shift
            on = 1 if z >= 0 else 0.5
            pull = on / (1 + np.exp(on * z))
            rows, shift = rows + pull * x, shift + pull * (bias is not None)
            expected += bool(x.any() or bias is not None)
        found, moved, counts = trained(kernel, logistic, inputs, labels, [[0.5, 0.25]], [1.0], bias, 4)
        np.testing.assert_allclose(found, rows[None], rtol=1e-14)
        assert counts[0] == expected
        if bias is not None:
            np.testing.assert_allclose(moved, [shift], rtol=1e-14)


@pytest.mark.parametrize("hold", [hold_ones, hold_rows_that_move])
def test_blocked(hold):
    hold("blocked")
