"""The gradient on the whole set for a two-layer network with one output, by three products.

Automatic differentiation takes five passes over the (neuron, sample) array and keeps what it might need; here the
derivative σ' is taken once and serves both directions. The bias is one more column of the weights.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.losses import Loss
from widenet.networks.activations import Activation, PiecewiseLinear
from widenet.networks.two_layer import EXACT, TwoLayer
from widenet.training.kernels import plain
from widenet.types import Layers

LANES = 4
"""Columns of the second factor of a product are filled up to a multiple of this: on a CPU three columns take twice the
time of four."""


def gradient_of(
    network: Any, inputs: Float[Array, "batch dim"], labels: Float[Array, " batch"], *, loss: Loss, layers: Layers
) -> plain.BatchGradient:
    """The same as `plain.gradient_of`, up to rounding; any other network is left to that."""
    if not isinstance(network, TwoLayer) or network.n_outputs is not None:
        return plain.gradient_of(network, inputs, labels, loss=loss, layers=layers)
    rows, points = network.hidden_weights, inputs
    if network.bias is not None:
        rows = jnp.concatenate([rows, network.bias[:, None]], axis=1)
        points = jnp.concatenate([points, jnp.ones_like(points[:, :1])], axis=1)
    columns, votes = rows.shape[1], network.output_weights
    z = jnp.dot(rows, points.T, precision=EXACT)
    slopes, hidden = network.activation.derivative(z), _values(network.activation, z)
    outputs = jnp.dot(votes, hidden, precision=EXACT)
    pull = jax.grad(lambda outputs: jnp.mean(loss(outputs, labels)))(outputs)
    pulled = jnp.pad(pull[:, None] * points, ((0, 0), (0, -columns % LANES)))
    change = votes[:, None] * jnp.dot(slopes, pulled, precision=EXACT)[:, :columns]
    gradient, _ = eqx.partition(network, network.trainable(layers))
    gradient = eqx.tree_at(lambda net: net.hidden_weights, gradient, change[:, : inputs.shape[1]])
    if network.bias is not None:
        gradient = eqx.tree_at(lambda net: net.bias, gradient, change[:, -1])
    if layers is Layers.BOTH:
        gradient = eqx.tree_at(lambda net: net.output_weights, gradient, jnp.dot(hidden, pull, precision=EXACT))
    return plain.BatchGradient(gradient, outputs)


def _values(activation: Activation, z: Float[Array, "neuron sample"]) -> Float[Array, "neuron sample"]:
    """σ(z), the same bits; without the product with σ', which XLA turns into a slow loop."""
    if not isinstance(activation, PiecewiseLinear):
        return activation(z)
    slope = jnp.asarray(activation.slope, z.dtype)
    return jnp.maximum(z, jnp.zeros_like(z)) + slope * jnp.minimum(z, jnp.zeros_like(z))
