"""Processes, shares of several processes, and executors of others: each point once, and the same numbers."""

import concurrent.futures
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

import widenet as wn
from tests.sweeps.conftest import PRODUCTS
from widenet.errors import StoreError
from widenet.store import Store, leases
from widenet.sweeps import driver, failures
from widenet.sweeps.driver import Packing, Quiet, Survey
from widenet.sweeps.order import order_of, publish, subject_of
from widenet.sweeps.packing import packed
from widenet.sweeps.packs import Pack, compute_pack
from widenet.sweeps.progress import SweepTally
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import spec_of

GRID: dict[str, Any] = {"size": [2, 3, 4, 5], "factor": [0.5, 1.0, 1.5, 2.0, 2.5]}
PATIENCE = 300


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return wn.sweep(PRODUCTS, store=Store(tmp_path_factory.mktemp("alone")), **GRID)


def sweep_of(store: Store, **row) -> Survey:
    return Survey(order_of(spec_of({"of": PRODUCTS, "over": GRID, **row}), store), store)


def test_worker_processes_compute_each_point_once(store, log, expected):
    counts = driver.in_processes(sweep_of(store), Quiet(), 2)
    assert counts["computed"] == 14, "six were the pilot"
    assert dataset_of(sweep_of(store)).identical(expected)
    assert set(log.counts().values()) == {1}


def test_a_worker_that_is_lost_costs_the_point_it_was_at(store, log, trouble, expected):
    """This one ends every process that tries it, and 18 owners were lost before."""
    sweep = sweep_of(store)
    sweep.decide()
    trouble.write_text("2.5 end\n")
    point = {"size": 2, "factor": 2.5}
    tasks = subject_of(sweep.order, store).tasks(point)
    assert isinstance(tasks, list)
    (task,) = tasks
    gone = leases.Owner("gone", leases._machine(), os.getuid(), 2**30, "1")
    for number in range(failures.MOST_LOST - 2):
        lease = store.path(task.key).with_suffix(f".lease{number or ''}")
        lease.parent.mkdir(parents=True, exist_ok=True)
        lease.write_bytes(gone.text(0))
    spec = {"of": PRODUCTS, "over": {**GRID, "size": [2]}}
    one = Survey(order_of(spec_of(spec), store), store)
    driver.in_processes(one, Quiet(), 2)
    found = dataset_of(one)
    assert found.state.sel(factor=2.5).item() == "failed"
    assert f"was lost {failures.MOST_LOST} times" in str(found.why.sel(size=2, factor=2.5).item())
    assert found["product"].sel(factor=[0.5, 2.0]).equals(expected["product"].sel(size=[2], factor=[0.5, 2.0]))
    assert log.counts("start")["2 2.5 0"] == 2


def test_eight_processes_on_one_folder_compute_each_point_once(store, log, tmp_path, expected):
    lines = [f'of = "{PRODUCTS}"', "[over]", *(f"{name} = {values}" for name, values in GRID.items())]
    (tmp_path / "spec.toml").write_text("\n".join(lines))
    command = [sys.executable, "-m", "widenet.cli", "sweep", str(tmp_path / "spec.toml"), "--json"]
    environment = os.environ | {"WIDENET_STORE": str(store.root)}
    shares = [
        subprocess.Popen(
            [*command, "--share", f"{i}/8"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for i in range(1, 9)
    ]
    answers = [share.communicate(timeout=PATIENCE) for share in shares]
    assert [share.returncode for share in shares] == [0] * 8, answers
    assert len({output for output, _ in answers}) == 1
    assert set(log.counts().values()) == {1}
    assert len(log.counts()) == 20
    assert dataset_of(sweep_of(store)).identical(expected)


def test_any_executor_of_functions_computes_a_sweep(store, log, expected):
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        found = wn.sweep(PRODUCTS, store=store, on=executor, **GRID)
    assert found.identical(expected)
    assert set(log.counts().values()) == {1}


def test_an_executor_has_a_bounded_number_of_packs_at_once(store):
    at_work, most, lock = 0, 0, threading.Lock()

    class Counted(concurrent.futures.ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            nonlocal at_work, most
            with lock:
                at_work += 1
                most = max(most, at_work)
            future = super().submit(fn, *args, **kwargs)
            future.add_done_callback(done)
            return future

    def done(_):
        nonlocal at_work
        with lock:
            at_work -= 1

    with Counted(2) as executor:
        driver.by_executor(sweep_of(store), executor, Quiet(), in_flight=3)
    assert most == 3


def test_an_executor_that_loses_a_pack_gets_it_again(store, expected):
    class Losing(concurrent.futures.ThreadPoolExecutor):
        lost: ClassVar = Counter()

        def submit(self, fn, /, *args, **kwargs):
            self.lost[args] += 1
            if self.lost[args] == 1:
                future = concurrent.futures.Future()
                future.set_exception(ConnectionError("the worker is gone"))
                return future
            return super().submit(fn, *args, **kwargs)

    with Losing(2) as executor:
        driver.by_executor(sweep_of(store), executor, Quiet())
    assert dataset_of(sweep_of(store)).identical(expected)


def test_an_executor_that_always_loses_is_told(store):
    class Broken(concurrent.futures.Executor):
        def submit(self, fn, /, *args, **kwargs):
            future = concurrent.futures.Future()
            future.set_exception(ConnectionError("the worker is gone"))
            return future

    with pytest.raises(StoreError, match="ConnectionError: the worker is gone"):
        driver.by_executor(sweep_of(store), Broken(), Quiet())


def test_an_executor_whose_jobs_can_only_be_asked_computes_a_sweep(store, expected):
    """As those of submitit: they are no futures of `concurrent.futures`, and what is wrong with one is raised by it."""

    class Job:
        def __init__(self, function, text, fails):
            self.function, self.text, self.fails, self.asked = function, text, fails, 0

        def done(self):
            self.asked += 1
            return self.asked > 1

        def result(self):
            if self.fails:
                raise RuntimeError("job 7 has not produced any output")
            return self.function(self.text)

    class Jobs:
        submitted = 0

        def submit(self, function, text):
            self.submitted += 1
            return Job(function, text, self.submitted == 1)

    driver.by_executor(sweep_of(store), Jobs(), Quiet())
    assert dataset_of(sweep_of(store)).identical(expected)


def test_loky_computes_a_sweep(store, log, expected):
    loky = pytest.importorskip("joblib.externals.loky")
    executor = loky.get_reusable_executor(max_workers=2)
    try:
        found = wn.sweep(PRODUCTS, store=store, on=executor, **GRID)
    finally:
        executor.shutdown(wait=True)
    assert found.identical(expected)
    assert set(log.counts().values()) == {1}


def test_an_executor_that_looks_in_vain_is_left(store, monkeypatch):
    monkeypatch.setattr(driver, "SECONDS_BETWEEN_LOOKS", 0.01)

    class Silent(concurrent.futures.Executor):
        def submit(self, fn, /, *args, **kwargs):
            return concurrent.futures.Future()

    def look():
        raise ConnectionError("nobody is there")

    with pytest.raises(ConnectionError, match="nobody is there"):
        driver.by_executor(sweep_of(store), Silent(), Quiet(), look=look)


def test_memory_does_not_grow_with_the_number_of_points_that_are_handed_out(store):
    """By a hundred times more points, in more packs."""

    class Immediate(concurrent.futures.Executor):
        def submit(self, fn, /, *args, **kwargs):
            future = concurrent.futures.Future()
            future.set_result({"computed": 1})
            return future

    peaks = []
    for n_points in (1_000, 100_000):
        axis = {"from": 1, "to": n_points, "steps": n_points}
        sweep = sweep_of(store, over={"seed": axis})
        prices = [(0, 1.0)]
        plan = Packing(prices=prices, packs=packed(prices, n_points))
        store.write_once(sweep.plan, plan.model_dump_json().encode())
        assert len(sweep.missing()) >= 33  # what is asked is written now
        tracemalloc.start()
        driver.by_executor(sweep, Immediate(), Quiet())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 4 * 2**20, "less than 40 bytes a point: the values of the axis"


def test_a_node_that_vanished_with_its_lease_is_waited_for_and_replaced(store, log, monkeypatch, expected):
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.1)
    sweep = sweep_of(store)
    sweep.decide()
    tasks = subject_of(sweep.order, store).tasks({"size": 4, "factor": 2.0})
    assert isinstance(tasks, list)
    lease = store.path(tasks[0].key).with_suffix(leases.SUFFIX)
    lease.parent.mkdir(parents=True, exist_ok=True)
    lease.write_bytes(leases.Owner("theirs", "another machine", 0, 1, "1").text(7))
    driver.here(sweep, Quiet())
    assert dataset_of(sweep).identical(expected)
    assert log.counts("start")["4 2 0"] == 1
    assert not lease.exists()


def test_processes_that_start_together_agree_on_the_packs(store, log, monkeypatch):
    """One that finds the first points in the hands of others must not take them for quick ones."""
    sweep = sweep_of(store, over={"factor": [1.0, 2.0]}, set={"seconds": 0.3})
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        plans = list(
            threads.map(lambda _: sweep_of(store, over=sweep.order.axes, set=sweep.order.fixed).decide(), "abcd")
        )
    assert all(plan == plans[0] for plan in plans)
    assert plans[0].prices[0][1] >= 0.3
    assert set(log.counts().values()) == {1}


def test_a_store_that_is_a_file_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write results to"):
        driver.here(sweep_of(Store(Path(tmp_path / "file"))), Quiet())


class NewProcesses(concurrent.futures.ThreadPoolExecutor):
    """Each job is a process of its own, as those of submitit and executorlib may be."""

    submitted: Counter[int]

    def submit(self, fn, /, *args, **kwargs):
        (text,) = args
        self.submitted[Pack.of(text).start] += 1
        code = "import sys, json; from widenet.sweeps.packs import compute_pack"
        code += "; print(json.dumps(compute_pack(sys.argv[1])))"

        def job():
            done = subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True, check=True)
            return json.loads(done.stdout)

        return super().submit(job)


def test_jobs_that_are_new_processes_take_over_a_lease_that_the_driver_has_watched(store, log, monkeypatch, expected):
    """None of them lives for three beats; without what the driver saw, they would be submitted for ever."""
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.1)
    sweep = sweep_of(store, over={"size": [4], "factor": [2.0, 2.5, 0.5]})
    sweep.decide()
    tasks = subject_of(sweep.order, store).tasks({"size": 4, "factor": 0.5})
    assert isinstance(tasks, list)
    lease = store.path(tasks[0].key).with_suffix(leases.SUFFIX)
    lease.parent.mkdir(parents=True, exist_ok=True)
    lease.write_bytes(leases.Owner("theirs", "another machine", 0, 1, "1").text(7))
    with NewProcesses(2) as executor:
        executor.submitted = Counter()
        driver.by_executor(sweep, executor, Quiet())
    found = dataset_of(sweep)
    assert found["product"].equals(expected["product"].sel(size=[4], factor=[2.0, 2.5, 0.5]))
    assert executor.submitted == {2: 2}, "once when it was held, and once when it was stale"
    assert log.counts("start")["4 0.5 0"] == 1
    assert not lease.exists()


def test_a_pack_that_is_held_by_the_living_is_not_submitted_until_they_give_it_back(store, monkeypatch, expected):
    sweep = sweep_of(store, over={"size": [4], "factor": [2.0, 2.5, 0.5]})
    sweep.decide()
    tasks = subject_of(sweep.order, store).tasks({"size": 4, "factor": 0.5})
    assert isinstance(tasks, list)
    looks = []

    class Once(concurrent.futures.Executor):
        submitted = 0

        def submit(self, fn, /, *args, **kwargs):
            self.submitted += 1
            future = concurrent.futures.Future()
            future.set_result(fn(*args))
            return future

    executor = Once()
    path = store.path(tasks[0].key)
    path.parent.mkdir(parents=True, exist_ok=True)
    ours = leases.acquire(path)
    assert ours is not None
    real = Pack.left

    def left(pack):
        looks.append(real(pack))
        if len(looks) == 3:
            ours.release()
        return looks[-1]

    monkeypatch.setattr(Pack, "left", left)
    driver.by_executor(sweep, executor, Quiet())
    assert looks[:3] == [None, None, None]
    assert looks[3] is not None
    assert executor.submitted == 2
    assert dataset_of(sweep)["product"].equals(expected["product"].sel(size=[4], factor=[2.0, 2.5, 0.5]))


class Theirs:
    """Another process is at a cell until a pack was come back for."""

    def __init__(self, sweep: Survey, point: dict[str, Any]):
        tasks = subject_of(sweep.order, sweep.store).tasks(point)
        assert isinstance(tasks, list)
        path = sweep.store.path(tasks[0].key)
        path.parent.mkdir(parents=True, exist_ok=True)
        lease = leases.acquire(path)
        assert lease is not None
        self.lease = lease

    def compute(self, text: str, progress=wn.silent) -> dict[str, int]:
        found = compute_pack(text, progress)
        if found.get("elsewhere"):
            self.lease.release()
        return found


@pytest.mark.parametrize("where", ["here", "executor"])
def test_what_was_computed_in_a_pack_that_is_come_back_to_is_counted(store, monkeypatch, where):
    sweep = sweep_of(store, over={"size": [2], "factor": [0.5, 1.0, 1.5, 2.0, 2.5]})
    sweep.decide()
    sweep.plan.write_bytes(sweep.plan.read_bytes().replace(b"[[1,5]]", b"[[5,1]]"))
    theirs = Theirs(sweep, {"size": 2, "factor": 2.5})
    if where == "here":
        monkeypatch.setattr(driver, "compute_pack", theirs.compute)
        counts = driver.here(sweep, Quiet())
    else:
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            counts = driver.by_executor(sweep, executor, Quiet(), function=theirs.compute)
    assert counts == {"computed": 3, "found": 2}, "two were the pilot"


def test_the_rate_counts_what_is_computed_and_not_what_was_found(store):
    """Of 10 points in two packs 3 were finished before; a point takes 10 seconds."""
    now, said = 0.0, []
    tally = SweepTally(10, said.append, 0.0, lambda: now)
    report = tally.begin("first", 5)
    report(0.6, "")
    now = 10.0
    report(0.8, "")
    assert said[-1] == "4 of 10 points, 6.0 a minute, 1:00 left"
    now = 20.0
    report(1.0, "")
    tally.end("first", Counter(computed=2, found=3))
    assert said[-1] == "5 of 10 points, 6.0 a minute, 0:50 left"


def test_a_pack_tells_first_what_was_finished_before(store):
    sweep = sweep_of(store, over={"size": [2], "factor": [0.5, 1.0, 1.5, 2.0]})
    driver.here(sweep_of(store, over={"size": [2], "factor": [1.0, 2.0]}), Quiet())
    publish(sweep.order, store)
    heard: list[float] = []
    found = compute_pack(Pack(sweep.order, 0, 4, store.root).text, lambda fraction, _: heard.append(fraction))
    assert heard == [0.5, 0.75, 1.0]
    assert found == {"found": 2, "computed": 2}
