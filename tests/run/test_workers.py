"""Worker processes: answers, news, mistakes and ends."""

import _thread
import os
import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing import resource_tracker, util
from types import SimpleNamespace

import pytest

from widenet.errors import InputError, StoreError
from widenet.run import workers
from widenet.run.workers import DONE, FAILED, PROGRESS, START, Call, Workers

from . import calls


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    workers = Workers(2)
    yield workers
    workers.close()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def are_gone(pids: list[int]) -> bool:
    last = time.monotonic() + 300
    while any(map(is_alive, pids)) and time.monotonic() < last:
        time.sleep(0.02)
    return not any(map(is_alive, pids))


def test_answers_and_news_of_each_call(two):
    queue = deque(Call(f"double {number}", calls.double, (number,)) for number in range(5))
    news = list(two.follow(queue))
    assert {each.call.name: each.content for each in news if each.kind == DONE} == {
        f"double {number}": 2 * number for number in range(5)
    }
    assert [each.call.name for each in news if each.kind == START] == [f"double {number}" for number in range(5)]
    assert (0.0, "steps") in [each.content for each in news if each.kind == PROGRESS]


def test_workers_work_at_once_and_stay_for_the_next_piece(two):
    def pids() -> set[int]:
        queue = deque(Call(str(number), calls.who, (0.3,)) for number in range(4))
        return {news.content for news in two.follow(queue) if news.kind == DONE}

    first = pids()
    assert (len(first), os.getpid() in first) == (2, False)
    assert pids() == first


def test_work_of_its_own_goes_on_meanwhile_and_may_add_calls(two):
    queue: deque[Call] = deque()
    done = []

    def own_work() -> Iterator[None]:
        for number in range(3):
            done.append(number)
            queue.append(Call(str(number), calls.double, (number,)))
            yield

    answers = [news.content for news in two.follow(queue, own_work()) if news.kind == DONE]
    assert sorted(answers) == [0, 2, 4]
    assert done == [0, 1, 2]


def test_a_call_is_not_handed_out_before_its_time(two, monkeypatch):
    """On a clock that moves when the early one is done, however long that takes."""
    now = 0.0
    monkeypatch.setattr(workers, "time", SimpleNamespace(monotonic=lambda: now, sleep=pytest.fail))
    late = Call("late", calls.double, (1,), not_before=600.0)
    started = []
    for news in two.follow(deque([late, Call("early", calls.double, (2,))])):
        if news.kind == START:
            started.append((news.call.name, now))
        elif news.kind == DONE:
            now = 600.0
    assert started == [("early", 0.0), ("late", 600.0)]


def test_workers_that_are_started_early_load_what_they_will_need():
    with Workers(8, preload=("xarray",)) as workers:
        workers.start(most=1)
        (early,) = workers._all
        (answer,) = [news.content for news in workers.follow(deque([Call("x", calls.loaded, ())])) if news.kind == DONE]
        assert answer == ["xarray"]
        assert workers._all == [early], "a worker that is there is used"
    assert workers._all == []


def test_a_worker_that_only_waits_has_loaded_nothing_heavy():
    workers = Workers(1)
    (answer,) = [news.content for news in workers.follow(deque([Call("x", calls.loaded, ())])) if news.kind == DONE]
    workers.close()
    assert answer == []


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (Call("x", calls.refuse, ("store",)), StoreError, "the disk is full"),
        (Call("x", calls.refuse, ("data",)), InputError, "row 7 is wrong"),
        (Call("x", calls.refuse, ("name",)), InputError, "there is no claim 'x'; known: y."),
    ],
    ids=["store", "data", "name"],
)
def test_refusals_come_back_and_no_worker_stays(call, error, words):
    workers = Workers(2)
    queue = deque([Call("long", calls.hang, ()), call])
    with pytest.raises(error, match=words):
        list(workers.follow(queue))
    assert workers._all == []
    answers = [news.content for news in workers.follow(deque([Call("x", calls.double, (4,))])) if news.kind == DONE]
    assert answers == [8]
    workers.close()


@pytest.mark.parametrize(
    ("function", "sentence", "traceback"),
    [
        (calls.fail, "toy.x failed: ZeroDivisionError: a mistake", "calls.py"),
        (calls.die, "the worker process of toy.x was ended by signal 9, .* --jobs 1 needs less.", ""),
    ],
    ids=["mistake", "killed"],
)
def test_a_call_that_fails_ends_no_other(function, sentence, traceback):
    queue = deque([Call("toy.x", function, ()), *(Call(f"{place}", calls.double, (place,)) for place in range(4))])
    with Workers(2) as workers:
        news = [each for each in workers.follow(queue) if each.kind in (DONE, FAILED)]
        assert all(worker.is_alive for worker in workers._all)
    assert sorted(each.content for each in news if each.kind == DONE) == [0, 2, 4, 6]
    (failed,) = [each for each in news if each.kind == FAILED]
    assert failed.call.name == "toy.x"
    assert re.fullmatch(sentence, failed.content.sentence)
    assert traceback in failed.content.traceback


def test_a_worker_that_was_killed_while_it_waited_is_replaced():
    with Workers(1) as workers:
        assert [news.kind for news in workers.follow(deque([Call("x", calls.double, (1,))]))][-1] == DONE
        (worker,) = workers._all
        idle = [worker]
        worker.process.kill()
        worker.process.join()
        assert workers._idle_one(idle) is None
        assert workers._all == []


def test_whoever_stops_listening_leaves_no_worker():
    workers = Workers(2)
    for news in workers.follow(deque([Call("one", calls.hang, ()), Call("two", calls.hang, ())])):
        if news.kind == PROGRESS:
            break
    pids = [worker.process.pid for worker in workers._all]
    workers.close()
    assert are_gone([pid for pid in pids if pid])


@pytest.fixture
def listening() -> Iterator[None]:
    """A shell starts its background jobs with SIGINT ignored; a test must not depend on that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("has_helper", [True, False])
def test_an_interrupt_in_the_middle_of_a_start_waits_until_the_worker_is_whole(monkeypatch, capfd, has_helper):
    """Another thread may take the signal, and the helper of `multiprocessing` unblocks it when it is started."""
    started, real = [], util.spawnv_passfds

    def spawn(*arguments):
        pid = real(*arguments)
        if "resource_tracker" not in str(arguments):
            started.append(pid)
            _thread.interrupt_main()
            time.sleep(0.01)  # here it would be raised
        return pid

    resource_tracker.ensure_running()
    if not has_helper:
        monkeypatch.setattr(resource_tracker.getfd.__self__, "_fd", None)
    monkeypatch.setattr(util, "spawnv_passfds", spawn)
    workers = Workers(1)
    with pytest.raises(KeyboardInterrupt):
        workers.start(1)
    worker_pid = started[-1]
    assert is_alive(worker_pid)
    (answer,) = [news.content for news in workers.follow(deque([Call("mask", calls.listens, ())])) if news.kind == DONE]
    assert answer is False
    workers.close()
    assert are_gone([worker_pid])
    assert "Traceback" not in capfd.readouterr().err
