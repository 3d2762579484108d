"""A look at a run from outside the loop: how good is it, can it still move, is it still a number?"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from widenet.losses import Loss
from widenet.networks import TwoLayer
from widenet.training.engine.state import State
from widenet.training.kernels.block import take
from widenet.training.kernels.plain import gradient_of, is_any_nonzero
from widenet.training.record import Observation, Snapshot
from widenet.training.stopping import StoppingRule
from widenet.types import Dataset, Layers

SAMPLES = 1024
"""Samples that a look takes at a time: enough for its products, and memory does not grow with the data set."""
FEW_SAMPLES = 128
"""The same for a network that is not a `TwoLayer` and may hold far more than a number per neuron and sample."""


class Evaluation(eqx.Module):
    """What a check sees: mean loss, goal reached, every loss exactly 0, everything finite."""

    loss: Float[Array, "*run"]
    reached: Bool[Array, "*run"]
    all_zero: Bool[Array, "*run"]
    finite: Bool[Array, "*run"]


class Pulse(eqx.Module):
    """What a check sees without the data: the counters, and whether the weights are finite."""

    updates: Int[Array, "*run"]
    last_update: Int[Array, "*run"]
    finite: Bool[Array, "*run"]


def look(network: Any, data: Dataset, *, loss: Loss, goal: StoppingRule) -> Evaluation:
    """Evaluate the whole training set. A NaN output makes `finite` False: comparisons alone would call it solved."""
    labels = data.labels
    at_once = SAMPLES if isinstance(network, TwoLayer) else FEW_SAMPLES
    outputs = jax.lax.map(network, data.inputs, batch_size=min(at_once, data.n_samples))
    losses = loss(outputs, labels)
    mean, seen = jnp.mean(losses), jnp.all(jnp.isfinite(outputs)) & jnp.all(jnp.isfinite(labels))
    finite = _is_finite(network) & seen & jnp.isfinite(mean)
    mean = jnp.where(finite | jnp.isinf(mean), mean, jnp.nan)  # a hinge calls NaN outputs solved
    return Evaluation(mean, goal(outputs, labels, losses), jnp.all(losses == 0), finite)


def any_sample_moves(network: Any, data: Dataset, *, loss: Loss, layers: Layers) -> Bool[Array, ""]:
    """Whether any single training point still produces a non-zero update."""
    if isinstance(network, TwoLayer):
        size = SAMPLES
    else:  # a gradient per sample, each as large as the network
        size = max(1, (1 << 20) // sum(leaf.size for leaf in jax.tree.leaves(network)))

    def moves(point: tuple[Array, Array]) -> Array:
        x, y = point
        if not isinstance(network, TwoLayer):
            return is_any_nonzero(gradient_of(network, x[None], y[None], loss=loss, layers=layers)[0])
        can_move = (jnp.any(x != 0) | (network.bias is not None))[None]
        hidden, second = network.preactivations(x)[None], network.output_weights
        return take(network, hidden, y[None], can_move, second, jnp.ones((), x.dtype), loss, layers).is_update()

    return jnp.any(jax.lax.map(moves, (data.inputs, data.labels), batch_size=min(size, data.n_samples)))


@jax.jit
def pulse(state: State) -> Pulse:
    """The pulse of every run of a batch."""
    return Pulse(state.tally.updates, state.tally.last_update, jax.vmap(_is_finite)(state.network))


@functools.lru_cache(maxsize=128)
def compiled_look(loss: Loss, goal: StoppingRule, per_run: bool, one_by_one: bool) -> Any:
    """`look` for the runs of a batch: side by side, or in turn where one is large enough."""
    return _for_runs(functools.partial(look, loss=loss, goal=goal), per_run, one_by_one)


@functools.lru_cache(maxsize=128)
def compiled_moves(moves_left: Any, loss: Loss, layers: Layers, per_run: bool, one_by_one: bool) -> Any:
    """The `moves_left` of a method for the runs of a batch."""
    return _for_runs(functools.partial(moves_left, loss=loss, layers=layers), per_run, one_by_one)


@functools.lru_cache(maxsize=128)
def compiled_observation(observation: Observation, per_run: bool, one_by_one: bool) -> Any:
    """An observation of a `Record` for the runs of a batch: ((networks, their starts, step counts), data) → arrays."""

    def one(own: tuple[Any, Any, Array], data: Dataset) -> Array:
        network, start, step = own
        return observation(Snapshot(network, start, data, step))

    return _for_runs(one, per_run, one_by_one)


def _for_runs(one: Any, per_run: bool, one_by_one: bool) -> Any:
    """(what each run has, data) → one answer per run: side by side, or in turn."""
    if not one_by_one:
        return jax.jit(jax.vmap(one, in_axes=(0, 0 if per_run else None)))

    @jax.jit
    def in_turn(own: Any, data: Dataset) -> Any:
        if per_run:
            return jax.lax.map(lambda pair: one(*pair), (own, data))
        return jax.lax.map(lambda own: one(own, data), own)

    return in_turn


def _is_finite(network: Any) -> Bool[Array, ""]:
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(network)]))
