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
from widenet.training.orders import Order
from widenet.training.potentials import PotentialWatch
from widenet.training.record import OutputWatch
from widenet.training.state import Tally
from widenet.types import Layers, RunKey

ROWS = 64
"""Rows of a block: large enough for the products to run at full speed, small enough for the inner loop."""

Carry = TypeVar("Carry")


class Rows(eqx.Module):
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
      projections: ⟨w*, x⟩ of each row where a `PotentialWatch` follows them, else None.
      has_bias: whether each inner product has one more.
    """

    rows: Rows
    labels: Float[Array, "step batch"]
    moves: Bool[Array, "step batch"]
    inputs: Float[Array, "step batch dim"] | None
    products: Float[Array, "step batch step batch"] | None
    twins: Float[Array, "sample sample"] | None
    projections: Float[Array, "step batch"] | None
    has_bias: bool = eqx.field(static=True)

    def gram(self) -> Float[Array, "step batch step batch"]:
        """All inner products of the block's rows."""
        if self.products is not None:
            return self.products
        flat = self.inputs.reshape(self.labels.size, -1)  # pyright: ignore[reportOptionalMemberAccess]
        return jnp.dot(flat, flat.T, precision=EXACT).reshape(self.labels.shape * 2) + self.has_bias

    def column(self, step: Int[Array, ""]) -> Float[Array, "step batch batch"]:
        """The inner products with the rows of one step: active steps are few, so columns are computed as needed."""
        if self.products is not None:
            return self.products[:, :, step]
        inputs = self.inputs
        return jnp.einsum("sbd,cd->sbc", inputs, inputs[step], precision=EXACT) + self.has_bias  # pyright: ignore

    def twins_of(self, step: Int[Array, ""]) -> Float[Array, "batch batch"] | None:
        """`twins` of the rows of one step; a batch of one has none."""
        if self.labels.shape[1] == 1:
            return None
        if self.inputs is not None:
            return twins(self.inputs[step], self.has_bias)
        chosen = self.rows.chosen[step]
        return self.twins[chosen[:, None], chosen]  # pyright: ignore[reportOptionalSubscript]


def twins(inputs: Float[Array, "sample dim"], has_bias: bool) -> Float[Array, "sample sample"]:
    """1 where two samples are equal, −1 where they are opposite: such samples of one batch may cancel each other.

    Other samples could only do so by chance. With a bias opposite samples differ in its constant coordinate.
    """
    equal = lambda other: jnp.all(inputs[:, None] == other, axis=-1).astype(inputs.dtype)  # noqa: E731
    return equal(inputs) if has_bias else equal(inputs) - equal(-inputs)


class Progress(eqx.Module):
    """What a block changes: coefficients C of the rows, output weights, counters, and what a watch has seen."""

    coefficients: Float[Array, "step batch neuron"]
    output_weights: Float[Array, "*output neuron"]
    tally: Tally
    watched: Any = None


class Taken(eqx.Module):
    """One step: its coefficients, the new output weights, the old outputs, and whether anything moved."""

    coefficients: Float[Array, "batch neuron"]
    output_weights: Float[Array, "*output neuron"]
    outputs: Float[Array, " batch *output"]
    is_update: Bool[Array, ""]


def walk(
    order: Order,
    key: RunKey,
    n_samples: int,
    batch_size: int,
    start: Int[Array, ""],
    stop: Int[Array, ""],
    carry: Carry,
    work: Callable[[Carry, Rows], Carry],
) -> Carry:
    """Take the steps start, …, stop − 1 block by block, epoch by epoch."""
    length = order.steps_per_epoch(n_samples, batch_size)
    size = max(1, min(ROWS // batch_size, length))

    def run_epoch(epoch: Array, carry: Carry) -> Carry:
        samples = order.epoch(key, epoch, n_samples, batch_size)
        # A slice past the end would be shifted back by dynamic_slice; padding keeps positions true.
        samples = jnp.pad(samples, ((0, size), (0, 0)))
        first = jnp.maximum(start - epoch * length, 0)
        last = jnp.minimum(stop - epoch * length, length)

        def run_block(index: Array, carry: Carry) -> Carry:
            position = first + index * size
            within = position + jnp.arange(size, dtype=jnp.int32)
            chosen = jax.lax.dynamic_slice_in_dim(samples, position, size)
            return work(carry, Rows(chosen, within < last, epoch * length + within + 1))

        return jax.lax.fori_loop(jnp.int32(0), -(-(last - first) // size), run_block, carry)

    return jax.lax.fori_loop(start // length, -(-stop // length), run_epoch, carry)


def work_through(
    network: TwoLayer,
    hidden: Float[Array, "row neuron"],
    block: Block,
    tally: Tally,
    step_size: Float[Array, ""],
    loss: Loss,
    layers: Layers,
    watch: OutputWatch | PotentialWatch | None = None,
    watched: Any = None,
) -> Progress:
    """The inner loop, from the pre-activations of the block's rows at its start."""
    steps, batch = block.labels.shape
    begin = Progress(jnp.zeros((steps, batch, network.n_neurons), hidden.dtype), network.output_weights, tally, watched)
    inner = _next_active if loss in SATURATING else _every_step
    rate = step_size.astype(hidden.dtype) / batch
    return inner(network, hidden.reshape(steps, batch, -1), block, begin, rate, loss, layers, watch)


def fits(network: Any, watch: Any) -> bool:
    """Whether a kernel made of blocks can do the job."""
    return isinstance(network, TwoLayer) and (watch is None or isinstance(watch, OutputWatch | PotentialWatch))


def take(
    network: TwoLayer,
    hidden: Float[Array, "batch neuron"],
    labels: Float[Array, " batch"],
    moves: Bool[Array, " batch"],
    output_weights: Float[Array, "*output neuron"],
    rate: Array,
    loss: Loss,
    layers: Layers,
    twins: Float[Array, "batch batch"] | None = None,
) -> Taken:
    """One step from its pre-activations. `.T` leaves the vector of a single output as it is.

    With `twins` a batch whose samples cancel each other is not an update.
    """
    features = network.activation(hidden)
    outputs = jnp.dot(features, output_weights.T, precision=EXACT)
    slopes = jax.grad(lambda o: jnp.sum(loss(o, labels)))(outputs)
    slopes_in = jnp.where(moves if slopes.ndim == 1 else moves[:, None], slopes, 0)
    if slopes.ndim == 1:
        pull = slopes_in[:, None] * output_weights
    else:
        pull = jnp.dot(slopes_in, output_weights, precision=EXACT)
    coefficients = -rate * pull * network.activation.derivative(hidden)
    is_update = jnp.any(coefficients != 0)
    if twins is not None:  # entries are 1, −1 and 0, so that sums of opposites are exact
        is_update = jnp.any(jnp.dot(twins, coefficients, precision=EXACT) != 0)
    if layers is Layers.BOTH:
        change = -rate * jnp.dot(slopes.T, features, precision=EXACT)
        is_update = is_update | jnp.any(change != 0)
        output_weights = output_weights + change
    return Taken(coefficients, output_weights, outputs, is_update)


def _after(
    progress: Progress,
    watch: OutputWatch | PotentialWatch | None,
    block: Block,
    step: Int[Array, ""],
    hidden: Float[Array, "batch neuron"],
    products: Float[Array, "batch batch"],
    taken: Taken,
    valid: Bool[Array, ""],
) -> Progress:
    """The block after one more step, or as it was where the step is not a valid one."""
    labels, number = block.labels[step], block.rows.numbers[step]
    output_weights = jnp.where(valid, taken.output_weights, progress.output_weights)
    happens = taken.is_update & valid
    watched = progress.watched
    if isinstance(watch, PotentialWatch):
        seen = labels, taken.outputs, output_weights, number
        projections = block.projections[step]  # pyright: ignore[reportOptionalSubscript]
        watched = watched.after(watch, taken.coefficients, hidden, products, projections, seen, happens)
    elif watch is not None:  # a step that moved nothing shows it the same weights once more
        watched = watch.fold(watched, output_weights)
    mistakes = jnp.where(valid, jnp.sum(zero_one(taken.outputs, labels)), 0)
    return Progress(
        progress.coefficients.at[step].set(jnp.where(valid, taken.coefficients, 0)),
        output_weights,
        progress.tally.count(happens, mistakes, number),
        watched,
    )


def _every_step(
    network: TwoLayer,
    hidden: Float[Array, "step batch neuron"],
    block: Block,
    progress: Progress,
    rate: Array,
    loss: Loss,
    layers: Layers,
    watch: OutputWatch | PotentialWatch | None,
) -> Progress:
    gram = block.gram()

    def body(step: Array, progress: Progress) -> Progress:
        # Rows not reached yet have coefficient 0, so the whole row of the Gram matrix may be used.
        drift = jnp.einsum("bsc,scn->bn", gram[step], progress.coefficients, precision=EXACT)
        now = hidden[step] + drift
        labels, moves = block.labels[step], block.moves[step]
        taken = take(network, now, labels, moves, progress.output_weights, rate, loss, layers, block.twins_of(step))
        return _after(progress, watch, block, step, now, gram[step, :, step], taken, block.rows.valid[step])

    return jax.lax.fori_loop(jnp.int32(0), jnp.int32(block.labels.shape[0]), body, progress)


def _next_active(
    network: TwoLayer,
    hidden: Float[Array, "step batch neuron"],
    block: Block,
    progress: Progress,
    rate: Array,
    loss: Loss,
    layers: Layers,
    watch: OutputWatch | PotentialWatch | None,
) -> Progress:
    steps = block.labels.shape[0]
    positions = jnp.arange(steps, dtype=jnp.int32)

    def find(hidden: Array, output_weights: Array, after: Array) -> Array:
        """The first step from `after` on with a non-zero loss slope; `steps` if there is none."""
        outputs = jnp.dot(network.activation(hidden), output_weights.T, precision=EXACT)
        slopes = jax.grad(lambda o: jnp.sum(loss(o, block.labels)))(outputs)
        active = jnp.any(slopes != 0, axis=tuple(range(1, slopes.ndim))) & block.rows.valid & (positions >= after)
        return jnp.where(jnp.any(active), jnp.argmax(active), steps).astype(jnp.int32)

    def more(carry: tuple[Array, Array, Progress]) -> Array:
        return carry[1] < steps

    def body(carry: tuple[Array, Array, Progress]) -> tuple[Array, Array, Progress]:
        hidden, step, progress = carry
        labels, moves, second = block.labels[step], block.moves[step], progress.output_weights
        taken = take(network, hidden[step], labels, moves, second, rate, loss, layers, block.twins_of(step))
        column = block.column(step)
        progress = _after(progress, watch, block, step, hidden[step], column[step], taken, jnp.asarray(True))
        hidden = hidden + jnp.einsum("sbc,cn->sbn", column, taken.coefficients, precision=EXACT)
        return hidden, find(hidden, taken.output_weights, step + 1), progress

    start = find(hidden, progress.output_weights, jnp.int32(0))
    return jax.lax.while_loop(more, body, (hidden, start, progress))[2]
