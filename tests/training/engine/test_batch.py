"""The turns of a batch, with a method so small that every number can be told beforehand."""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.engine.lines import Bursting, Climb, Line, batch
from widenet.losses import logistic
from widenet.progress import silent
from widenet.training import Cyclic, Listed, Record, loss_below, never, zero_loss
from widenet.training.engine.batch import _advance_one, _is_per_run
from widenet.training.engine.state import State, Tally
from widenet.training.methods.base import StallTest
from widenet.types import Layers, RunStatus

CONVERGED, SPENT, STALLED = RunStatus.CONVERGED, RunStatus.BUDGET_SPENT, RunStatus.STALLED
DIVERGED, FROZEN, UNRESOLVED = RunStatus.DIVERGED, RunStatus.FROZEN, RunStatus.UNRESOLVED


class Failing(Climb):
    """The same, which tells that it has failed where a line is above 50."""

    def init(self, weights):
        return weights.height

    def ended(self, own):
        return jnp.where(own > 50, UNRESOLVED, RunStatus.RUNNING)


class Listening(Climb):
    """The same, which moves only where samples come in another order than the recipe's."""

    def advance(self, state, segment):
        after = super().advance(state, segment)
        if not isinstance(segment.order, Cyclic):
            return after
        return State(state.network, after.tally, None, state.own)


class Trying(Listening):
    """The same, whose trial has an order of its own."""

    def trial(self, n_samples):
        return StallTest(Listed(np.zeros(7, int)), 1, 7)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_every_run_stops_at_the_look_that_settles_it(one_by_one):
    """Heights grow to 1: loss 0 after ⌈1/η⌉ steps, seen at the first look that finds the run at rest."""
    heights, steps = [0, 0, 0, 0, 1, 0, np.nan, 0], [1 / 4, 1 / 25, 1 / 400, 0, 1, 1 / 4, 1, 1 / 8]
    budgets = [100, 100, 95, 100, 100, 6, 100, 8]
    run = batch(heights, steps, budgets, counts=[1, 1, 1, 0, 1, 1, 1, 1], one_by_one=one_by_one)
    told = []
    record = Record((0, 3, 10, 97), {"height": lambda now: now.network.height, "step": lambda now: now.step})
    found = run.train(record, lambda share, _: told.append(share))
    assert found.status.tolist() == [CONVERGED, CONVERGED, SPENT, STALLED, CONVERGED, CONVERGED, DIVERGED, CONVERGED]
    np.testing.assert_array_equal(found.steps, [20, 40, 95, 10, 0, 6, 0, 8])
    np.testing.assert_array_equal(found.zero_loss_step, [4, 25, -1, -1, 0, 4, -1, 8])
    np.testing.assert_array_equal(found.updates, [4, 25, 95, 0, 0, 4, 0, 8])
    np.testing.assert_allclose(found.loss, [0, 0, 1 - 95 / 400, 1, 0, 0, np.nan, 0], atol=1e-12)
    np.testing.assert_allclose(found.records["height"][:3, 1], [0.75, 0.12, 3 / 400])
    np.testing.assert_allclose(found.records["height"][:4, 3], [1, 1, 95 / 400, 0], rtol=1e-12)
    np.testing.assert_array_equal(found.records["height"][4], np.ones(4))
    np.testing.assert_array_equal(found.records["step"][2], [0, 3, 10, 95])
    np.testing.assert_array_equal(found.records["step"][5], [0, 3, 6, 6])
    assert told == sorted(told)
    assert told[-1] == 1
    assert told[0] == pytest.approx(2 / 8)


def test_records_before_at_and_between_looks():
    times = (0, 4, 10, 25, 40)
    what = {"height": lambda now: now.network.height, "start": lambda now: now.start.height}
    found = batch([0, 0.25], [1 / 64, 1 / 64], [30, 35]).train(Record(times, what), silent)
    np.testing.assert_array_equal(found.records["height"][0] * 64, [0, 4, 10, 25, 30])
    np.testing.assert_array_equal(found.records["height"][1] * 64, [16, 20, 26, 41, 51])
    np.testing.assert_array_equal(found.records["start"], [[0] * 5, [0.25] * 5])
    assert found.times == times
    late = batch([0], [1 / 64], [30]).train(Record((5, 31), what), silent)
    np.testing.assert_array_equal(late.records["height"] * 64, [[5, 30]])


def test_stopped_runs_leave_the_batch_by_quarters():
    """Of 16 runs one after the other is done; seats say who is left, and each keeps what it had."""
    steps = 1 / np.r_[np.full(12, 4), 16, 16, 32, 64]
    run = batch(np.zeros(16), steps, np.full(16, 300))
    sizes = []
    record = Record((0, 44, 299), {"height": lambda now: now.network.height})
    found = run.train(record, lambda *_: sizes.append(len(run.seats)))
    assert sizes == [16, 4, 4, 4, 4, 1, 1, 1, 1]
    np.testing.assert_array_equal(found.steps, [20] * 12 + [30, 30, 50, 80])
    np.testing.assert_array_equal(found.zero_loss_step, [4] * 12 + [16, 16, 32, 64])
    assert (found.status == CONVERGED).all()
    np.testing.assert_allclose(found.network.height, np.ones(16))
    np.testing.assert_allclose(found.records["height"], [[0, 1, 1]] * 15 + [[0, 44 / 64, 1]])


def test_updates_that_change_nothing_are_frozen_unless_the_trial_moves():
    """Both count updates and rest at the first two looks; the second would go on at step 22."""
    found = batch([0, 0], [1e-3, 1e-3], [200, 200], counts=2, rests=[[0, 2000], [5, 22]]).train(Record(), silent)
    assert found.status.tolist() == [FROZEN, SPENT]
    np.testing.assert_array_equal(found.steps, [10, 200])
    later = batch([0, 0], [1e-3, 1e-3], [200, 200], counts=2, rests=[[0, 16], [0, 18]]).train(Record(), silent)
    assert later.status.tolist() == [SPENT, FROZEN]  # a trial of seven steps from step 10 on


def test_a_trial_has_the_order_of_the_recipe_or_its_own():
    for method, status in ((Listening, FROZEN), (Trying, SPENT)):
        found = batch([0], [1e-3], [200], counts=2, method=method).train(Record(), silent)
        assert found.status.tolist() == [status]


def test_a_run_that_is_not_finite_is_looked_at_though_it_moves():
    found = batch([0, 0], [1e-3, 1e-3], [200, 12], counts=2, method=Bursting).train(Record(), silent)
    assert found.status.tolist() == [DIVERGED, SPENT]
    np.testing.assert_array_equal(found.steps, [20, 12])


def test_a_loss_that_may_be_zero_and_move_is_looked_at_each_time():
    """Its zeros are reached after 32 steps and seen at 40; the run goes on moving until step 64."""

    def half(outputs, labels):
        return jnp.maximum(0.5 - outputs * labels, 0)

    found = batch([0], [1 / 64], [200], loss=half, stop=zero_loss).train(Record(), silent)
    assert (found.status.tolist(), found.steps.tolist(), found.zero_loss_step.tolist()) == ([CONVERGED], [40], [40])


def test_a_loss_that_is_never_zero_has_underflowed_where_it_is():
    """The last one rests with a loss, and could move."""
    rests = [[0, 0], [0, 0], [0, 0], [0, 2000]]
    run = batch([1e4, 1e4, 0, 0], [1, 1, 1e-3, 1], [200] * 4, loss=logistic, counts=[0, 1, 1, 1], rests=rests)
    found = run.train(Record(), silent)
    assert found.status.tolist() == [FROZEN, FROZEN, SPENT, SPENT]
    np.testing.assert_array_equal(found.zero_loss_step, [10, 10, -1, -1])
    np.testing.assert_array_equal(found.steps, [10, 10, 200, 200])


def test_a_method_may_fail():
    found = batch([0, 51, 51], [1e-3, 1e-3, 1e-3], [30, 30, 30], method=Failing, loss=logistic).train(Record(), silent)
    assert found.status.tolist() == [SPENT, UNRESOLVED, UNRESOLVED]
    np.testing.assert_array_equal(found.steps, [30, 0, 0])


def test_what_follows_a_goal():
    """It is met from height 0.5 on: after 32, 16 and 160 steps, seen at the next look. One is there, and frozen."""
    heights, steps = [0, 0, 0, 2], [1 / 64, 1 / 32, 1 / 320, 1]
    goal = {"stop": loss_below(0.5), "counts": [1, 1, 1, 2]}
    found = batch(heights, steps, [300, 30, 170, 30], after_goal=15, **goal).train(Record(), silent)
    np.testing.assert_array_equal(found.steps, [55, 30, 170, 10])
    np.testing.assert_array_equal(found.zero_loss_step, [-1, -1, -1, 0])
    assert found.status.tolist() == [CONVERGED, CONVERGED, CONVERGED, FROZEN]
    short = batch(heights, steps, [300, 30, 159, 30], **goal).train(Record(), silent)
    np.testing.assert_array_equal(short.steps, [40, 20, 159, 0])
    assert short.status.tolist() == [CONVERGED, CONVERGED, SPENT, CONVERGED]


def test_without_a_goal_runs_end_with_their_budget():
    found = batch([0, 2], [1 / 4, 1 / 4], [50, 45], stop=never).train(Record(), silent)
    assert found.status.tolist() == [SPENT, SPENT]
    np.testing.assert_array_equal(found.steps, [50, 45])
    np.testing.assert_array_equal(found.zero_loss_step, [4, 0])


def test_lists_of_samples_of_each_run():
    assert _is_per_run(Listed(np.zeros((3, 4), int)))
    assert not _is_per_run(Listed(np.zeros(4, int)))
    assert not _is_per_run(Cyclic())


def test_layers_of_the_recipe_reach_the_segment():
    assert batch([0], [1.0], [5]).segment.layers is Layers.HIDDEN
    assert batch([0], [1.0], [5], check_every=None).interval == 100


def test_a_run_that_has_converged_stays_so():
    """Its loss is 0 and nothing changes any more, while the other goes on."""
    found = batch([1e4, 0], [1, 1e-3], [45, 45], loss=logistic, stop=loss_below(1e-3)).train(Record(), silent)
    assert found.status.tolist() == [CONVERGED, SPENT]
    np.testing.assert_array_equal(found.steps, [0, 45])


def test_a_record_of_runs_that_never_come_to_its_time():
    what = {"pair": lambda now: jnp.stack([now.network.height, now.start.height])}
    found = batch([1, 2], [1, 1], [45, 45]).train(Record((5, 7), what), silent)
    np.testing.assert_array_equal(found.records["pair"], [[[1, 1], [1, 1]], [[2, 2], [2, 2]]])


def test_one_entry_that_changes_is_a_change():
    class Nudge(Climb):
        def advance(self, state, segment):
            return eqx.tree_at(lambda s: s.network.rests, state, state.network.rests + jnp.asarray([0, 1], jnp.int32))

    class Rest(Climb):
        def advance(self, state, segment):
            return state

    run = batch([0.0], [1.0], [5])
    state = State(Line(jnp.zeros(()), jnp.int32(1), jnp.zeros(2, jnp.int32)), Tally.zero(1))
    segment: Any = dataclasses.replace(run.segment, start=jnp.int32(3), stop=jnp.int32(8))
    for method, last in ((Nudge(1.0), 8), (Rest(1.0), 2)):
        assert int(_advance_one(method, (state, jnp.int32(2)), segment)[1]) == last
