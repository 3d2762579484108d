"""Every way through a block, called directly, against SGD in plain NumPy; twins, zeros and segments that cut blocks."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import hinge, logistic
from widenet.networks import ConvMaxPool, TwoLayer, leaky_relu
from widenet.training import Cyclic
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels import KERNELS, block
from widenet.types import Dataset, Layers

SLOPE, RATE, SAMPLES, NEURONS, DIM = 0.25, 0.5, 12, 4, 3
SPANS = ((0, 1), (0, 12), (2, 29), (7, 7), (11, 13), (12, 20))


def problem(bias):
    """Samples of one batch that are equal or opposite, and one of zeros; some are right from the start."""
    draw = np.random.default_rng(2)
    inputs = np.round(4 * draw.normal(size=(SAMPLES, DIM))) / 4
    inputs[3], inputs[5], inputs[8] = inputs[2], -inputs[4], 0
    labels = np.where(inputs @ [1.0, 0.5, -0.5] + 0.1 > 0, 1.0, -1.0)
    labels[3] = -labels[2]
    rows, outer = np.round(4 * draw.normal(size=(NEURONS, DIM))) / 4, np.array([0.5, 0.5, -0.5, -0.5])
    return inputs, labels, rows, outer, np.array([0.25, 0, 0, -0.25]) if bias else None


def by_hand(span, loss, both, batch, bias):
    """(W, a, b, updates, mistakes, the number of the last update) after the steps of the span."""
    inputs, labels, rows, outer, shift = problem(bias)
    shift = np.zeros(NEURONS) if shift is None else shift
    updates = mistakes = last = 0
    for step in range(*span):
        chosen = step % (SAMPLES // batch) * batch + np.arange(batch)
        x, y = inputs[chosen], labels[chosen]
        z = x @ rows.T + shift
        factors = np.where(z > 0, 1, SLOPE)
        outputs = (factors * z) @ outer
        margins = y * outputs
        slopes = np.where(margins < 1, -y, 0) if loss is hinge else -y / (1 + np.exp(margins))
        pulls = -RATE / batch * slopes[:, None] * outer * np.where(z > 0, 1, np.where(z < 0, SLOPE, 1))
        changes = [pulls.T @ x, pulls.sum(axis=0) * bias, -RATE / batch * slopes @ (factors * z) * both]
        is_update = any((np.abs(change) > 1e-14).any() for change in changes)  # twins cancel up to rounding here
        rows, shift, outer = rows + changes[0], shift + changes[1], outer + changes[2]
        updates, mistakes = updates + is_update, mistakes + (margins <= 0).sum()
        last = step + 1 if is_update else last
    return rows, outer, shift, updates, mistakes, last


def hold_against(kernel, loss, layers, batch, bias, spans=SPANS):
    """Segments by this kernel, all in one program, against NumPy."""
    parts: Any = [None if part is None else jnp.asarray(part) for part in problem(bias)]
    inputs, labels, rows, outer, shift = parts
    tally = jax.tree.map(lambda leaf: leaf[0], Tally.zero(1))
    state = State(TwoLayer(rows, outer, shift, leaky_relu(SLOPE, 1.0)), tally)
    data, key, rate = Dataset(inputs, labels), jax.random.key(0), jnp.asarray(RATE)

    @jax.jit
    @jax.vmap
    def go(start, stop):
        return KERNELS[kernel](state, Segment(data, Cyclic(), key, rate, None, start, stop, loss, layers, batch))

    after = go(*jnp.asarray(spans, jnp.int32).T)
    idle = []
    for place, span in enumerate(spans):
        rows, outer, shift, *counts = by_hand(span, loss, layers is Layers.BOTH, batch, bias)
        np.testing.assert_allclose(after.network.hidden_weights[place], rows, atol=1e-12)
        np.testing.assert_allclose(after.network.output_weights[place], outer, atol=1e-12)
        if bias:
            np.testing.assert_allclose(after.network.bias[place], shift, atol=1e-12)
        tally = after.tally
        assert [int(each[place]) for each in (tally.updates, tally.mistakes, tally.last_update)] == counts, span
        idle.append(counts[0] < span[1] - span[0])
    assert any(idle) == (loss is hinge or not bias)  # else every step moves something


@pytest.mark.parametrize(
    ("kernel", "loss", "layers", "batch", "bias"),
    [
        ("blocked", logistic, Layers.HIDDEN, 1, False),  # a loop that keeps coefficients alone
        ("blocked", logistic, Layers.HIDDEN, 2, True),  # written out
        ("gram", logistic, Layers.BOTH, 1, True),
        ("gram", hinge, Layers.BOTH, 2, False),  # from active step to active step
        ("blocked", hinge, Layers.HIDDEN, 2, False),
        ("single", hinge, Layers.HIDDEN, 1, True),
        ("single", logistic, Layers.BOTH, 1, False),
    ],
)
def test_a_segment_is_sgd(kernel, loss, layers, batch, bias):
    hold_against(kernel, loss, layers, batch, bias)


def test_what_a_block_can_do():
    network = TwoLayer(jnp.ones((2, 2)), jnp.ones(2), None, leaky_relu(0.5))
    assert block.fits(network, None)
    assert not block.fits(network, object())
    assert not block.fits(ConvMaxPool(jnp.zeros((2, 4, 2)), jnp.zeros((2, 4))), None)
