"""What an ensemble needs to be held in memory, what is there, and into how many pieces it is cut.

The estimate counts the arrays that the programs are known to hold: weights before and after a segment, the buffers of a
block, the samples of a look, the orders, records. A test holds it against what the compiler plans for.
"""

import bisect
import math
import numbers
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from widenet.errors import InputError
from widenet.networks import TwoLayer
from widenet.training.engine.evaluation import SAMPLES
from widenet.training.methods.base import Method, Sizes, init, keeps, numbers_of_runs, records_inside
from widenet.training.record import MOST_RECORDED, Record, seen_shapes
from widenet.types import Dataset, Layers

VARIABLE = "WIDENET_MEMORY"
"""The environment variable that sets the limit in bytes, instead of the device."""
SHARE_CPU, SHARE_GPU = 0.5, 0.85
"""Which part of a device's memory an ensemble may take."""


@dataclass(frozen=True)
class Need:
    """Bytes that an ensemble needs.

    Attributes:
      shared: for all runs together, whatever their number: the data set and what a kernel makes of it.
      kept: for each run of the request, from the beginning to the end: its network before and after, its records.
      held: for each run of a chunk, as long as the chunk is trained.
      working: for each run that is being advanced or looked at.
      neurons: how many hidden neurons that is for.
      narrower: the same for another number of them.
    """

    shared: int
    kept: int
    held: int
    working: int
    neurons: int
    narrower: Callable[[int], "Need"]

    @property
    def one_run(self) -> int:
        """What a request of a single run needs."""
        return self.shared + self.kept + self.held + self.working


def estimate(networks: Any, data: Dataset, method: Method, layers: Layers, record: Record, n_runs: int) -> Need:
    """What these runs need by this method, which has made its choices; `networks` has a leading run axis."""
    item, n, dim = data.inputs.dtype.itemsize, data.n_samples, data.dim
    all_weights = sum(leaf.nbytes for leaf in jax.tree.leaves(networks)) // n_runs
    all_neurons = networks.n_neurons if isinstance(networks, TwoLayer) else max(1, all_weights // (item * dim))
    outputs = getattr(networks, "n_outputs", None) or 1
    own_data = (data.inputs.nbytes + data.labels.nbytes) // (n_runs if data.is_per_run else 1)
    observed, taken = _records(networks, data, record, n_runs)
    on_host = taken if jax.default_backend() == "cpu" else 0
    own_shapes = None
    if keeps(method):
        numbers = numbers_of_runs(method, n_runs)
        own_shapes = jax.eval_shape(lambda own, nets: init(method, own, nets, layers), numbers, networks)
    inside = observed * min(len(record.times), MOST_RECORDED) if records_inside(method, record) else 0
    all_own = _bytes(own_shapes) // n_runs

    def of(neurons: int) -> Need:
        weights, own = (-(-size * neurons // all_neurons) for size in (all_weights, all_own))
        stepping, prepared = method.memory(Sizes(item, n, dim, method.batch(n), weights, neurons))
        looking = item * (2 * min(SAMPLES, n) * neurons + 3 * n * outputs)
        seeing = observed + (2 * item * n * neurons if record.what else 0)
        working = max(method.order_bytes(n) + stepping + (prepared if data.is_per_run else 0), looking, seeing)
        each = own_data if data.is_per_run else 0
        shared = 0 if data.is_per_run else 2 * own_data + prepared
        held = 3 * weights + 3 * own + each + 2 * inside
        return Need(shared, 2 * weights + on_host + each, held, working, neurons, of)

    return of(all_neurons)


class _SetByVariable(int):
    """A limit from the environment: a refusal names the variable, which may have been set long ago."""


def limit(memory: float | int | np.number | None = None) -> int:
    """The bytes that may be used on one device: the argument, the environment variable, or a share of what is there."""
    if memory is not None:
        if isinstance(memory, bool) or not isinstance(memory, numbers.Real) or not 1 <= memory < math.inf:
            raise InputError(f"memory must be a positive number of bytes, got {memory!r}.")
        return int(memory)
    if (allowed := allowed_by_environment()) is not None:
        return _SetByVariable(allowed)
    stats = jax.local_devices()[0].memory_stats() if jax.default_backend() != "cpu" else None
    if stats and "bytes_limit" in stats:
        return int(SHARE_GPU * (stats["bytes_limit"] - stats.get("bytes_in_use", 0)))
    return int(SHARE_CPU * _main_memory())


def allowed_by_environment() -> float | None:
    """The bytes that the environment variable allows, if it is set.

    Raises:
      InputError: it is set to something else.
    """
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    try:
        allowed = float(given)
    except ValueError:
        allowed = math.nan
    if not 1 <= allowed < math.inf:
        raise InputError(f"{VARIABLE} must be a positive number of bytes, got {given!r}.")
    return allowed


def largest_chunk(need: Need, n_runs: int, available: int, at_once: int, in_turn: bool) -> int:
    """How many runs to train at a time, when `at_once` chunks share the memory; refuses what can never fit.

    With `in_turn` only one run of a chunk is being worked on.
    """
    if need.one_run > available:
        raise InputError(_too_large(need, available))
    if need.shared + n_runs * need.kept + need.held + need.working > available:
        fitting = int((available - need.shared - need.held - need.working) // need.kept)
        raise InputError(
            f"{n_runs} runs need {_words(n_runs * need.kept)} of memory for their networks and records alone, and "
            f"{_there(available)}; {fitting} runs would fit"
        )
    room = (available - need.shared - n_runs * need.kept) / at_once
    size = (room - need.working) // need.held if in_turn else room // (need.held + need.working)
    return int(min(n_runs, max(1, size)))


def fitting_chunks(need: Need, n_runs: int, available: int, asked: int) -> int:
    """How many chunks may be trained at the same time: as many as asked for, if each can hold at least one run."""
    room = available - need.shared - n_runs * need.kept
    return max(1, min(asked, room // (need.held + need.working)))


def cores() -> int:
    """The cores this process may use, which may be fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _too_large(need: Need, available: int) -> str:
    sentence = f"one run needs about {_words(need.one_run)} of memory, and {_there(available)}; "
    fitting = bisect.bisect_right(range(need.neurons), available, key=lambda count: need.narrower(count).one_run) - 1
    if fitting >= 1:
        return f"{sentence}a network of about {fitting} hidden neurons would fit"
    return f"{sentence}not even one neuron would fit beside the data and the records: take fewer samples or records"


def _records(networks: Any, data: Dataset, record: Record, n_runs: int) -> tuple[int, int]:
    """(bytes of one observation of one run, bytes of all its records)."""
    if not record.what:
        return 0, 0

    def first(leaf: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype)

    network = jax.tree.map(first, eqx.filter(networks, eqx.is_array))
    own = jax.tree.map(first if data.is_per_run else lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), data)
    size = _bytes(seen_shapes(record, network, own))
    return size, size * len(record.times)


def _bytes(shapes: Any) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))


def _main_memory() -> int:
    """The memory of this machine, or of the container it runs in."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        allowed = int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):  # no container, or one without a limit
        allowed = there
    return min(there, allowed)


def _there(available: int) -> str:
    size = _words(available)
    return f"{VARIABLE} allows {size}" if isinstance(available, _SetByVariable) else f"{size} are there"


def _words(size: float | int) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
