"""Many runs at once, as one compiled program.

A run's initial weights, data and sample order come from its own arguments and key alone, so they do not depend on its
batch-mates. Between two looks (a check of the goal, a record) all runs of a batch advance together inside one
compiled loop; runs that have stopped keep their state, and once three quarters of a batch have stopped the rest moves
to a smaller batch, so stopped runs soon cost little.
"""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from widenet.losses import SATURATING
from widenet.progress import Progress, require_progress, silent
from widenet.training.engine.batch import Batch
from widenet.training.engine.memory import cores, estimate, fitting_chunks, largest_chunk, limit
from widenet.training.engine.threads import SharedProgress, in_threads
from widenet.training.engine.validation import are_keys, check_is_watch, check_watch, per_run, whole
from widenet.training.methods.base import numbers_of_runs
from widenet.training.recipe import Recipe
from widenet.training.record import Record
from widenet.types import Dataset, RunKeys, Trajectory

SMALL_BYTES = 16 << 10
"""On a CPU, runs with at least this many bytes of weights, or of neurons for the samples of a step, are trained one
after the other inside the program: their products are large enough alone, what they hold stays in the cache, and a run
that has nothing to do can then really skip it. Smaller ones are vmapped. With a saturating loss a quarter is enough:
side by side, every run waits for the active samples of all others."""


def ensemble(
    networks: Any,
    data: Dataset,
    recipe: Recipe,
    keys: RunKeys,
    *,
    record: Record | None = None,
    watch: Any = None,
    chunk: int | None = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> Trajectory:
    """Train one network per key.

    Main arguments:
      networks: a network whose arrays have a leading run axis (`jax.vmap` of a constructor over keys).
      data: one data set for all runs, or one per run (leading run axis).
      recipe: how to train; step sizes and `max_steps` may be one per run.
      keys: one key per run, for its sample order (unused by a method that has none).

    Other arguments:
      record: what to observe, and when.
      watch: what to fold over every step (an `equinox.Module` with a leading run axis on its arrays).
      chunk: how many runs to train at a time; chosen by size if not given. It never changes a result.
      memory: how many bytes may be used, by default a share of what the device has. A request that is too large runs
        in pieces; one of which not even a single run fits is refused.
      progress: told the fraction done.

    Returns:
      a `Trajectory` with a leading run axis.
    """
    if not are_keys(keys, 1):
        raise ValueError("keys must be an array of JAX keys, one per run: jax.random.split(jax.random.key(0), n)")
    if not isinstance(recipe, Recipe):
        raise ValueError(f"recipe must be a Recipe(loss, method, max_steps=…), got {recipe!r}")
    if record is not None and not isinstance(record, Record):
        raise ValueError(f"record must be a Record(times, what), got {record!r}")
    require_progress(progress)
    chunk = None if chunk is None else whole("chunk", chunk, 1)
    n_runs = keys.shape[0]
    check_is_watch(watch)
    check_watch(watch, n_runs)
    recipe.check(networks, data, n_runs)
    record = (record or Record()).until(int(np.max(recipe.max_steps)))
    networks = jax.tree.map(lambda leaf: per_run(leaf, n_runs), networks)
    method = recipe.method.fitted(networks, data, recipe.loss, recipe.layers, watch, record.is_dense)
    numbers, order = numbers_of_runs(method, n_runs), method.sampling.order
    budgets = np.broadcast_to(np.asarray(recipe.max_steps, np.int32), (n_runs,))
    small = SMALL_BYTES // 4 if recipe.loss in SATURATING else SMALL_BYTES
    step_bytes = data.inputs.dtype.itemsize * method.batch(data.n_samples) * getattr(networks, "n_neurons", 0)
    large = max(_bytes_per_run(networks, n_runs), step_bytes) >= small
    one_by_one = jax.default_backend() == "cpu" and (large or method.in_turn)
    devices = jax.local_devices()
    workers = min(cores() if one_by_one else len(devices), n_runs)
    need = estimate(networks, data, method, recipe.layers, record, n_runs)
    available = limit(memory)
    if len(devices) == 1:
        workers = at_once = fitting_chunks(need, n_runs, available, workers)
    else:
        at_once = -(-workers // len(devices))
    most = largest_chunk(need, n_runs, available, at_once, one_by_one)
    chunk = min(chunk or -(-n_runs // workers), most)
    chunk = -(-n_runs // -(-n_runs // chunk))  # pieces of one size, so that few shapes are compiled
    shared = SharedProgress(progress, n_runs)

    def train_chunk(first: int) -> Trajectory:
        # A last piece that is too short is filled up with runs that have no steps to take: one shape is compiled.
        places = np.arange(first, first + chunk)
        real, runs = places < n_runs, np.minimum(places, n_runs - 1)
        told = shared.of(first, int(real.sum()))

        def part(tree: Any) -> Any:
            return tree if chunk == n_runs else jax.tree.map(lambda leaf: leaf[runs], tree)

        own = (
            part(networks),
            part(data) if data.is_per_run else data,
            part(keys),
            part(numbers),
            np.where(real, budgets[runs], 0),
            part(watch),
            jax.tree.map(lambda leaf: leaf[runs] if leaf.ndim == 2 else leaf, order),
        )
        # Runs never talk to each other: a chunk lives on one device, and only its results come back.
        device = devices[first // chunk % len(devices)]
        with contextlib.nullcontext() if len(devices) == 1 else jax.default_device(device):
            done = Batch(recipe, method, one_by_one, *_moved(own, device)).train(record, told)
        done = done if real.all() else jax.tree.map(lambda leaf: leaf[: real.sum()], done)
        return _moved(done, devices[0])

    parts = in_threads(train_chunk, range(0, n_runs, chunk), workers, shared)
    return jax.tree.map(lambda *leaves: _join(leaves), *parts) if len(parts) > 1 else parts[0]


def _bytes_per_run(networks: Any, n_runs: int) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(networks)) // n_runs


def _moved(tree: Any, device: Any) -> Any:
    """The same arrays on this device; on a machine that has one device they are there."""
    if jax.local_device_count() == 1:
        return tree
    return jax.tree.map(lambda leaf: jax.device_put(leaf, device) if isinstance(leaf, jax.Array) else leaf, tree)


def _join(leaves: Any) -> Any:
    joined = jnp.concatenate if isinstance(leaves[0], jax.Array) else np.concatenate
    return joined(leaves)
