"""Exact SGD at the speed of matrix products, for two-layer networks.

Per block: one product before (H = X Wᵀ for its rows), the inner loop of `block`, one product after (W ← W + Cᵀ X).
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from widenet.losses import SATURATING
from widenet.networks import TwoLayer
from widenet.networks.two_layer import EXACT
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.kernels.block import Block, BlockRows, walk, work_through


def advance(state: State, segment: Segment) -> State:
    """The run after the steps start, …, stop − 1; see `plain.advance`."""
    data = segment.data
    has_bias = state.network.bias is not None

    def work(state: State, rows: BlockRows) -> State:
        network, chosen = state.network, rows.chosen
        x = data.inputs[chosen.reshape(-1)]
        hidden = jnp.dot(x, network.hidden_weights.T, precision=EXACT)
        if has_bias:
            hidden = hidden + network.bias[None]  # pyright: ignore[reportOptionalSubscript]
        inputs = x.reshape(*chosen.shape, -1)
        moves = jnp.any(inputs != 0, axis=2) | has_bias
        block = Block(rows, data.labels[chosen], moves, inputs, None, None, has_bias)
        progress = work_through(network, hidden, block, segment, state.tally, state.watched)
        coefficients = progress.coefficients.reshape(chosen.size, -1)

        def apply(network: TwoLayer) -> TwoLayer:
            weights = network.hidden_weights + jnp.dot(coefficients.T, x, precision=EXACT)
            bias = network.bias + jnp.sum(coefficients, 0) if has_bias else None  # pyright: ignore
            return TwoLayer(weights, network.output_weights, bias, network.activation)

        if segment.loss in SATURATING:  # other losses move something in every block
            moved = jax.lax.cond(jnp.any(coefficients != 0), apply, lambda network: network, network)
        else:
            moved = apply(network)
        moved = eqx.tree_at(lambda net: net.output_weights, moved, progress.output_weights)
        return State(moved, progress.tally, progress.watched)

    return walk(segment, State(state.network, state.tally, state.watched), work)
