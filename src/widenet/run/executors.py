"""Who computes missing cells: this process, or worker processes. A cluster would be a third.

An executor gets tasks and a store, and returns when every cell is there or has failed. It does not return results:
whoever needs a cell reads it from the store, so cells are the same whoever computed them. What an executor can do for
cells it can do for drawings, which are only handed back. A piece that fails ends no other piece.
"""

import dataclasses
import functools
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from widenet.claims.experiments import Experiment
from widenet.data.own import Recalled, remember
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.run.cells import Task, compute
from widenet.run.failures import Failure, tried
from widenet.run.watch import WorkWatch
from widenet.run.workers import DONE, FAILED, PROGRESS, START, Call, Workers
from widenet.store import Store

SECONDS_BETWEEN_TRIES = 0.2
"""How often a cell that another command computes is looked at."""
WORTH_A_PROCESS = 6.0
"""Seconds of expected work below which starting worker processes costs more than it saves."""
ELSEWHERE = "another command computes it"

Failures = dict[str, Failure]
"""What failed, by the digest of its cell."""


@runtime_checkable
class Executor(Protocol):
    """Computes missing cells."""

    def compute(self, tasks: Sequence[Task], store: Store, watch: WorkWatch, *, replace: bool = False) -> Failures:
        """Return when the store holds the cell of every task but those that failed, which are returned."""
        ...

    def call(
        self, calls: deque[Call], watch: WorkWatch, meanwhile: Iterator[Any] | None = None, seconds: float = 0.0
    ) -> dict[str, Any]:
        """The answers of these calls, by their names; of one that failed, the `Failure`.

        Arguments:
          meanwhile: work of the caller's own, piece by piece, for a process that would only wait. It may add calls.
          seconds: about how long all calls take.
        """
        ...


def names_of(tasks: Sequence[Task]) -> list[str]:
    """What a reader sees of each task: the experiment, and which of its cells it is if there are several."""
    totals, met = Counter(task.experiment.id for task in tasks), Counter()
    names = []
    for id in (task.experiment.id for task in tasks):
        met[id] += 1
        names.append(id if totals[id] == 1 else f"{id} ({met[id]} of {totals[id]})")
    return names


class InProcess:
    """One cell after the other, in this process."""

    def __init__(self, compiled: Path | None = None):
        """`compiled` is a folder in which JAX keeps its compiled programs."""
        self.compiled = compiled

    def compute(self, tasks: Sequence[Task], store: Store, watch: WorkWatch, *, replace: bool = False) -> Failures:
        """Compute in turn; a cell that another process is at is waited for."""
        failures: Failures = {}
        keep_compiled_programs(self.compiled)
        waiting = deque(zip(names_of(tasks), tasks, strict=True))
        begun: dict[str, Progress] = {}
        tried_in_vain = 0
        while waiting:
            name, task = waiting.popleft()
            if name not in begun:
                begun[name] = watch.begin(name, task.experiment.seconds)
            seconds = tried(name, functools.partial(compute_unless_at_work, task, store, begun[name], replace))
            if isinstance(seconds, Failure):
                failures[task.key.digest] = seconds
                watch.end(name, FAILED, task.experiment.seconds)
                continue
            if seconds is None:
                begun[name](0.0, ELSEWHERE)
                waiting.append((name, task))
                tried_in_vain += 1
                if tried_in_vain >= len(waiting):  # somebody is at each of them
                    time.sleep(SECONDS_BETWEEN_TRIES)
                    tried_in_vain = 0
                continue
            tried_in_vain = 0
            watch.end(name, f"{seconds:.1f} s", task.experiment.seconds)
        return failures

    def call(
        self, calls: deque[Call], watch: WorkWatch, meanwhile: Iterator[Any] | None = None, seconds: float = 0.0
    ) -> dict[str, Any]:
        """One after the other."""
        answers: dict[str, Any] = {}
        for _ in meanwhile or ():
            pass
        for each in calls:
            start = time.perf_counter()
            progress = watch.begin(each.name, each.seconds)
            answer = tried(each.name, functools.partial(each.function, *each.arguments, progress))
            answers[each.name] = answer
            words = FAILED if isinstance(answer, Failure) else f"{time.perf_counter() - start:.1f} s"
            watch.end(each.name, words, each.seconds)
        return answers


class Processes:
    """Worker processes, each with one cell at a time. Little work is done in this process instead.

    Workers write cells themselves. They end when this process does, however it ends, and with the `with` block. JAX
    has all its threads in each of them, as it has in this process: fewer were measured to gain nothing, and the last
    bits of a sum may depend on how many there are.
    """

    def __init__(
        self,
        jobs: int,
        compiled: Path | None = None,
        worth_a_process: float = WORTH_A_PROCESS,
        workers: Workers | None = None,
    ):
        """Nothing is started before there is work.

        Arguments:
          jobs: how many at once; with 1, this process does it all.
          compiled: a folder in which JAX keeps its compiled programs.
          worth_a_process: seconds of expected work below which this process does it.
          workers: those that were started already; who started them ends them.
        """
        self.jobs, self.compiled, self.worth_a_process = jobs, compiled, worth_a_process
        self.workers, self.owns_workers = workers or Workers(jobs), workers is None

    def __enter__(self) -> "Processes":
        """Workers stay from one piece of work to the next."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the workers that were started here."""
        if self.owns_workers:
            self.workers.close()

    def compute(self, tasks: Sequence[Task], store: Store, watch: WorkWatch, *, replace: bool = False) -> Failures:
        """Hand out the tasks in their order until every cell is there."""
        if len(tasks) == 1 or not self._is_worth_it(sum(task.experiment.seconds for task in tasks)):
            return InProcess(self.compiled).compute(tasks, store, watch, replace=replace)
        digests = {name: task.key.digest for name, task in zip(names_of(tasks), tasks, strict=True)}
        failures: Failures = {}
        queue = deque(
            Call(
                name, compute_in_worker, (*_portable(task), store.root, self.compiled, replace), task.experiment.seconds
            )
            for name, task in zip(names_of(tasks), tasks, strict=True)
        )
        begun: dict[str, Progress] = {}
        for news in self.workers.follow(queue):
            call = news.call
            if news.kind == START and call.name not in begun:
                begun[call.name] = watch.begin(call.name, call.seconds)
            elif news.kind == PROGRESS:
                begun[call.name](*news.content)
            elif news.kind == DONE and news.content is None:
                begun[call.name](0.0, ELSEWHERE)
                call.not_before = time.monotonic() + SECONDS_BETWEEN_TRIES
                queue.append(call)
            elif news.kind == DONE:
                watch.end(call.name, f"{news.content:.1f} s", call.seconds)
            elif news.kind == FAILED:
                failures[digests[call.name]] = news.content
                watch.end(call.name, FAILED, call.seconds)
        return failures

    def call(
        self, calls: deque[Call], watch: WorkWatch, meanwhile: Iterator[Any] | None = None, seconds: float = 0.0
    ) -> dict[str, Any]:
        """Each in a worker."""
        if not self._is_worth_it(seconds):
            return InProcess().call(calls, watch, meanwhile)
        answers: dict[str, Any] = {}
        begun: dict[str, tuple[float, Progress]] = {}
        for news in self.workers.follow(calls, meanwhile):
            name = news.call.name
            if news.kind == START:
                begun[name] = time.perf_counter(), watch.begin(name, news.call.seconds)
            elif news.kind == PROGRESS:
                begun[name][1](*news.content)
            elif news.kind in (DONE, FAILED):
                answers[name] = news.content
                words = FAILED if news.kind == FAILED else f"{time.perf_counter() - begun[name][0]:.1f} s"
                watch.end(name, words, news.call.seconds)
        return answers

    def _is_worth_it(self, seconds: float) -> bool:
        return self.jobs > 1 and seconds >= self.worth_a_process


def compute_unless_at_work(
    task: Task, store: Store, progress: Progress = silent, replace: bool = False
) -> float | None:
    """Make sure that the cell is there; the answer is how long that took, or None while another process is at it."""
    start = time.perf_counter()
    with store.claiming(task.key) as lease:
        if lease is None:
            return None
        if replace or not is_there(task, store):
            compute(task, store, progress, replace=replace)
    return time.perf_counter() - start


def is_there(task: Task, store: Store, seconds: float | None = None) -> bool:
    """Whether the cell is there and whole; where it is missing, it is looked for twice.

    Arguments:
      seconds: about how long it takes to compute; what the experiment says of its quick settings, if left out.
    """
    patience = task.experiment.seconds if seconds is None else seconds
    return store.get(task.key) is not None or store.look_again(task.key, patience) is not None


def compute_in_worker(
    experiment: Experiment,
    setting: ClosedModel,
    own_data: Recalled,
    root: Path,
    compiled: Path | None,
    replace: bool,
    progress: Progress,
) -> float | None:
    """`compute_unless_at_work`, for a process that has seen neither the task nor your data."""
    remember(own_data)
    keep_compiled_programs(compiled)
    return compute_unless_at_work(Task(experiment, setting), Store(root), progress, replace)


def _portable(task: Task) -> tuple[Experiment, ClosedModel, Recalled]:
    # A worker needs to run, not to know which settings there are, here or on user data; those may be any function.
    return dataclasses.replace(task.experiment, settings=_none, on=None), task.setting, task.own_data


def _none(scale: Scale, seed: int) -> tuple[ClosedModel, ...]:
    return ()


def keep_compiled_programs(folder: Path | None) -> None:
    """Let JAX keep its compiled programs, so that the next process starts at once. A choice already made stays."""
    if folder is None:
        return
    import jax

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if getattr(jax.config, "jax_compilation_cache_dir", None) is None and os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
