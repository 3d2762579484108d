"""Who computes a cell: one process at a time, here or elsewhere, and nobody is blocked by one that is gone."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from widenet.errors import StoreError
from widenet.store import CellKey, Store, directory, leases

HOLDER = """
import sys, time
from widenet.store import CellKey, Store
with Store(sys.argv[1]).claiming(CellKey("toy", {}, "1")) as ours:
    print(ours is not None, flush=True)
    time.sleep(600)
"""
KEY = CellKey("toy", {}, "1")


def hold(root: Path) -> subprocess.Popen[str]:
    """Another process that is at the cell."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def is_free(store: Store) -> bool:
    with store.claiming(KEY) as ours:
        return ours is not None


def test_one_at_a_time_and_each_cell_for_itself(tmp_path):
    store = Store(tmp_path)
    with store.claiming(KEY) as ours, Store(tmp_path).claiming(KEY) as again:
        assert ours is not None
        assert again is None
        with store.claiming(CellKey("toy", {"other": 1}, "1")) as other:
            assert other is not None
    assert is_free(store)


def test_nothing_is_left_behind(tmp_path):
    with Store(tmp_path).claiming(KEY):
        assert len(list(tmp_path.rglob("*.lease"))) == 1
    assert list(tmp_path.rglob("*.lease")) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_blocks_nobody(tmp_path, how):
    process = hold(tmp_path)
    assert not is_free(Store(tmp_path))
    process.send_signal(how)
    process.communicate()
    assert is_free(Store(tmp_path))


def test_an_error_while_computing_frees_the_cell(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(ZeroDivisionError), store.claiming(KEY):
        raise ZeroDivisionError
    assert is_free(store)


@pytest.mark.parametrize("answer", ["no locks", "yes to everybody"])
def test_what_flock_says_does_not_matter(tmp_path, monkeypatch, answer):
    import fcntl

    def flock(handle: int, how: int) -> None:
        if answer == "no locks":
            raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with Store(tmp_path).claiming(KEY) as one, Store(tmp_path).claiming(KEY) as two:
        assert one is not None
        assert two is None


def elsewhere(path: Path, beat: int = 0, **changes: object) -> bytes:
    """The line of an owner on another machine."""
    row = {"token": "theirs", "machine": "another", "user": 0, "pid": 1, "started": "1", **changes}
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({**row, "beat": beat}).encode()
    path.write_bytes(content)
    return content


@pytest.fixture
def clock(monkeypatch):
    """This process's clock, moved by hand."""

    class Clock:
        now = 1000.0

    monkeypatch.setattr(leases.time, "monotonic", lambda: Clock.now)
    monkeypatch.setattr(leases, "_heart", leases._Heart())
    monkeypatch.setattr(leases._Heart, "keep", lambda heart, lease: heart.held.add(lease))  # it beats by hand alone
    return Clock


def lease_path(store: Store) -> Path:
    return store.path(KEY).with_suffix(".lease")


def test_a_node_that_vanished_is_waited_for_through_three_beats(tmp_path, clock):
    store = Store(tmp_path)
    elsewhere(lease_path(store))
    assert not is_free(store)
    clock.now += 3 * leases.BEAT_SECONDS
    assert not is_free(store)
    clock.now += 1
    with store.claiming(KEY) as ours:
        assert ours is not None
        assert ours.lost == 1
        assert not is_free(store)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_beat_of_another_node_keeps_its_lease(tmp_path, clock):
    store = Store(tmp_path)
    for beat in range(5):
        elsewhere(lease_path(store), beat)
        assert not is_free(store)
        clock.now += 3 * leases.BEAT_SECONDS


def test_a_wall_clock_that_jumps_does_not_matter(tmp_path, monkeypatch):
    store = Store(tmp_path)
    elsewhere(lease_path(store))
    for jump in (0.0, 1e9, -1e9):
        monkeypatch.setattr(time, "time", lambda jump=jump: 1.7e9 + jump)
        os.utime(lease_path(store), (1.7e9 + jump, 1.7e9 - jump))
        assert not is_free(store)


def test_only_one_of_many_takes_a_stale_lease_over(tmp_path):
    store = Store(tmp_path)
    process = hold(tmp_path)
    process.kill()
    process.communicate()
    with store.claiming(KEY) as first, store.claiming(KEY) as second:
        assert first is not None
        assert first.lost == 1
        assert second is None


def test_each_lost_owner_is_counted(tmp_path):
    for lost in range(3):
        process = hold(tmp_path)
        process.kill()
        process.communicate()
        assert len(list(tmp_path.rglob("*.lease*"))) == lost + 1
    with Store(tmp_path).claiming(KEY) as ours:
        assert ours is not None
        assert ours.lost == 3
    assert list(tmp_path.rglob("*.lease*")) == []


def test_an_owner_that_was_taken_for_lost_does_not_remove_the_next_lease(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(leases, "_is_gone", lambda content: False)
    store = Store(tmp_path)
    with store.claiming(KEY) as slow:
        assert slow is not None
        assert not is_free(store)
        clock.now += 4 * leases.BEAT_SECONDS
        with store.claiming(KEY) as next_one:
            assert next_one is not None
            slow.release()
            assert not is_free(store)
            monkeypatch.setattr(slow, "release", lambda: None)
    assert is_free(store)


def test_the_owner_shows_its_life_at_each_beat(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(leases, "_heart", leases._Heart())
    store = Store(tmp_path)
    with store.claiming(KEY) as ours:
        assert ours is not None
        before = lease_path(store).read_bytes()
        last = time.monotonic() + 300
        while lease_path(store).read_bytes() == before:
            assert time.monotonic() < last
            time.sleep(0.01)
        assert len(lease_path(store).read_bytes()) == len(before)


@pytest.mark.parametrize("number", [errno.ESTALE, errno.ENOENT])
def test_a_lease_that_was_removed_while_it_was_read_is_none(tmp_path, monkeypatch, number):
    """Over NFS a file that was replaced or removed meanwhile is a stale handle, which is no broken store."""
    store, real = Store(tmp_path), Path.read_bytes
    other = leases.Owner("theirs", "another machine", 0, 1, "1")
    lease_path(store).parent.mkdir(parents=True)
    lease_path(store).write_bytes(other.text(0))

    def read_bytes(path: Path) -> bytes:
        if path.suffix == leases.SUFFIX and path.exists():
            path.unlink()
            raise OSError(number, os.strerror(number))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert is_free(store)


@pytest.mark.parametrize("number", [errno.ESTALE, errno.ENOTDIR])
def test_a_cell_that_was_replaced_while_it_was_read_counts_as_missing(tmp_path, monkeypatch, number):
    store = Store(tmp_path)
    store.put(KEY, {"x": [1.0]})

    def refuse(path: Path, *_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(Path, "is_file", refuse)
    assert store.get(KEY) is None
    assert not store.holds(KEY)


def test_an_owner_whose_file_is_a_stale_handle_lets_go(tmp_path, monkeypatch):
    def refuse(handle: int):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    with Store(tmp_path).claiming(KEY) as ours:
        assert ours is not None
        monkeypatch.setattr(leases.os, "fstat", refuse)
    monkeypatch.undo()
    assert ours not in leases._heart.held


@pytest.fixture
def slow_clock(clock, monkeypatch):
    """A clock that goes on while this process sleeps, and only then."""

    wait = time.sleep

    def sleep(seconds: float) -> None:
        if threading.current_thread() is threading.main_thread():
            clock.now += seconds
        else:
            wait(seconds)  # the thread that shows the life of leases

    monkeypatch.setattr(directory.time, "sleep", sleep)
    return clock


@pytest.mark.parametrize(("seconds", "is_found"), [(100.0, True), (20.0, False)])
def test_a_finished_file_that_is_listed_and_hidden_is_waited_for(tmp_path, slow_clock, monkeypatch, seconds, is_found):
    """For half a minute: worth it for a cell of a hundred seconds, and not for one of twenty."""
    store, read, start = Store(tmp_path), Path.read_bytes, slow_clock.now
    store.put(KEY, {}, "here")

    def hidden(path: Path) -> bytes:
        if path.suffix == ".npz" and slow_clock.now < start + 30:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", hidden)
    assert store.get(KEY) is None
    assert (store.look_again(KEY, seconds) is not None) == is_found
    assert slow_clock.now == start + (30 if is_found else 20)


@pytest.mark.parametrize(("seconds", "is_found"), [(1000.0, True), (10.0, False)])
def test_a_list_that_is_late_is_waited_for_where_somebody_was_at_the_cell(tmp_path, slow_clock, seconds, is_found):
    store, start = Store(tmp_path), slow_clock.now
    elsewhere(lease_path(store))
    assert not is_free(store)

    class Late(Store):
        def get(self, key: CellKey):
            if slow_clock.now >= start + 40:
                store.put(key, {}, "here")
            return super().get(key)

    late = Late(tmp_path)
    monkey = directory.Path.iterdir

    def listed(path: Path):
        late.get(KEY)
        return monkey(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "iterdir", listed)
        assert (late.look_again(KEY, seconds) is not None) == is_found
    assert slow_clock.now == start + (40 if is_found else 1)


def test_a_cell_that_nobody_was_at_is_not_waited_for(tmp_path, slow_clock):
    store, start = Store(tmp_path), slow_clock.now
    store.path(KEY).parent.mkdir(parents=True)
    assert store.look_again(KEY, 1000.0) is None
    assert slow_clock.now == start


def test_a_damaged_file_is_not_waited_for(tmp_path, slow_clock):
    store, start = Store(tmp_path), slow_clock.now
    store.put(KEY, {}, "here")
    store.path(KEY).write_bytes(b"half")
    assert store.look_again(KEY, 1000.0) is None
    assert slow_clock.now == start


def test_a_file_system_without_links_has_leases_too(tmp_path, monkeypatch):
    def link(source: object, target: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    store = Store(tmp_path)
    with store.claiming(KEY) as ours:
        assert ours is not None
        assert not is_free(store)
    assert is_free(store)
    assert list(tmp_path.rglob("*.*")) == []


def test_an_answer_that_a_network_file_system_lost_is_no_refusal(tmp_path, monkeypatch):
    link = os.link

    def linked_twice(source: Path, target: Path) -> None:
        link(source, target)
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", linked_twice)
    assert is_free(Store(tmp_path))


def test_an_empty_lease_goes_stale(tmp_path, clock):
    store = Store(tmp_path)
    lease_path(store).parent.mkdir(parents=True)
    lease_path(store).touch()
    assert not is_free(store)
    clock.now += 4 * leases.BEAT_SECONDS
    assert is_free(store)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write results to"), Store(tmp_path / "file").claiming(KEY):
        pass


def test_many_processes_that_start_together_take_turns(tmp_path):
    code = """
import os, sys, time
from pathlib import Path
from widenet.store import CellKey, Store
root, log = Path(sys.argv[1]), Path(sys.argv[2])
store, key = Store(root), CellKey("toy", {}, "1")
while True:
    with store.claiming(key) as ours:
        if ours is not None:
            if store.get(key) is None:
                with log.open("a") as file: file.write(f"{os.getpid()}\\n")
                time.sleep(0.2)
                store.put(key, {}, {})
            break
    time.sleep(0.01)
"""
    log = tmp_path / "log"
    command = [sys.executable, "-c", code, str(tmp_path / "store"), str(log)]
    processes = [subprocess.Popen(command, env=dict(os.environ)) for _ in range(4)]
    last = time.monotonic() + 300
    assert [process.wait(max(1.0, last - time.monotonic())) for process in processes] == [0] * 4
    assert len(log.read_text().splitlines()) == 1
