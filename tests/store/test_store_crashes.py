"""Kill -9 at any moment, writers at once, a write cut short: a cell is whole or absent, never between."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.stored import stored
from widenet.store import CellKey, Store

WRITERS = Path(__file__).with_name("writers.py")
CELL_SIZE = 250_000


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITERS), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def deaths_at_every_line(root: Path, before: str, writer: str) -> dict[str, int]:
    output, errors = start("every_line", root, before, writer).communicate(timeout=300)
    assert output, errors
    return json.loads(output)


def wait_for_cells(root, count):
    deadline = time.monotonic() + 300
    while sum(1 for _ in root.glob("*/*.npz")) < count:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_random_kills_leave_whole_cells_or_none(tmp_path):
    delays = random.Random(0)
    survivors = 0
    for _ in range(15):
        writer = start("forever", tmp_path, str(CELL_SIZE))
        wait_until_ready(writer)
        # Some cells first, however slow the machine is; then the kill falls anywhere inside the next ones.
        wait_for_cells(tmp_path, survivors + delays.randint(0, 3))
        time.sleep(delays.uniform(0, 0.02))
        writer.kill()
        writer.communicate()
        store = Store(tmp_path)
        keys = [cell.key for cell in stored(store)]
        for key in keys:
            cell = store.get(key)
            assert cell is not None
            expected = np.arange(CELL_SIZE) + cell.content["number"]
            np.testing.assert_array_equal(cell.arrays["values"], expected)
        assert store.damaged == {}
        assert len(keys) >= survivors, "a finished cell was lost"
        survivors = len(keys)
    assert survivors > 0


@pytest.mark.parametrize("before", ["missing", "damaged"])
def test_a_kill_at_every_line_leaves_the_cell_whole_or_missing(tmp_path, before):
    deaths = deaths_at_every_line(tmp_path, before, "store")
    assert deaths["killed"] > 30
    assert deaths["lost"] == 0, "a later put must always finish the work"
    assert deaths["whole"] > 0
    assert deaths["strays"] > 0, "no kill fell between writing and renaming"
    # A cell that was damaged before stays so until it is replaced; nothing else is ever damaged.
    assert deaths["absent" if before == "damaged" else "damaged"] == 0


def test_control_a_writer_without_rename_is_caught(tmp_path):
    assert deaths_at_every_line(tmp_path, "missing", "naive")["damaged"] > 0


def test_writers_of_the_same_cells_need_no_lock(tmp_path):
    root, signal = tmp_path / "store", tmp_path / "go"
    writers = [start("race", root, name, signal) for name in ("first", "second", "third")]
    for writer in writers:
        wait_until_ready(writer)
    signal.touch()
    for writer in writers:
        _, errors = writer.communicate(timeout=300)
        assert writer.returncode == 0, errors
    store = Store(root)
    cells = stored(store)
    assert len(cells) == 40
    assert all(store.get(cell.key) is not None for cell in cells)
    assert store.damaged == {}
    assert not list(root.rglob("*.tmp"))


def test_a_write_cut_short_is_one_sentence_and_leaves_nothing(tmp_path):
    output, errors = start("limited", tmp_path).communicate(timeout=300)
    assert output.startswith(f"cannot write results to {tmp_path}: file too large; "), errors
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    key = CellKey("crash", {"number": 0}, version="1")
    assert Store(tmp_path).get(key) is None


def test_importing_the_store_does_not_import_jax():
    code = "import sys, widenet.store; sys.exit('jax' in sys.modules or 'xarray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
