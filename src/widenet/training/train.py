"""One run: an ensemble of one."""

from typing import Any

import jax
import jax.numpy as jnp

from widenet.training.ensemble import ensemble
from widenet.training.recipe import Recipe
from widenet.training.record import Record
from widenet.types import Dataset, Progress, RunKey, Trajectory, silent


def train(
    network: Any,
    data: Dataset,
    recipe: Recipe,
    key: RunKey,
    *,
    record: Record | None = None,
    watch: Any = None,
    progress: Progress = silent,
) -> Trajectory:
    """Train one network; arguments as in `ensemble`, results without the run axis."""
    lift = lambda tree: jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], tree)  # noqa: E731
    runs = ensemble(lift(network), data, recipe, key[None], record=record, watch=lift(watch), progress=progress)
    return jax.tree.map(lambda leaf: leaf[0], runs)
