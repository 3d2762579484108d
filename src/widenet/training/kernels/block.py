"""A block of steps: what the exact fast kernels share.

A step on one sample is W ← W + c xᵀ, and c depends on W only through the pre-activations W x. So once the
pre-activations H of a block's rows are known at its start, those of a later row follow from inner products alone:
h_t = H_t + Σ_{s<t} ⟨x_s, x_t⟩ c_s. In real arithmetic this is the same algorithm, not an approximation. A bias is a
constant coordinate: one more in each inner product. With several outputs c is Aᵀ times the slopes of the loss.

Two inner loops. `_every_step` walks all steps (logistic loss: every step moves something). `_next_active` jumps
from one active step to the next (hinge loss: most steps late in training move nothing), so a block without
active samples costs one test.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from widenet.losses import SATURATING, Loss, zero_one
from widenet.networks import TwoLayer
from widenet.networks.two_layer import EXACT
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import Tally
from widenet.training.kernels.cancelling import twins
from widenet.training.record import OutputWatch
from widenet.types import Layers

ROWS = 64
"""Rows of a block: large enough for the products to run at full speed, small enough for the inner loop."""
WRITTEN_OUT = 8
"""Up to so many steps a walk is written out: a step then meets only the rows before it, and its outputs are kept."""

Carry = TypeVar("Carry")


class BlockRows(eqx.Module):
    """Which samples a block visits.

    Attributes:
      chosen: the sample of each row.
      valid: which steps belong to this segment (the last block may reach past it).
      numbers: the step count after each step, from 1.
    """

    chosen: Int[Array, "step batch"]
    valid: Bool[Array, " step"]
    numbers: Int[Array, " step"]


class Block(eqx.Module):
    """One block while it is being worked through.

    Attributes:
      rows: which samples, and when.
      labels: of each row.
      moves: whether a row can move the weights at all: without a bias, an input of zeros cannot.
      inputs: the rows themselves, or None when their inner products are given.
      products: the inner products, or None when they are to be computed from the inputs.
      twins: of all samples, where their inner products are given.
      has_bias: whether each inner product has one more.
    """

    rows: BlockRows
    labels: Float[Array, "step batch"]
    moves: Bool[Array, "step batch"]
    inputs: Float[Array, "step batch dim"] | None
    products: Float[Array, "step batch step batch"] | None
    twins: Float[Array, "sample sample"] | None
    has_bias: bool = eqx.field(static=True)

    def gram(self) -> Float[Array, "step batch step batch"]:
        """All inner products of the block's rows."""
        if self.products is not None:
            return self.products
        flat = self.inputs.reshape(self.labels.size, -1)  # pyright: ignore[reportOptionalMemberAccess]
        return jnp.dot(flat, flat.T, precision=EXACT).reshape(self.labels.shape * 2) + float(self.has_bias)

    def column(self, step: Int[Array, ""]) -> Float[Array, "step batch batch"]:
        """The inner products with the rows of one step: active steps are few, so columns are computed as needed."""
        if self.products is not None:
            return self.products[:, :, step]
        inputs = self.inputs
        return jnp.einsum("sbd,cd->sbc", inputs, inputs[step], precision=EXACT) + float(self.has_bias)  # pyright: ignore

    def twins_of(self, step: Int[Array, ""]) -> Float[Array, "batch batch"] | None:
        """`twins` of the rows of one step; a batch of one has none."""
        if self.labels.shape[1] == 1:
            return None
        if self.inputs is not None:
            return twins(self.inputs[step], self.has_bias)
        chosen = self.rows.chosen[step]
        return self.twins[chosen[:, None], chosen]  # pyright: ignore[reportOptionalSubscript]


class Taken(eqx.Module):
    """One step, or a row for each step of a block: its coefficients, what it adds to the output weights (None if they
    are fixed), and the outputs before it.
    """

    coefficients: Float[Array, "*step batch neuron"]
    change: Float[Array, "..."] | None
    outputs: Float[Array, "..."]

    def is_update(self, twins: Float[Array, "batch batch"] | None = None) -> Bool[Array, ""]:
        """Whether the step moved anything. With `twins` a batch whose samples cancel each other moves nothing."""
        moved = self.coefficients
        if twins is not None:  # entries are 1, −1 and 0, so that sums of opposites are exact
            moved = jnp.dot(twins, moved, precision=EXACT)
        moves = jnp.any(moved != 0)
        return moves if self.change is None else moves | jnp.any(self.change != 0)


class Walked(eqx.Module):
    """A block during the walk: its steps so far (zeros where none was taken), and what goes from step to step."""

    steps: Taken
    output_weights: Float[Array, "*output neuron"]
    watched: Any


class WalkPlace(eqx.Module):
    """Where a walk from active step to active step stands: the step, and the pre-activations of all rows there."""

    hidden: Float[Array, "step batch neuron"]
    step: Int[Array, ""]
    visited: Bool[Array, " step"]
    walked: Walked


class BlockResult(eqx.Module):
    """What a block changes: coefficients C of the rows, output weights, counters, and what a watch has seen."""

    coefficients: Float[Array, "step batch neuron"]
    output_weights: Float[Array, "*output neuron"]
    tally: Tally
    watched: Any = None


def block_size(segment: Segment, steps: int | None = None) -> int:
    """Steps of a block: so many, or those of `ROWS` rows, and at most an epoch."""
    length = segment.order.steps_per_epoch(segment.data.n_samples, segment.batch_size)
    return max(1, min(ROWS // segment.batch_size if steps is None else steps, length))


def walk(segment: Segment, carry: Carry, work: Callable[[Carry, BlockRows], Carry], steps: int | None = None) -> Carry:
    """Take the steps start, …, stop − 1 block by block, epoch by epoch; a block has so many steps, or `ROWS` rows."""
    order, n_samples, batch_size = segment.order, segment.data.n_samples, segment.batch_size
    start, stop = segment.start, segment.stop
    length = order.steps_per_epoch(n_samples, batch_size)
    size = block_size(segment, steps)

    def run_epoch(epoch: Array, carry: Carry) -> Carry:
        samples = order.epoch(segment.key, epoch, n_samples, batch_size)
        # A slice past the end would be shifted back by dynamic_slice; padding keeps positions true.
        samples = jnp.pad(samples, ((0, size), (0, 0)))
        first = jnp.maximum(start - epoch * length, 0)
        last = jnp.minimum(stop - epoch * length, length)

        def run_block(index: Array, carry: Carry) -> Carry:
            position = first + index * size
            within = position + jnp.arange(size, dtype=jnp.int32)
            chosen = jax.lax.dynamic_slice_in_dim(samples, position, size)
            return work(carry, BlockRows(chosen, within < last, epoch * length + within + 1))

        return jax.lax.fori_loop(jnp.int32(0), -(-(last - first) // size), run_block, carry)

    return jax.lax.fori_loop(start // length, -(-stop // length), run_epoch, carry)


def work_through(
    network: TwoLayer,
    hidden: Float[Array, "row neuron"],
    block: Block,
    segment: Segment,
    tally: Tally,
    watched: Any = None,
) -> BlockResult:
    """The inner loop, from the pre-activations of the block's rows at its start.

    The walk keeps only what the next step needs. Events are counted afterwards, for all steps at once: on a CPU each
    operation of such a loop costs as much as the arithmetic of a step.
    """
    steps, batch = block.labels.shape
    hidden = hidden.reshape(steps, batch, -1)
    second = network.output_weights
    blank = Taken(
        jnp.zeros_like(hidden),
        jnp.zeros((steps, *second.shape), second.dtype) if segment.layers is Layers.BOTH else None,
        jnp.zeros((steps, batch, *second.shape[:-1]), hidden.dtype),
    )
    inner = _next_active if segment.loss in SATURATING else _every_step
    end, visited = inner(network, hidden, block, segment, Walked(blank, second, watched))
    updates = _updates(block, end.steps)
    mistakes = jnp.sum(zero_one(end.steps.outputs, block.labels), axis=1)
    counted = tally.add(updates & visited, jnp.where(visited, mistakes, 0), block.rows.numbers)
    return BlockResult(end.steps.coefficients, end.output_weights, counted, end.watched)


def _updates(block: Block, taken: Taken) -> Bool[Array, " step"]:
    """Which steps moved anything. That samples of a batch are twins is rare, so their sums are taken only then."""
    alone = jax.vmap(Taken.is_update)(taken)
    if block.labels.shape[1] == 1:
        return alone
    same: Any = jax.vmap(block.twins_of)(jnp.arange(block.labels.shape[0]))
    return jax.lax.cond(
        jnp.sum(jnp.abs(same)) > block.labels.size, lambda: jax.vmap(Taken.is_update)(taken, same), lambda: alone
    )


def fits(network: Any, watch: Any) -> bool:
    """Whether a kernel made of blocks can do the job."""
    return isinstance(network, TwoLayer) and (watch is None or isinstance(watch, OutputWatch))


def take(
    network: TwoLayer,
    hidden: Float[Array, "batch neuron"],
    labels: Float[Array, " batch"],
    moves: Bool[Array, " batch"],
    output_weights: Float[Array, "*output neuron"],
    rate: Array,
    loss: Loss,
    layers: Layers,
) -> Taken:
    """One step from its pre-activations. `.T` leaves the vector of a single output as it is."""
    features = network.activation(hidden)
    outputs = jnp.dot(features, output_weights.T, precision=EXACT)
    slopes = jax.grad(lambda o: jnp.sum(loss(o, labels)))(outputs)
    slopes_in = jnp.where(moves if slopes.ndim == 1 else moves[:, None], slopes, 0)
    if slopes.ndim == 1:
        pull = slopes_in[:, None] * output_weights[None]
    else:
        pull = jnp.dot(slopes_in, output_weights, precision=EXACT)
    coefficients = -rate * pull * network.activation.derivative(hidden)
    change = -rate * jnp.dot(slopes.T, features, precision=EXACT) if layers is Layers.BOTH else None
    return Taken(coefficients, change, outputs)


def _row(array: Array, step: Int[Array, ""]) -> Array:
    """One row. The step is never negative; telling the compiler so spares it a select for every index."""
    return jax.lax.dynamic_index_in_dim(array, step, keepdims=False, allow_negative_indices=False)


def _put(array: Array, row: Array, step: Int[Array, ""]) -> Array:
    """The array with a new row. `.at[step].set` would guard the index by reading the old row, and so copy it all."""
    return jax.lax.dynamic_update_index_in_dim(array, row, step, 0, allow_negative_indices=False)


def _after(walked: Walked, watch: OutputWatch | None, step: Int[Array, ""], taken: Taken) -> Walked:
    """The walk after one more step."""
    output_weights, watched = walked.output_weights, walked.watched
    if taken.change is not None:
        output_weights = output_weights + taken.change
    if watch is not None:  # a step that moved nothing shows it the same weights once more
        watched = watch.fold(watched, output_weights)
    return Walked(jax.tree.map(lambda rows, row: _put(rows, row, step), walked.steps, taken), output_weights, watched)


def _every_step(
    network: TwoLayer,
    hidden: Float[Array, "step batch neuron"],
    block: Block,
    segment: Segment,
    walked: Walked,
) -> tuple[Walked, Bool[Array, " step"]]:
    """Also tells which steps were taken."""
    gram, loss, layers, watch = block.gram(), segment.loss, segment.layers, segment.watch
    rate = segment.constant_step.astype(hidden.dtype) / segment.batch_size

    def step_from(coefficients: Array, output_weights: Array, step: Array) -> Taken:
        # Rows not reached yet have coefficient 0, so the whole row of the Gram matrix may be used.
        drift = jnp.einsum("bsc,scn->bn", _row(gram, step), coefficients, precision=EXACT)
        now = _row(hidden, step) + drift
        labels, moves, valid = (_row(part, step) for part in (block.labels, block.moves, block.rows.valid))
        taken = take(network, now, labels, moves, output_weights, rate, loss, layers)

        def if_valid(part: Array) -> Array:
            return jnp.where(valid, part, 0)

        return Taken(if_valid(taken.coefficients), jax.tree.map(if_valid, taken.change), taken.outputs)

    def body(step: Array, walked: Walked) -> Walked:
        return _after(walked, watch, step, step_from(walked.steps.coefficients, walked.output_weights, step))

    def lean_body(step: Array, coefficients: Array) -> Array:
        return _put(coefficients, step_from(coefficients, walked.output_weights, step).coefficients, step)

    n_steps = block.labels.shape[0]

    def loop(body: Callable[[Array, Any], Any], begin: Any) -> Any:
        return jax.lax.fori_loop(jnp.int32(0), jnp.int32(n_steps), body, begin)

    if watch is not None or layers is Layers.BOTH:
        return loop(body, walked), block.rows.valid
    if n_steps <= WRITTEN_OUT:
        return _written_out(network, hidden, block, segment, walked), block.rows.valid
    # XLA on a CPU runs a loop body of at most eight operations without a scheduler, in half the time. So this one
    # keeps the coefficients alone, and the outputs are found again afterwards, for all steps at once.
    coefficients = loop(lean_body, walked.steps.coefficients)
    positions = jnp.arange(n_steps)
    earlier = (positions[:, None] > positions[None])[:, None, :, None]
    drift = jnp.einsum("tbsc,scn->tbn", jnp.where(earlier, gram, 0), coefficients, precision=EXACT)
    outputs = jnp.dot(network.activation(hidden + drift), walked.output_weights.T, precision=EXACT)
    return Walked(Taken(coefficients, None, outputs), walked.output_weights, walked.watched), block.rows.valid


def _written_out(
    network: TwoLayer, hidden: Float[Array, "step batch neuron"], block: Block, segment: Segment, walked: Walked
) -> Walked:
    """A few steps that move the hidden layer alone, one after the other without a loop."""
    rate = segment.constant_step.astype(hidden.dtype) / segment.batch_size
    taken: list[Taken] = []
    gram = block.gram() if len(hidden) > 1 else None
    for step, now in enumerate(hidden):
        if gram is not None and taken:
            earlier = jnp.stack([each.coefficients for each in taken])
            now = now + jnp.einsum("bsc,scn->bn", gram[step, :, :step], earlier, precision=EXACT)
        own = block.labels[step], block.moves[step] & block.rows.valid[step]
        taken.append(take(network, now, *own, walked.output_weights, rate, segment.loss, segment.layers))
    steps = jax.tree.map(lambda *parts: jnp.stack(parts), *taken)
    return Walked(steps, walked.output_weights, walked.watched)


def _next_active(
    network: TwoLayer,
    hidden: Float[Array, "step batch neuron"],
    block: Block,
    segment: Segment,
    walked: Walked,
) -> tuple[Walked, Bool[Array, " step"]]:
    """Also tells which steps were taken: the others move nothing and are no mistakes."""
    loss, layers, watch = segment.loss, segment.layers, segment.watch
    rate = segment.constant_step.astype(hidden.dtype) / segment.batch_size
    steps = block.labels.shape[0]
    positions = jnp.arange(steps, dtype=jnp.int32)

    def find(hidden: Array, output_weights: Array, after: Array) -> Array:
        """The first step from `after` on with a non-zero loss slope or a mistake; `steps` if there is none.

        With labels ±1 a mistake has a slope. With others it may have none, and must be counted all the same.
        """
        outputs = jnp.dot(network.activation(hidden), output_weights.T, precision=EXACT)
        slopes = jax.grad(lambda o: jnp.sum(loss(o, block.labels)))(outputs)
        wrong = jnp.any(zero_one(outputs, block.labels) != 0, axis=1)
        active = jnp.any(slopes != 0, axis=tuple(range(1, slopes.ndim))) | wrong
        active = active & block.rows.valid & (positions >= after)
        return jnp.where(jnp.any(active), jnp.argmax(active), steps).astype(jnp.int32)

    def body(at: WalkPlace) -> WalkPlace:
        labels, moves = _row(block.labels, at.step), _row(block.moves, at.step)
        now = _row(at.hidden, at.step)
        taken = take(network, now, labels, moves, at.walked.output_weights, rate, loss, layers)
        walked = _after(at.walked, watch, at.step, taken)
        hidden = at.hidden + jnp.einsum("sbc,cn->sbn", block.column(at.step), taken.coefficients, precision=EXACT)
        visited = at.visited | (positions == at.step)
        return WalkPlace(hidden, find(hidden, walked.output_weights, at.step + 1), visited, walked)

    start = find(hidden, walked.output_weights, jnp.int32(0))
    begin = WalkPlace(hidden, start, jnp.zeros(steps, bool), walked)
    end = jax.lax.while_loop(lambda at: at.step < steps, body, begin)
    return end.walked, end.visited
