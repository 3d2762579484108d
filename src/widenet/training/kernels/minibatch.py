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
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import Array, Float, Int

from widenet.bits import halved_sum
from widenet.losses import cross_entropy, zero_one
from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels.block import BlockRows, block_size, walk
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

NEURONS, COLUMNS = 32, 64
"""Neurons and input coordinates of a tile: as fast as any on an H200 from 1000 to 16,000 neurons."""
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
      signal: outputs of the step, or slopes of its loss (see `_tile`).
      changed: for every sweep of a block and every tile, whether the update it applied was not zero.
      largest: the largest weight of every tile.
    """

    weights: Float[Array, "neuron dim"]
    hidden: Float[Array, "row padded"]
    signal: Float[Array, "row output"]
    changed: Int[Array, "sweep tile"]
    largest: Float[Array, " tile"]


class Last(eqx.Module):
    """The step whose update is not applied yet: its samples, labels, what their slopes are multiplied by, and its
    step count."""

    rows: Int[Array, " row"]
    labels: Float[Array, " row"]
    factors: Float[Array, " row"]
    number: Int[Array, ""]


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
    dtype, n_neurons, n_outputs = weights.dtype, weights.shape[0], network.n_outputs
    tiles = -(-n_neurons // NEURONS)
    votes = jnp.pad(jnp.atleast_2d(network.output_weights), ((0, 0), (0, tiles * NEURONS - n_neurons)))
    pieces, input_scale = scaled_pieces(inputs, COLUMNS)
    kink = network.activation
    slope, at_zero = jnp.asarray(kink.slope, dtype), jnp.asarray(kink.derivative_at_zero, dtype)
    numbers = jnp.stack([input_scale, jnp.max(jnp.abs(inputs)), slope, at_zero])
    size = padded(batch)
    in_program = segment.loss is cross_entropy
    rate = segment.constant_step.astype(dtype) / batch
    filled = functools.partial(jnp.pad, pad_width=((0, 0), (0, size - batch)))

    def sweeps(now: Sweep, last: Last, block: BlockRows) -> tuple[Sweep, Last, Float[Array, "step batch output"]]:
        """The update of the last step is applied, then the steps of the block are taken; also their outputs."""
        n_steps = len(block.chosen)
        factors = jnp.broadcast_to(jnp.where(block.valid, -rate, 0)[:, None], block.chosen.shape)

        def with_last(one, others):
            return jnp.concatenate([one[None], filled(others)])

        rows = with_last(last.rows, block.chosen)
        labels = with_last(last.labels, data.labels[block.chosen])
        factors = with_last(last.factors, factors)
        program = _program(weights.shape, len(votes), size, n_steps, dtype, in_program)

        def take(step: Array, carry: tuple[Sweep, Array]) -> tuple[Sweep, Array]:
            now, seen = carry
            after, parts = program(now, votes, rows, labels, factors, numbers, step[None], pieces)
            outputs = halved_sum(jnp.moveaxis(parts, 0, -1)).T  # the same bits for any number of runs
            signal = outputs
            if not in_program:
                known = labels[step + 1, :batch]
                shown = outputs[:batch] if n_outputs is not None else outputs[:batch, 0]
                slopes = jax.grad(lambda o: jnp.sum(segment.loss(o, known)))(shown).reshape(batch, -1)
                signal = outputs.at[:batch].set(slopes)
            return eqx.tree_at(lambda now: now.signal, after, signal), seen.at[step].set(outputs[:batch])

        seen = jnp.zeros((n_steps, batch, len(votes)), dtype)
        now, seen = jax.lax.fori_loop(int32(0), int32(n_steps), take, (now, seen))
        return now, Last(rows[-1], labels[-1], factors[-1], block.numbers[-1]), seen

    def work(carry: tuple[Sweep, Last, Tally], block: BlockRows) -> tuple[Sweep, Last, Tally]:
        now, last, tally = carry
        now, after, outputs = sweeps(now, last, block)
        outputs = outputs if n_outputs is not None else outputs[..., 0]
        mistakes = jnp.sum(zero_one(outputs, data.labels[block.chosen]), axis=1)
        applied = jnp.concatenate([last.number[None], block.numbers[:-1]])  # a sweep applies the step before it
        is_update = jnp.any(now.changed != 0, axis=1)
        return now, after, tally.add(is_update, jnp.where(block.valid, mistakes, 0), applied)

    steps = block_size(segment, STEPS)
    begin = Sweep(
        weights,
        jnp.zeros((size, tiles * NEURONS), dtype),
        jnp.zeros((size, len(votes)), dtype),
        jnp.zeros((steps, tiles), int32),
        jnp.full(tiles, jnp.max(jnp.abs(weights))),
    )
    nothing = Last(jnp.zeros(size, int32), jnp.zeros(size, dtype), jnp.zeros(size, dtype), jnp.zeros((), int32))
    now, last, tally = walk(segment, (begin, nothing, state.tally), work, STEPS)
    # One sweep more applies the last step; what it prepares is not used.
    empty = BlockRows(jnp.zeros((1, batch), int32), jnp.zeros_like(last.number, bool)[None], last.number[None])
    now, _, _ = sweeps(eqx.tree_at(lambda now: now.changed, now, jnp.zeros((1, tiles), int32)), last, empty)
    tally = tally.add(jnp.any(now.changed != 0, axis=1), jnp.zeros((), dtype), last.number[None])
    weights = now.weights
    if network.bias is not None:
        network = eqx.tree_at(lambda net: net.bias, network, weights[:, -1])
        weights = weights[:, :-1]
    return State(eqx.tree_at(lambda net: net.hidden_weights, network, weights), tally)


def _program(
    shape: tuple[int, ...], n_outputs: int, rows: int, n_sweeps: int, dtype: Any, softmax: bool
) -> Callable[..., tuple[Sweep, Float[Array, "tile output row"]]]:
    """One sweep of one run: (run after it, what each tile adds to the outputs)."""
    interpret = jax.default_backend() == "cpu"
    tiles = -(-shape[0] // NEURONS)
    shapes = [shape, (rows, tiles * NEURONS), (n_sweeps, tiles), (tiles,), (tiles, n_outputs, rows)]
    dtypes = [dtype, dtype, int32, dtype, dtype]
    call = pl.pallas_call(
        functools.partial(_tile, n_outputs=n_outputs, softmax=softmax),
        grid=(tiles,),
        out_shape=[jax.ShapeDtypeStruct(each, kind) for each, kind in zip(shapes, dtypes, strict=True)],
        input_output_aliases={0: 0, 1: 1, 2: 2, 3: 3},
        compiler_params=None if interpret else triton.CompilerParams(num_warps=WARPS, num_stages=STAGES),
        interpret=interpret,
        name="widenet_minibatch",
    )

    def sweep(now: Sweep, votes, rows, labels, factors, numbers, step, pieces) -> tuple[Sweep, Array]:
        own = now.weights, now.hidden, now.changed, now.largest
        *own, parts = call(*own, now.signal, votes, rows, labels, factors, numbers, step, *pieces)
        weights, hidden, changed, largest = own
        return Sweep(weights, hidden, now.signal, changed, largest), parts

    return sweep


def _tile(
    _,
    before,
    __,
    largest_before,
    signal,
    votes,
    rows,
    labels,
    factors,
    numbers,
    step,
    *others,
    n_outputs: int,
    softmax: bool,
) -> None:
    """A tile of neurons. All arguments are references to device memory.

    `rows`, `labels` and `factors` are those of all steps of a block; the update of `step` is applied, `step + 1` is
    prepared. `signal` holds the slopes of the loss at the outputs; for a softmax the outputs themselves, whose slopes
    are found here: as many small programs in between would take as long as the sweep.
    """
    *pieces, weights, hidden, changed, largest, parts = others
    n_neurons, dim = weights.shape
    tile, step = pl.program_id(0), step[0]
    neuron = tile * int32(NEURONS) + jnp.arange(NEURONS, dtype=int32)
    row, column = jnp.arange(before.shape[0], dtype=int32), jnp.arange(COLUMNS, dtype=int32)
    input_scale, largest_input, slope, at_zero = numbers[0], numbers[1], numbers[2], numbers[3]
    earlier, later = rows[step, row], rows[step + int32(1), row]
    slopes = [signal[row, output] for output in range(n_outputs)]
    if softmax:
        slopes = _softmax_slopes(slopes, labels[step, row])

    def derivative(hidden: Array) -> Array:
        one = jnp.ones_like(hidden)
        return jnp.where(hidden > 0, one, jnp.where(hidden < 0, slope * one, at_zero * one))

    here = (row[:, None], neuron[None, :])
    coefficients = jnp.zeros((before.shape[0], NEURONS), weights.dtype)
    for output, each in enumerate(slopes):
        coefficients += (each * factors[step, row])[:, None] * votes[output, neuron][None, :]
    coefficients *= derivative(before[here])
    most = _largest(coefficients)
    scale = power_of_two(most)
    weight_scale = power_of_two(largest_before[tile] + most * largest_input * before.shape[0])
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
        is_update = jnp.where(update != 0, int32(1), int32(0))
        return preactivations, jnp.maximum(most, jnp.abs(w)), jnp.maximum(moved, is_update)

    start = (
        jnp.zeros((NEURONS, before.shape[0]), weights.dtype),
        jnp.zeros((NEURONS, COLUMNS), weights.dtype),
        jnp.zeros((NEURONS, COLUMNS), int32),
    )
    n_places = int32(pieces[0].shape[1] // COLUMNS)
    preactivations, most, moved = jax.lax.fori_loop(int32(0), n_places, one_tile, start)
    preactivations = preactivations * (1 / weight_scale * (1 / input_scale))
    hidden[here] = preactivations.T
    features = preactivations * derivative(preactivations)
    for output in range(n_outputs):
        parts[tile, output, row] = jnp.sum(features * votes[output, neuron][:, None], axis=0)
    largest[tile], changed[step, tile] = _largest(most), _largest(moved)


def _softmax_slopes(outputs: list[Array], labels: Array) -> list[Array]:
    """Softmax minus the label, output by output, with the small differences of `losses.cross_entropy` kept."""
    top = functools.reduce(jnp.maximum, outputs)
    shares = [jnp.exp(output - top) for output in outputs]
    is_label = [labels == place for place in range(len(outputs))]
    rest = [jnp.where(own, jnp.zeros_like(share), share) for own, share in zip(is_label, shares, strict=True)]
    others, total = functools.reduce(jnp.add, rest), functools.reduce(jnp.add, shares)
    return [jnp.where(own, -others, share) / total for own, share in zip(is_label, shares, strict=True)]


def _largest(values: Array) -> Array:
    return jnp.max(jnp.max(jnp.abs(values), axis=1), axis=0)
