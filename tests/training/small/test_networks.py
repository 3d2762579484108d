"""Networks in NumPy say what the networks of the package say."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import hinge, logistic
from widenet.networks import TwoLayer
from widenet.networks.activations import PiecewiseLinear
from widenet.training.small import SmallNetworks, networks
from widenet.types import Layers

DRAW = np.random.default_rng(0)
HIDDEN, OUTPUT, BIAS = DRAW.normal(size=(2, 4, 3)), DRAW.normal(size=(2, 4)), DRAW.normal(size=(2, 4))
POINTS = DRAW.normal(size=(50, 3))


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.5])
@pytest.mark.parametrize("bias", [None, BIAS])
def test_outputs_are_those_of_a_two_layer_network(slope, bias, monkeypatch):
    ours = SmallNetworks(HIDDEN, OUTPUT, slope, 1.0, bias)
    for run in range(2):
        own = None if bias is None else jnp.asarray(bias[run])
        theirs = TwoLayer(jnp.asarray(HIDDEN[run]), jnp.asarray(OUTPUT[run]), own, PiecewiseLinear(slope, 1.0))
        expected = jax.vmap(theirs)(jnp.asarray(POINTS))
        np.testing.assert_allclose(ours.outputs(POINTS)[run], expected, rtol=0, atol=1e-13)
    whole = ours.preactivations(POINTS)
    monkeypatch.setattr(networks, "ONE_THREAD", 1)
    np.testing.assert_allclose(ours.preactivations(POINTS), whole, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ours.outputs(np.tile(POINTS, (2, 1, 1))), ours.outputs(POINTS), rtol=0, atol=1e-13)
    assert ours.outputs(POINTS[:0]).shape == (2, 0)


@pytest.mark.parametrize("loss", [hinge, logistic])
def test_the_pull_is_minus_the_derivative_of_the_loss(loss):
    margins = np.array([-50.0, -1.0, 0.0, 0.5, 1.0, 1.5, 40.0])
    slope = jax.vmap(jax.grad(lambda margin: loss(margin, jnp.ones(()))))(jnp.asarray(margins))
    np.testing.assert_allclose(networks.PULLS[loss](margins), -np.asarray(slope), rtol=1e-13)


@pytest.mark.parametrize(("slope", "at_zero"), [(0.0, 0.0), (0.0, 1.0), (0.3, 0.0), (0.3, 1.0)])
@pytest.mark.parametrize("layers", list(Layers))
def test_movable_is_what_an_increment_does(slope, at_zero, layers):
    hidden = np.array([[[-1.0], [0.0]], [[-1.0], [-2.0]], [[0.0], [0.0]], [[1.0], [-1.0]]])
    ours = SmallNetworks(hidden, np.tile([0.5, -0.5], (4, 1)), slope, at_zero)
    x = np.ones((4, 1))
    moves = ours.increment(x, -np.sign(ours.outputs(x[:1])[:, 0] + 0.01), 1.0, layers=layers).moves
    np.testing.assert_array_equal(ours.movable(ours.preactivations(x[:1]), layers)[:, 0], moves)


@pytest.mark.parametrize("slope", [0.0, np.array([0.0, 0.3] * 4)], ids=["relu", "mixed"])
@pytest.mark.parametrize("at_zero", [0.0, np.array([0.0, 0, 1, 1] * 2)], ids=["off", "mixed"])
@pytest.mark.parametrize("layers", list(Layers))
def test_movable_of_runs_that_differ(slope, at_zero, layers):
    """Units above, at and below their kinks, with and without an answer; the whole table of both."""
    hidden = np.tile([[[1.0], [-1.0]], [[0.0], [-1.0]]], (4, 1, 1))
    output = np.array([[0.0, 0.5], [0.5, 0.0]]).repeat(4, axis=0)
    ours = SmallNetworks(hidden, output, slope, at_zero)
    x = np.ones((8, 1))
    moves = ours.increment(x, -np.sign(ours.outputs(x[:1])[:, 0] + 0.01), 1.0, layers=layers).moves
    np.testing.assert_array_equal(ours.movable(ours.preactivations(x[:1]), layers)[:, 0], moves)


def test_slopes_of_each_run_below_and_above_one():
    """max(z, αz) is σ for slopes up to 1 alone."""
    z = np.array([[-2.0, 0.0, 3.0]] * 3)
    mixed = SmallNetworks(np.ones((3, 2, 1)), np.ones((3, 2)), np.array([0.5, 1.0, 1.5]), np.array([0.0, 0.25, 1.0]))
    np.testing.assert_array_equal(mixed.activation(z), [[-1, 0, 3], [-2, 0, 3], [-3, 0, 3]])
    np.testing.assert_array_equal(mixed.derivative(z), [[0.5, 0, 1], [1, 0.25, 1], [1.5, 1, 1]])
    assert not mixed.is_convex
    assert mixed.of(np.array([0, 1])).is_convex
    room = np.empty_like(z[:2])
    assert mixed.of(np.array([0, 1])).activation(z[:2], room) is room


def test_an_increment_is_the_step_of_one_sample():
    ours: Any = SmallNetworks(HIDDEN.copy(), OUTPUT.copy(), 0.3, 1.0, BIAS.copy())
    x, y, rate = POINTS[:2], np.array([1.0, -1.0]), np.array([0.5, 0.25])
    z = np.einsum("rnd,rd->rn", HIDDEN, x) + BIAS
    active = np.where(z > 0, z, 0.3 * z)
    margins = y * (OUTPUT * active).sum(axis=1)
    pull = rate * y / (1 + np.exp(margins))
    found = ours.increment(x, y, rate, logistic, Layers.BOTH)
    np.testing.assert_allclose(found.margins, margins, rtol=1e-13)
    np.testing.assert_allclose(found.coefficients, pull[:, None] * OUTPUT * np.where(z > 0, 1, 0.3), rtol=1e-13)
    np.testing.assert_allclose(found.outputs, pull[:, None] * active, rtol=1e-13)
    assert ours.increment(x, y, rate, logistic).outputs is None
    one = found.of(np.array([False, True]))
    np.testing.assert_array_equal(one.coefficients, found.coefficients[1:])
    np.testing.assert_array_equal(np.asarray(one.outputs), np.asarray(found.outputs)[1:])
    ours.add(x, found)
    np.testing.assert_allclose(ours.hidden, HIDDEN + found.coefficients[:, :, None] * x[:, None, :], rtol=1e-13)
    np.testing.assert_allclose(ours.output, OUTPUT + found.outputs, rtol=1e-13)
    np.testing.assert_allclose(ours.bias, BIAS + found.coefficients, rtol=1e-13)


def test_a_step_moves_where_a_coefficient_or_a_gain_is_not_zero():
    rows, gains = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    assert networks.Increment(np.zeros(3), rows, None).moves.tolist() == [False, True, False]
    assert networks.Increment(np.zeros(3), rows, gains).moves.tolist() == [False, True, True]


def test_outputs_so_large_that_rounding_decides_are_blurred():
    """Σ|a| times the largest |w||x| + |b|, against 1/ε."""
    largest = networks.BLURRED / networks.EPSILON

    def blurred(size, bias=None, points=((0.0, 1.0), (3.0, 4.0))):
        hidden = np.array([[[0.0, size / 10], [0.0, 0.0]]])
        biases = None if bias is None else np.array([[bias, 0.0]])
        return SmallNetworks(hidden, np.array([[1.0, -1.0]]), 0.0, 0.0, biases).blurred(np.array(points))[0]

    assert blurred(1.001 * largest)
    assert not blurred(0.999 * largest)
    assert blurred(0.6 * largest, bias=-0.5 * largest)
    assert not blurred(0.6 * largest, bias=0.1 * largest)
    assert blurred(np.nan)
    assert not blurred(1e150, points=np.zeros((0, 2)))


def test_a_matrix_times_a_vector_either_way(monkeypatch):
    draw = np.random.default_rng(1)
    rows, vectors = draw.normal(size=(3, 4, 5)), draw.normal(size=(3, 5))
    expected = [row @ vector for row, vector in zip(rows, vectors, strict=True)]
    for limit in (20, 19):
        monkeypatch.setattr(networks, "SMALL", limit)
        np.testing.assert_allclose(networks.times(rows, vectors), expected, rtol=1e-13)


def test_copies_move_alone():
    ours = SmallNetworks(HIDDEN, OUTPUT, 0.3, 1.0, BIAS)
    other = ours.copy()
    other.hidden[...] += 1
    other.output[...] += 1
    assert other.bias is not None
    other.bias[...] += 1
    np.testing.assert_array_equal(ours.hidden, HIDDEN)
    np.testing.assert_array_equal(ours.of(np.array([1])).bias, BIAS[1:])
    assert len(ours) == 2
