"""Steps on one sample of a two-layer network, with the gradient as the outer product that it is.

The gradient of the hidden layer is u xᵀ. Written so, it is never formed: XLA adds it to the weights as it reads them.
Whether it is zero is seen in u and x, and need not be asked of every entry.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.losses import SATURATING, Loss
from widenet.networks import TwoLayer
from widenet.networks.two_layer import EXACT
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.kernels import plain
from widenet.types import Layers

SMALL_BYTES = 16 << 10
"""On a CPU, blocks of steps pay from so many bytes of hidden weights on."""


def gradient_of(
    network: TwoLayer, inputs: Float[Array, "1 dim"], labels: Float[Array, " 1"], *, loss: Loss, layers: Layers
) -> plain.BatchGradient:
    """The same as `plain.gradient_of`, up to rounding."""
    (x,) = inputs
    votes, has_bias = network.output_weights, network.bias is not None
    z = network.preactivations(x)
    hidden = network.activation(z)
    outputs = jnp.dot(votes, hidden, precision=EXACT)[None]
    (pull,) = jax.grad(lambda outputs: jnp.mean(loss(outputs, labels)))(outputs)
    u = jnp.dot(pull, votes, precision=EXACT) * network.activation.derivative(z)
    gradient, _ = eqx.partition(network, network.trainable(layers))
    gradient = eqx.tree_at(lambda net: net.hidden_weights, gradient, jnp.outer(u, x))
    moves = jnp.any(u != 0) & (jnp.any(x != 0) | has_bias)
    if has_bias:
        gradient = eqx.tree_at(lambda net: net.bias, gradient, u)
    if layers is Layers.BOTH:
        change = jnp.multiply.outer(pull, hidden)
        gradient = eqx.tree_at(lambda net: net.output_weights, gradient, change)
        moves = moves | jnp.any(change != 0)
    return plain.BatchGradient(gradient, outputs, moves)


def advance(state: State, segment: Segment) -> State:
    """The run after the steps start, …, stop − 1; see `plain.advance`."""
    return plain.advance(state, segment, differentiate=gradient_of)


def fits(network: Any, batch_size: int) -> bool:
    """Whether this kernel can do the job."""
    return isinstance(network, TwoLayer) and batch_size == 1


def pays(networks: TwoLayer, loss: Loss) -> bool:
    """Whether it is faster than blocks of steps for networks that have a leading run axis.

    Blocks skip steps that move nothing, of which a hinge has many. On a GPU they mean fewer launches.
    """
    weights = networks.hidden_weights
    small = weights.nbytes // weights.shape[0] < SMALL_BYTES and networks.n_outputs is None
    return jax.default_backend() == "cpu" and small and loss not in SATURATING
