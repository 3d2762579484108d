"""Networks in NumPy say what the networks of the package say."""

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
