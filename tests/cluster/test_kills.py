"""A short cut of `tools.kills`: nothing is lost, nothing finished is computed again, and the numbers are the same."""

import random

import numpy as np
import pytest

from tools import kills, kills_toy
from tools.kills import PLACES, STATES, Trace, Wrong

KILLS = 6
EACH = 1


@pytest.mark.parametrize("place", PLACES)
def test_a_sweep_whose_processes_are_killed(place, tmp_path):
    random.seed(0)
    sweeps = kills.disturb(place, kills.Goal(KILLS, EACH), tmp_path)
    row = kills.row_of(place, sweeps, 0.0)
    assert row["kills"] >= KILLS
    assert all(number >= EACH for number in row["in the middle of a cell"].values())
    assert all(len(sweep.trace.begun) == sweep.points for sweep in sweeps)


def disturbed(tmp_path, *lines: str, goal: kills.Goal) -> kills.Disturbed:
    sweep = kills.Disturbed(tmp_path / "sweep", 4, 0.0, goal)
    trace(sweep.folder, *lines)
    return sweep


def test_it_goes_on_until_there_were_enough_kills_and_enough_in_each_moment(tmp_path):
    """Processes 1 and 2 of these have never been, so they are over."""
    lines = ["1 a leased 7", "2 b computing 7"]
    sweep = disturbed(tmp_path, *lines, goal=kills.Goal(5, each=1))
    sweep.kills["SIGKILL to a worker"] = 5
    assert sweep.wanted() == [kills_toy.COMPUTED, kills_toy.RENAMED]
    assert not sweep.is_enough()
    before = {STATES[kills_toy.COMPUTED]: 1, STATES[kills_toy.RENAMED]: 1}
    sweep.goal.deaths.update(before)
    assert sweep.is_enough()
    sweep.kills["SIGKILL to a worker"] = 4
    assert not sweep.is_enough()
    sweep.goal.done["SIGKILL to a worker"] = 1
    assert sweep.is_enough()


def test_a_moment_in_which_too_few_ended_is_drawn(tmp_path, monkeypatch):
    sweep = disturbed(tmp_path, "1 a leased 7", "2 b computing 7", "3 c computed 7", goal=kills.Goal(5, each=1))
    asked = []
    monkeypatch.setattr(Trace, "at_work", lambda trace, moment: asked.append(moment) or ["found"])
    assert [sweep.victim(lambda: False) for _ in range(3)] == ["found"] * 3
    assert set(asked) == {kills_toy.RENAMED}


def test_numbers_are_compared_with_those_of_a_sweep_that_nobody_disturbed(tmp_path, monkeypatch):
    sweep = kills.Disturbed(tmp_path / "sweep", 4, 0.0, kills.Goal(0))
    sweep.finish(sweep.sweep("--jobs", "1"))
    sweep.require_undisturbed()
    assert (sweep.folder / "alone" / "sweeps").is_dir()
    real = kills.Disturbed.values

    def values(sweep, store):
        found = real(sweep, store)
        return np.nextafter(found, 2) if store.name == "alone" else found

    monkeypatch.setattr(kills.Disturbed, "values", values)
    with pytest.raises(Wrong, match="not those of a sweep that nobody disturbed"):
        sweep.require_undisturbed()


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
