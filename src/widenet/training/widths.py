"""Ensembles of several widths in one call: widths of similar size share one launch.

A neuron with zero weights and zero output weight has pre-activation 0 and coefficient 0 in every step, and with both
layers trained σ(0) = 0 leaves its output weight at 0: it stays zero for ever and adds nothing to any output. So a
network may be filled up with such neurons, trained, and cut back. The size it is filled up to depends on its own
width alone. A width that meets no other in its launch stays as it is, which changes nothing but rounding.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from widenet.errors import InputError
from widenet.networks import TwoLayer
from widenet.progress import Progress, silent
from widenet.training.engine.validation import are_keys
from widenet.training.ensemble import ensemble
from widenet.training.methods.base import Method, numbers_of_runs, without_runs
from widenet.training.recipe import Recipe
from widenet.training.record import Record
from widenet.types import Dataset, Layers, Trajectory


def ensembles(
    networks: Sequence[Any],
    data: Dataset,
    recipe: Recipe | Sequence[Recipe],
    keys: Sequence[Array],
    *,
    record: Record | None = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> list[Trajectory]:
    """Train several ensembles, one per width, in as few launches as pay.

    Main arguments:
      networks: one entry per width, each with a leading run axis.
      data: one data set for all runs.
      recipe: how to train, one for all widths or one per width. Recipes that differ in nothing but step sizes and
        `max_steps` share a launch.
      keys: one array of keys per width.

    Other arguments:
      record: what to observe, and when. An observation sees the network as it is, so with a record every width is
        trained by itself.
      memory, progress: as in `ensemble`.

    Returns:
      one `Trajectory` per width.
    """
    recipes = _one_recipe_each(networks, data, recipe, keys)
    launches: dict[Any, list[int]] = {}
    for index, (network, own) in enumerate(zip(networks, recipes, strict=True)):
        packs = record is None and not jax.tree.leaves(own.method.sampling.order) and _can_pad(network, own)
        launches.setdefault(_launch(network, own) if packs else index, []).append(index)
    runs: list[Any] = [None] * len(networks)

    def launch(members: list[int], share: Progress) -> None:
        alone = len(members) == 1
        parts = [networks[i] if alone else pad(networks[i], padded_width(networks[i].n_neurons)) for i in members]
        counts = [keys[i].shape[0] for i in members]
        together = ensemble(
            jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *map(_with_run_axis, parts, counts)),
            data,
            _joined([recipes[i] for i in members], counts),
            jnp.concatenate([keys[i] for i in members]),
            record=record,
            memory=memory,
            progress=share,
        )
        ends = np.cumsum(counts)
        for i, first, last in zip(members, ends - counts, ends, strict=True):
            own = together if alone else jax.tree.map(lambda leaf, a=first, b=last: leaf[a:b], together)
            network = cut(own.network, networks[i].n_neurons) if isinstance(networks[i], TwoLayer) else own.network
            runs[i] = eqx.tree_at(lambda run: run.network, own, network)

    for done, members in enumerate(launches.values()):

        def share(fraction: float, words: str, done: int = done) -> None:
            progress((done + fraction) / len(launches), words)

        try:
            launch(members, share)
        except InputError:  # filled up they do not fit in memory; as they are they may
            if len(members) == 1:
                raise
            for member in members:
                launch([member], share)
    return runs


def _one_recipe_each(networks: Any, data: Any, recipe: Any, keys: Any) -> list[Recipe]:
    """The recipe of each width. Every width is checked by itself: joined, its numbers are not those that were given."""
    for name, given in (("networks", networks), ("keys", keys)):
        if not isinstance(given, Sequence):
            got = f"one {type(given).__name__}" + (f" of shape {given.shape}" if hasattr(given, "shape") else "")
            raise ValueError(f"{name} must be a list with one entry per width, got {got}; ensemble takes one width")
    if not isinstance(data, Dataset) or data.is_per_run:
        got = f"inputs of shape {data.inputs.shape}" if isinstance(data, Dataset) else f"a {type(data).__name__}"
        raise ValueError(f"data must be one widenet.Dataset for all runs, got {got}; ensemble takes one per run")
    recipes = [recipe] * len(networks) if isinstance(recipe, Recipe) else recipe
    if not isinstance(recipes, Sequence) or not all(isinstance(own, Recipe) for own in recipes):
        raise ValueError(f"recipe must be a Recipe or a list with one per width, got {recipe!r}")
    if not len(networks) == len(recipes) == len(keys):
        raise ValueError(
            f"got {len(networks)} networks, {len(recipes)} recipes and {len(keys)} arrays of keys; give one per width"
        )
    for place, (network, own, some) in enumerate(zip(networks, recipes, keys, strict=True)):
        if not are_keys(some, 1):
            got = f"{some.dtype} of shape {some.shape}" if isinstance(some, jax.Array) else f"a {type(some).__name__}"
            raise ValueError(
                f"entry {place} of keys (from 0) must be an array of JAX keys, one per run, got {got};"
                " jax.random.split(jax.random.key(0), n) makes one"
            )
        try:
            own.check(network, data, some.shape[0])
        except ValueError as error:
            raise ValueError(f"entry {place} (from 0): {error}") from None
    return list(recipes)


def _can_pad(network: Any, recipe: Recipe) -> bool:
    """Whether neurons of zeros stay zeros: with both layers trained that needs σ(0) = 0."""
    if not isinstance(network, TwoLayer):
        return False
    at_zero = network.activation(jnp.zeros_like(network.output_weights[..., 0]))
    return recipe.layers is Layers.HIDDEN or not bool(jnp.any(at_zero))


def padded_width(n_neurons: int) -> int:
    """The next power of two: few shapes to compile, and sizes that matrix products like (docs/training.md)."""
    return 1 << (n_neurons - 1).bit_length()


def pad(network: TwoLayer, n_neurons: int) -> TwoLayer:
    """The same function with more neurons, all of them zero."""
    more = n_neurons - network.n_neurons

    def last(leaf: Array) -> Array:
        return jnp.pad(leaf, [(0, 0)] * (leaf.ndim - 1) + [(0, more)])

    rows = jnp.pad(network.hidden_weights, [(0, 0)] * (network.hidden_weights.ndim - 2) + [(0, more), (0, 0)])
    bias = None if network.bias is None else last(network.bias)
    return TwoLayer(rows, last(network.output_weights), bias, network.activation)


def cut(network: TwoLayer, n_neurons: int) -> TwoLayer:
    """The first neurons of a network: what `pad` started from."""
    bias = None if network.bias is None else network.bias[..., :n_neurons]
    rows, second = network.hidden_weights[..., :n_neurons, :], network.output_weights[..., :n_neurons]
    return TwoLayer(rows, second, bias, network.activation)


def _launch(network: TwoLayer, recipe: Recipe) -> Any:
    """What two widths must have in common to share a launch."""
    rows, second = network.hidden_weights, network.output_weights
    shape = padded_width(network.n_neurons), rows.shape[-1], rows.dtype, second.shape[1:-1], network.bias is None
    own = {"method", "max_steps"}  # what `_joined` gives each run of its own
    rest = [getattr(recipe, field.name) for field in dataclasses.fields(recipe) if field.name not in own]
    return shape, tuple(rest), jax.tree.structure(without_runs(recipe.method))


def _with_run_axis(network: Any, n_runs: int) -> Any:
    """Scalars (an activation's slope) get a run axis too."""

    def each(leaf: Any) -> Array:
        return jnp.broadcast_to(leaf, (n_runs,)) if jnp.ndim(leaf) == 0 else jnp.asarray(leaf)

    return jax.tree.map(each, network)


def _joined(recipes: list[Recipe], counts: list[int]) -> Recipe:
    """One recipe whose step sizes and budgets are those of each run."""
    pairs = list(zip(recipes, counts, strict=True))
    numbers = [numbers_of_runs(own.method, n_runs) for own, n_runs in pairs]
    joined = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *numbers)
    budgets = np.concatenate([np.broadcast_to(own.max_steps, (n_runs,)) for own, n_runs in pairs])
    method = recipes[0].method
    if isinstance(joined, Method):
        method = eqx.combine(joined, method)
    else:
        method = eqx.tree_at(lambda method: method.numbers, method, joined)
    return dataclasses.replace(recipes[0], method=method, max_steps=tuple(budgets.tolist()))
