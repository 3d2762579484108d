"""Edges of a step and of what is written down: numbers too large, a patience of one step, sets that all but agree."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.xord.test_program import outputs_of
from widenet.training.xord import cycles, program
from widenet.training.xord.program import NEVER, Outcome, _Lanes, _Seats
from widenet.types import RunStatus

P1, P1_P3 = 0, 4  # the sets {p₁} and {p₁, p₃}


def one_lane(filters, weights, **known):
    """A run in the only lane; margins are 1 and the unit of a step is 1/4."""
    held = jnp.zeros(15).at[jnp.asarray(list(weights))].set(jnp.asarray(list(weights.values())))[:, None]
    seats = _Seats(jnp.zeros(1, jnp.int32), held, jnp.ones((15, 1)), jnp.full(1, 0.25), jnp.ones(1, bool))
    whole = {"steps": 0, "best_step": 0, "zero_error_step": -1, "status": RunStatus.RUNNING}
    real = {"best": np.inf, "loss": 0.0}
    filters = np.asarray(filters, float)
    return seats, _Lanes(
        first=jnp.asarray(filters[:, :1]),
        second=jnp.asarray(filters[:, 1:]),
        outputs=jnp.asarray(known.get("outputs", np.full(15, np.nan)))[:, None],
        **{name: jnp.full(1, known.get(name, value), jnp.int32) for name, value in whole.items()},
        **{name: jnp.full(1, known.get(name, value), float) for name, value in real.items()},
    )


@functools.cache
def compiled(name):
    return jax.jit(getattr(program, name))


def stepped(seats, lanes, patience):
    return compiled("_step")(seats, lanes, jnp.int32(50), jnp.int32(patience))


def test_a_run_that_overflows_at_zero_loss_has_diverged():
    """p₁ and p₃ alone are as large as a float may be, and {p₁, p₃} is larger. No further steps are counted."""
    huge = 6e307
    seats, lanes = one_lane([[huge, huge], [-huge, -huge], [0, 0], [0, 0]], {P1: 1.0}, steps=5)
    after = stepped(seats, lanes, patience=4)
    assert (float(after.outputs[P1, 0]), float(after.outputs[P1_P3, 0])) == (2 * huge, np.inf)
    assert (float(after.loss[0]), int(after.status[0]), int(after.steps[0])) == (0, RunStatus.DIVERGED, 5)


@pytest.mark.parametrize(("since", "patience", "status"), [
    (0, 1, RunStatus.RUNNING), (1, 1, RunStatus.CONVERGED), (1, 2, RunStatus.RUNNING), (9, NEVER, RunStatus.RUNNING),
])  # fmt: skip
def test_a_patience_of_one_step_is_one(since, patience, status):
    seats, lanes = one_lane(
        [[0.25, 0.125], [-1, -1], [-1, -1], [-1, -1]], {P1: 1.0}, steps=9, best_step=9 - since, best=0
    )
    after = stepped(seats, lanes, patience)
    assert int(after.status[0]) == status
    assert int(after.steps[0]) == (10 if status == RunStatus.RUNNING else 9)


@pytest.mark.parametrize("differs", [None, 0, 7, 14])
def test_standing_still_is_looked_for_where_all_outputs_are_as_before(differs):
    """Nothing moves from zero weights, but outputs that have just changed say that something did."""
    before = np.zeros(15)
    if differs is not None:
        before[differs] = 1.0
    seats, lanes = one_lane(np.zeros((4, 2)), {P1: 1.0}, outputs=before)
    status = int(stepped(seats, lanes, patience=4).status[0])
    assert status == (RunStatus.STALLED if differs is None else RunStatus.RUNNING)


def test_one_lane_that_may_stand_still_is_enough_to_look():
    """The other lane moves, and is not said to stand still."""
    still, moving = (
        one_lane(filters, {P1: 1.0}, outputs=before)
        for filters, before in ((np.zeros((4, 2)), np.zeros(15)), (np.full((4, 2), [0.25, 0.125]), np.ones(15)))
    )
    seats, lanes = (
        jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis=-1), *pair)
        for pair in zip(still, moving, strict=True)
    )
    after = stepped(seats, lanes, patience=4)
    assert after.status.tolist() == [RunStatus.STALLED, RunStatus.RUNNING]
    assert after.steps.tolist() == [4, 1]


@pytest.mark.parametrize(("loss", "kept"), [(0.0, np.nan), (3.0, np.nan), (np.inf, np.inf), (np.nan, np.nan)])
def test_the_loss_of_a_diverged_run(loss, kept):
    """No number where it is finite by chance; infinite where it is."""
    seats, lanes = one_lane(np.ones((4, 2)), {P1: 1.0}, loss=loss, status=RunStatus.DIVERGED)
    blank = jnp.zeros(2, jnp.int32)
    outcome = Outcome(jnp.zeros((2, 4, 2)), blank, blank, blank, blank, jnp.zeros(2), jnp.zeros((2, 15)))
    after = compiled("_collect")(outcome, seats, lanes, jnp.int32(2))
    np.testing.assert_array_equal(after.loss, [kept, 0])
    np.testing.assert_array_equal(after.zero_loss_step, [-1, 0])


def test_the_best_loss_stays_where_nothing_is_known_of_a_cycle():
    """The slope is minus infinity before the first step of a cycle was seen, and no copies of that are nothing."""
    seats, lanes = one_lane(np.ones((4, 2)), {P1: 1.0}, best=2.5)
    cycle, seen = cycles.nothing_known(4, 1)
    seen = cycles.Seen(**{**seen.__dict__, "lowest": jnp.full(1, jnp.inf), "highest": jnp.full(1, -jnp.inf)})
    for patience in (4, NEVER):
        after = compiled("_leap")(seats, lanes, cycle, seen, jnp.int32(50), jnp.int32(patience))[0]
        assert float(after.best[0]) == 2.5
        assert (int(after.steps[0]), int(after.best_step[0])) == (0, 0)


@pytest.mark.parametrize(("copies", "best"), [(1, 2.0), (2, 1.5), (4, 0.5)])
def test_the_best_loss_falls_with_every_copy(copies, best):
    """By 1/2 where the loss decides; cycles of three steps are leapt over either way."""
    drift = np.array([[0.25, 0.5], [0, 0], [-0.25, 0], [0, 0.125]])
    seats, lanes = one_lane(np.ones((4, 2)), {P1: 1.0}, best=2.5, steps=20, best_step=19)
    three, half = jnp.full(1, 3, jnp.int32), jnp.full(1, -0.5)
    first, second = jnp.asarray(drift[:, :1]), jnp.asarray(drift[:, 1:])
    begun = lanes.first - first, lanes.second - second
    cycle = cycles.Cycle(three - 3 + cycles.CHECK, three, *begun, first, second, jnp.ones(1, bool))
    seen = cycles.nothing_known(4, 1)[1]
    told = {"limit": jnp.full(1, float(copies)), "lowest": half, "highest": half}
    seen = cycles.Seen(**{**seen.__dict__, **told})
    for patience, expected in ((4, best), (NEVER, 2.5)):
        after = compiled("_leap")(seats, lanes, cycle, seen, jnp.int32(50), jnp.int32(patience))[0]
        assert float(after.best[0]) == expected
        assert (int(after.steps[0]), int(after.best_step[0])) == (20 + 3 * copies, 19 + 3 * copies)
        np.testing.assert_array_equal(np.concatenate([after.first, after.second], axis=1), 1 + copies * drift)


def test_at_zero_loss_the_steps_that_patience_asks_for_are_counted():
    """Also where outputs have just changed, so that nobody looks whether weights stand still."""
    filters = [[1, 0.5], [-1, -1], [-1, -1], [-1, -1]]
    for max_steps, expected in ((50, 9), (7, 7)):
        seats, lanes = one_lane(filters, {P1: 1.0}, steps=5, best=0.5, best_step=3)
        after = compiled("_step")(seats, lanes, jnp.int32(max_steps), jnp.int32(4))
        assert (float(after.loss[0]), int(after.status[0])) == (0, RunStatus.CONVERGED)
        assert (int(after.best_step[0]), int(after.steps[0])) == (5, expected)


def test_outputs_of_one_filter():
    """(2, 1) answers p₁ with 3, p₂ with 1, and their opposites not at all."""
    filters = np.zeros((4, 2))
    filters[0] = [2, 1]
    found = program.outputs_on_sets(jnp.asarray(filters[:, :1]), jnp.asarray(filters[:, 1:]))[:, 0]
    expected = [3 if number & 1 else 1 if number & 2 else 0 for number in range(1, 16)]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, outputs_of(filters))


def test_many_runs_go_side_by_side_on_a_gpu(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert [program.n_lanes(width) for width in (4, 200)] == [1024, 1024]
