"""One run: an ensemble of one."""

from typing import Any

import jax
import jax.numpy as jnp

from widenet.progress import Progress, silent
from widenet.training.engine.validation import are_keys, check_is_watch
from widenet.training.ensemble import ensemble
from widenet.training.recipe import Recipe
from widenet.training.record import Record
from widenet.types import Dataset, RunKey, Trajectory


def train(
    network: Any,
    data: Dataset,
    recipe: Recipe,
    key: RunKey,
    *,
    record: Record | None = None,
    watch: Any = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> Trajectory:
    """Train one network; arguments as in `ensemble`, for one run; results without the run axis."""
    if not are_keys(key, 0):
        shape = getattr(key, "shape", ())
        got = f"{key.dtype} of shape {shape}" if shape else repr(key)
        raise ValueError(f"train needs one key such as jax.random.key(0), got {got}")

    check_is_watch(watch)

    def lift(tree: Any) -> Any:
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], tree)

    others = {"record": record, "watch": lift(watch), "memory": memory, "progress": progress}
    runs = ensemble(lift(network), data, recipe, key[None], **others)
    return jax.tree.map(lambda leaf: leaf[0], runs)
