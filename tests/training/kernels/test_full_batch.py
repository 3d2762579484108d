"""The gradient by three products against automatic differentiation, kinks included."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import cross_entropy, hinge, logistic
from widenet.networks import ConvMaxPool, TwoLayer, huberized_relu, leaky_relu, relu
from widenet.training.kernels import full_batch, plain
from widenet.types import Layers

ACTIVATIONS = {
    "relu": relu(),
    "relu, on at 0": relu(1.0),
    "leaky": leaky_relu(0.3, 0.6),
    "huberized": huberized_relu(0.5),
}


def problem(dim: int, activation, bias: bool) -> tuple[TwoLayer, jax.Array, jax.Array]:
    """Whole numbers, so that many units are exactly at a kink, and a row that no sample moves."""
    draw = np.random.default_rng(dim)
    rows = draw.integers(-2, 3, (6, dim)).astype(float)
    rows[2] = 0.0
    inputs = draw.integers(-2, 3, (9, dim)).astype(float)
    biases = jnp.asarray(draw.integers(-2, 3, 6).astype(float)) if bias else None
    votes = jnp.asarray(draw.normal(size=6))
    labels = jnp.asarray(np.where(np.arange(9) % 3, 1.0, -1.0))
    return TwoLayer(jnp.asarray(rows), votes, biases, activation), jnp.asarray(inputs), labels


@pytest.mark.parametrize("loss", [hinge, logistic], ids=["hinge", "logistic"])
@pytest.mark.parametrize("layers", list(Layers), ids=[layers.name for layers in Layers])
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_it_is_the_gradient_of_automatic_differentiation(name, bias, layers, loss) -> None:
    for dim in (1, 2, 3, 4, 7):
        network, inputs, labels = problem(dim, ACTIVATIONS[name], bias)
        assert (jax.vmap(network.preactivations)(inputs) == 0).any()
        found, outputs, _ = full_batch.gradient_of(network, inputs, labels, loss=loss, layers=layers)
        expected, plainly, _ = plain.gradient_of(network, inputs, labels, loss=loss, layers=layers)
        assert jax.tree.structure(found) == jax.tree.structure(expected)
        np.testing.assert_allclose(outputs, plainly, rtol=1e-13, atol=1e-13)
        for own, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            assert np.any(np.asarray(other) != 0)
            np.testing.assert_allclose(own, other, rtol=1e-12, atol=1e-14)


def test_several_outputs_are_left_to_automatic_differentiation() -> None:
    network, inputs, _ = problem(2, relu(), True)
    several = TwoLayer(network.hidden_weights, jnp.ones((3, 6)), network.bias, relu())
    labels = jnp.asarray(np.arange(9) % 3, jnp.float64)
    found, outputs, _ = full_batch.gradient_of(several, inputs, labels, loss=cross_entropy, layers=Layers.HIDDEN)
    expected, plainly, _ = plain.gradient_of(several, inputs, labels, loss=cross_entropy, layers=Layers.HIDDEN)
    np.testing.assert_array_equal(outputs, plainly)
    np.testing.assert_array_equal(found.hidden_weights, expected.hidden_weights)


def test_another_network_is_left_to_automatic_differentiation() -> None:
    draw = np.random.default_rng(0)
    network = ConvMaxPool(jnp.asarray(draw.normal(size=(4, 2))), jnp.asarray([1.0, 1.0, -1.0, -1.0]))
    inputs, labels = jnp.asarray(draw.normal(size=(5, 6))), jnp.asarray([1.0, -1.0, 1.0, 1.0, -1.0])
    found, outputs, _ = full_batch.gradient_of(network, inputs, labels, loss=logistic, layers=Layers.HIDDEN)
    expected, plainly, _ = plain.gradient_of(network, inputs, labels, loss=logistic, layers=Layers.HIDDEN)
    np.testing.assert_array_equal(outputs, plainly)
    np.testing.assert_array_equal(found.filters, expected.filters)
    assert np.any(np.asarray(expected.filters) != 0)


def test_one_output_is_not_left_to_automatic_differentiation(monkeypatch) -> None:
    """The three products are there for these networks, and for these alone."""
    left = plain.BatchGradient("left", jnp.zeros(9))
    monkeypatch.setattr(plain, "gradient_of", lambda *_, **__: left)
    network, inputs, labels = problem(2, relu(), False)
    several = TwoLayer(network.hidden_weights, jnp.ones((3, 6)), None, relu())
    patches = ConvMaxPool(jnp.ones((4, 2)), jnp.ones(4))
    for other in (several, patches):
        assert full_batch.gradient_of(other, inputs, labels, loss=hinge, layers=Layers.HIDDEN) is left
    assert full_batch.gradient_of(network, inputs, labels, loss=hinge, layers=Layers.HIDDEN) is not left
