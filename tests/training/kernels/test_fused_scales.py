"""The GPU kernel in float32, interpreted, against SGD in NumPy: powers of two that must fit, and edges of launches."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import forget_programs
from widenet.losses import hinge, logistic
from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.training import Permutation
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels import KERNELS, fused, split_products
from widenet.types import Dataset, Layers

SMALL = 2.0**-12
"""Inputs have this size and weights its inverse, so that a scale meant for the ones does not serve the others."""
SAMPLES, DIM, RATE = 13, 5, 2.0**-10
SPANS = np.array([(0, 1), (0, 13), (2, 29), (7, 7), (11, 60), (25, 27)])
KEY = 3


def slopes_of(loss, outputs, labels):
    """The derivative of the loss at each output."""
    if loss is hinge:
        return np.where(labels * outputs < 1, -labels, 0)
    if loss is logistic:
        return -labels / (1 + np.exp(labels * outputs))
    shares = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    return shares - (np.arange(outputs.shape[1]) == labels[:, None])


def margins_of(outputs, labels):
    """What is positive where the answer is right."""
    if outputs.ndim == 1:
        return labels * outputs
    own = np.arange(outputs.shape[1]) == labels[:, None]
    return outputs[own] - np.where(own, -np.inf, outputs).max(axis=1)


def by_hand(span, batches, inputs, labels, rows, outer, kink, rate, loss):
    """(W, updates, mistakes, the number of the last update or 0) after the steps of the span, in float64."""
    rows, outer = rows.astype(float), outer.astype(float)
    updates = mistakes = last = 0
    for step in range(*span):
        x, y = inputs[batches[step]].astype(float), labels[batches[step]]
        z = x @ rows.T
        on = np.where(z > 0, 1, np.where(z < 0, kink[0], kink[1]))
        outputs = (z * on) @ outer.T
        slopes = slopes_of(loss, outputs, y)
        pulls = (slopes[:, None] * outer if outer.ndim == 1 else slopes @ outer) * on
        change = -rate / len(x) * pulls.T @ x
        rows = rows + change
        updates, mistakes = updates + change.any(), mistakes + (margins_of(outputs, y) <= 0).sum()
        last = step + 1 if change.any() else last
    return rows, updates, mistakes, last


def hold_in(dtype, kernel, loss, problems, batch, bias, spans=SPANS, order: Any = Permutation()):  # noqa: B008
    """Each problem (inputs, labels, rows, outer, (slope, σ'(0)), rate) over each span, all in one program.

    Inputs, rows and step are brought to their odd sizes here; a bias is the last column of the rows, and the last input
    is 1 then. Counts go on from numbers that are all different.
    """
    cases, rtol = [], 3e-6 if dtype == np.float32 else 1e-12
    for inputs, labels, rows, outer, kink, rate in problems:
        inputs = (inputs * (1 if bias else SMALL)).astype(dtype)
        rows = (rows / (1 if bias else SMALL)).astype(dtype)
        cases += [(span, inputs, labels.astype(dtype), rows, outer.astype(dtype), kink, rate) for span in spans]
    sized = [rate / (1 if bias else SMALL**2) for *_, rate in cases]
    key, n_samples = jax.random.key(KEY), len(problems[0][0])

    @jax.jit
    @jax.vmap
    def go(span, inputs, labels, rows, outer, kink, rate):
        given, shift = (inputs[:, :-1], rows[:, -1]) if bias else (inputs, None)
        network = TwoLayer(rows[:, : given.shape[1]], outer, shift, PiecewiseLinear(kink[0], kink[1]))
        tally = Tally(span[0] + 5, (span[0] + 9).astype(jnp.int64), span[0] // 2)
        data = Dataset(given, labels)
        segment = Segment(data, order, key, rate, None, span[0], span[1], loss, Layers.HIDDEN, batch)
        return KERNELS[kernel](State(network, tally), segment)

    columns = [np.stack(column) for column in zip(*(case[:-1] for case in cases), strict=True)]
    columns[0], columns[5] = columns[0].astype(np.int32), columns[5].astype(dtype)
    after = go(*(jnp.asarray(column) for column in (*columns, np.asarray(sized, dtype))))
    epochs = jax.jit(jax.vmap(lambda epoch: order.epoch(key, epoch, n_samples, batch)))(jnp.arange(8))
    batches = np.concatenate(epochs)
    for place, (span, inputs, labels, rows, outer, kink, _) in enumerate(cases):
        wanted, updates, mistakes, last = by_hand(span, batches, inputs, labels, rows, outer, kink, sized[place], loss)
        found = np.asarray(after.network.hidden_weights[place])
        assert found.dtype == dtype
        if bias:
            found = np.concatenate([found, np.asarray(after.network.bias[place])[:, None]], axis=1)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=rtol * np.abs(wanted).max(), err_msg=f"{place}")
        counts = [int(each[place]) for each in (after.tally.updates, after.tally.mistakes, after.tally.last_update)]
        assert counts == [span[0] + 5 + updates, span[0] + 9 + mistakes, last or span[0] // 2], (place, span)


def drawn(kink, seed=0, labels=None, width=20):
    """Few large output weights among small ones, a row of zeros, and rows that are small beside their updates."""
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(SAMPLES, DIM))
    inputs[4] = 0
    outer = draw.choice([-0.25, 0.25], width)
    outer[[0, 1, 18]] = 16, -16, 0.125
    rows = 2.0**-9 * draw.normal(size=(width, DIM))
    rows[1] = 0
    chosen = np.where(draw.random(SAMPLES) < 0.5, -1, 1) if labels is None else np.full(SAMPLES, labels)
    return inputs, chosen, rows, outer, kink, RATE


def one_sided(label):
    """All samples have this label; outputs of that sign lie between 0 and 1, and hardly move."""
    inputs, labels, rows, outer, kink, _ = drawn((0.25, 0.5), labels=label, width=32)
    inputs[:, 0] = 1
    rows, outer = 0 * rows, np.abs(outer)
    rows[:, 0] = 2.0**-6 * (label or 1)
    return inputs, labels, rows, outer, kink, 2.0**-20


def only_inside(access):
    """The same access to device memory, whose numbers are NaN if it reaches outside: a GPU has other memory there."""

    def guarded(ref, place, exists, *values):
        outside = [exists & ((index < 0) | (index >= size)) for index, size in zip(place, ref.shape, strict=True)]
        fails = jnp.any(outside[0] | outside[1])
        values = [jnp.where(fails, jnp.nan, value) for value in values]
        found = access(ref, place, exists, *values)
        return found if values else jnp.where(fails, jnp.nan, found)

    return guarded


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Three strides to a block, two tiles of neurons and of columns; without optimizations, as in `test_fused`."""
    if jax.default_backend() == "gpu":
        pytest.skip("interpreted on a CPU")
    for name, value in {"ROWS": 6, "STRIDE": 2, "NEURONS": 16, "COLUMNS": 4, "LAUNCH": 30}.items():
        monkeypatch.setattr(fused, name, value)
    for name in ("loaded", "stored"):
        monkeypatch.setattr(fused, name, only_inside(getattr(split_products, name)))
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    forget_programs()


@pytest.mark.usefixtures("half_precision")
def test_logistic_steps_in_float32(monkeypatch):
    """σ'(0) = 16 makes the largest coefficient; a ReLU has the steepest slope 1 although both its numbers are 0."""
    monkeypatch.setattr(fused, "LAUNCH", 5)  # less than an epoch: a launch is a whole one all the same
    hold_in(np.float32, "fused", logistic, [drawn((0.25, 16.0)), drawn((0.0, 0.0), 1)], 1, bias=False)


@pytest.mark.usefixtures("half_precision")
def test_hinge_steps_in_float32():
    """A label of 0 has no slope, and is a mistake all the same. So many neurons fill two tiles to the last place."""
    problems = [drawn((0.25, 16.0), width=32), drawn((0.0, 0.0), 1, width=32), *map(one_sided, (1, -1, 0))]
    hold_in(np.float32, "fused", hinge, problems, 1, bias=False)


def test_every_row_that_a_pass_reads_is_there(monkeypatch):
    """Blocks begin anywhere, and one pass follows the last of them; on a GPU nobody would notice what lies beyond."""
    lengths = []

    def program(loss, n_neurons, dim, dtype):
        def run(weights, outgoing, rows, labels, moves, numbers, bounds, counts, *others):
            lengths.append((len(rows), len(labels), len(moves)))
            return weights, counts

        return run

    monkeypatch.setattr(fused, "_program", program)
    data = Dataset(jnp.ones((SAMPLES, 1)), jnp.ones(SAMPLES))
    network = TwoLayer(jnp.ones((2, 1)), jnp.ones(2), None, PiecewiseLinear(0.5, 1.0))
    span, tally = (jnp.int32(3), jnp.int32(20)), jax.tree.map(lambda leaf: leaf[0], Tally.zero(1))
    key, step = jax.random.key(KEY), jnp.asarray(0.5)
    fused.advance(State(network, tally), Segment(data, Permutation(), key, step, None, *span, hinge, Layers.HIDDEN, 1))
    steps, rows = 2 * SAMPLES, fused.ROWS  # two epochs fit into a launch
    passes = [(first, 1 + -(-(steps - first) // rows)) for first in range(steps)]
    furthest = max(first + rows * count for first, count in passes)
    assert lengths
    assert all(length >= furthest for each in lengths for length in each)


def test_the_slope_of_the_logistic_loss_has_a_short_form():
    outputs, labels = np.array([0.5, -2.0, 1.0]), np.array([1.0, 1.0, -1.0])
    for loss in (hinge, logistic):
        found = fused._loss_slope(loss, jnp.asarray(outputs), jnp.asarray(labels))
        np.testing.assert_allclose(found, slopes_of(loss, outputs, labels), rtol=1e-14)
    np.testing.assert_allclose(slopes_of(logistic, outputs, labels), [-0.37754067, -0.88079708, 0.73105858], rtol=1e-7)
