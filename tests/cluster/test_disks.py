"""A disk that is full, and one that cannot be written: file systems in memory, which only root can mount."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

KILOBYTES = 400


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    """A very small one."""
    path = tmp_path / "disk"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={KILOBYTES}k", "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_is_one_sentence_and_the_sweep_goes_on_when_there_is_room(sweep, disk, spec, jobs):
    (disk / "other").write_bytes(bytes(1024 * (KILOBYTES - 220)))
    arguments = ("--share", "1/1", "--jobs", jobs)
    place = {"WIDENET_STORE": str(disk / "store")}
    refused = sweep(*arguments, code=2, **place).stderr.splitlines()[-1]
    assert refused.startswith(
        f"widenet: cannot write results to {disk}/store: no space left on device; free some space"
    )
    before = json.loads(sweep("--status", "--json", **place).stdout)["counts"]
    assert 0 < before["finished"] < 40
    subprocess.run(["mount", "-o", "remount,size=40m", disk], check=True)
    assert "40 points" in sweep(*arguments, **place).stdout
    assert json.loads(sweep("--status", "--json", **place).stdout)["counts"] == {"finished": 40}


def test_processes_that_share_a_store_that_cannot_be_written_are_refused(sweep, disk):
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    refused = sweep("--share", "1/1", code=2, WIDENET_STORE=str(disk / "store")).stderr
    assert f"cannot write results to {disk}/store: read-only file system; set WIDENET_STORE" in refused
    assert refused.count("\n") == 1


def test_one_command_computes_and_says_that_it_keeps_nothing(sweep, disk):
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    done = sweep(WIDENET_STORE=str(disk / "store"))
    assert "40 points, 40 computed" in done.stdout
    assert "read-only file system" in done.stderr
    assert "nothing that is computed is kept" in done.stderr


def test_a_finished_sweep_is_read_from_a_disk_that_cannot_be_written(sweep, disk):
    subprocess.run(["mount", "-o", "remount,size=40m", disk], check=True)
    place = {"WIDENET_STORE": str(disk / "store")}
    first = sweep("--json", **place).stdout
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert sweep("--status", **place).stdout.split() == ["40", "finished"]
    assert sweep("--json", **place).stdout == first
