"""Mini-batch SGD on a GPU that passes once over the weights per step, for wide networks with a fixed second layer.

A compiled step by step program reads the weights for X Wᵀ, writes Cᵀ X, and reads and writes both once more to add
them. Here one program holds a tile of neurons: it adds the update of the step before, tile of columns by tile of
columns, writes the weights back, multiplies them with the inputs of the next step while they are still there, and
sends on what its neurons add to the outputs. What is left between two sweeps, the slopes of the loss, is tiny.

Products run on tensor cores in float16 pieces, see `pieces`. The scale of the weights comes from the largest one, which
every sweep measures, and that of the coefficients from the tile itself. On a CPU the program can only be interpreted,
which is how the tests compare it to `plain`.
"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import Array, Float, Int

from widenet.losses import zero_one
from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels.block import Rows, walk
from widenet.training.kernels.pieces import (
    COLUMNS,
    WIDEST_SPREAD,
    has_tensor_cores,
    loaded,
    pieces_of,
    power_of_two,
    product,
    scaled_pieces,
    spread,
    stored,
    triton,
)
from widenet.types import Dataset, Layers

NEURONS = 64
"""Neurons of a tile."""
WARPS, STAGES = 4, 3
"""Warps of a program, and how many tiles are on their way at a time."""
MOST_ROWS, MOST_OUTPUTS = 64, 32
"""A larger batch would not keep its pre-activations in registers; more outputs belong into a matrix product."""
FEWEST_NEURONS = 512
"""Fewer do not fill a GPU with tiles."""
STEPS = 16
"""Steps of one turn of the outer loop: a loop whose length is not known beforehand costs microseconds per turn."""

int32, float32 = jnp.int32, jnp.float32


class Sweep(eqx.Module):
    """A run between two sweeps: the last step is taken, and its update not applied yet.

    Attributes:
      weights: before that update; a bias is their last column.
      hidden: pre-activations of the step's rows, neurons filled up to whole tiles.
      slopes: of the loss, times minus the step size; zeros where there is nothing to apply.
      rows: the samples of the step.
      number: its step count.
      largest: a bound on the weights.
      tally: of the steps before.
    """

    weights: Float[Array, "neuron dim"]
    hidden: Float[Array, "row padded"]
    slopes: Float[Array, "row output"]
    rows: Int[Array, " row"]
    number: Int[Array, ""]
    largest: Float[Array, ""]
    tally: Tally


def fits(network: Any, data: Dataset, batch: int, layers: Layers, watch: Any) -> bool:
    """Whether this kernel can do the job at all: on a GPU in float32, interpreted on a CPU in either precision."""
    return (
        triton is not None
        and (jax.default_backend() == "cpu" or data.inputs.dtype == float32)
        and isinstance(network, TwoLayer)
        and isinstance(network.activation, PiecewiseLinear)
        and (network.n_outputs or 1) <= MOST_OUTPUTS
        and watch is None
        and batch <= MOST_ROWS
        and layers is Layers.HIDDEN
        and network.hidden_weights.dtype == data.inputs.dtype == data.labels.dtype
    )


def pays(network: TwoLayer, data: Dataset, batch: int) -> bool:
    """Whether this kernel, where it fits, is the fastest one: an NVIDIA GPU with tensor cores, in float32."""
    large = batch > 1 and network.n_neurons >= FEWEST_NEURONS
    fast = network.hidden_weights.dtype == float32 and has_tensor_cores()
    return large and fast and spread(data) <= WIDEST_SPREAD


def advance(state: State, segment: Segment) -> State:
    """The run after the steps start, …, stop − 1; see `plain.advance`."""
    network, data, batch = state.network, segment.data, segment.batch_size
    weights, inputs = network.hidden_weights, data.inputs
    if network.bias is not None:  # a constant coordinate
        weights = jnp.concatenate([weights, network.bias[:, None]], axis=1)
        inputs = jnp.concatenate([inputs, jnp.ones_like(inputs[:, :1])], axis=1)
    dtype, n_neurons = weights.dtype, weights.shape[0]
    padding = -n_neurons % NEURONS
    votes = jnp.pad(jnp.atleast_2d(network.output_weights), ((0, 0), (0, padding)))
    pieces, input_scale = scaled_pieces(inputs)
    kink = network.activation
    slope, at_zero = jnp.asarray(kink.slope, dtype), jnp.asarray(kink.derivative_at_zero, dtype)
    steepest = jnp.maximum(jnp.maximum(jnp.abs(slope), jnp.abs(at_zero)), 1)
    reach = jnp.max(jnp.abs(votes)) * steepest * jnp.max(jnp.abs(inputs))
    moves = jnp.any(inputs != 0, axis=1)
    size = max(16, 1 << (batch - 1).bit_length())
    program = _program(weights.shape, len(votes), size, dtype)
    rate = segment.constant_step.astype(dtype) / batch

    def sweep(now: Sweep, rows: Array) -> tuple[Sweep, Array]:
        """The update of the last step is applied; (run, outputs of the next one)."""
        bound = now.largest + jnp.sum(jnp.abs(now.slopes)) * reach
        numbers = jnp.stack([power_of_two(bound), input_scale, slope, at_zero])
        weights, hidden, parts, largest, change = program(
            now.weights, now.hidden, now.slopes, votes, now.rows, rows, numbers, *pieces
        )
        is_update = jnp.any(change != 0) | ~jnp.all(jnp.isfinite(now.slopes))
        tally = now.tally.count(is_update, jnp.zeros((), dtype), now.number)
        now = Sweep(weights, hidden, jnp.zeros_like(now.slopes), rows, now.number, jnp.max(largest), tally)
        return now, jnp.sum(parts, axis=0).T[:batch]

    def take(now: Sweep, step: tuple[Array, Array, Array]) -> tuple[Sweep, None]:
        chosen, valid, number = step
        now, outputs = sweep(now, jnp.pad(chosen, (0, size - batch)))
        labels = data.labels[chosen]
        outputs = outputs if network.n_outputs is not None else outputs[:, 0]
        slopes = jax.grad(lambda o: jnp.sum(segment.loss(o, labels)))(outputs).reshape(batch, -1)
        slopes = jnp.where((moves[chosen] & valid)[:, None], -rate * slopes, 0)
        mistakes = jnp.where(valid, jnp.sum(zero_one(outputs, labels)), 0)
        tally = now.tally.count(jnp.asarray(False), mistakes, number)
        slopes = jnp.pad(slopes, ((0, size - batch), (0, 0)))
        return Sweep(now.weights, now.hidden, slopes, now.rows, number, now.largest, tally), None

    def work(now: Sweep, block: Rows) -> Sweep:
        return jax.lax.scan(take, now, (block.chosen, block.valid, block.numbers))[0]

    rows, number = jnp.zeros(size, int32), jnp.zeros((), int32)
    hidden = jnp.zeros((size, n_neurons + padding), dtype)
    largest, none = jnp.max(jnp.abs(weights)), jnp.zeros((size, len(votes)), dtype)
    begin = Sweep(weights, hidden, none, rows, number, largest, state.tally)
    end, _ = sweep(walk(segment, begin, work, STEPS), rows)
    weights = end.weights
    if network.bias is not None:
        network = eqx.tree_at(lambda net: net.bias, network, weights[:, -1])
        weights = weights[:, :-1]
    return State(eqx.tree_at(lambda net: net.hidden_weights, network, weights), end.tally)


def _program(shape: tuple[int, int], n_outputs: int, rows: int, dtype: Any) -> Any:
    """One sweep of one run: weights, pre-activations, and per tile parts of outputs, largest weight and change."""
    interpret = jax.default_backend() == "cpu"
    tiles = -(-shape[0] // NEURONS)
    shapes = [shape, (rows, tiles * NEURONS), (tiles, n_outputs, rows), (tiles,), (tiles,)]
    return pl.pallas_call(
        functools.partial(_tile, n_outputs=n_outputs),
        grid=(tiles,),
        out_shape=[jax.ShapeDtypeStruct(each, dtype) for each in shapes],
        input_output_aliases={0: 0, 1: 1},
        compiler_params=None if interpret else triton.CompilerParams(num_warps=WARPS, num_stages=STAGES),  # type: ignore
        interpret=interpret,
        name="widenet_swept",
    )


def _tile(_, before, slopes, votes, earlier, later, numbers, *others, n_outputs: int) -> None:
    """A tile of neurons. All arguments are references to device memory."""
    *pieces, weights, hidden, parts, largest, changes = others
    n_neurons, dim = weights.shape
    tile = pl.program_id(0)
    neuron = tile * int32(NEURONS) + jnp.arange(NEURONS, dtype=int32)
    row, column = jnp.arange(before.shape[0], dtype=int32), jnp.arange(COLUMNS, dtype=int32)
    weight_scale, input_scale, slope, at_zero = numbers[0], numbers[1], numbers[2], numbers[3]
    earlier, later = earlier[:], later[:]

    def derivative(hidden: Array) -> Array:
        one = jnp.ones_like(hidden)
        return jnp.where(hidden > 0, one, jnp.where(hidden < 0, slope * one, at_zero * one))

    here = (row[:, None], neuron[None, :])
    coefficients = jnp.zeros((before.shape[0], NEURONS), weights.dtype)
    for output in range(n_outputs):
        coefficients += slopes[row, output][:, None] * votes[output, neuron][None, :]
    coefficients *= derivative(before[here])
    scale = power_of_two(_largest(coefficients))
    change = pieces_of(coefficients * scale)
    back = 1 / scale * (1 / input_scale)

    def one_tile(place: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        preactivations, most, moved = carry
        columns = place * int32(COLUMNS) + column
        where = (neuron[:, None], columns[None, :])
        exists = (neuron < n_neurons)[:, None] & (columns < dim)[None, :]
        update = product(change, [piece[earlier[:, None], columns[None, :]] for piece in pieces], (0, 0)) * back
        w = loaded(weights, where, exists) + update
        stored(weights, where, exists, w)
        x = [piece[later[:, None], columns[None, :]] for piece in pieces]
        preactivations = product(pieces_of(w * weight_scale), x, (1, 1), preactivations)
        return preactivations, jnp.maximum(most, jnp.abs(w)), jnp.maximum(moved, jnp.abs(update))

    nothing = jnp.zeros((NEURONS, COLUMNS), weights.dtype)
    start = (jnp.zeros((NEURONS, before.shape[0]), weights.dtype), nothing, nothing)
    n_places = int32(pieces[0].shape[1] // COLUMNS)
    preactivations, most, moved = jax.lax.fori_loop(int32(0), n_places, one_tile, start)
    preactivations = preactivations * (1 / weight_scale * (1 / input_scale))
    hidden[here] = preactivations.T
    features = preactivations * derivative(preactivations)
    for output in range(n_outputs):
        parts[tile, output, row] = jnp.sum(features * votes[output, neuron][:, None], axis=0)
    largest[tile], changes[tile] = _largest(most), _largest(moved)


def _largest(values: Array) -> Array:
    return jnp.max(jnp.max(jnp.abs(values), axis=1), axis=0)
