"""A look at one run from outside the loop: how good is it, and can it still move?"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from widenet.losses import Loss
from widenet.training.kernels.plain import take_step
from widenet.training.stopping import StoppingRule
from widenet.types import Dataset, Layers


class Look(eqx.Module):
    """What a check sees: mean loss, goal reached, every loss exactly 0, everything finite."""

    loss: Float[Array, "*run"]
    reached: Bool[Array, "*run"]
    all_zero: Bool[Array, "*run"]
    finite: Bool[Array, "*run"]


def look(network: Any, data: Dataset, *, loss: Loss, goal: StoppingRule) -> Look:
    """Evaluate the whole training set. A NaN output makes `finite` False: comparisons alone would call it solved."""
    inputs, labels = data.inputs, data.labels
    outputs = jax.vmap(network)(inputs)
    losses = loss(outputs, labels)
    weights = jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(network)])
    return Look(
        jnp.mean(losses),
        goal(outputs, labels, losses),
        jnp.all(losses == 0),
        jnp.all(weights) & jnp.all(jnp.isfinite(outputs)),
    )


def moves_left(networks: Any, data: Dataset, loss: Loss, layers: Layers) -> np.ndarray:
    """Per run: does any single training point still produce a non-zero update?"""
    return np.asarray(_compiled_moves(loss, layers, data.is_per_run)(networks, data))


@functools.lru_cache(maxsize=128)
def _compiled_moves(loss: Loss, layers: Layers, per_run: bool):
    def any_move(network: Any, inputs: Array, labels: Array) -> Array:
        def moves(point: tuple[Array, Array]) -> Array:
            x, y = point
            return take_step(network, x[None], y[None], jnp.ones((), x.dtype), loss=loss, layers=layers)[2]

        return jnp.any(jax.lax.map(moves, (inputs, labels)))

    def one(pair: tuple[Any, Dataset]) -> Array:
        network, own = pair
        return any_move(network, own.inputs, own.labels)

    @jax.jit
    def all_runs(networks: Any, data: Dataset) -> Array:
        if per_run:
            return jax.lax.map(one, (networks, data))
        return jax.lax.map(lambda network: any_move(network, data.inputs, data.labels), networks)

    return all_runs
