"""Who computes missing cells: this process, or worker processes. A cluster would be a third.

An executor gets tasks and a store, and returns when every cell is there. It does not return results: whoever needs a
cell reads it from the store, so cells are the same whoever computed them.
"""

import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from widenet.data.own import remember
from widenet.errors import WidenetError
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.run.cells import Task, compute
from widenet.store import Store

SECONDS_BETWEEN_TRIES = 0.2
"""How often a cell that another command computes is looked at."""
WORTH_A_PROCESS = 6.0
"""Seconds of expected work below which starting worker processes costs more than it saves."""


@runtime_checkable
class Watch(Protocol):
    """Told what is going on while cells are computed."""

    def begin(self, name: str) -> Progress:
        """A piece of work begins; the answer is called while it goes on."""
        ...

    def end(self, name: str, words: str) -> None:
        """This piece of work has ended."""
        ...


@runtime_checkable
class Executor(Protocol):
    """Computes missing cells."""

    def compute(self, tasks: Sequence[Task], store: Store, watch: Watch, *, replace: bool = False) -> None:
        """Return when the store holds the cell of every task."""
        ...


class WorkerFailed(RuntimeError):
    """A worker process ended without an answer, or its run raised; the message has its traceback."""


def name_of(task: Task, place: int) -> str:
    """What a reader sees of a task: the experiment, and which of the tasks it is."""
    return f"{task.experiment.id} #{place + 1}"


@dataclass(frozen=True)
class InProcess:
    """One cell after the other, in this process."""

    def compute(self, tasks: Sequence[Task], store: Store, watch: Watch, *, replace: bool = False) -> None:
        """Compute in turn; a cell that another process is at is waited for."""
        waiting = deque(enumerate(tasks))
        while waiting:
            place, task = waiting.popleft()
            done = self._try(task, name_of(task, place), store, watch, replace)
            if not done:
                waiting.append((place, task))
                time.sleep(SECONDS_BETWEEN_TRIES)

    def _try(self, task: Task, name: str, store: Store, watch: Watch, replace: bool) -> bool:
        with store.claiming(task.key) as ours:
            if not ours:
                return False
            start = time.perf_counter()
            progress = watch.begin(name)
            if replace or store.get(task.key) is None:
                compute(task, store, progress, replace=replace)
            watch.end(name, f"{time.perf_counter() - start:.1f} s")
        return True


@dataclass
class Processes:
    """Worker processes, each with one cell at a time. Little work is done in this process instead.

    Workers write cells themselves. They end when this process does, however it ends.
    """

    jobs: int
    compiled: Path | None = None
    workers: list["_Worker"] = field(default_factory=list, repr=False)

    def compute(self, tasks: Sequence[Task], store: Store, watch: Watch, *, replace: bool = False) -> None:
        """Hand out the tasks, the longest first, until every cell is there."""
        expected = sum(task.experiment.seconds for task in tasks)
        if self.jobs == 1 or len(tasks) == 1 or expected < WORTH_A_PROCESS:
            InProcess().compute(tasks, store, watch, replace=replace)
            return
        self.workers = [_Worker(store.root, self.compiled) for _ in range(min(self.jobs, len(tasks)))]
        try:
            self._hand_out(deque(enumerate(tasks)), watch, replace)
        finally:
            for worker in self.workers:
                worker.end()
            self.workers = []

    def _hand_out(self, waiting: "deque[tuple[int, Task]]", watch: Watch, replace: bool) -> None:
        at_work: dict[_Worker, tuple[int, Task]] = {}
        idle = list(self.workers)
        progress: dict[_Worker, Progress] = {}
        while waiting or at_work:
            while idle and waiting:
                worker, (place, task) = idle.pop(), waiting.popleft()
                at_work[worker] = (place, task)
                progress[worker] = watch.begin(name_of(task, place))
                worker.send(task, replace)
            ready = multiprocessing.connection.wait([worker.pipe for worker in at_work])
            for worker in [each for each in at_work if each.pipe in ready]:
                kind, *news = worker.receive()
                if kind == "progress":
                    progress[worker](*news)
                    continue
                place, task = at_work.pop(worker)
                idle.append(worker)
                if kind == "failed":
                    raise news[0]
                watch.end(name_of(task, place), news[0])
                if kind == "busy":
                    waiting.append((place, task))
                    if len(waiting) == 1:
                        time.sleep(SECONDS_BETWEEN_TRIES)


class _Worker:
    """One worker process, seen from this side of its pipe."""

    def __init__(self, root: Path, compiled: Path | None):
        # A forked process would inherit JAX's threads in the middle of their work.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, root, compiled), daemon=True)
        self.process.start()
        other.close()

    def send(self, task: Task, replace: bool) -> None:
        # A worker needs to run, not to know which settings there are; those may be any function.
        experiment = dataclasses.replace(task.experiment, settings=_none)
        self.pipe.send((experiment, task.setting, task.own_data, replace))

    def receive(self) -> tuple[Any, ...]:
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            why = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
            return "failed", WorkerFailed(f"a worker process was ended {why}; with --jobs 1 there is none.")

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _none(scale: Scale, seed: int) -> tuple[ClosedModel, ...]:
    return ()


def _work(pipe: Any, root: Path, compiled: Path | None) -> None:
    """The life of a worker: tasks in, cells on disk, words about it back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if compiled is not None:
        keep_compiled_programs(compiled)
    store = Store(root)
    while True:
        try:
            experiment, setting, own_data, replace = pipe.recv()
        except EOFError:
            return
        remember(own_data)
        pipe.send(_answer(Task(experiment, setting), store, pipe, replace))


def _answer(task: Task, store: Store, pipe: Any, replace: bool) -> tuple[Any, ...]:
    last = 0.0

    def report(fraction: float, words: str) -> None:
        nonlocal last
        if time.monotonic() - last > 0.1:
            last = time.monotonic()
            pipe.send(("progress", float(fraction), words))

    start = time.perf_counter()
    try:
        with store.claiming(task.key) as ours:
            if not ours:
                return "busy", "another command computes it"
            if replace or store.get(task.key) is None:
                compute(task, store, report, replace=replace)
    except WidenetError as error:
        return "failed", error
    except Exception:
        return "failed", WorkerFailed(f"{task.experiment.id} failed in a worker process:\n{traceback.format_exc()}")
    return "done", f"{time.perf_counter() - start:.1f} s"


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers; they notice that it is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def keep_compiled_programs(folder: Path) -> None:
    """Let JAX keep its compiled programs, so that the next process starts at once. A choice already made stays."""
    import jax

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if getattr(jax.config, "jax_compilation_cache_dir", None) is None and os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
