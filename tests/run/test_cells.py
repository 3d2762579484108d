"""An experiment and a setting give a result, computed at most once."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from tests.stored import stored
from widenet.claims import Experiment
from widenet.errors import ClaimError, InputError, StoreError
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.run import Cells, InProcess, Task, Unwatched, tasks_of
from widenet.run import cells as module
from widenet.run.cells import compute, tasks_at
from widenet.run.executors import names_of
from widenet.run.failures import CellFailed
from widenet.store import Store


class SizeSetting(ClosedModel):
    size: int
    seed: int = 0
    dtype: str = "float64"


@dataclass(frozen=True)
class Squares:
    values: np.ndarray


CALLS: list[int] = []


def run(setting: SizeSetting, progress: Progress) -> Squares:
    CALLS.append(setting.size)
    progress(0.5, "half way")
    if setting.size < 0:
        raise RuntimeError("broken")
    return Squares(np.arange(setting.size) ** 2)


def settings(scale: Scale, seed: int) -> Sequence[SizeSetting]:
    return [SizeSetting(size=size, seed=seed) for size in ((2, 3) if scale is Scale.QUICK else (2, 3, 4))]


SQUARES = Experiment("toy.squares", settings, run, seconds=2.0)
LONG = Experiment("toy.long", settings, run, seconds=9.0)


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store")


def tasks(*experiments: Experiment, scale: Scale = Scale.QUICK, seed: int = 0) -> list[Task]:
    return [task for group in tasks_of(experiments or (SQUARES,), scale, seed) for task in group]


def filled(store: Store, wanted: Sequence[Task], **options) -> Cells:
    cells = Cells(store, InProcess(), **options)
    cells.fill(wanted, Unwatched())
    return cells


def test_a_cell_is_computed_once_and_read_by_all(store):
    cells = filled(store, tasks())
    readings = [cells.read(task) for task in tasks()]
    assert [reading.result.values.tolist() for reading in readings] == [[0, 1], [0, 1, 4]]
    assert not any(reading.reused for reading in readings)
    cells.fill(tasks(), Unwatched())
    again = filled(Store(store.root), tasks())
    assert [again.read(task).result.values.tolist() for task in tasks()] == [[0, 1], [0, 1, 4]]
    assert all(again.read(task).reused for task in tasks())
    assert again.read(tasks()[0]).seconds == readings[0].seconds
    assert CALLS == [2, 3]


def test_equal_settings_are_one_cell_whoever_asks(store):
    other = SQUARES.at(lambda scale, seed: [SizeSetting(size=3, seed=seed), SizeSetting(size=9, seed=seed)])
    filled(store, tasks(SQUARES, other))
    assert sorted(CALLS) == [2, 3, 9]


def test_each_experiment_setting_and_seed_is_its_own_cell(store):
    for wanted in (tasks(), tasks(seed=1), tasks(LONG), tasks(scale=Scale.PAPER)):
        filled(store, wanted)
    assert len(CALLS) == 7
    dtypes = [Task(SQUARES, SizeSetting(size=2, dtype=dtype)).key.digest for dtype in ("float32", "float64")]
    assert len(set(dtypes)) == 2


def test_the_longest_are_computed_first(store):
    missing = Cells(store, InProcess()).missing(tasks(SQUARES, LONG))
    assert [task.experiment.id for task in missing] == ["toy.long", "toy.long", "toy.squares", "toy.squares"]
    assert names_of(missing) == [
        "toy.long (1 of 2)",
        "toy.long (2 of 2)",
        "toy.squares (1 of 2)",
        "toy.squares (2 of 2)",
    ]
    assert names_of(missing[:1]) == ["toy.long"]


def test_a_changed_program_recomputes(store, monkeypatch):
    filled(store, tasks())
    monkeypatch.setattr(module, "digest", lambda name: "another program")
    filled(store, tasks())
    assert CALLS == [2, 3, 2, 3]
    monkeypatch.undo()
    filled(store, tasks())
    assert len(CALLS) == 4


def test_fresh_recomputes_each_once(store):
    filled(store, tasks())
    cells = filled(store, tasks(), fresh=True)
    assert CALLS == [2, 3, 2, 3]
    cells.fill(tasks(), Unwatched())
    assert not any(cells.read(task).reused for task in tasks())
    assert len(CALLS) == 4


def test_reading_computes_what_nobody_has_filled(store):
    cells = Cells(store, InProcess())
    assert cells.read(tasks()[1]).result.values.tolist() == [0, 1, 4]
    assert CALLS == [3]
    fresh = Cells(store, InProcess(), fresh=True)
    fresh.read(tasks()[1])
    fresh.read(tasks()[1])
    assert CALLS == [3, 3]


def test_a_damaged_cell_is_found_and_redone(store):
    filled(store, tasks())
    path = store.path(tasks()[0].key)
    path.write_bytes(path.read_bytes()[:-1])
    cells = filled(store, tasks())
    assert cells.read(tasks()[0]).result.values.tolist() == [0, 1]
    assert not cells.read(tasks()[0]).reused
    assert Cells(store, InProcess()).read(tasks()[0]).reused
    assert CALLS == [2, 3, 2]


def test_an_unwritable_store_is_found_before_the_computation(tmp_path):
    (tmp_path / "file").touch()
    cells = Cells(Store(tmp_path / "file" / "store"), InProcess())
    with pytest.raises(StoreError, match="cannot write results to"):
        cells.fill(tasks(), Unwatched())
    with pytest.raises(StoreError, match="cannot write results to"):
        cells.read(tasks()[0])
    assert CALLS == []


def test_a_limit_of_memory_that_is_none_is_found_before_the_computation(store, monkeypatch):
    monkeypatch.setenv("WIDENET_MEMORY", "abc")
    with pytest.raises(InputError, match=r"^WIDENET_MEMORY must be a positive number of bytes, got 'abc'\.$"):
        Cells(store, InProcess()).fill(tasks(), Unwatched())
    assert CALLS == []


def test_a_cell_that_another_process_computes_is_waited_for(store):
    task = tasks()[0]
    reader = threading.Thread(target=lambda: Cells(store, InProcess()).read(task))
    with store.claiming(task.key) as ours:
        assert ours is not None
        reader.start()
        reader.join(0.3)
        assert CALLS == [], "it computes although another one is at it"
        compute(task, store)
    reader.join()
    assert CALLS == [2]


def test_a_run_that_raises_leaves_no_cell_and_no_lock(store):
    broken = Task(SQUARES, SizeSetting(size=-1))
    with pytest.raises(CellFailed, match="RuntimeError: broken"):
        filled(store, [broken]).read(broken)
    assert stored(store) == []
    with store.claiming(broken.key) as ours:
        assert ours is not None


def test_a_result_that_could_not_be_read_again_is_not_written(store):
    def run_badly(setting: SizeSetting, progress: Progress) -> "tuple[int, ...]":
        return {"not": "what it says"}  # pyright: ignore[reportReturnType]

    run_badly.__module__ = __name__
    with pytest.raises((TypeError, KeyError)):
        compute(Task(Experiment("toy.bad", settings, run_badly), SizeSetting(size=1)), store)
    assert stored(store) == []


def test_only_so_much_is_kept_in_memory(store, monkeypatch):
    monkeypatch.setattr(module, "KEPT_BYTES", 30)
    cells = filled(store, tasks())
    first = cells.read(tasks()[0])
    assert cells.read(tasks()[0]) is first
    cells.read(tasks()[1])
    assert cells.read(tasks()[0]) is not first


def test_the_cell_says_what_computed_it(store):
    cells = filled(store, tasks())
    reading = cells.read(tasks()[0])
    assert "jax" in reading.machine
    assert reading.versions["numpy"] == np.__version__
    (cell, _) = stored(store)
    assert cell.key.name == "toy.squares"
    assert cell.key.parameters["size"] in (2, 3)


def test_a_setting_of_infinity_has_a_key():
    class Open(ClosedModel):
        limit: float

    assert Task(SQUARES, Open(limit=float("inf"))).key.parameters == {"limit": "Infinity"}


class LargerSetting(SizeSetting):
    """It has no field of its own."""


class Outer(ClosedModel):
    inner: SizeSetting


class Wider(SizeSetting):
    scale: float


def double(setting: SizeSetting, progress: Progress) -> Squares:
    return Squares(2 * np.arange(setting.size))


class TestKeysTellApart:
    def test_two_programs_under_one_name(self):
        one, other = (Task(Experiment("toy.same", settings, each), SizeSetting(size=2)) for each in (run, double))
        assert one.key.digest != other.key.digest
        assert one.key.digest == Task(Experiment("toy.same", settings, run), SizeSetting(size=2)).key.digest

    def test_two_classes_of_settings_with_the_same_values(self):
        one, other = (Task(SQUARES, kind(size=2)).key.digest for kind in (SizeSetting, LargerSetting))
        assert one != other

    def test_what_a_key_would_not_tell_is_refused(self):
        assert Task(SQUARES, Outer(inner=SizeSetting(size=2))).key.parameters["inner"]["size"] == 2
        with pytest.raises(ClaimError, match=r"toy\.squares: a field of Outer holds a record with more fields"):
            _ = Task(SQUARES, Outer(inner=Wider(size=2, scale=1.0))).key

    def test_equal_settings_are_no_independent_runs(self):
        twice = Experiment("toy.twice", lambda *_: [SizeSetting(size=2), SizeSetting(size=3), SizeSetting(size=2)], run)
        with pytest.raises(ClaimError, match=r"toy\.twice: some of its 3 settings have the same values"):
            tasks_of([twice], Scale.QUICK, 0)
        assert [task.row["size"] for task in tasks_at(twice, twice.settings(Scale.QUICK, 0))] == [2, 3]
        several = [SizeSetting(size=2), LargerSetting(size=2), SizeSetting(size=2, seed=1)]
        assert len(tasks_at(twice, several)) == 3


def test_compute_reports_its_progress(store):
    heard = []
    compute(tasks()[0], store, lambda fraction, words: heard.append((fraction, words)))
    assert heard == [(0.5, "half way")]
    compute(tasks()[1], store, silent)
    assert len(stored(store)) == 2


def test_a_cell_says_on_how_many_cores_it_was_computed_and_its_key_does_not(store, monkeypatch):
    (one, _) = tasks()
    before = one.key.digest
    monkeypatch.setattr(module.os, "cpu_count", lambda: 48)
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {3, 5, 7}, raising=False)
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    compute(one, store)
    cell = store.get(Task(one.experiment, one.setting).key)
    assert cell is not None
    assert cell.key.digest == before
    assert {name: cell.content[name] for name in ("cores", "affinity", "blas_threads", "xla_flags")} == {
        "cores": 48,
        "affinity": 3,
        "blas_threads": 1,
        "xla_flags": "--xla_cpu_enable_fast_math=false",
    }
    assert cell.content["machine"].startswith("cpu")
