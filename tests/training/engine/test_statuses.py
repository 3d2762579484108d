"""Which runs a check stops and which it leaves alone, one case each, and what becomes of their batch-mates."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.engine.lines import Bursting, Climb, batch
from widenet.losses import hinge, logistic
from widenet.progress import silent
from widenet.training import Record, loss_below, never
from widenet.types import Dataset, RunStatus

CONVERGED, SPENT, STALLED = RunStatus.CONVERGED, RunStatus.BUDGET_SPENT, RunStatus.STALLED
DIVERGED, FROZEN, UNRESOLVED = RunStatus.DIVERGED, RunStatus.FROZEN, RunStatus.UNRESOLVED
RUNNING = RunStatus.RUNNING


def half(outputs, labels):
    """Zero from margin 1/2 on, where lines still move: no loss of widenet, so a look tells when it was zero."""
    return jnp.maximum(0.5 - outputs * labels, 0)


class Failing(Climb):
    """It keeps how many steps were taken, and has failed after more than 15, or where it began above 50."""

    def init(self, weights):
        return jnp.where(weights.height > 50, 99, 0).astype(jnp.int32)

    def advance(self, state, segment):
        after = super().advance(state, segment)
        own = jnp.maximum(state.own, segment.stop.astype(jnp.int32))
        return eqx.tree_at(lambda state: state.own, after, own)

    def ended(self, own):
        return jnp.where(own > 15, UNRESOLVED, RUNNING)


class Late(Climb):
    """It moves, wherever it is, in segments that end after step 25 alone."""

    def advance(self, state, segment):
        moved = jnp.where(segment.stop > 25, state.network.height + 1, state.network.height)
        return eqx.tree_at(lambda state: state.network.height, state, moved)


class Busy(Climb):
    """It never moves, and counts every step after the 25th as an update."""

    def advance(self, state, segment):
        counted = jnp.maximum(0, segment.stop - jnp.maximum(segment.start, 25))
        return eqx.tree_at(lambda state: state.tally.updates, state, state.tally.updates + counted)


def ends(run):
    """(statuses, steps, steps of zero loss) of a whole training."""
    found = run.train(Record(), silent)
    return found.status.tolist(), found.steps.tolist(), found.zero_loss_step.tolist()


def test_progress_is_the_share_of_the_longest_budget_or_of_the_runs_that_are_done():
    told = []
    batch([0, 0], [1e-3, 1e-3], [10, 40], stop=never).train(Record(), lambda share, words: told.append((share, words)))
    assert told == [(share, "training") for share in (0.5, 0.5, 0.75, 1.0)]


def test_nobody_looks_again_at_a_run_without_a_goal_that_was_seen_at_zero_loss():
    """Seen at step 10, after no update. Those that follow after 25 would be looked into at 30; its end is at 45."""
    assert ends(batch([2], [1], [45], stop=never, method=Busy)) == ([FROZEN], [45], [0])


def test_a_run_that_has_moved_without_an_update_is_at_rest():
    assert ends(batch([0], [1 / 4], [50], counts=0)) == ([CONVERGED], [10], [0])


def test_a_run_that_moves_is_left_alone_from_the_first_step_on():
    """It arrives in step 1, where it is looked at because it is never at rest before step 2."""
    assert ends(batch([0], [1], [50], check_every=1)) == ([CONVERGED], [2], [1])


def test_zero_loss_is_seen_once():
    """Of the first line from step 32 on, which rests after 64; of the second one always. A goal that nobody reaches is
    asked about at every look, none only at rest."""
    lines = [0, 0.75], [1 / 64, 1 / 64], [200, 200]
    assert ends(batch(*lines, loss=half, stop=loss_below(-1.0))) == ([SPENT, SPENT], [200, 200], [40, 0])
    assert ends(batch(*lines, loss=half)) == ([SPENT, SPENT], [200, 200], [80, 30])


def test_zero_loss_is_not_noticed_at_a_look_for_a_mate():
    """Run 1 is looked at in step 40, its last; run 0 had its zero losses by then, and moves."""
    assert ends(batch([0, 0], [1 / 64, 1 / 64], [200, 40], loss=half)) == ([SPENT, SPENT], [200, 40], [80, 40])


def test_what_is_no_number_is_not_noticed_at_a_look_for_a_mate():
    assert ends(batch([0, 0], [1e-3, 1e-3], [200, 17], counts=2, method=Bursting)) == (
        [DIVERGED, DIVERGED],
        [20, 17],
        [-1, -1],
    )


def test_a_goal_is_not_noticed_at_a_look_for_a_mate():
    """It holds from step 32 on. The mate's budget ends at 35."""
    assert ends(batch([0, 0], [1 / 64, 1 / 640], [300, 35], stop=loss_below(0.5)))[:2] == ([CONVERGED, SPENT], [40, 35])


def test_a_failure_is_not_noticed_at_a_look_for_a_mate():
    assert ends(batch([0, 0], [1e-3, 1e-3], [200, 17], method=Failing))[:2] == ([UNRESOLVED, UNRESOLVED], [20, 17])


def test_updates_that_change_nothing_are_not_noticed_at_a_look_for_a_mate():
    found = batch([0, 0], [1e-3, 1e-3], [200, 6], counts=2, rests=[[0, 2000], [0, 0]])
    assert ends(found)[:2] == ([FROZEN, SPENT], [10, 6])


def test_a_run_that_has_reached_its_goal_has_not_failed():
    assert ends(batch([51], [1], [30], method=Failing)) == ([CONVERGED], [0], [0])


def test_a_run_that_has_reached_its_goal_is_not_stalled():
    """After ten steps of 1/16 its loss is 3/8 and no step has been an update."""
    assert ends(batch([0], [1 / 16], [50], counts=0, stop=loss_below(0.5))) == ([CONVERGED], [10], [-1])


def test_at_zero_loss_a_run_that_cannot_move_has_spent_its_budget():
    assert ends(batch([2], [1], [45], counts=0, stop=never)) == ([SPENT], [45], [0])


def test_a_run_that_has_moved_since_its_last_look_is_not_tried():
    """It rests from step 8 to 25. The trial at 20, of seven steps, sees it move; one at 10 would not."""
    found = batch([0], [1e-3], [50], counts=2, rests=(8, 25), loss=logistic, stop=loss_below(0.01))
    assert ends(found)[:2] == ([SPENT], [50])


def test_steps_after_a_goal_may_be_more_than_any_budget():
    """The goal holds from step 8 on."""
    found = batch([0, 0], [1 / 16, 1 / 16], [45, 60], stop=loss_below(0.5), after_goal=2**40)
    assert ends(found)[:2] == ([CONVERGED, CONVERGED], [45, 60])


@pytest.mark.parametrize(
    ("loss", "frozen"),
    [
        (logistic, [False, False, True, True, False, False, True, False]),
        (hinge, [False, False, False, False, False, False, True, False]),
    ],
    ids=["never zero", "zero at a margin"],
)
def test_who_is_frozen_among_the_suspects(loss, frozen):
    """Runs by (suspected, counted updates, all losses zero). No trial of these lines moves them, but for the last."""
    suspects, moved, all_zero = np.array(
        [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 0, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0], [1, 1, 0]], bool
    ).T
    run = batch(np.zeros(8), np.full(8, 0.1), [200] * 8, counts=2, loss=loss, rests=[[0, 90]] * 7 + [[0, 25]])
    run._find_frozen(20, suspects, moved, all_zero)
    assert run.status.tolist() == [FROZEN if each else RUNNING for each in frozen]


def test_updates_at_losses_that_have_underflowed_are_tried():
    """Such a run need not be frozen: its method may keep momentum."""
    run, both = batch([800], [1], [200], counts=2, loss=logistic, method=Late), np.ones(1, bool)
    for step, status in ((20, RUNNING), (10, FROZEN)):
        run._find_frozen(step, both, both, both)
        assert run.status.tolist() == [status]


def test_the_last_step_that_a_trial_may_take():
    """A trial of seven steps ends with step number 2³¹ − 1 at the latest."""
    both = np.ones(2, bool)
    run = batch([0, 0], [1e-3, 1e-3], [200, 200], counts=2, rests=[[0, 2**31 - 1], [0, 2**31 - 2]])
    run._find_frozen(2**31 - 1, both, both, ~both)
    assert run.status.tolist() == [FROZEN, RUNNING]


def test_runs_in_turn_stay_in_their_batch():
    """One that has stopped costs nothing there, and another size would be compiled anew."""
    run, sizes = batch(np.zeros(4), [1 / 4, 1 / 4, 1 / 4, 1 / 32], [60] * 4, one_by_one=True), []
    assert run.train(Record(), lambda *_: sizes.append(len(run.seats))).steps.tolist() == [20, 20, 20, 50]
    assert set(sizes) == {4}


@pytest.mark.parametrize(("done", "left"), [(5, 8), (6, 2), (7, 2)])
def test_a_batch_is_made_smaller_once_a_quarter_is_left(done, left):
    """Of eight; lines of height 1 are done before the first step."""
    run = batch([1] * done + [0] * (8 - done), [1 / 4] * 8, [60] * 8)
    run._check(0, on_time=True)
    assert run.running.sum() == 8 - done
    assert len(run.seats) == left


def test_the_last_of_twelve_runs_shares_its_batch_with_two_that_have_stopped():
    """A quarter of twelve is three; a quarter of three is none."""
    run = batch(np.arange(12) / 16, [1 / 32] * 12, [60] * 12)
    run.status[:11] = CONVERGED
    run._compact()
    assert run.seats.tolist() == [9, 10, 11]
    np.testing.assert_array_equal(run.state.network.height * 16, [9, 10, 11])


def test_records_of_arrays_are_taken_and_held():
    """Of each run two rows of three: its height times 1 to 6."""
    table = np.arange(1.0, 7).reshape(2, 3)
    record = Record((0, 4, 10, 30), {"table": lambda now: now.network.height * jnp.asarray(table)})
    found = batch([0.25, 0.5], [1 / 64, 0], [20, 20]).train(record, silent)
    heights = np.array([[16, 20, 26, 36], [32, 32, 32, 32]]) / 64
    np.testing.assert_array_equal(found.records["table"], heights[:, :, None, None] * table)


def test_a_record_that_begins_after_the_start():
    """The first run is done before it, the second one is not."""
    record = Record((5,), {"height": lambda now: now.network.height, "step": lambda now: now.step})
    found = batch([1.5, 0], [1, 1 / 64], [30, 30]).train(record, silent)
    np.testing.assert_array_equal(found.records["height"], [[1.5], [5 / 64]])
    np.testing.assert_array_equal(found.records["step"], [[0], [5]])


def test_an_observation_sees_the_step_count_of_its_run():
    """One number for all runs or one for each, whatever the axes of the weights."""
    weights, data = {"rows": jnp.ones((3, 2))}, Dataset(jnp.ones((1, 1)), jnp.ones(1))
    run, record = batch([0] * 3, [1] * 3, [5] * 3), Record((0,), {"step": lambda now: now.step})
    for steps, expected in ((7, [7, 7, 7]), (np.array([7, 8, 9]), [7, 8, 9])):
        assert run._observe(record, (weights, weights), data, steps)["step"].tolist() == expected
