"""Programs that write to a store and may die doing so; the tests run each in a process of its own."""

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np

from widenet.errors import StoreError
from widenet.store import CellKey, Store, directory

TRACED = (directory.__file__, __file__)
"""The code that touches the disk."""


def key(number: int) -> CellKey:
    return CellKey("crash", {"number": number}, version="1")


def array(number: int, size: int) -> np.ndarray:
    return np.arange(size, dtype=np.float64) + number


def forever(root: str, size: str) -> None:
    """Write one cell after the other until killed."""
    store = Store(root)
    print("ready", flush=True)
    for number in range(100_000):
        store.put(key(number), {"values": array(number, int(size))}, {"number": number})


def race(root: str, name: str, start: str) -> None:
    """Wait for the start file, then write the same forty cells as everybody else."""
    print("ready", flush=True)
    while not Path(start).exists():
        time.sleep(0.0005)
    store = Store(root)
    for number in range(40):
        store.put(key(number), {"values": array(number, 20_000)}, {"writer": name})
        cell = store.get(key(number))
        if cell is None or not np.array_equal(cell.arrays["values"], array(number, 20_000)):
            sys.exit(f"cell {number} is not whole: {store.damaged}")


def limited(root: str) -> None:
    """Write a cell larger than the largest file this process may make."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        Store(root).put(key(0), {"values": array(0, 100_000)})
    except StoreError as error:
        print(error)


def every_line(root: str, before: str, writer: str) -> None:
    """Kill a writer at each line of the store's code in turn; print what each death left behind."""
    if writer == "naive":
        Store._write = _naive_write  # pyright: ignore[reportAttributeAccessIssue]
    deaths = {"killed": 0, "whole": 0, "absent": 0, "damaged": 0, "strays": 0, "lost": 0}
    for line in range(10_000):
        store = Store(Path(root) / str(line))
        if before == "damaged":
            store.path(key(0)).parent.mkdir(parents=True)
            store.path(key(0)).write_bytes(b"this was a cell")
        child = os.fork()
        if child == 0:
            _die_at(line, store)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            deaths["lost"] += os.waitstatus_to_exitcode(status)
            break
        deaths["killed"] += 1
        cell = store.get(key(0))
        deaths["whole" if cell else "damaged" if store.damaged else "absent"] += 1
        deaths["strays"] += any(store.root.rglob("*.tmp"))
        store.put(key(0), {"values": array(0, 1000)})
        again = Store(store.root).get(key(0))
        deaths["lost"] += again is None or not np.array_equal(again.arrays["values"], array(0, 1000))
    print(json.dumps(deaths))


def _die_at(line: int, store: Store) -> None:
    seen = 0

    def local(frame, event, argument):
        nonlocal seen
        if event == "line":
            if seen == line:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1
        return local

    def enter(frame, event, argument):
        return local if frame.f_code.co_filename in TRACED else None

    sys.settrace(enter)
    written = store.put(key(0), {"values": array(0, 1000)})
    sys.settrace(None)
    os._exit(0 if written else 1)


def _naive_write(self: Store, path: Path, data: bytes, sync: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb", buffering=0) as file:
        file.write(data[:2000])
        file.write(data[2000:])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
