"""Runs that wait for lanes: who is handed out, when it is over, and how many iterations that takes, counted by hand.

All runs have one point with the set {p₁} and one filter that answers it, so that every step adds the same to the output
and the loss is exactly 0 after as many steps as the margin asks for.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.xord.test_program import outputs_of
from widenet.training.xord import cycles, program
from widenet.training.xord.program import NEVER, Queue, train_queue
from widenet.types import RunStatus

LANES, SLICE, UNIT = 3, 50, 2.0**-10
START = np.array([[0.5, 0.25], [-0.5, -0.25], [-0.5, -0.25], [-0.5, -0.25]])
FOUND = cycles.FEWEST + 5
"""Looks at a run that leaps: one step to know the outputs, one to know an increment, FEWEST that are like it, one to
measure the cycle, one to check it, and a look where the leap ends."""


def waiting_runs(lengths, exact=()):
    """Runs of so many steps; p₁ answers 3/4 at first, and 2·UNIT more after every step."""
    n_runs = len(lengths)
    weights, margins = np.zeros((n_runs, 15)), np.ones((n_runs, 15))
    weights[:, 0] = 1
    margins[:, 0] = 0.75 + 2 * UNIT * np.asarray(lengths)
    may_leap = np.isin(np.arange(n_runs), exact)
    return Queue(np.tile(START, (n_runs, 1, 1)), weights, margins, np.full(n_runs, UNIT), may_leap)


def ends(looks):
    """After how many iterations each run is over, when the lane that is free first takes the next one."""
    lanes, found = [0] * LANES, []
    for own in looks:
        at = int(np.argmin(lanes))
        lanes[at] += own
        found.append(lanes[at])
    return np.array(found)


@pytest.fixture
def ticks(monkeypatch) -> list[int]:
    """Few lanes and short slices; the iterations of every slice."""
    found: list[int] = []
    plain: Any = program._advance
    # Another function: programs that were compiled for the usual slices are not asked.
    advance = jax.jit(lambda *parts: plain.__wrapped__(*parts))

    def counted(*parts):
        told = advance(*parts)
        found.append(int(told[-1]))
        return told

    monkeypatch.setattr(program, "n_lanes", lambda _: LANES)
    monkeypatch.setattr(program, "SLICE", SLICE)
    monkeypatch.setattr(program, "_advance", counted)
    return found


def assert_by_hand(queue, lengths, looks, ticks, leap):
    told: list[int] = []
    outcome, iterations = train_queue(queue, 100_000, NEVER, told.append, leap)
    over, lengths = ends(looks), np.asarray(lengths)
    last = int(over.max())
    assert iterations == last
    rest = [last % SLICE] if last % SLICE else []
    assert ticks == [SLICE] * (last // SLICE) + rest
    bounds = np.minimum(np.arange(1, len(ticks) + 1) * SLICE, last)
    assert told == np.diff([0, *(int((over <= bound).sum()) for bound in bounds)]).tolist()
    np.testing.assert_array_equal(outcome.status, RunStatus.CONVERGED)
    np.testing.assert_array_equal(outcome.steps, lengths)
    np.testing.assert_array_equal(outcome.zero_loss_step, lengths)
    np.testing.assert_array_equal(outcome.zero_error_step, 0)
    np.testing.assert_array_equal(outcome.loss, 0)
    moved = np.tile(START, (len(lengths), 1, 1))
    moved[:, 0] += UNIT * lengths[:, None]
    np.testing.assert_array_equal(outcome.filters, moved)
    np.testing.assert_array_equal(outcome.outputs, [outputs_of(each) for each in moved])


@pytest.mark.parametrize("lengths", [[5, 0, 17, 40, 3, 9, 70, 1], [4, 11], [49], [50]])
def test_step_by_step(ticks, lengths):
    """A run is looked at once more than it takes steps; the last two end with a slice and just after it."""
    queue = waiting_runs(lengths)
    assert_by_hand(queue, lengths, [steps + 1 for steps in lengths], ticks, leap=False)


def test_with_leaps(ticks):
    """Lanes leap whenever they are ready, not all at once; a run off the grid takes all its steps."""
    lengths = [100, 3000, 67, 68, 20, 500, 130, 5000, 69, 2]
    off_grid = 6
    exact = [run for run in range(len(lengths)) if run != off_grid]
    looks = [steps + 1 if run == off_grid else min(steps + 1, FOUND) for run, steps in enumerate(lengths)]
    assert_by_hand(waiting_runs(lengths, exact), lengths, looks, ticks, leap=True)


@pytest.mark.parametrize(("leap", "iterations"), [({}, 301), ({"leap": False}, 301), ({"leap": True}, FOUND)])
def test_leaps_are_taken_when_asked_for(ticks, leap, iterations):
    assert train_queue(waiting_runs([300], [0]), 1000, NEVER, lambda _: None, **leap)[1] == iterations


@pytest.mark.parametrize(
    ("n_runs", "capacity"), [(1, 1024), (3, 1024), (1023, 1024), (1024, 1024), (1025, 2048), (2048, 2048), (2049, 4096)]
)
def test_a_queue_is_filled_up(monkeypatch, n_runs, capacity):
    """To a power of two that holds all runs, so that few lengths are compiled. Nothing is trained here."""
    calls: list[Any] = []
    answers = [(n_runs - 1, 7), (n_runs - 1, 5), (0, 4)] if n_runs > 1 else [(0, 4)]

    def advance(seats, lanes, known, outcome, queue, waiting, *rest):
        remaining, ticks = answers[len(calls)]
        calls.append((seats, lanes, known, outcome, queue, int(waiting), rest))
        return seats, lanes, known, outcome, waiting + 1, jnp.int32(remaining), jnp.int32(ticks)

    monkeypatch.setattr(program, "_advance", advance)
    queue, told = waiting_runs(np.arange(n_runs)), []
    outcome, iterations = train_queue(queue, 9, 4, told.append)
    assert [call[5] for call in calls] == list(range(len(answers)))
    assert all(call[6] == (n_runs, 9, 4) for call in calls)
    seats, lanes, known, blank, padded = calls[0][:5]
    assert known is None
    assert (np.asarray(lanes.status) != RunStatus.RUNNING).all()  # every lane takes a run first
    assert seats.run.shape == lanes.status.shape == (program.n_lanes(4),)
    for name in ("filters", "weights", "margins", "units", "exact"):
        given, found = getattr(queue, name), np.asarray(getattr(padded, name))
        assert found.shape == (capacity, *given.shape[1:])
        np.testing.assert_array_equal(found[:n_runs], given)
    assert blank.filters.shape == (capacity, 4, 2)
    assert blank.outputs.shape == (capacity, 15)
    for name in ("status", "steps", "zero_error_step", "zero_loss_step", "loss"):
        assert getattr(blank, name).shape == (capacity,)
        assert getattr(outcome, name).shape == (n_runs,)
    assert told == ([1, 0, n_runs - 1] if n_runs > 1 else [1])
    assert iterations == sum(ticks for _, ticks in answers)
