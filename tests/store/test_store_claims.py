"""Who computes a cell: one process at a time, and nobody is blocked by one that is gone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from widenet.errors import StoreError
from widenet.store import CellKey, Store, directory

HOLDER = """
import sys, time
from widenet.store import CellKey, Store
with Store(sys.argv[1]).claiming(CellKey("toy", {}, "1")) as ours:
    print(ours, flush=True)
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
        return ours


def test_one_at_a_time_and_each_cell_for_itself(tmp_path):
    store = Store(tmp_path)
    with store.claiming(KEY) as ours, Store(tmp_path).claiming(KEY) as again:
        assert (ours, again) == (True, False)
        with store.claiming(CellKey("toy", {"other": 1}, "1")) as other:
            assert other
    assert is_free(store)


def test_nothing_is_left_behind(tmp_path):
    with Store(tmp_path).claiming(KEY):
        assert len(list(tmp_path.rglob("*.lock"))) == 1
    assert list(tmp_path.rglob("*.lock")) == []


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


def test_a_lock_that_was_removed_in_between_is_not_taken_for_ours(tmp_path, monkeypatch):
    """Another process finishes, and removes the file, between our opening it and our lock."""
    lock = directory._lock

    def removed_first(handle: int) -> bool:
        (path,) = tmp_path.rglob("*.lock")
        path.unlink()
        return lock(handle)

    monkeypatch.setattr(directory, "_lock", removed_first)
    assert not is_free(Store(tmp_path))
    monkeypatch.undo()
    assert is_free(Store(tmp_path))


def test_a_file_system_without_locks_lets_everybody_compute(tmp_path, monkeypatch):
    import fcntl

    def unsupported(handle: int, how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with Store(tmp_path).claiming(KEY) as one, Store(tmp_path).claiming(KEY) as two:
        assert one
        assert two


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
        if ours:
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
