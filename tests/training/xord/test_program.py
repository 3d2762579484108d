"""One step of all lanes, and who sits in them, against the definitions written out in NumPy, lane by lane."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data.xord import PATTERN_SETS, PATTERNS, SET_LABELS
from widenet.training.xord import cycles, program
from widenet.training.xord.program import NEVER, Outcome, Queue, _Lanes, _Seats
from widenet.types import RunStatus

LANES, CHANNELS, MOST = 240, 4, 50
VOTES = np.repeat([1.0, -1.0], CHANNELS // 2)
PREFERENCE = [0, 1, 3, 2]  # of equal patterns the one with the larger first coordinate, then p₁ before p₂, p₄ before p₃


@functools.cache
def drawn():
    """Weights on a grid, some of them on kinks and ties; points of a few sets; runs at every stage."""
    draw = np.random.default_rng(0)
    filters = draw.integers(-3, 4, (LANES, CHANNELS, 2)) / 4 * draw.choice([1, 8], (LANES, 1, 1))
    filters[:6] = 0  # nothing moves
    filters[6:9] = [[2, 2], [-2, -2], [2, -2], [-2, 2]]
    filters[9] = np.inf
    filters[10, 0] = 1e308
    weights = draw.integers(0, 3, (LANES, 15)) * (draw.random((LANES, 15)) < 0.2)
    weights[np.arange(LANES), draw.integers(0, 15, LANES)] = 1
    margins = np.where(SET_LABELS > 0, draw.choice([1.0, 3.0], (LANES, 1)), 1.0)
    steps = draw.choice([0, 1, 5, 20, 49, 50], LANES)
    best_step = np.maximum(steps - draw.integers(0, 8, LANES), 0)
    outputs = np.stack([outputs_of(each) for each in filters])
    before = np.where(draw.random((LANES, 1)) < 0.6, outputs, outputs + 1)
    lane = {
        "steps": steps,
        "best": draw.choice([0.0, 0.5, 2.0, np.inf], LANES),
        "best_step": best_step,
        "zero_error_step": draw.choice([-1, 0, 3], LANES),
        "status": np.where(draw.random(LANES) < 0.8, 0, RunStatus.CONVERGED),
        "outputs": before,
    }
    return filters, weights.astype(float), margins, draw.choice([0.25, 0.5], LANES), lane


def outputs_of(filters):
    """N on the 15 sets: votes times the largest positive response of each channel."""
    with np.errstate(invalid="ignore", over="ignore"):
        responses = filters @ PATTERNS.T
        best = np.where(PATTERN_SETS[:, None, :], responses[None], -np.inf).max(axis=2)
        return np.maximum(best, 0) @ VOTES


def gradient(filters, pull):
    """The derivative of Σ_A pull_A N(A) by the filters."""
    found = np.zeros_like(filters)
    for held, one in zip(PATTERN_SETS, pull, strict=True):
        for channel, row in enumerate(filters):
            responses = PATTERNS @ row
            places = [place for place in PREFERENCE if held[place]]
            best = max(places, key=lambda place: (responses[place], -PREFERENCE.index(place)))
            if responses[best] > 0:
                found[channel] += one * VOTES[channel] * PATTERNS[best]
    return found


def seats_and_lanes():
    filters, weights, margins, units, lane = drawn()
    run = jnp.arange(LANES, dtype=jnp.int32)
    seats = _Seats(run, *(jnp.asarray(part) for part in (weights.T, margins.T, units, np.arange(LANES) % 3 > 0)))
    whole = {name: jnp.asarray(lane[name], jnp.int32) for name in ("steps", "best_step", "zero_error_step", "status")}
    lanes = _Lanes(
        first=jnp.asarray(filters[:, :, 0].T),
        second=jnp.asarray(filters[:, :, 1].T),
        best=jnp.asarray(lane["best"]),
        loss=jnp.full(LANES, 7.0),
        outputs=jnp.asarray(lane["outputs"].T),
        **whole,
    )
    return seats, lanes


@functools.cache
def stepped():
    step = jax.jit(program._step)
    seats, lanes = seats_and_lanes()
    return {
        patience: jax.tree.map(np.asarray, step(seats, lanes, jnp.int32(MOST), jnp.int32(patience)))
        for patience in (4, NEVER)
    }


def test_outputs_are_votes_times_the_largest_responses():
    filters = drawn()[0][11:]
    found = jax.jit(program.outputs_on_sets)(jnp.asarray(filters[:, :, 0].T), jnp.asarray(filters[:, :, 1].T))
    np.testing.assert_array_equal(np.asarray(found).T, [outputs_of(each) for each in filters])


@pytest.mark.parametrize("patience", [4, NEVER])
def test_a_step_of_every_lane(patience):
    """Everything is a multiple of the grid, so all numbers are exact."""
    filters, weights, margins, units, lane = drawn()
    found, met = stepped()[patience], set()
    for at in range(LANES):
        outputs = outputs_of(filters[at])
        finite, steps = np.isfinite(outputs).all(), lane["steps"][at]
        if not finite:
            assert (found.status[at], found.steps[at]) == (RunStatus.DIVERGED, steps)
            continue
        np.testing.assert_array_equal(found.outputs[:, at], outputs)
        losses = np.maximum(margins[at] - SET_LABELS * outputs, 0)
        loss = (weights[at] * losses).sum()
        best_step = steps if loss < lane["best"][at] else lane["best_step"][at]
        by_filter = gradient(filters[at], np.where(losses > 0, SET_LABELS * weights[at], 0))
        tired = patience != NEVER and steps - best_step >= patience
        spent = steps >= MOST
        if loss == 0:
            status = RunStatus.CONVERGED
        elif not by_filter.any():  # some running lane asks whether anybody stands still, so all are looked at
            status = RunStatus.STALLED
        else:
            status = RunStatus.CONVERGED if tired else RunStatus.BUDGET_SPENT if spent else RunStatus.RUNNING
        met.add(status)
        assert found.status[at] == status, at
        goes = status == RunStatus.RUNNING
        moved = filters[at] + goes * units[at] * by_filter
        np.testing.assert_array_equal(np.stack([found.first[:, at], found.second[:, at]], axis=1), moved)
        idle = steps if patience == NEVER else min(best_step + patience, MOST)
        rests_for_good = loss == 0 or status == RunStatus.STALLED
        assert found.steps[at] == (steps + 1 if goes else idle if rests_for_good else steps), at
        assert (found.loss[at], found.best[at], found.best_step[at]) == (loss, min(loss, lane["best"][at]), best_step)
        right = ((weights[at] == 0) | (SET_LABELS * outputs > 0)).all()
        first = lane["zero_error_step"][at]
        assert found.zero_error_step[at] == (steps if right and first < 0 else first), at
    assert len(met) == 4


def test_who_is_looked_at_for_standing_still():
    """Where no running lane asks for it, nobody is: not even one that has stopped and stands still."""
    seats, lanes = (jax.tree.map(lambda leaf: leaf[..., :8], tree) for tree in seats_and_lanes())
    quiet = {"steps": jnp.zeros(8, jnp.int32), "best_step": jnp.zeros(8, jnp.int32)}
    fields = {**lanes.__dict__, **quiet, "outputs": lanes.outputs * 0 + 7, "best": jnp.zeros(8)}
    step = jax.jit(program._step)
    for status, expected in ((0, RunStatus.RUNNING), (1, RunStatus.RUNNING)):
        asked = _Lanes(**{**fields, "status": jnp.full(8, status, jnp.int32)})
        assert (np.asarray(step(seats, asked, jnp.int32(MOST), jnp.int32(4)).status)[:6] == expected).all()
    asks = [{"outputs": jnp.zeros((15, 8))}]  # stands still, as it seems
    asks += [{"steps": jnp.full(8, 10, jnp.int32), "best_step": jnp.full(8, 6, jnp.int32)}]  # tired
    asks += [{"steps": jnp.full(8, MOST, jnp.int32), "best_step": jnp.full(8, MOST - 1, jnp.int32)}]  # spent
    for told in asks:
        found = step(
            seats, _Lanes(**{**fields, "status": jnp.zeros(8, jnp.int32), **told}), jnp.int32(MOST), jnp.int32(4)
        )
        assert (np.asarray(found.status)[:6] == RunStatus.STALLED).all()
    stopped = _Lanes(**{**fields, "status": jnp.ones(8, jnp.int32), **asks[0]})
    assert (np.asarray(step(seats, stopped, jnp.int32(MOST), jnp.int32(4)).status)[:6] == RunStatus.RUNNING).all()
    never = _Lanes(**{**fields, "status": jnp.zeros(8, jnp.int32)})
    assert (np.asarray(step(seats, never, jnp.int32(MOST), jnp.int32(NEVER)).status)[:6] == RunStatus.STALLED).all()


def queue():
    draw = np.random.default_rng(3)
    return Queue(
        draw.normal(size=(8, CHANNELS, 2)), draw.normal(size=(8, 15)), draw.normal(size=(8, 15)), draw.normal(size=8),
        np.arange(8) % 2 == 0,
    )  # fmt: skip


def few(tree, status, run):
    """Four lanes with this status and these runs."""
    seats, lanes = (jax.tree.map(lambda leaf: leaf[..., 20:24], part) for part in tree)
    fields = {**lanes.__dict__, "status": jnp.asarray(status, jnp.int32)}
    return _Seats(**{**seats.__dict__, "run": jnp.asarray(run, jnp.int32)}), _Lanes(**fields)


@pytest.mark.parametrize(
    ("waiting", "n_runs", "runs"), [(2, 8, [2, 1, 3, 4]), (3, 5, [3, 1, 4, 5]), (0, 1, [0, 1, 1, 1])]
)
def test_free_lanes_take_the_next_runs_of_the_queue(waiting, n_runs, runs):
    """Past its end a copy of the last one, which nobody reads."""
    waits_in = queue()
    seats, lanes = few(seats_and_lanes(), [1, 0, 4, 2], [0, 1, 2, 3])
    asked = jax.tree.map(jnp.asarray, waits_in)
    after, taken, waits = jax.jit(program._load)(seats, lanes, asked, jnp.int32(waiting), jnp.int32(n_runs))
    np.testing.assert_array_equal(after.run, runs)
    assert int(waits) == waiting + 3
    place = np.minimum(runs, n_runs - 1)
    np.testing.assert_array_equal(after.weights, waits_in.weights[place].T)
    np.testing.assert_array_equal(after.margins, waits_in.margins[place].T)
    np.testing.assert_array_equal(after.units, waits_in.units[place])
    np.testing.assert_array_equal(after.exact, waits_in.exact[place])
    for lane in (0, 2, 3):
        np.testing.assert_array_equal(taken.first[:, lane], waits_in.filters[place[lane], :, 0])
        np.testing.assert_array_equal(taken.second[:, lane], waits_in.filters[place[lane], :, 1])
        counts = [int(each[lane]) for each in (taken.steps, taken.best_step, taken.zero_error_step, taken.status)]
        assert counts == [0, 0, -1, RunStatus.RUNNING]
        assert float(taken.best[lane]) == np.inf
        assert np.isnan(taken.outputs[:, lane]).all()
    for new, old in zip(jax.tree.leaves(taken), jax.tree.leaves(lanes), strict=True):
        np.testing.assert_array_equal(new[..., 1], old[..., 1])


def test_runs_that_have_stopped_are_written_down():
    """Lane 1 still runs, lane 3 holds no run; the loss of a diverged run is no number."""
    seats, lanes = few(seats_and_lanes(), [1, 0, 4, 2], [5, 1, 2, 8])
    lanes = _Lanes(**{**lanes.__dict__, "loss": jnp.asarray([0.0, 0.0, 3.0, 1.0])})
    nines = jnp.full(8, 9, jnp.int32)
    blank = Outcome(jnp.zeros((8, CHANNELS, 2)), nines, nines, nines, nines, jnp.full(8, 9.0), jnp.zeros((8, 15)))
    after = jax.tree.map(np.asarray, jax.jit(program._collect)(blank, seats, lanes, jnp.int32(8)))
    for run, lane in ((5, 0), (2, 2)):
        np.testing.assert_array_equal(after.filters[run], np.stack([lanes.first[:, lane], lanes.second[:, lane]], 1))
        assert after.status[run] == lanes.status[lane]
        assert after.steps[run] == lanes.steps[lane]
        assert after.zero_error_step[run] == lanes.zero_error_step[lane]
        np.testing.assert_array_equal(after.outputs[run], lanes.outputs[:, lane])
    assert (after.zero_loss_step[5], after.zero_loss_step[2]) == (lanes.best_step[0], -1)
    assert after.loss[5] == 0
    assert np.isnan(after.loss[2])
    others = np.delete(after.status, [5, 2])
    np.testing.assert_array_equal(others, np.full(6, 9))
    stopped = program._has_stopped(seats, lanes, jnp.int32(8))
    np.testing.assert_array_equal(stopped, [True, False, True, False])


def test_what_a_leap_must_respect():
    seats, lanes = seats_and_lanes()
    lanes = _Lanes(**{**lanes.__dict__, "loss": jnp.asarray(np.arange(LANES) % 2 * cycles.LARGEST)})
    for patience in (4, NEVER):
        rule = program._rule(seats, lanes, jnp.int32(MOST), jnp.int32(patience))
        small = np.arange(LANES) % 2 == 0
        exact, runs = np.arange(LANES) % 3 > 0, np.asarray(lanes.status) == 0
        np.testing.assert_array_equal(rule.allowed, exact & runs & (small | (patience == NEVER)))
        assert bool(rule.by_loss) == (patience != NEVER)
        np.testing.assert_array_equal(rule.since_best, lanes.steps - lanes.best_step)
        np.testing.assert_array_equal(rule.steps_left, MOST - np.asarray(lanes.steps))


def test_lanes_by_width():
    assert [program.n_lanes(width) for width in (4, 62, 64, 200)] == [32, 32, 16, 16]
