"""The same cells bit for bit, whoever computes them, and each once."""

import os
import threading
import time
from collections import Counter, deque
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from tests.packages.toy2020.runs.numbers import LOG, NumbersSetting, numbers
from widenet import papers
from widenet.data import from_arrays
from widenet.data.own import keep
from widenet.errors import StoreError
from widenet.records import Scale
from widenet.run import Cells, InProcess, Processes, Task, Unwatched, default_jobs, executors, tasks_of, workers
from widenet.run.executors import ELSEWHERE, compute_unless_at_work
from widenet.run.failures import CellFailed
from widenet.run.workers import Call
from widenet.store import Store

from . import calls

PATIENCE = 300.0
"""Seconds after which something hangs, on the busiest machine."""


class Heard:
    """A watch that remembers."""

    def __init__(self):
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.said: list[str] = []
        self.waits = threading.Event()

    def begin(self, name, seconds=1.0):
        self.begun.append(name)
        return self.say

    def say(self, fraction, words):
        self.said.append(words)
        if words == ELSEWHERE:
            self.waits.set()

    def end(self, name, words, seconds=1.0):
        self.ended.append(name)


@pytest.fixture
def log(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv(LOG, str(path))
    return path


def tasks(count: int = 4, seconds: float = 0.0, size: int = 400) -> list[Task]:
    return [Task(numbers, NumbersSetting(place=i, seconds=seconds, seed=0, size=size)) for i in range(count)]


def starts(log: Path) -> Counter[str]:
    return Counter(line.split()[1] for line in log.read_text().splitlines() if line.startswith("start"))


def contents(store: Store, wanted: list[Task]) -> list[dict[str, bytes]]:
    cells = [store.get(task.key) for task in wanted]
    assert None not in cells
    return [{name: array.tobytes() for name, array in cell.arrays.items()} for cell in cells if cell is not None]


def test_cells_do_not_depend_on_who_computes_them(tmp_path, log):
    alone, together = Store(tmp_path / "alone"), Store(tmp_path / "together")
    Cells(alone, Processes(1)).fill(tasks(), Unwatched())
    heard = Heard()
    with Processes(2, worth_a_process=0.0) as two:
        Cells(together, two).fill(tasks(), heard)
    assert contents(alone, tasks()) == contents(together, tasks())
    assert starts(log) == {str(place): 2 for place in range(4)}
    assert sorted(heard.begun) == sorted(heard.ended) == [f"toy2020.numbers ({place} of 4)" for place in range(1, 5)]
    assert "naps" in heard.said
    pids = {line.split()[2] for line in log.read_text().splitlines()}
    assert len(pids) == 3


def test_little_work_is_done_in_this_process(tmp_path, log):
    few = [Task(numbers, NumbersSetting(place=0, seconds=0, seed=0))]
    with Processes(2, worth_a_process=6.0) as two:
        Cells(Store(tmp_path / "store"), two).fill(few, Unwatched())
        assert two.workers._all == []
    assert {line.split()[2] for line in log.read_text().splitlines()} == {str(os.getpid())}


def test_a_cell_that_another_process_is_at_is_waited_for(tmp_path, log):
    store, (task, other) = Store(tmp_path / "store"), tasks(2, size=8)
    heard = Heard()

    def finish_elsewhere() -> None:
        with store.claiming(task.key) as ours:
            assert ours is not None
            held.set()
            assert heard.waits.wait(PATIENCE)
            executors.compute(task, store)

    held = threading.Event()
    thread = threading.Thread(target=finish_elsewhere)
    thread.start()
    held.wait()
    assert compute_unless_at_work(task, store) is None
    InProcess().compute([task, other], store, heard)
    thread.join()
    assert starts(log) == {"0": 1, "1": 1}
    assert ELSEWHERE in heard.said
    assert heard.ended == ["toy2020.numbers (2 of 2)", "toy2020.numbers (1 of 2)"]


def test_workers_wait_for_other_commands_too(tmp_path, log):
    store, wanted = Store(tmp_path / "store"), tasks(3, size=8)
    heard = Heard()
    held = threading.Event()

    def finish_elsewhere() -> None:
        with store.claiming(wanted[0].key) as ours:
            assert ours is not None
            held.set()
            while log.read_text().count("end ") < 2:
                time.sleep(0.05)
            assert heard.waits.wait(PATIENCE)
            executors.compute(wanted[0], store)

    thread = threading.Thread(target=finish_elsewhere)
    thread.start()
    held.wait()
    with Processes(2, worth_a_process=0.0) as two:
        two.compute(wanted, store, heard)
    thread.join()
    assert starts(log) == {"0": 1, "1": 1, "2": 1}
    assert ELSEWHERE in heard.said
    assert heard.ended[-1] == "toy2020.numbers (1 of 3)"
    assert len(heard.begun) == len(heard.ended) == 3


def test_a_reader_s_arrays_travel_with_the_task(tmp_path):
    from tests.run import own_runs

    digests = [keep(from_arrays(np.eye(3) * scale, np.array([1.0, -1.0, 1.0]))) for scale in (0.5, 1.0)]
    wanted = [Task(own_runs.sums, own_runs.SumSetting(own_data=digest)) for digest in digests]
    with Processes(2, worth_a_process=0.0) as two:
        cells = Cells(Store(tmp_path / "store"), two)
        cells.fill(wanted, Unwatched())
    assert [cells.read(task).result for task in wanted] == [1.5, 3.0]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_mistake_in_a_run_fails_its_cell_alone_and_is_not_tried_again(tmp_path, jobs):
    from tests.run import own_runs

    digest = keep(from_arrays(np.eye(3), np.array([1.0, -1.0, 1.0])))
    settings = [own_runs.SumSetting(own_data=each, place=place) for place, each in enumerate((None, digest, digest))]
    wanted, heard = [Task(own_runs.sums, setting) for setting in settings], Heard()
    with Processes(jobs, worth_a_process=0.0) as executor:
        cells = Cells(Store(tmp_path / "store"), executor)
        cells.fill(wanted, heard)
        assert cells.missing(wanted) == []
        assert [cells.read(task).result for task in wanted[1:]] == [3.0, 3.0]
        with pytest.raises(CellFailed, match=r"\(1 of 3\) failed: ValueError: no data at all$") as caught:
            cells.read(wanted[0])
    assert "own_runs.py" in caught.value.failure.traceback
    assert len(heard.ended) == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt(), "one that a library made of it"])
def test_ctrl_c_is_no_failure_of_a_cell(tmp_path, monkeypatch, error):
    def interrupted(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            if isinstance(error, str):
                raise RuntimeError(error) from None
            raise

    monkeypatch.setattr("widenet.run.executors.compute", interrupted)
    with pytest.raises(RuntimeError if isinstance(error, str) else KeyboardInterrupt):
        InProcess().compute(tasks(2), Store(tmp_path / "store"), Unwatched())


def test_a_store_that_cannot_be_written_is_told_before(tmp_path):
    (tmp_path / "file").touch()
    with Processes(2, worth_a_process=0.0) as two, pytest.raises(StoreError):
        Cells(Store(tmp_path / "file" / "store"), two).fill(tasks(2), Unwatched())


@pytest.mark.parametrize("jobs", [1, 2])
def test_calls_by_name_while_this_process_works(jobs):
    queue = deque([Call("one", calls.double, (1,))])
    done = []

    def own_work():
        for number in (2, 3):
            queue.append(Call(f"later {number}", calls.double, (number,)))
            done.append(number)
            yield

    heard = Heard()
    with Processes(jobs, worth_a_process=0.0) as executor:
        answers = executor.call(queue, heard, own_work(), seconds=10.0)
    assert answers == {"one": 2, "later 2": 4, "later 3": 6}
    assert done == [2, 3]
    assert set(heard.ended) == set(answers)


def test_the_default_is_every_core_this_process_may_use(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert default_jobs() == len(os.sched_getaffinity(0))
    monkeypatch.delenv("JAX_PLATFORMS")
    monkeypatch.setattr(workers, "ACCELERATORS", ("numpy",))
    assert default_jobs() == 1, "processes would fight for the memory of one accelerator"


def test_default_settings_of_the_toy():
    assert len(tasks_of([numbers], Scale.QUICK, 0)[0]) == 3
    assert jnp.ones(1).dtype == jnp.float64


def test_every_experiment_can_be_handed_to_a_worker():
    """Of every claim and figure, not of the first of an id alone: one may read it at settings or on data of its own."""
    tasks = [
        Task(experiment, experiment.settings(Scale.QUICK, 0)[0])
        for reader in (*papers.claims_of(), *papers.figures_of())
        for experiment in reader.reads
    ]
    assert len(tasks) > 200
    for task in tasks:
        experiment, setting, _ = executors._portable(task)
        assert ForkingPickler.dumps((experiment, setting)), task.experiment.id
