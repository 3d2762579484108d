"""The small trainer takes the engine's steps, and knows when it is done."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu, plus_minus, relu
from widenet.papers.brutzkus2018.runs.basis import BasisShape, basis_start
from widenet.papers.brutzkus2018.runs.online import OnlineStart, train_online
from widenet.training import SGD, Recipe, train
from widenet.types import Dataset


def small_start(seed=3, **others):
    shape = BasisShape(n_runs=20, dim=8, half_width=2, step_size=0.3)
    return dataclasses.replace(basis_start(np.random.default_rng(seed), shape, seed=seed), **others)


def one_point(plus, minus, step_size):
    """One run on e_1 with label +1."""
    weights = np.array([[[float(z)] for z in (*plus, *minus)]])
    return OnlineStart(np.ones((1, 1)), np.ones((1, 1)), weights, step_size)


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_online_training_is_the_engines(slope):
    """One run against the training engine; points that never meet are counted alike in every order."""
    start = small_start(slope=slope, seed=5)
    ours = train_online(start)
    network = TwoLayer(jnp.asarray(start.weights[0]), plus_minus(4, 1.0), None, leaky_relu(slope) if slope else relu())
    data = Dataset(jnp.asarray(start.inputs), jnp.asarray(start.labels[0]))
    theirs = train(network, data, Recipe(hinge, SGD(0.3), 20_000), jax.random.key(0))
    assert ours.updates[0].sum() == theirs.updates
    np.testing.assert_allclose(ours.weights[0], theirs.network.hidden_weights, rtol=0, atol=1e-13)


def test_a_run_out_of_passes_is_not_called_ended():
    assert not train_online(small_start(), max_passes=1).ended.all()


def test_the_outputs_are_those_of_the_last_weights():
    start = small_start()
    runs = train_online(start)
    np.testing.assert_array_equal(runs.outputs, start.outputs(runs.weights))
    assert runs.entered is None


@pytest.mark.parametrize(
    ("plus", "minus", "step_size", "updates", "output"),
    [
        ([-1], [0.5], 0.25, 2, 0),  # hits 0 exactly: σ'(0) = 0 ends it
        ([-1, -1 / 3], [0.7, 0.2], 0.3, 3, 0),
        ([0], [-1], 1.0, 0, 0),  # with σ'(0) = 1 it would learn
        ([0.25], [0.5], 0.125, 6, 1),
    ],
)
def test_counts_on_one_point(plus, minus, step_size, updates, output):
    runs = train_online(one_point(plus, minus, step_size))
    assert runs.updates.item() == updates
    assert runs.outputs.item() == output


def test_a_neuron_at_zero_is_off():
    """σ'(0) = 0: such a point is stuck as one with ⟨w, x⟩ < 0 is, for either label."""
    weights = np.array([[[0.0, 1.0], [-1.0, 0.0]], [[1.0, 0.0], [0.0, -1.0]]])
    start = OnlineStart(np.eye(2), np.array([[1.0, -1.0], [-1.0, 1.0]]), weights, 1.0)
    assert start.stuck(weights).tolist() == [[True, True], [True, True]]
    assert start.stuck(weights, np.ones((2, 2))).tolist() == [[True, False], [False, True]]


def test_runs_from_one_start_have_orders_of_their_own():
    """And a run has the order of its number, whoever trains beside it."""
    draw = np.random.default_rng(0)
    inputs, weights = draw.normal(size=(6, 2)), np.tile(draw.normal(size=(4, 2)), (8, 1, 1))
    labels = np.tile(np.sign(inputs[:, 0]), (8, 1))
    start = OnlineStart(inputs, labels, weights, 0.3, slope=0.5)
    together = train_online(start, max_passes=2).updates
    assert len(np.unique(together, axis=0)) > 1
    alone = train_online(dataclasses.replace(start, labels=labels[:1], weights=weights[:1]), max_passes=2).updates
    np.testing.assert_array_equal(alone[0], together[0])


def test_the_gradient_is_the_slope_of_the_loss():
    start = small_start(slope=0.3)
    direction = np.random.default_rng(0).normal(size=start.weights.shape)
    step = 1e-7
    measured = (start.loss(start.weights + step * direction) - start.loss(start.weights - step * direction)) / (
        2 * step
    )
    expected = (start.gradient(start.weights) * direction).sum(axis=(1, 2))
    np.testing.assert_allclose(measured, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("label", "plus", "step_size", "entered", "left"),
    [
        (1.0, (0.1, -1.0), 2.0, 0, 1),
        (-1.0, (0.1, 2.0), 4.0, 1, 0),
    ],
)
def test_a_point_enters_or_leaves_k_by_an_update_on_another(label, plus, step_size, entered, left):
    """x_0 = (1, 0) has this label, x_1 = (3/5, 4/5) the label +1; only x_0 can make the first update.

    ⟨w, x_1⟩ is −0.74, and 0.46 after w gained 2x_0; or 1.66, and −0.74 after it lost 4x_0.
    """
    inputs, weights = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[plus, (-1.0, -1.0)]])
    runs = train_online(OnlineStart(inputs, np.array([[label, 1.0]]), weights, step_size), watch_stuck=True)
    assert runs.ended.all()
    assert runs.updates[0, 0] == 1
    assert (runs.entered, runs.left) == ([entered], [left])
