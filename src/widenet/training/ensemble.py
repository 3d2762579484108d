"""Many runs at once, as one compiled program.

A run's initial weights, data and sample order come from its own arguments and key alone, so they do not depend on its
batch-mates. Between two looks (a check of the goal, a record) all runs of a batch advance together inside one
compiled loop; runs that have stopped keep their state, and once three quarters of a batch have stopped the rest moves
to a smaller batch, so stopped runs soon cost little.
"""

import functools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from widenet.losses import SATURATING, Loss
from widenet.training.evaluation import Look, look, moves_left
from widenet.training.kernels import KERNELS, choose
from widenet.training.orders import Listed
from widenet.training.recipe import Recipe
from widenet.training.record import Record
from widenet.training.state import State, Tally
from widenet.training.stopping import zero_loss
from widenet.types import Dataset, Progress, RunKeys, RunStatus, Trajectory, silent

SMALL_BYTES = 16 << 10
"""On a CPU, runs with at least this many bytes of weights are trained one after the other inside the program: their
products are large enough alone, and a run that has nothing to do can then really skip it. Smaller ones are vmapped."""


def ensemble(
    networks: Any,
    data: Dataset,
    recipe: Recipe,
    keys: RunKeys,
    *,
    record: Record | None = None,
    watch: Any = None,
    chunk: int | None = None,
    progress: Progress = silent,
) -> Trajectory:
    """Train one network per key.

    Main arguments:
      networks: a network whose arrays have a leading run axis (`jax.vmap` of a constructor over keys).
      data: one data set for all runs, or one per run (leading run axis).
      recipe: how to train; `step_size` may be one per run.
      keys: one key per run, for its sample order.

    Other arguments:
      record: what to observe, and when.
      watch: what to fold over every step (an `equinox.Module` with a leading run axis on its arrays).
      chunk: how many runs to train at a time; chosen by size if not given. It never changes a result.
      progress: told the fraction done.

    Returns:
      a `Trajectory` with a leading run axis.
    """
    record = record or Record()
    n_runs = keys.shape[0]
    _validate(networks, data, recipe, n_runs)
    networks = jax.tree.map(lambda leaf: _per_run(leaf, n_runs), networks)
    step_sizes = jnp.broadcast_to(jnp.asarray(recipe.step_size, jnp.float64), (n_runs,))
    one_by_one = jax.default_backend() == "cpu" and _bytes_per_run(networks, n_runs) >= SMALL_BYTES
    devices = jax.local_devices()
    workers = min(os.cpu_count() or 1 if one_by_one else len(devices), n_runs)
    chunk = chunk or -(-n_runs // workers)
    shared = _SharedProgress(progress, n_runs)

    def train_chunk(first: int) -> Trajectory:
        runs = slice(first, min(first + chunk, n_runs))
        own = (
            jax.tree.map(lambda leaf: leaf[runs], networks),
            data[runs] if data.is_per_run else data,
            keys[runs],
            step_sizes[runs],
            jax.tree.map(lambda leaf: leaf[runs], watch),
            jax.tree.map(lambda leaf: leaf[runs] if leaf.ndim == 2 else leaf, recipe.order),
        )
        if len(devices) == 1:
            return _Batch(recipe, one_by_one, *own).train(record, shared.of(first, runs.stop - first))
        # Runs never talk to each other: a chunk lives on one device, and only its results come back.
        device = devices[first // chunk % len(devices)]
        with jax.default_device(device):
            there = jax.tree.map(lambda leaf: jax.device_put(leaf, device), own)
            part = _Batch(recipe, one_by_one, *there).train(record, shared.of(first, runs.stop - first))
        return jax.tree.map(lambda leaf: jax.device_put(leaf, devices[0]) if eqx.is_array(leaf) else leaf, part)

    firsts = range(0, n_runs, chunk)
    if workers == 1:
        parts = [train_chunk(first) for first in firsts]
    else:
        # Threads, not processes: a compiled program runs outside the interpreter lock, one core or GPU per chunk.
        with ThreadPoolExecutor(workers) as pool:
            try:
                parts = list(pool.map(train_chunk, firsts))
            except BaseException:
                shared.cancelled = True  # an interrupt reaches this thread alone; the others see the flag
                pool.shutdown(cancel_futures=True)
                raise
    return jax.tree.map(lambda *leaves: _join(leaves), *parts) if len(parts) > 1 else parts[0]


class _Batch:
    """The runs of one chunk: all of them (`everyone`) and the batch that still holds running ones (`state`)."""

    def __init__(self, recipe, one_by_one, networks, data, keys, step_sizes, watch, order):
        self.one_by_one = one_by_one
        self.recipe, self.data, self.order, self.watch = recipe, data, order, watch
        self.keys, self.step_sizes = keys, step_sizes
        self.n_runs = keys.shape[0]
        self.batch_size = recipe.batch_size or data.n_samples
        self.kernel = choose(networks, data, recipe, watch)
        watched = None if watch is None else jax.vmap(lambda w, net: w.start(net))(watch, networks)
        tally = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (self.n_runs,)), Tally.zero())
        self.everyone = State(networks, tally, watched)
        self.state = self.everyone
        self.seats = np.arange(self.n_runs)  # which run sits at each place of the batch
        self.status = np.zeros(self.n_runs, np.int32)
        self.steps = np.zeros(self.n_runs, np.int32)
        self.zero_loss_step = np.full(self.n_runs, -1, np.int32)
        self.loss = np.full(self.n_runs, np.nan)
        self.updates_before = np.full(self.n_runs, -1, np.int64)

    @property
    def running(self) -> np.ndarray:
        """Which places of the current batch hold a run that has not stopped."""
        return self.status[self.seats] == RunStatus.RUNNING

    def train(self, record: Record, progress: Progress) -> Trajectory:
        """Advance from look to look until every run has stopped."""
        recipe, budget = self.recipe, self.recipe.max_steps
        interval = recipe.check_every or self._default_interval()
        times = np.asarray([time for time in record.times if time <= budget], np.int32)
        values: dict[str, np.ndarray] = {}
        step = 0
        if len(times) and times[0] == 0:
            self._take(record, values, times, 0)
        self._check(step)
        while step < budget and self.running.any():
            due = times[times > step]
            target = min(budget, (step // interval + 1) * interval, *due[:1].tolist() or [budget])
            self._advance(step, target)
            step = target
            if len(due) and due[0] == step:
                self._take(record, values, times, int(np.searchsorted(times, step)))
            if step % interval == 0 or step == budget:
                self._check(step)
            progress(max(step / budget, 1 - self.running.sum() / self.n_runs), "training")
        self.status[self.status == RunStatus.RUNNING] = RunStatus.BUDGET_SPENT
        self._settle()
        self._fill(record, values, times)
        tally = self.everyone.tally
        return Trajectory(
            network=self.everyone.network,
            status=self.status,
            steps=self.steps,
            updates=np.asarray(tally.updates),
            mistakes=np.asarray(tally.mistakes),
            last_update=np.asarray(tally.last_update),
            zero_loss_step=self.zero_loss_step,
            loss=self.loss,
            times=tuple(times.tolist()),
            records=values,
            watched=jax.tree.map(np.asarray, self.everyone.watched),
        )

    def _default_interval(self) -> int:
        epoch = self.order.steps_per_epoch(self.data.n_samples, self.batch_size)
        return 100 if self.recipe.batch_size is None else epoch * -(-1000 // epoch)

    def _advance(self, start: int, stop: int) -> None:
        advance = _compiled_advance(
            self.kernel,
            self.recipe.loss,
            self.recipe.layers,
            self.batch_size,
            self.data.is_per_run,
            any(leaf.ndim == 2 for leaf in jax.tree.leaves(self.order)),
            self.one_by_one,
        )
        self.state = advance(
            self.state,
            self._seated(self.data) if self.data.is_per_run else self.data,
            jax.tree.map(lambda leaf: leaf[self.seats] if leaf.ndim == 2 else leaf, self.order),
            self.keys[self.seats],
            self.step_sizes[self.seats],
            self._seated(self.watch),
            jnp.asarray(self.running),
            jnp.int32(start),
            jnp.int32(stop),
        )

    def _seated(self, tree: Any) -> Any:
        """The part of a per-run tree that belongs to the current batch."""
        if len(self.seats) == self.n_runs:
            return tree
        return jax.tree.map(lambda leaf: leaf[self.seats], tree)

    def _moved_since_last_look(self) -> np.ndarray:
        """Which places of the batch have made a non-zero update since the last look."""
        return np.asarray(self.state.tally.updates) != self.updates_before[self.seats]

    def _check(self, step: int) -> None:
        """Look at the whole training set and stop the runs that are done, stuck or broken.

        With a saturating loss a run that reaches its goal, stalls or turns to NaN makes no more updates; so while
        every run still moves there is nothing to see.
        """
        waits = self.recipe.goal is zero_loss and self.recipe.loss in SATURATING
        if waits and 0 < step < self.recipe.max_steps and self._moved_since_last_look()[self.running].all():
            self.updates_before[self.seats] = np.asarray(self.state.tally.updates)
            return
        data = self._seated(self.data) if self.data.is_per_run else self.data
        seen: Look = jax.tree.map(
            np.asarray,
            _compiled_look(self.recipe.loss, self.recipe.goal, data.is_per_run)(self.state.network, data),
        )
        running = self.running
        here = self.seats[running]
        self.steps[here], self.loss[here] = step, seen.loss[running]
        updates, last = np.asarray(self.state.tally.updates), np.asarray(self.state.tally.last_update)
        exact = last if self.recipe.loss in SATURATING else np.full_like(last, step)
        first = running & seen.all_zero & (self.zero_loss_step[self.seats] < 0)
        self.zero_loss_step[self.seats[first]] = exact[first]
        broken = running & ~seen.finite
        done = running & seen.finite & seen.reached
        still = running & seen.finite & ~seen.reached & ~seen.all_zero & ~self._moved_since_last_look()
        self.updates_before[self.seats] = updates
        self.status[self.seats[broken]] = RunStatus.DIVERGED
        self.status[self.seats[done]] = RunStatus.CONVERGED
        if still.any():
            places = np.flatnonzero(still)
            left = moves_left(
                jax.tree.map(lambda leaf: leaf[places], self.state.network),
                jax.tree.map(lambda leaf: leaf[places], data) if data.is_per_run else data,
                self.recipe.loss,
                self.recipe.layers,
            )
            self.status[self.seats[places[~left]]] = RunStatus.STALLED
        if not self.one_by_one and 0 < self.running.sum() <= len(self.seats) // 4:
            self._compact()

    def _compact(self) -> None:
        """Move the running runs to a smaller batch. Quarters only: every new shape is compiled once."""
        size = len(self.seats)
        while size // 4 >= self.running.sum():
            size //= 4
        self._settle()
        stopped_first = np.argsort(self.running, kind="stable")
        places = np.sort(stopped_first[-size:])
        self.state = jax.tree.map(lambda leaf: leaf[places], self.state)
        self.seats = self.seats[places]

    def _settle(self) -> None:
        """Write the current batch back to its runs."""
        if len(self.seats) == self.n_runs:
            self.everyone = self.state
        else:
            self.everyone = jax.tree.map(lambda all_, some: all_.at[self.seats].set(some), self.everyone, self.state)

    def _take(self, record: Record, values: dict[str, np.ndarray], times: np.ndarray, index: int) -> None:
        """Take the record of this moment for the current batch."""
        data = self._seated(self.data) if self.data.is_per_run else self.data
        for name, value in self._observe(record, self.state.network, data).items():
            if name not in values:
                values[name] = np.zeros((self.n_runs, len(times), *value.shape[1:]), value.dtype)
            values[name][self.seats, index] = value

    def _fill(self, record: Record, values: dict[str, np.ndarray], times: np.ndarray) -> None:
        """After the end, a run keeps its last values."""
        if not len(times):
            return
        for name, value in self._observe(record, self.everyone.network, self.data).items():
            if name not in values:
                values[name] = np.zeros((self.n_runs, len(times), *value.shape[1:]), value.dtype)
            after = times[None, :] > self.steps[:, None]
            run, time = np.nonzero(after)
            values[name][run, time] = value[run]

    def _observe(self, record: Record, networks: Any, data: Dataset) -> dict[str, np.ndarray]:
        per_run = data.is_per_run
        return {
            name: np.asarray(_compiled_observation(fn, per_run)(networks, data)) for name, fn in record.what.items()
        }


@functools.lru_cache(maxsize=128)
def _compiled_advance(
    kernel: str, loss: Loss, layers: Any, batch_size: int, per_run: bool, order_per_run: bool, one_by_one: bool
):
    one = functools.partial(KERNELS[kernel], loss=loss, layers=layers, batch_size=batch_size)
    many = jax.vmap(one, in_axes=(0, 0 if per_run else None, 0 if order_per_run else None, 0, 0, 0, None, None))

    @jax.jit
    def together(state, data, order, keys, step_sizes, watch, running, start, stop):
        after = many(state, data, order, keys, step_sizes, watch, start, stop)
        keep = lambda new, old: jnp.where(running.reshape(-1, *[1] * (new.ndim - 1)), new, old)  # noqa: E731
        return jax.tree.map(keep, after, state)

    @jax.jit
    def in_turn(state, data, order, keys, step_sizes, watch, running, start, stop):
        def turn(arguments):
            state, own_data, own_order, key, step_size, own_watch, active = arguments
            own_data, own_order = own_data if per_run else data, own_order if order_per_run else order
            go = lambda state: one(state, own_data, own_order, key, step_size, own_watch, start, stop)  # noqa: E731
            return jax.lax.cond(active, go, lambda state: state, state)

        own_data, own_order = data if per_run else None, order if order_per_run else None
        return jax.lax.map(turn, (state, own_data, own_order, keys, step_sizes, watch, running))

    return in_turn if one_by_one else together


@functools.lru_cache(maxsize=128)
def _compiled_look(loss: Loss, goal: Any, per_run: bool):
    return jax.jit(jax.vmap(functools.partial(look, loss=loss, goal=goal), in_axes=(0, 0 if per_run else None)))


@functools.lru_cache(maxsize=128)
def _compiled_observation(observation: Any, per_run: bool):
    return jax.jit(jax.vmap(observation, in_axes=(0, 0 if per_run else None)))


def _per_run(leaf: Any, n_runs: int) -> Array:
    """Scalars (an activation's slope) are shared: give every run its copy."""
    leaf = jnp.asarray(leaf)
    return jnp.broadcast_to(leaf, (n_runs,)) if leaf.ndim == 0 else leaf


def _validate(networks: Any, data: Dataset, recipe: Recipe, n_runs: int) -> None:
    if n_runs == 0:
        raise ValueError("an ensemble needs at least one key")
    sizes = {leaf.shape[0] for leaf in jax.tree.leaves(networks) if eqx.is_array(leaf) and leaf.ndim}
    if data.is_per_run:
        sizes.add(data.inputs.shape[0])
    if sizes != {n_runs}:
        raise ValueError(
            f"networks, data and keys must agree on the number of runs, got {sorted(sizes)} and {n_runs} keys"
        )
    if not 0 < recipe.max_steps < 2**31:
        raise ValueError(f"max_steps must lie between 1 and 2^31 - 1, got {recipe.max_steps}")
    dtypes = {leaf.dtype for leaf in jax.tree.leaves(networks) if eqx.is_array(leaf) and leaf.ndim > 1}
    if dtypes != {data.inputs.dtype}:
        names = ", ".join(sorted(str(dtype) for dtype in dtypes))
        raise ValueError(f"data and networks must have one dtype, got {data.inputs.dtype} and {names}")
    n_outputs = getattr(networks, "n_outputs", None)
    if n_outputs is not None and not np.isin(np.asarray(data.labels), np.arange(n_outputs)).all():
        raise ValueError(f"labels of a network with {n_outputs} outputs must be classes 0 to {n_outputs - 1}")
    if isinstance(recipe.order, Listed):
        low, high = int(recipe.order.indices.min()), int(recipe.order.indices.max())
        if low < 0 or high >= data.n_samples:
            raise ValueError(f"a listed order must name samples 0 to {data.n_samples - 1}, got {low} to {high}")
        if recipe.order.indices.shape[-1] < (recipe.batch_size or data.n_samples):
            raise ValueError("a listed order must be at least as long as one batch")
    if recipe.batch_size is not None and not 0 < recipe.batch_size <= data.n_samples:
        raise ValueError(f"batch_size must lie between 1 and {data.n_samples} samples, got {recipe.batch_size}")


def _bytes_per_run(networks: Any, n_runs: int) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(networks)) // n_runs


class _SharedProgress:
    """One progress for all chunks, whichever thread they run in."""

    def __init__(self, progress: Progress, n_runs: int):
        self.progress, self.n_runs, self.done, self.lock = progress, n_runs, {}, threading.Lock()
        self.cancelled = False

    def of(self, first: int, size: int) -> Progress:
        def report(fraction: float, words: str) -> None:
            if self.cancelled:
                raise RuntimeError("another chunk of this ensemble was interrupted")
            with self.lock:
                self.done[first] = fraction * size / self.n_runs
                self.progress(sum(self.done.values()), f"{words} {self.n_runs} networks")

        return report


def _join(leaves: Any) -> Any:
    joined = jnp.concatenate if isinstance(leaves[0], jax.Array) else np.concatenate
    return joined(leaves)
