"""Where experiments meet the store: an experiment and a setting give a result, computed at most once.

A `Task` is one cell that somebody needs. `Cells` reads cells and has the missing ones computed; who computes them is an
executor's matter (`widenet.run.executors`), and the result does not depend on it.
"""

import functools
import hashlib
import importlib.metadata
import json
import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from widenet.claims.experiments import Experiment
from widenet.data.own import Recalled, recall_for
from widenet.errors import ClaimError, StoreError
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.run.failures import CellFailed, Failure
from widenet.run.reach import PACKAGE, digest
from widenet.run.records import decode, encode
from widenet.run.watch import Unwatched, WorkWatch
from widenet.store import CellKey, Store

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from widenet.run.executors import Executor

KEPT_BYTES = 2**30
"""How much of what was read stays in memory: many claims read the same cells."""
WORTH_A_SYNC = 0.5
"""Seconds of computation from which a disk is asked to keep a cell through a power cut, which may take it 30 ms."""
LIBRARIES = ("jax", "jaxlib", "numpy", "scipy", "scikit-learn", "equinox", "optax", "diffrax")


@dataclass(frozen=True, eq=False)
class Task:
    """One cell that somebody needs."""

    experiment: Experiment
    setting: ClosedModel

    @functools.cached_property
    def key(self) -> CellKey:
        """The key of the cell: experiment, setting, and the code that its run can reach.

        Raises:
          ClaimError: a field of the setting holds more than the key would tell.
        """
        setting = self.setting.model_dump_json()
        if setting != self.setting.model_dump_json(serialize_as_any=True):
            raise ClaimError(
                f"{self.experiment.id}: a field of {type(self.setting).__name__} holds a record with more fields than "
                "its annotation has, so that unequal settings would share a result; annotate the field with the class "
                "of the record, or with a union of the classes"
            )
        return CellKey(name=self.experiment.id, parameters=json.loads(setting), version=self._version)

    @property
    def _version(self) -> str:
        """Of the code.

        In a package of papers an id has one `run` and one class of settings (a test). In a file of yours two
        experiments may have one id by mistake, or settings differ by a method alone.
        """
        run, code = self.experiment.run, digest(self.experiment.run.__module__)
        if run.__module__.split(".")[0] == PACKAGE:
            return code
        names = f"{code}\0{run.__qualname__}\0{type(self.setting).__module__}\0{type(self.setting).__qualname__}"
        return hashlib.sha256(names.encode()).hexdigest()

    @property
    def row(self) -> dict[str, Any]:
        """What is run, in JSON values: the experiment and the fields of its setting."""
        return {"experiment": self.experiment.id, **json.loads(self.setting.model_dump_json())}

    @property
    def own_data(self) -> Recalled:
        """Your arrays that the setting names, for a process that has not seen them."""
        return recall_for(self.setting)


@dataclass(frozen=True)
class Reading:
    """A cell as it was read: the result, and how it was computed."""

    result: Any
    seconds: float
    machine: str
    versions: dict[str, str]
    reused: bool


def tasks_of(experiments: Iterable[Experiment], scale: Scale, seed: int) -> list[list[Task]]:
    """The cells of each experiment at this scale and seed.

    Raises:
      ClaimError: two settings of an experiment are equal: their one cell would be counted as independent runs.
    """
    groups = []
    for experiment in experiments:
        settings = list(experiment.settings(scale, seed))
        tasks = tasks_at(experiment, settings)
        if len(tasks) < len(settings):
            raise ClaimError(
                f"{experiment.id}: some of its {len(settings)} settings have the same values, so that one "
                "run would be counted as several; let each differ in a field, such as its seed"
            )
        groups.append(tasks)
    return groups


def tasks_at(experiment: Experiment, settings: Iterable[ClosedModel]) -> list[Task]:
    """The cells of an experiment at these settings, each once: a user's choices may make several of them equal."""
    return list(
        {
            (type(setting), setting.model_dump_json(serialize_as_any=True)): Task(experiment, setting)
            for setting in settings
        }.values()
    )


def compute(task: Task, store: Store, progress: Progress = silent, *, replace: bool = False) -> None:
    """Run a task here, and write its cell.

    Raises:
      ClaimError: `run` does not say what it returns, or returns something else.
      TypeError: the result could not be read again as what `run` says that it returns.
    """
    kind = task.experiment.result_type
    start = time.perf_counter()
    # The products of small runs gain nothing from threads, which would fight with those of other workers; and the
    # last bit of a sum depends on how many there are.
    with _blas().limit(limits=1, user_api="blas"):
        result = task.experiment.run(task.setting, progress)
    seconds = time.perf_counter() - start
    task.experiment.require(result)
    arrays, layout = encode(result)
    decode(kind, arrays, layout)
    content = {"layout": layout, "seconds": seconds, "machine": machine(), "versions": versions(), **processors()}
    store.put(task.key, arrays, content, replace=replace, sync=seconds >= WORTH_A_SYNC)


@functools.cache
def _blas() -> "ThreadpoolController":
    """The linear algebra of this process. To look for it takes milliseconds, as long as many a small run."""
    import scipy.linalg  # noqa: F401  it has a library of its own, beside NumPy's
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Cells:
    """Reads the cells of a store. What is missing is computed when `fill` or `read` asks for it."""

    def __init__(self, store: Store, executor: "Executor", *, fresh: bool = False):
        """With `fresh`, cells that are in the store already are computed once more."""
        self.store, self.executor, self.fresh = store, executor, fresh
        self._computed: set[str] = set()
        self._failed: dict[str, Failure] = {}
        self._kept: OrderedDict[str, tuple[int, Reading]] = OrderedDict()
        self._fingerprints: dict[str, str | None] = {}

    def fingerprint(self, task: Task) -> str | None:
        """What tells the content of a cell from any other, without reading its arrays; None where there is none."""
        name = task.key.digest
        if name not in self._fingerprints:
            self._fingerprints[name] = None if self._is_missing(name, task) else self.store.fingerprint(task.key)
        return self._fingerprints[name]

    def was_computed(self, task: Task) -> bool:
        """Whether the cell was computed since this object was made."""
        return task.key.digest in self._computed

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """Those that have to be computed, each once, the longest first."""
        by_digest = {task.key.digest: task for task in tasks}
        missing = [task for name, task in by_digest.items() if self._is_missing(name, task)]
        return sorted(missing, key=lambda task: -task.experiment.seconds)

    def fill(self, tasks: Sequence[Task], watch: WorkWatch) -> None:
        """Have the missing ones of these tasks computed. One that fails is remembered, and not tried again.

        Raises:
          StoreError: the store cannot be written; it is tried before the computation.
          InputError: the environment allows a number of bytes that is none.
        """
        missing = self.missing(tasks)
        if missing:
            self._have_computed(missing, watch)

    def read(self, task: Task) -> Reading:
        """The result of a task, from memory, from the store, or computed now (it is missing, or was damaged).

        Raises:
          CellFailed: it could not be computed.
          StoreError: the store cannot be read or written.
        """
        name = task.key.digest
        if name in self._failed:
            raise CellFailed(self._failed[name])
        if name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name][1]
        cell = None if self.fresh and name not in self._computed else self.store.get(task.key)
        if cell is None:
            self._have_computed([task], Unwatched())
            if name in self._failed:
                raise CellFailed(self._failed[name])
            cell = self.store.get(task.key)
        if cell is None:
            raise StoreError(f"a result of {task.experiment.id} was written to {self.store.root} and cannot be read.")
        content = cell.content
        reading = Reading(
            result=decode(task.experiment.result_type, cell.arrays, content["layout"]),
            seconds=content["seconds"],
            machine=content["machine"],
            versions=content["versions"],
            reused=name not in self._computed,
        )
        self._keep(name, sum(array.nbytes for array in cell.arrays.values()), reading)
        return reading

    def _have_computed(self, tasks: Sequence[Task], watch: WorkWatch) -> None:
        from widenet.training.engine.memory import allowed_by_environment

        # What would be refused after a long computation is refused before it.
        self.store.require_writable()
        allowed_by_environment()
        self._failed |= self.executor.compute(tasks, self.store, watch, replace=self.fresh)
        self._computed.update({task.key.digest for task in tasks} - self._failed.keys())
        for task in tasks:
            self._fingerprints.pop(task.key.digest, None)

    def _is_missing(self, name: str, task: Task) -> bool:
        if name in self._computed or name in self._failed:
            return False
        return self.fresh or not self.store.holds(task.key)

    def _keep(self, name: str, size: int, reading: Reading) -> None:
        self._kept[name] = (size, reading)
        while sum(size for size, _ in self._kept.values()) > KEPT_BYTES and len(self._kept) > 1:
            self._kept.popitem(last=False)


def machine() -> str:
    """What computed a result: the kind of device and the version of JAX."""
    import jax

    device = jax.devices()[0]
    return f"{device.platform} ({device.device_kind}), jax {jax.__version__}"


def processors() -> dict[str, Any]:
    """What, beside the machine, the last bits of a number depend on: JAX has a thread per core that it may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    flags = os.environ.get("XLA_FLAGS", "")
    return {"cores": os.cpu_count(), "affinity": allowed, "blas_threads": 1, "xla_flags": flags}


@functools.cache
def versions() -> dict[str, str]:
    """The versions of the libraries that numbers come from."""
    return {name: importlib.metadata.version(name) for name in LIBRARIES}
