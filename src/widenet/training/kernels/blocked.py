"""Exact SGD at the speed of matrix products, for two-layer networks.

A step on one sample is W ← W + c xᵀ, and c depends on W only through the pre-activations W x. So a block of steps
needs H = X Wᵀ and G = X Xᵀ for its rows before and one product W ← W + Cᵀ X after; inside, the pre-activations
of a later row follow from H and G alone: h_t = H_t + Σ_{s<t} ⟨x_s, x_t⟩ c_s. In real arithmetic this is the same
algorithm, not an approximation. A bias is a constant coordinate: G + 1.

Two inner loops. `_every_step` walks all steps (logistic loss: every step moves something). `_next_active` jumps
from one active step to the next (hinge loss: most steps late in training move nothing), so a block without
active samples costs one product and one test.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from widenet.losses import SATURATING, Loss, zero_one
from widenet.networks import TwoLayer
from widenet.networks.two_layer import EXACT
from widenet.training.orders import Order
from widenet.training.state import State, Tally
from widenet.types import Dataset, Layers, RunKey

ROWS = 64
"""Rows of a block: large enough for the products to run at full speed, small enough for the inner loop."""


class Block(eqx.Module):
    """One block while it is being worked through.

    Attributes:
      inputs: the rows, step by step.
      labels: of each row.
      moves: whether a row can move the weights at all: without a bias, an input of zeros cannot.
      valid: which steps belong to this segment (the last block may reach past it).
      numbers: the step count after each step, from 1.
    """

    inputs: Float[Array, "step batch dim"]
    labels: Float[Array, "step batch"]
    moves: Bool[Array, "step batch"]
    valid: Bool[Array, " step"]
    numbers: Int[Array, " step"]


class Progress(eqx.Module):
    """What a block changes: coefficients C of the rows, output weights, counters."""

    coefficients: Float[Array, "step batch neuron"]
    output_weights: Float[Array, " neuron"]
    tally: Tally


def fits(network: Any, watch: Any) -> bool:
    """Whether this kernel can do the job."""
    return isinstance(network, TwoLayer) and watch is None


def advance(
    state: State,
    data: Dataset,
    order: Order,
    key: RunKey,
    step_size: Float[Array, ""],
    watch: Any,
    start: Int[Array, ""],
    stop: Int[Array, ""],
    *,
    loss: Loss,
    layers: Layers,
    batch_size: int,
) -> State:
    """The run after the steps start, …, stop − 1; see `plain.advance`."""
    length = order.steps_per_epoch(data.n_samples, batch_size)
    block_steps = max(1, min(ROWS // batch_size, length))
    inputs, labels = data.inputs, data.labels
    movable = jnp.any(inputs != 0, axis=1) | (state.network.bias is not None)
    inner = _next_active if loss in SATURATING else _every_step

    def run_epoch(epoch: Array, state: State) -> State:
        rows = order.epoch(key, epoch, data.n_samples, batch_size)
        # A slice past the end would be shifted back by dynamic_slice; padding keeps positions true.
        rows = jnp.pad(rows, ((0, block_steps), (0, 0)))
        first = jnp.maximum(start - epoch * length, 0)
        last = jnp.minimum(stop - epoch * length, length)

        def run_block(index: Array, state: State) -> State:
            position = first + index * block_steps
            chosen = jax.lax.dynamic_slice_in_dim(rows, position, block_steps)
            x = inputs[chosen.reshape(-1)]
            within = position + jnp.arange(block_steps, dtype=jnp.int32)
            block = Block(
                x.reshape(block_steps, batch_size, -1),
                labels[chosen],
                movable[chosen],
                within < last,
                epoch * length + within + 1,
            )
            return _work_through(state, block, step_size, inner, loss, layers)

        n_blocks = -(-(last - first) // block_steps)
        return jax.lax.fori_loop(jnp.int32(0), n_blocks, run_block, state)

    return jax.lax.fori_loop(start // length, -(-stop // length), run_epoch, state)


def _work_through(state: State, block: Block, step_size: Array, inner: Any, loss: Loss, layers: Layers) -> State:
    """The product before, the inner loop, the product after."""
    network = state.network
    steps, batch = block.labels.shape
    x = block.inputs.reshape(steps * batch, -1)
    hidden = jnp.dot(x, network.hidden_weights.T, precision=EXACT)
    if network.bias is not None:
        hidden = hidden + network.bias
    progress = inner(
        network,
        hidden.reshape(steps, batch, -1),
        block,
        Progress(jnp.zeros((steps, batch, network.n_neurons), x.dtype), network.output_weights, state.tally),
        step_size.astype(x.dtype) / batch,
        loss,
        layers,
    )
    changed = jnp.any(progress.coefficients != 0)

    def apply(network: TwoLayer) -> TwoLayer:
        coefficients = progress.coefficients.reshape(steps * batch, -1)
        weights = network.hidden_weights + jnp.dot(coefficients.T, x, precision=EXACT)
        bias = None if network.bias is None else network.bias + jnp.sum(coefficients, 0)
        return TwoLayer(weights, network.output_weights, bias, network.activation)

    moved = jax.lax.cond(changed, apply, lambda network: network, network)
    moved = eqx.tree_at(lambda net: net.output_weights, moved, progress.output_weights)
    return State(moved, progress.tally, None)


def _step(
    network: TwoLayer,
    hidden: Float[Array, "batch neuron"],
    labels: Float[Array, " batch"],
    moves: Bool[Array, " batch"],
    output_weights: Float[Array, " neuron"],
    rate: Array,
    loss: Loss,
    layers: Layers,
) -> tuple[Array, Array, Array, Array]:
    """One step from its pre-activations: (coefficients, new output weights, is it an update, mistakes)."""
    features = network.activation(hidden)
    outputs = jnp.dot(features, output_weights, precision=EXACT)
    slopes = jax.grad(lambda o: jnp.sum(loss(o, labels)))(outputs)
    slopes_in = jnp.where(moves, slopes, 0)[:, None]
    coefficients = -rate * slopes_in * output_weights * network.activation.derivative(hidden)
    is_update = jnp.any(coefficients != 0)
    if layers is Layers.BOTH:
        change = -rate * jnp.dot(slopes, features, precision=EXACT)
        is_update = is_update | jnp.any(change != 0)
        output_weights = output_weights + change
    return coefficients, output_weights, is_update, jnp.sum(zero_one(outputs, labels))


def _every_step(
    network: TwoLayer,
    hidden: Float[Array, "step batch neuron"],
    block: Block,
    progress: Progress,
    rate: Array,
    loss: Loss,
    layers: Layers,
) -> Progress:
    rows = block.inputs.reshape(-1, block.inputs.shape[-1])
    gram = jnp.dot(rows, rows.T, precision=EXACT).reshape(block.labels.shape * 2)
    if network.bias is not None:
        gram = gram + 1

    def body(step: Array, progress: Progress) -> Progress:
        # Rows not reached yet have coefficient 0, so the whole row of the Gram matrix may be used.
        drift = jnp.einsum("bsc,scn->bn", gram[step], progress.coefficients, precision=EXACT)
        coefficients, output_weights, is_update, mistakes = _step(
            network,
            hidden[step] + drift,
            block.labels[step],
            block.moves[step],
            progress.output_weights,
            rate,
            loss,
            layers,
        )
        valid = block.valid[step]
        return Progress(
            progress.coefficients.at[step].set(jnp.where(valid, coefficients, 0)),
            jnp.where(valid, output_weights, progress.output_weights),
            progress.tally.count(is_update & valid, jnp.where(valid, mistakes, 0), block.numbers[step]),
        )

    return jax.lax.fori_loop(jnp.int32(0), jnp.int32(block.labels.shape[0]), body, progress)


def _next_active(
    network: TwoLayer,
    hidden: Float[Array, "step batch neuron"],
    block: Block,
    progress: Progress,
    rate: Array,
    loss: Loss,
    layers: Layers,
) -> Progress:
    steps = block.labels.shape[0]
    positions = jnp.arange(steps, dtype=jnp.int32)

    def find(hidden: Array, output_weights: Array, after: Array) -> Array:
        """The first step from `after` on with a non-zero loss slope; `steps` if there is none."""
        outputs = jnp.dot(network.activation(hidden), output_weights, precision=EXACT)
        slopes = jax.grad(lambda o: jnp.sum(loss(o, block.labels)))(outputs)
        active = jnp.any(slopes != 0, axis=1) & block.valid & (positions >= after)
        return jnp.where(jnp.any(active), jnp.argmax(active), steps).astype(jnp.int32)

    def more(carry: tuple[Array, Array, Progress]) -> Array:
        return carry[1] < steps

    def body(carry: tuple[Array, Array, Progress]) -> tuple[Array, Array, Progress]:
        hidden, step, progress = carry
        coefficients, output_weights, is_update, mistakes = _step(
            network,
            hidden[step],
            block.labels[step],
            block.moves[step],
            progress.output_weights,
            rate,
            loss,
            layers,
        )
        # Active steps are few: their column of the Gram matrix is computed when it is needed.
        column = jnp.einsum("sbd,cd->sbc", block.inputs, block.inputs[step], precision=EXACT)
        if network.bias is not None:
            column = column + 1
        hidden = hidden + jnp.einsum("sbc,cn->sbn", column, coefficients, precision=EXACT)
        progress = Progress(
            progress.coefficients.at[step].set(coefficients),
            output_weights,
            progress.tally.count(is_update, mistakes, block.numbers[step]),
        )
        return hidden, find(hidden, output_weights, step + 1), progress

    start = find(hidden, progress.output_weights, jnp.int32(0))
    return jax.lax.while_loop(more, body, (hidden, start, progress))[2]
