"""The field of a flow and what it starts from, against NumPy; whole runs are in the other files."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import cross_entropy, logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import Cyclic, LinearClock, LossClock
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.flow.solver import FIRST, FlowSolver, _lengths, _norms, _rows
from widenet.training.flow.state import KEPT, unbegun
from widenet.training.stopping import loss_below, zero_error
from widenet.types import Dataset, Layers, RunStatus

SLOPE, SAMPLES, NEURONS, DIM = 0.25, 5, 4, 3


@functools.cache
def drawn(n_outputs, bias):
    """(rows, outer, bias, inputs, labels) in NumPy."""
    draw = np.random.default_rng(4)
    rows, inputs = draw.normal(size=(NEURONS, DIM)), draw.normal(size=(SAMPLES, DIM))
    outer = draw.normal(size=(n_outputs, NEURONS) if n_outputs else NEURONS)
    labels = draw.integers(0, 3, SAMPLES).astype(float) if n_outputs else np.array([1.0, -1, 1, 1, -1])
    return rows, outer, draw.normal(size=NEURONS) if bias else None, inputs, labels


def course(n_outputs=None, bias=False, layers=Layers.HIDDEN, clock=None, rules=()):
    parts: Any = [None if part is None else jnp.asarray(part) for part in drawn(n_outputs, bias)]
    rows, outer, shift, inputs, labels = parts
    network = TwoLayer(rows, outer, shift, leaky_relu(SLOPE))
    own = unbegun(NEURONS, SAMPLES, 2, tuple(name for name, _ in rules), jnp.float64)
    state = State(network, jax.tree.map(lambda leaf: leaf[0], Tally.zero(1)), None, own)
    loss, step = cross_entropy if n_outputs else logistic, jnp.asarray(0.5)
    segment = Segment(
        Dataset(inputs, labels),
        Cyclic(),
        jax.random.key(0),
        step,
        None,
        jnp.int32(3),
        jnp.int32(7),
        loss,
        layers,
        SAMPLES,
    )
    return FlowSolver(
        state, segment, clock=clock or LinearClock(0.5), tolerance=1e-8, rules=rules, most_solver_steps=100
    )


def gradient(n_outputs, bias):
    """(by rows with their biases, by output weights, mean loss) of the mean loss."""
    rows, outer, shift, inputs, labels = drawn(n_outputs, bias)
    if bias:
        rows, inputs = np.c_[rows, shift], np.c_[inputs, np.ones(SAMPLES)]
    z = inputs @ rows.T
    factors = np.where(z > 0, 1, SLOPE)
    outputs = (factors * z) @ outer.T
    if n_outputs:
        shares = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        own = labels[:, None] == np.arange(n_outputs)
        slopes, loss = (shares - own) / SAMPLES, -np.log(shares[own]).mean()
        return ((slopes @ outer) * factors).T @ inputs, slopes.T @ (factors * z), loss
    slopes, loss = -labels / (1 + np.exp(labels * outputs)) / SAMPLES, np.log1p(np.exp(-labels * outputs)).mean()
    return (slopes[:, None] * outer * factors).T @ inputs, slopes @ (factors * z), loss


@pytest.mark.parametrize(
    ("n_outputs", "bias", "layers", "clock"),
    [(None, False, Layers.HIDDEN, LossClock(0.5)), (3, True, Layers.BOTH, LinearClock(0.5))],
)
def test_the_field_is_the_gradient_by_the_clocks_time(n_outputs, bias, layers, clock):
    """A `LossClock` runs 1/L times as fast as time does, and d log(1 + t)/du is its rate over 1 + t."""
    asked = course(n_outputs, bias, layers, clock)
    begin = asked._begin()
    place = (*begin.place[:2], jnp.asarray(0.75))
    rows, second, passed = jax.jit(
        lambda place: asked.velocity(place, jnp.asarray(1.5), asked.frozen(begin.own.pattern))
    )(place)
    by_rows, by_second, loss = gradient(n_outputs, bias)
    rate = 1 / loss if isinstance(clock, LossClock) else 1
    np.testing.assert_allclose(rows, -rate * by_rows, atol=1e-14)
    if layers is Layers.BOTH:
        np.testing.assert_allclose(second, -rate * by_second, atol=1e-14)
    else:
        assert second is None
    np.testing.assert_allclose(passed, np.exp(-0.75) / loss if rate != 1 else 0, rtol=1e-12)


@pytest.mark.parametrize("bias", [False, True])
def test_rows_hold_the_biases(bias):
    asked = course(bias=bias)
    rows, outer, shift, *_ = drawn(None, bias)
    found = _rows(asked.first)
    np.testing.assert_array_equal(found, np.c_[rows, shift] if bias else rows)
    back = asked.network((found + 1, None, jnp.zeros(())))
    np.testing.assert_array_equal(back.hidden_weights, rows + 1)
    np.testing.assert_array_equal(back.output_weights, outer)
    if shift is None:
        assert back.bias is None
    else:
        np.testing.assert_array_equal(np.asarray(back.bias), shift + 1)
    moved = asked.network((found, jnp.asarray(2 * outer), jnp.zeros(())))
    np.testing.assert_array_equal(moved.output_weights, 2 * outer)


def test_norms_of_neurons_have_their_output_weights_where_these_move():
    rows, outer, *_ = drawn(3, True)
    np.testing.assert_allclose(_lengths(jnp.asarray(rows)), np.linalg.norm(rows, axis=1))
    np.testing.assert_allclose(_norms((jnp.asarray(rows), None, jnp.zeros(()))), np.linalg.norm(rows, axis=1))
    both = np.concatenate([rows, outer.T], axis=1)
    np.testing.assert_allclose(
        _norms((jnp.asarray(rows), jnp.asarray(outer), jnp.zeros(()))), np.linalg.norm(both, axis=1)
    )


def test_the_loop_before_its_first_turn():
    rules = (("separated", zero_error), ("easy", loss_below(1e6)))
    asked = course(rules=rules)
    begin = asked._begin()
    rows, outer, _, inputs, _ = drawn(None, False)
    z = rows @ inputs.T
    np.testing.assert_array_equal(begin.own.pattern.sides, np.sign(z))
    assert (begin.own.pattern.slots == -1).all()
    np.testing.assert_allclose(begin.outputs, outer @ (np.where(z > 0, 1, SLOPE) * z), rtol=1e-12)
    np.testing.assert_allclose(begin.own.reach, np.linalg.norm(rows, axis=1))
    np.testing.assert_allclose(begin.own.solver_step, FIRST * 0.5)
    assert (int(begin.number), float(begin.into), int(begin.tried)) == (3, 0, 0)
    assert bool(begin.solver[0])
    events = begin.own.report.events
    assert (float(events["easy"].reading), float(events["easy"].log_time)) == (0, -np.inf)
    assert np.isnan([float(events["separated"].reading), float(events["separated"].log_time)]).all()


def test_nothing_has_happened_before_the_first_step():
    state = unbegun(NEURONS, SAMPLES, 2, ("low",), jnp.float64)
    report = state.report
    assert int(report.status) == RunStatus.RUNNING
    assert (float(report.now.reading), float(report.now.log_time)) == (0, -np.inf)
    assert [int(each) for each in (report.crossings.neuron, report.crossings.sample, report.corners.neuron)] == [-1] * 3
    for counts in (report.crossings.count, report.sliding.count, report.corners.count, report.solver_steps):
        assert int(counts) == 0
    moments = (report.crossings.first, report.crossings.last, report.corners.first, report.events["low"].reading)
    assert np.isnan([float(each) for each in (*moments, report.events["low"].log_time)]).all()
    np.testing.assert_array_equal(report.sliding.neuron, np.full(KEPT, -1))
    np.testing.assert_array_equal(report.sliding.sample, np.full(KEPT, -1))
    assert np.isnan(report.sliding.begun).all()
    assert np.isnan(report.sliding.ended).all()
    assert (float(state.solver_step), float(state.passed)) == (0, 0)
    np.testing.assert_array_equal(state.reach, np.zeros(NEURONS))
    np.testing.assert_array_equal(state.pattern.slots, np.full((NEURONS, 2), -1))
    np.testing.assert_array_equal(state.pattern.episodes, np.full((NEURONS, 2), -1))
    np.testing.assert_array_equal(state.pattern.sides, np.zeros((NEURONS, SAMPLES)))
    np.testing.assert_array_equal(state.pattern.inverse, np.zeros((NEURONS, 2, 2)))
