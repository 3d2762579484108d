"""Commands as real processes: two at once, Ctrl-C, and kill -9. Whole cells stay, and nobody else."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packages.toy2020.runs.numbers import GATE, LOG
from tests.stored import stored
from widenet.store import Store

ROOT = Path(__file__).parents[2]
# A shell in the background starts its children with SIGINT ignored; a test must not depend on that.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import runpy
runpy.run_module("tests.packages", run_name="__main__", alter_sys=True)
"""
SENTENCE = "widenet: interrupted; what was finished is in the store."
PATIENCE = 300.0
"""Seconds after which something hangs, on the busiest machine."""


class Command:
    """A running command over the toy rooms, in a session of its own, as a terminal would start it.

    All cells but the first wait at the gate until it is open: whatever a test does before, the command is at work.
    """

    def __init__(self, tmp_path: Path, *arguments: str, gate_open: bool = True):
        self.store, self.log, self.gate = tmp_path / "store", tmp_path / "log", tmp_path / "gate"
        self.log.touch()
        if gate_open:
            self.open_gate()
        environment = os.environ | {"WIDENET_STORE": str(self.store), LOG: str(self.log), GATE: str(self.gate)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
            start_new_session=True,
        )

    def lines(self, word: str) -> list[list[str]]:
        return [line.split() for line in self.log.read_text().splitlines() if line.startswith(word)]

    def open_gate(self) -> None:
        self.gate.touch()

    def wait_for_a_start(self, place: int) -> str:
        """The process that computes this cell."""
        self.wait_until(lambda: bool(self.lines(f"start {place} ")))
        return self.lines(f"start {place} ")[0][2]

    def wait_for_a_cell(self) -> None:
        self.wait_until(lambda: any(self.store.glob("??/*.npz")))

    def wait_until(self, has_come: Callable[[], bool]) -> None:
        last = time.monotonic() + PATIENCE
        while not has_come():
            assert time.monotonic() < last, self.log.read_text()
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.01)

    def finish(self) -> tuple[str, str]:
        return self.process.communicate(timeout=PATIENCE)

    def members(self) -> list[int]:
        """Every living process of its session."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            except (OSError, ValueError):
                continue
            if int(session) == self.process.pid and state != "Z":
                found.append(int(folder.name))
        return found

    def is_gone(self) -> bool:
        last = time.monotonic() + PATIENCE
        while self.members() and time.monotonic() < last:
            time.sleep(0.05)
        return not self.members()


def whole_cells(store: Path) -> int:
    return len(stored(Store(store)))


def test_two_commands_at_once_compute_each_cell_once(tmp_path):
    arguments = ("check", "--all", "--scale", "paper", "--jobs", "2", "--json")
    commands = [Command(tmp_path, *arguments) for _ in range(2)]
    answers = [json.loads(command.finish()[0]) for command in commands]
    assert Counter(place for _, place, _ in commands[0].lines("start")) == {str(place): 1 for place in range(6)}
    for rows in zip(*answers, strict=True):
        one, two = ({key: row[key] for key in row if key not in ("seconds", "reused")} for row in rows)
        assert one == two
    assert whole_cells(tmp_path / "store") == 6
    workers = {pid for _, _, pid in commands[0].lines("start")}
    assert len(workers) >= 2


@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_leaves_whole_cells_and_nobody(tmp_path, whole_group):
    """A terminal interrupts the whole group; a program that calls this one, it alone."""
    command = Command(tmp_path, "check", "--all", "--scale", "paper", "--jobs", "2", gate_open=False)
    command.wait_for_a_cell()
    assert len(command.members()) >= 3
    if whole_group:
        os.killpg(command.process.pid, signal.SIGINT)
    else:
        command.process.send_signal(signal.SIGINT)
    output, errors = command.finish()
    assert command.process.returncode == 130
    assert output == ""
    assert [line for line in errors.splitlines() if not line.startswith("[")] == [SENTENCE]
    assert command.is_gone()
    assert whole_cells(command.store) == 1
    assert list(command.store.rglob("*.tmp")) == []

    again = Command(tmp_path, "check", "--all", "--scale", "paper", "--jobs", "2")
    assert again.finish()[1].count("toy2020.numbers") > 0
    assert again.process.returncode == 3, "the toys have a claim whose hypotheses are not met"
    assert whole_cells(command.store) == 6
    done = Counter(place for _, place, _ in again.lines("end"))
    assert done == {str(place): 1 for place in range(6)}, "what was finished is not computed again"


def test_ctrl_c_while_workers_start_is_one_sentence(tmp_path):
    command = Command(tmp_path, "check", "--all", "--scale", "paper", "--jobs", "2", gate_open=False)
    command.wait_until(lambda: len(command.members()) >= 3)  # the command, the first worker and its helper
    os.killpg(command.process.pid, signal.SIGINT)
    output, errors = command.finish()
    assert (command.process.returncode, output) == (130, "")
    assert [line for line in errors.splitlines() if not line.startswith("[")] == [SENTENCE]
    assert command.is_gone()


def test_kill_9_of_the_command_ends_its_workers(tmp_path):
    command = Command(tmp_path, "check", "--all", "--scale", "paper", "--jobs", "2", gate_open=False)
    command.wait_for_a_cell()
    command.process.kill()
    command.finish()
    assert command.is_gone()
    assert whole_cells(command.store) == 1
    again = Command(tmp_path, "check", "--all", "--scale", "paper", "--jobs", "2", "--json")
    rows = json.loads(again.finish()[0])
    assert len(rows) == 6
    assert whole_cells(command.store) == 6


def test_ctrl_c_in_this_process_alone(tmp_path):
    command = Command(tmp_path, "check", "toy2020.theorem_2", "--scale", "paper", "--jobs", "1", gate_open=False)
    command.wait_for_a_cell()
    os.killpg(command.process.pid, signal.SIGINT)
    output, errors = command.finish()
    assert (command.process.returncode, output) == (130, "")
    assert [line for line in errors.splitlines() if not line.startswith("[")] == [SENTENCE]
    assert whole_cells(command.store) == 1


def test_a_killed_worker_is_one_sentence_and_everything_else_is_reported(tmp_path):
    command = Command(tmp_path, "check", "--all", "--scale", "paper", "--jobs", "2", gate_open=False)
    os.kill(int(command.wait_for_a_start(1)), signal.SIGKILL)
    command.open_gate()
    output, errors = command.finish()
    assert command.process.returncode == 3
    assert [line for line in errors.splitlines() if not line.startswith("[")] == []
    (sentence,) = [line for line in output.splitlines() if "was ended by signal 9" in line]
    assert "toy2020.numbers" in sentence
    assert "✗ not computed  toy2020.theorem_2" in output
    assert "✓ holds" in output
    assert command.is_gone()
    assert whole_cells(command.store) == 5


def test_fresh_computes_everything_once_more(tmp_path):
    for options, total in (((), 3), ((), 3), (("--fresh",), 6)):
        command = Command(tmp_path, "check", "toy2020.theorem_2", "--json", "--jobs", "1", *options)
        (row,) = json.loads(command.finish()[0])
        assert len(command.lines("start")) == total
        assert row["cells"]
    assert row["reused"] is False
