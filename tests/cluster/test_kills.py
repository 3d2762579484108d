"""A short cut of `tools.kills`: nothing is lost, nothing finished is computed again, and the numbers are the same."""

import random

import pytest

from tools import kills, kills_toy
from tools.kills import PLACES, STATES, Trace, Wrong

KILLS = 6


@pytest.mark.parametrize("place", PLACES)
def test_a_sweep_whose_processes_are_killed(place, tmp_path):
    random.seed(0)
    sweep = kills.disturb(place, KILLS, tmp_path)
    assert sweep.kills.total() == KILLS
    assert sweep.trace.deaths().total() > 0
    assert len(sweep.trace.begun) == sweep.points


def trace(tmp_path, *lines: str) -> Trace:
    (tmp_path / "log").write_text("".join(f"{line}\n" for line in lines))
    return Trace(tmp_path / "log")


def test_control_a_cell_that_is_computed_again_is_noticed(tmp_path):
    lived = ["1 a leased 7", "1 a computing 7", "1 a computed 7", "1 a renamed 7", "1 a released 7"]
    with pytest.raises(Wrong, match="computed after they were finished"):
        trace(tmp_path, *lived, "2 b leased 7", "2 b computing 7").require_once()


def test_control_a_cell_that_two_compute_at_once_is_noticed(tmp_path):
    both = [
        "1 a computing 7",
        "2 b computing 7",
        "1 a computed 7",
        "2 b computed 7",
        "1 a released 7",
        "2 b released 7",
    ]
    with pytest.raises(Wrong, match="computed too often"):
        trace(tmp_path, *both).require_once()


def test_a_process_that_died_while_it_computed_may_be_replaced(tmp_path):
    found = trace(tmp_path, "1 a leased 7", "1 a computing 7", "2 b computing 7", "2 b renamed 7", "2 b released 7")
    found.require_once()
    assert found.deaths() == {STATES[kills_toy.COMPUTING]: 1}
