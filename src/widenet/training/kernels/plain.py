"""The oracle: one step at a time, gradients by automatic differentiation, for any network.

It is meant to be obviously right. Every other kernel is tested against it, step by step.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from widenet.losses import Loss, zero_one
from widenet.training.engine.state import State
from widenet.training.orders import Order
from widenet.training.record import Step
from widenet.types import Dataset, Layers, RunKey


def take_step(
    network: Any,
    inputs: Float[Array, "batch dim"],
    labels: Float[Array, " batch"],
    step_size: Float[Array, ""],
    *,
    loss: Loss,
    layers: Layers,
) -> tuple[Any, Float[Array, " batch *output"], Array]:
    """One gradient step on the mean loss of a batch: (new network, old outputs, was anything moved)."""
    moving, fixed = eqx.partition(network, network.trainable(layers))

    def mean_loss(moving: Any) -> tuple[Float[Array, ""], Float[Array, " batch *output"]]:
        outputs = jax.vmap(eqx.combine(moving, fixed))(inputs)
        return jnp.mean(loss(outputs, labels)), outputs

    gradients, outputs = jax.grad(mean_loss, has_aux=True)(moving)
    changes = jax.tree.map(lambda weight, gradient: step_size.astype(weight.dtype) * gradient, moving, gradients)
    moved = jax.tree.map(lambda weight, change: weight - change, moving, changes)
    is_update = jnp.any(jnp.stack([jnp.any(leaf != 0) for leaf in jax.tree.leaves(changes)]))
    return eqx.combine(moved, fixed), outputs, is_update


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
    """The run after the steps start, …, stop − 1."""
    length = order.steps_per_epoch(data.n_samples, batch_size)

    def run_epoch(epoch: Array, state: State) -> State:
        rows = order.epoch(key, epoch, data.n_samples, batch_size)

        def body(position: Array, state: State) -> State:
            chosen, number = rows[position], epoch * length + position
            inputs, labels = data.inputs[chosen], data.labels[chosen]
            network, outputs, is_update = take_step(state.network, inputs, labels, step_size, loss=loss, layers=layers)
            tally = state.tally.count(is_update, jnp.sum(zero_one(outputs, labels)), number + 1)
            watched = state.watched
            if watch is not None:
                seen = Step(state.network, network, inputs, labels, outputs, is_update, number + 1)
                watched = watch.update(watched, seen)
            return State(network, tally, watched)

        # Positions inside the epoch: its end, counted from the start of the run, may be past the largest int32.
        first, last = jnp.maximum(start - epoch * length, 0), jnp.minimum(stop - epoch * length, length)
        return jax.lax.fori_loop(first, last, body, state)

    return jax.lax.fori_loop(start // length, -(-stop // length), run_epoch, state)
