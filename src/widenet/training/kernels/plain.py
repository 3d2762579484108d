"""The oracle: one step at a time, gradients by automatic differentiation, for any network.

It is meant to be obviously right. Every other kernel of SGD is tested against it, step by step, and the methods that
have no kernels of their own are made of its parts.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from widenet.losses import Loss, log_mean, zero_one
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.record import Step
from widenet.training.schedules import StepRule
from widenet.types import Layers


class Now(eqx.Module):
    """What a step sees beside the gradient.

    Attributes:
      weights: those that move; None at the others.
      outputs, labels: of the batch, before the step.
      taken: how many steps lie behind it.
      loss: as in the `Recipe`.
    """

    weights: PyTree
    outputs: Float[Array, " batch *output"]
    labels: Float[Array, " batch"]
    taken: Int[Array, ""]
    loss: Loss = eqx.field(static=True)

    @property
    def log_loss(self) -> Float[Array, ""]:
        """log of the mean loss of the batch, finite where the loss itself underflows."""
        return log_mean(self.loss, self.outputs, self.labels)

    def size(self, step_size: Any) -> Float[Array, ""]:
        """A step size as a number: a `StepRule` is evaluated."""
        is_rule = isinstance(step_size, StepRule)
        return jnp.asarray(step_size(self.log_loss, self.taken) if is_rule else step_size)


StepOf = Callable[[PyTree, PyTree, Now], tuple[PyTree, PyTree]]
"""(gradient, what the method keeps, the rest) → (what is added to the weights, what the method keeps then)."""


class BatchGradient(NamedTuple):
    """What a step follows.

    Attributes:
      weights: the gradient of the mean loss of a batch, None at weights that stay.
      outputs: of the batch.
      moves: whether any entry of the gradient is not 0, from a way that knows it without reading them all.
    """

    weights: PyTree
    outputs: Float[Array, " batch *output"]
    moves: Bool[Array, ""] | None = None


Gradient = Callable[..., BatchGradient]
"""What `gradient_of` is, or another way to the same."""


def gradient_of(
    network: Any, inputs: Float[Array, "batch dim"], labels: Float[Array, " batch"], *, loss: Loss, layers: Layers
) -> BatchGradient:
    """By automatic differentiation."""
    moving, fixed = eqx.partition(network, network.trainable(layers))

    def mean_loss(moving: Any) -> tuple[Float[Array, ""], Float[Array, " batch *output"]]:
        outputs = jax.vmap(eqx.combine(moving, fixed))(inputs)
        return jnp.mean(loss(outputs, labels)), outputs

    return BatchGradient(*jax.grad(mean_loss, has_aux=True)(moving))


def descend(direction: PyTree, step_size: Array) -> PyTree:
    """What is added to the weights to go this far against a direction."""
    return jax.tree.map(lambda part: -(step_size.astype(part.dtype) * part), direction)


def is_any_nonzero(tree: PyTree) -> Bool[Array, ""]:
    """Whether any entry of the tree is not 0; a NaN counts as one.

    They are counted row by row, which XLA on a CPU does in half the time that `any` of them all would take.
    """
    rows = [jnp.sum(jnp.atleast_1d(leaf) != 0, axis=-1, dtype=jnp.int32) for leaf in jax.tree.leaves(tree)]
    return jnp.any(jnp.stack([jnp.any(row != 0) for row in rows]))


def take_step(
    state: State,
    segment: Segment,
    inputs: Float[Array, "batch dim"],
    labels: Float[Array, " batch"],
    taken: Int[Array, ""],
    change: StepOf | None = None,
    differentiate: Gradient = gradient_of,
) -> State:
    """The run after one more step, on this batch; `taken` steps lie behind it. Without `change`, gradient descent."""
    network, loss, layers = state.network, segment.loss, segment.layers
    gradient, outputs, moves = differentiate(network, inputs, labels, loss=loss, layers=layers)
    moving, fixed = eqx.partition(network, network.trainable(layers))
    # Of the default width: a rule that divides an int32 would get a float32.
    now = Now(moving, outputs, labels, taken.astype(int), loss)
    step_size = segment.step_size
    if isinstance(step_size, eqx.Module) and not isinstance(step_size, StepRule):
        step_size = getattr(step_size, "step_size", jnp.nan)  # a method that makes its own steps may have none
    step_size = now.size(step_size)
    changes, own = (descend(gradient, step_size), state.own) if change is None else change(gradient, state.own, now)
    moved = eqx.combine(jax.tree.map(lambda weight, part: weight + part.astype(weight.dtype), moving, changes), fixed)
    # Reading every change can take as long as the step itself.
    is_update = is_any_nonzero(changes) if moves is None or change is not None else moves & (step_size != 0)
    tally = state.tally.count(is_update, jnp.sum(zero_one(outputs, labels)), taken + 1)
    watched, records = state.watched, state.records
    if segment.watch is not None:
        seen = Step(network, moved, inputs, labels, outputs, gradient, step_size, is_update, taken + 1)
        watched = segment.watch.update(watched, seen)
    if segment.recording is not None:
        records = segment.recording.after(records, moved, segment.data, taken + 1)
    return State(moved, tally, watched, own, records)


class _Echo(eqx.Module):
    def update(self, value: PyTree, step: Step) -> Step:
        return step


def seen_step(state: State, segment: Segment) -> Step:
    """A step of this segment, as a watch would see it."""
    batch = segment.data[: segment.batch_size]
    shown = dataclasses.replace(segment, watch=_Echo())
    return take_step(state, shown, batch.inputs, batch.labels, jnp.asarray(segment.start)).watched


def advance(
    state: State, segment: Segment, change: StepOf | None = None, differentiate: Gradient = gradient_of
) -> State:
    """The run after the steps start, …, stop − 1."""
    data, order, n_samples = segment.data, segment.order, segment.data.n_samples
    length = order.steps_per_epoch(n_samples, segment.batch_size)

    def run_epoch(epoch: Array, state: State) -> State:
        rows = order.epoch(segment.key, epoch, n_samples, segment.batch_size)

        def body(position: Array, state: State) -> State:
            chosen = rows[position]
            taken = epoch * length + position
            return take_step(state, segment, data.inputs[chosen], data.labels[chosen], taken, change, differentiate)

        # Positions inside the epoch: its end, counted from the start of the run, may be past the largest int32.
        first = jnp.maximum(segment.start - epoch * length, 0)
        last = jnp.minimum(segment.stop - epoch * length, length)
        return jax.lax.fori_loop(first, last, body, state)

    return jax.lax.fori_loop(segment.start // length, -(-segment.stop // length), run_epoch, state)
