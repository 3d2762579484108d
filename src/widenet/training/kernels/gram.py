"""Exact SGD in the span of the data, for two-layer networks with fewer samples than input dimensions.

Every update of W lies in the span of the inputs, so the pre-activations of ALL samples follow from their inner
products: H ← H + G C. The weights themselves are not touched until the segment ends, when the coefficients of each
sample, summed up, are applied once: W ← W + Aᵀ X. A step costs n·k instead of 2·d·k products.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.networks import TwoLayer
from widenet.networks.two_layer import EXACT
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels.block import Block, BlockRows, walk, work_through
from widenet.training.kernels.cancelling import twins
from widenet.types import Dataset


class Span(eqx.Module):
    """A run in the coordinates of its samples.

    Attributes:
      hidden: pre-activations of every sample at the current weights.
      sums: what each sample has added so far, as coefficients.
      output_weights, tally, watched: as in the network and its state.
    """

    hidden: Float[Array, "sample neuron"]
    sums: Float[Array, "sample neuron"]
    output_weights: Float[Array, "*output neuron"]
    tally: Tally
    watched: Any


def advance(state: State, segment: Segment) -> State:
    """The run after the steps start, …, stop − 1; see `plain.advance`."""
    network, data = state.network, segment.data
    x = data.inputs
    has_bias = network.bias is not None
    movable = jnp.any(x != 0, axis=1) | has_bias
    gram = jnp.dot(x, x.T, precision=EXACT) + float(has_bias)
    same = twins(x, has_bias) if segment.batch_size > 1 else None
    hidden = jnp.dot(x, network.hidden_weights.T, precision=EXACT)
    if has_bias:
        hidden = hidden + network.bias[None]  # pyright: ignore[reportOptionalSubscript]

    def work(span: Span, rows: BlockRows) -> Span:
        chosen = rows.chosen
        flat = chosen.reshape(-1)
        products = gram[flat][:, flat].reshape(chosen.shape * 2)
        block = Block(rows, data.labels[chosen], movable[chosen], None, products, same, has_bias)
        current = eqx.tree_at(lambda net: net.output_weights, network, span.output_weights)
        progress = work_through(current, span.hidden[flat], block, segment, span.tally, span.watched)
        coefficients = progress.coefficients.reshape(chosen.size, -1)

        def apply(span: Span) -> tuple[Array, Array]:
            moved = span.hidden + jnp.dot(gram[:, flat], coefficients, precision=EXACT)
            return moved, span.sums.at[flat].add(coefficients)

        def unmoved(span: Span) -> tuple[Array, Array]:
            return span.hidden, span.sums

        moved, sums = jax.lax.cond(jnp.any(coefficients != 0), apply, unmoved, span)
        return Span(moved, sums, progress.output_weights, progress.tally, progress.watched)

    begin = Span(hidden, jnp.zeros_like(hidden), network.output_weights, state.tally, state.watched)
    end = walk(segment, begin, work)
    weights = network.hidden_weights + jnp.dot(end.sums.T, x, precision=EXACT)
    bias = network.bias + jnp.sum(end.sums, 0) if has_bias else None
    return State(TwoLayer(weights, end.output_weights, bias, network.activation), end.tally, end.watched)


def pays(data: Dataset) -> bool:
    """Whether there are so few samples that their inner products are the cheaper coordinates."""
    return data.n_samples < data.dim
