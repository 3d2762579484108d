"""Blocked SGD as one GPU program per run: the whole segment of steps without leaving the chip's fast memory.

The algorithm is that of `blocked`, for one sample per step and a fixed second layer. What a GPU adds is the cost of
moving things: a compiled loop pays microseconds per iteration whatever its body, and each product reads the weights
again. So one program holds one run and loops over its blocks itself (`jax.vmap` turns it into a grid over runs), in
two phases:

- `_sweep` reads the weights once per block, tile by tile: it adds the previous block's update Cᵀ X, writes the tile
  back, and multiplies it with the next block's inputs while it is still there. The Gram matrix of the next block
  comes from the same input tiles.
- `_walk` takes the steps. Within `STRIDE` rows it works on one vector per row and carries each coefficient into the
  rows that follow; rows further away catch up by a small product before their turn.

Products run on tensor cores in float16 pieces; `split_products` says how, and why that is as accurate as float32.

The programs are Pallas kernels for Triton. Where there is none (no GPU, or a JAX without that backend) `fits` says so
and `blocked` does the job; on a CPU the kernel can only be interpreted, which is how the tests compare it to `plain`.
"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import Array

from widenet.losses import SATURATING, Loss, hinge, logistic, zero_one
from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.networks.two_layer import EXACT
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels import blocked
from widenet.training.kernels.split_products import (
    WIDEST_SPREAD,
    has_tensor_cores,
    loaded,
    padded,
    pieces_of,
    power_of_two,
    product,
    scaled_pieces,
    spread,
    stored,
    triton,
)
from widenet.types import Dataset, Layers

ROWS = 64
"""Steps of a block. More would save memory traffic and no longer fit in registers."""
STRIDE = 16
"""Steps taken on row vectors, before later rows catch up: the smallest product of a tensor core."""
COLUMNS = 32
"""Input coordinates of a tile."""
NEURONS = 64
"""Neurons of a tile: what one group of four warps multiplies at once."""
WARPS, STAGES = 4, 3
"""Warps of a program, and how many tiles are on their way at a time."""
MOST_NEURONS = 256
"""Wider networks would not keep a stride in registers; their products are large enough for `blocked`."""
LAUNCH = 4096
"""Steps per launch, at least: several epochs of a small data set go into one."""
KNOWN: frozenset[Loss] = frozenset({hinge, logistic})
"""Losses that are written in what Triton compiles."""

int32, float32 = jnp.int32, jnp.float32


def fits(network: Any, data: Dataset, batch_size: int | None, layers: Layers, watch: Any) -> bool:
    """Whether this kernel can do the job at all: on a GPU in float32, interpreted on a CPU in either precision."""
    return (
        triton is not None
        and (jax.default_backend() == "cpu" or data.inputs.dtype == float32)
        and isinstance(network, TwoLayer)
        and isinstance(network.activation, PiecewiseLinear)
        and network.n_outputs is None
        and watch is None
        and batch_size == 1
        and layers is Layers.HIDDEN
        and network.n_neurons <= MOST_NEURONS
        and network.hidden_weights.dtype == data.inputs.dtype == data.labels.dtype
    )


def pays(network: TwoLayer, data: Dataset) -> bool:
    """Whether this kernel, where it fits, is the fastest one: an NVIDIA GPU with tensor cores, in float32."""
    return network.hidden_weights.dtype == float32 and has_tensor_cores() and spread(data) <= WIDEST_SPREAD


def advance(state: State, segment: Segment) -> State:
    """The run after the steps start, …, stop − 1; see `plain.advance`."""
    if segment.loss not in KNOWN and jax.default_backend() != "cpu":
        return blocked.advance(state, segment)  # the same steps: a loss of your own need not compile in Triton
    network, dtype = state.network, state.network.hidden_weights.dtype
    data, order, n_samples = segment.data, segment.order, segment.data.n_samples
    length = order.steps_per_epoch(n_samples, 1)
    epochs = max(1, LAUNCH // length)
    inputs, labels = jnp.asarray(data.inputs), jnp.asarray(data.labels)
    weights = network.hidden_weights
    if network.bias is not None:  # a constant coordinate
        weights = jnp.concatenate([weights, network.bias[:, None]], axis=1)
        inputs = jnp.concatenate([inputs, jnp.ones_like(inputs[:, :1])], axis=1)
    moves = jnp.any(inputs != 0, axis=1).astype(int32)
    pieces, input_scale = scaled_pieces(inputs, COLUMNS)
    run_segment = _program(segment.loss, weights.shape[0], weights.shape[1], dtype)
    kink = network.activation
    slope, at_zero = jnp.asarray(kink.slope, dtype), jnp.asarray(kink.derivative_at_zero, dtype)
    steepest = jnp.maximum(jnp.maximum(jnp.abs(slope), jnp.abs(at_zero)), 1)
    reach = jnp.max(jnp.abs(network.output_weights)) * steepest
    numbers = jnp.stack([segment.constant_step.astype(dtype), slope, at_zero, reach])
    shared = jnp.stack([input_scale, jnp.max(jnp.abs(inputs))])
    outgoing = jnp.pad(network.output_weights, (0, padded(network.n_neurons) - network.n_neurons))

    def run(launch: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        weights, counts = carry
        which = launch * epochs + jnp.arange(epochs, dtype=int32)
        rows = jax.vmap(lambda epoch: order.epoch(segment.key, epoch, n_samples, 1))(which).reshape(-1)
        rows = jnp.pad(rows, (0, 2 * ROWS))  # the last block may reach past the end, and one pass follows it
        before = launch * (epochs * length)
        first, last = jnp.maximum(segment.start - before, 0), jnp.minimum(segment.stop - before, epochs * length)
        bounds = jnp.stack([first, last, before])
        numbers_now = jnp.append(numbers, jnp.max(jnp.abs(weights)))
        weights, counts, *_ = run_segment(
            weights, outgoing, rows, labels[rows], moves[rows], numbers_now, bounds, counts, shared, *pieces
        )
        return weights, counts

    counts = jnp.stack([state.tally.updates, state.tally.mistakes.astype(int32), state.tally.last_update])
    span = epochs * length
    weights, counts = jax.lax.fori_loop(segment.start // span, -(-segment.stop // span), run, (weights, counts))
    if network.bias is not None:
        weights, bias = weights[:, :-1], weights[:, -1]
        network = eqx.tree_at(lambda net: net.bias, network, bias)
    network = eqx.tree_at(lambda net: net.hidden_weights, network, weights)
    return State(network, Tally(counts[0], counts[1].astype(state.tally.mistakes.dtype), counts[2]), None)


def _program(loss: Loss, n_neurons: int, dim: int, dtype: Any) -> Any:
    """The kernel for one run of this shape; everything beyond the weights and counters it returns is scratch."""
    interpret = jax.default_backend() == "cpu"
    neurons = padded(n_neurons)
    shapes = [(n_neurons, dim), (3,), (ROWS, neurons), (ROWS, ROWS), (ROWS, neurons)]
    dtypes = [dtype, int32, dtype, dtype, dtype]
    return pl.pallas_call(
        functools.partial(_run_segment, loss=loss, interpret=interpret),
        out_shape=[jax.ShapeDtypeStruct(shape, kind) for shape, kind in zip(shapes, dtypes, strict=True)],
        input_output_aliases={0: 0},
        compiler_params=None if interpret else triton.CompilerParams(num_warps=WARPS, num_stages=STAGES),  # type: ignore
        interpret=interpret,
        name="widenet_fused",
    )


def _run_segment(
    _, outgoing, rows, labels, moves, numbers, bounds, counts_before, shared, *others, loss: Loss, interpret: bool
) -> None:
    """The steps bounds[0], …, bounds[1] − 1 of one run. All arguments are references to device memory.

    `hidden`, `gram` and `coefficients` hold one block. Pass b of the loop applies block b − 1 and prepares block b; the
    last pass only applies. `limit` bounds the weights, `size` the coefficients of the block before.
    """
    *pieces, weights, counts, hidden, gram, coefficients = others
    barrier = (lambda: None) if interpret else triton.debug_barrier  # type: ignore
    first, last, before = bounds[0], bounds[1], bounds[2]
    reach, limit = numbers[3], numbers[4]
    coefficients[:, :] = jnp.zeros(coefficients.shape, coefficients.dtype)
    barrier()

    def one_block(block: Array, carry: tuple) -> tuple:
        limit, size, *tally = carry
        limit = limit + size * shared[1]
        position = first + block * int32(ROWS)
        earlier = rows[pl.ds(jnp.maximum(position - int32(ROWS), 0), ROWS)]
        later = rows[pl.ds(position, ROWS)]
        for part in range(-(-hidden.shape[1] // NEURONS)):
            target = gram if part == 0 else None
            _sweep(part, weights, coefficients, pieces, earlier, later, (limit, size, shared[0]), hidden, target)
        barrier()
        steps = _BlockSteps(outgoing, labels, moves, numbers, position, last, before)
        total, *tally = _walk(steps, hidden, gram, coefficients, tally, loss, barrier, interpret)
        return limit, total * reach, *tally

    n_blocks = (last - first + int32(ROWS - 1)) // int32(ROWS)
    start = (limit, jnp.zeros_like(limit), counts_before[0], counts_before[1], counts_before[2])
    _, _, *tally = jax.lax.fori_loop(int32(0), n_blocks + int32(1), one_block, start)
    for index, count in enumerate(tally):
        counts[index] = count


def _sweep(part: int, weights, coefficients, pieces, earlier, later, scales, hidden, gram) -> None:
    """Once over the weights of one group of neurons: apply the block before, prepare the next."""
    n_neurons, dim = weights.shape
    size = min(NEURONS, hidden.shape[1])
    limit, largest, input_scale = scales
    weight_scale, coefficient_scale = power_of_two(limit), power_of_two(largest)
    neuron = part * size + jnp.arange(size, dtype=int32)
    row, column = jnp.arange(ROWS, dtype=int32), jnp.arange(COLUMNS, dtype=int32)
    change = pieces_of(coefficients[row[:, None], neuron[None, :]] * coefficient_scale)

    def one_tile(tile: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        preactivations, products = sums
        columns = tile * int32(COLUMNS) + column
        place = (neuron[:, None], columns[None, :])
        exists = (neuron < n_neurons)[:, None] & (columns < dim)[None, :]
        w = loaded(weights, place, exists)
        x_earlier = [piece[earlier[:, None], columns[None, :]] for piece in pieces]
        x_later = [piece[later[:, None], columns[None, :]] for piece in pieces]
        w = w + product(change, x_earlier, (0, 0)) * (1 / coefficient_scale * (1 / input_scale))
        stored(weights, place, exists, w)
        preactivations = product(pieces_of(w * weight_scale), x_later, (1, 1), preactivations)
        if gram is not None:
            products = product(x_later, x_later, (1, 1), products)
        return preactivations, products

    zeros = (jnp.zeros((size, ROWS), weights.dtype), jnp.zeros((ROWS, ROWS) if gram is not None else (), weights.dtype))
    n_tiles = int32(pieces[0].shape[1] // COLUMNS)
    preactivations, products = jax.lax.fori_loop(int32(0), n_tiles, one_tile, zeros)
    hidden[row[:, None], neuron[None, :]] = (preactivations * (1 / weight_scale * (1 / input_scale))).T
    if gram is not None:
        gram[:, :] = products * (1 / input_scale * (1 / input_scale))


class _BlockSteps:
    """What the steps of one block need to know."""

    def __init__(self, outgoing, labels, moves, numbers, position, last, before):
        self.outgoing, self.labels, self.moves = outgoing[:], labels, moves
        self.rate, self.slope, self.at_zero = numbers[0], numbers[1], numbers[2]
        self.position, self.last, self.before = position, last, before

    def derivative(self, hidden: Array) -> Array:
        """σ' at these pre-activations."""
        one = jnp.ones_like(hidden)
        return jnp.where(hidden > 0, one, jnp.where(hidden < 0, self.slope * one, self.at_zero * one))


def _walk(steps: _BlockSteps, hidden, gram, coefficients, tally, loss: Loss, barrier, interpret: bool) -> tuple:
    """Take the steps of one block: writes the coefficients, returns (bound on their sum, updates, mistakes, last)."""
    row = jnp.arange(STRIDE, dtype=int32)
    exact = EXACT if interpret else jax.lax.DotAlgorithmPreset.TF32_TF32_F32_X3

    def one_stride(stride: Array, carry: tuple) -> tuple:
        total, updates, mistakes, last_update = carry
        base = stride * int32(STRIDE)
        here = pl.ds(base, STRIDE)

        def catch_up(other: Array, h: Array) -> Array:
            there = pl.ds(other * int32(STRIDE), STRIDE)
            return h + jnp.dot(gram[here, there], coefficients[there, :], precision=exact)

        h = jax.lax.fori_loop(int32(0), stride, catch_up, hidden[here, :])
        hidden[here, :] = h
        barrier()
        number = steps.position + base + row
        valid = number < steps.last

        def take(total: Array, mistakes: Array) -> tuple[Array, Array]:
            return _take_steps(steps, base, hidden, gram, coefficients, total, mistakes, loss)

        def rest(total: Array, mistakes: Array) -> tuple[Array, Array]:
            coefficients[here, :] = jnp.zeros((STRIDE, coefficients.shape[1]), coefficients.dtype)
            return total, mistakes

        if loss in SATURATING:  # sixteen samples without a slope leave the weights as they are, and are no mistakes
            outputs = jnp.sum(h * steps.derivative(h) * steps.outgoing[None], axis=1)
            labels = steps.labels[pl.ds(steps.position + base, STRIDE)]
            counts = (_loss_slope(loss, outputs, labels) != 0) | (zero_one(outputs, labels) != 0)
            active = jnp.max(jnp.where(valid & counts, int32(1), int32(0)), axis=0)
            total, mistakes = jax.lax.cond(active > 0, take, rest, total, mistakes)
        else:
            total, mistakes = take(total, mistakes)
        barrier()
        moved = jnp.max(jnp.where(coefficients[here, :] != 0, int32(1), int32(0)), axis=1) * valid.astype(int32)
        latest = jnp.max(moved * (steps.before + number + int32(1)), axis=0)
        return total, updates + jnp.sum(moved, axis=0, dtype=int32), mistakes, jnp.maximum(last_update, latest)

    start = (jnp.zeros((), hidden.dtype), *tally)
    return jax.lax.fori_loop(int32(0), int32(ROWS // STRIDE), one_stride, start)


def _take_steps(
    steps: _BlockSteps, base, hidden, gram, coefficients, total, mistakes, loss: Loss
) -> tuple[Array, Array]:
    """`STRIDE` steps, written out: one vector per row, so that nothing has to be picked from a block at run time."""
    h = [hidden[base + int32(row), :] for row in range(STRIDE)]
    for row in range(STRIDE):
        here = base + int32(row)
        label, valid = steps.labels[steps.position + here], steps.position + here < steps.last
        direction = steps.outgoing * steps.derivative(h[row])
        output = jnp.sum(h[row] * direction, axis=0)
        slope = _loss_slope(loss, output, label)
        slope = jnp.where(valid & (steps.moves[steps.position + here] != 0), slope, jnp.zeros_like(slope))
        coefficient = -steps.rate * slope * direction
        coefficients[here, :] = coefficient
        for later in range(row + 1, STRIDE):
            h[later] = h[later] + gram[here, base + int32(later)] * coefficient
        total = total + jnp.abs(steps.rate * slope)
        mistakes = mistakes + jnp.where(valid, zero_one(output, label), 0).astype(int32)
    return total, mistakes


def _loss_slope(loss: Loss, outputs: Array, labels: Array) -> Array:
    """The derivative of the loss. Automatic differentiation, but for a short form of the one that matters most."""
    if loss is logistic:
        return -labels / (1 + jnp.exp(labels * outputs))
    return jax.grad(lambda outputs: jnp.sum(loss(outputs, labels)))(outputs)
