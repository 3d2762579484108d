import dataclasses
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import drawn_networks, n_programs, networks, run_keys, separable, toy
from widenet.losses import hinge, logistic
from widenet.networks import relu
from widenet.training import (
    SGD,
    GradientDescent,
    Listed,
    Permutation,
    Recipe,
    Record,
    ensemble,
    loss_below,
    never,
    train,
    zero_error,
)
from widenet.training.engine import batch as batches
from widenet.training.engine.batch import together
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.kernels import KERNELS
from widenet.types import Dataset, Layers, RunStatus

COUNTERS = ("status", "updates", "mistakes", "last_update", "zero_loss_step", "steps")


def take(tree, run):
    return jax.tree.map(lambda leaf: leaf[run], tree)


@pytest.mark.parametrize("kernel", ["plain", "blocked"])
def test_batch_invariance(kernel):
    """Run 5 alone, among 7 and among 300: the same start bit for bit, the same counters, the same path."""
    recipe = Recipe(hinge, SGD(0.5, kernel=kernel), 2000)
    record = Record((0, 10, 200), {"weights": lambda now: now.network.hidden_weights})
    alone = train(take(drawn_networks(6), 5), toy(), recipe, run_keys(6)[5], record=record)
    for others in (7, 300):
        batch = ensemble(drawn_networks(others), toy(), recipe, run_keys(others), record=record)
        np.testing.assert_array_equal(batch.records["weights"][5, 0], alone.records["weights"][0])
        for name in COUNTERS:
            assert getattr(batch, name)[5] == getattr(alone, name), name
        np.testing.assert_allclose(batch.records["weights"][5], alone.records["weights"], rtol=0, atol=1e-13)


def test_control_another_key_is_another_run():
    recipe = Recipe(hinge, SGD(0.5), 2000)
    first, second = (train(take(networks(1), 0), toy(), recipe, run_keys(2)[i]) for i in (0, 1))
    assert (np.asarray(first.network.hidden_weights) != np.asarray(second.network.hidden_weights)).any()


@pytest.mark.parametrize("chunk", [1, 3, 8])
def test_chunks_do_not_change_results(chunk):
    recipe = Recipe(hinge, SGD(0.5), 2000)
    record = Record((0, 24, 240), {"weights": lambda now: now.network.hidden_weights})
    whole = ensemble(networks(8), toy(), recipe, run_keys(8), record=record, chunk=8)
    parts = ensemble(networks(8), toy(), recipe, run_keys(8), record=record, chunk=chunk)
    assert parts.times == whole.times
    for name in COUNTERS:
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_allclose(parts.records["weights"], whole.records["weights"], atol=1e-13)


@pytest.mark.parametrize(("chunk", "sizes"), [(None, [5]), (2, [2] * 3), (3, [3] * 2), (4, [3] * 2), (9, [5])])
def test_pieces_have_one_size_and_are_no_larger_than_asked(monkeypatch, chunk, sizes):
    seen = []

    class Told(batches.Batch):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            seen.append(self.n_runs)

    monkeypatch.setattr(sys.modules["widenet.training.ensemble"], "Batch", Told)
    ensemble(networks(5), toy(), Recipe(hinge, SGD(0.5), 1), run_keys(5), chunk=chunk)
    assert seen == sizes


def test_lists_of_each_run_go_with_their_piece():
    lists = np.stack([np.arange(24) % 6, np.arange(24)[::-1] % 6, np.arange(24) % 3])
    recipe = Recipe(hinge, SGD(0.5, Listed(jnp.asarray(lists))), 20)
    together, by_one = (ensemble(networks(3), toy(), recipe, run_keys(3), chunk=chunk) for chunk in (3, 1))
    np.testing.assert_allclose(by_one.network.hidden_weights, together.network.hidden_weights, atol=1e-13)
    other = ensemble(networks(3), toy(), Recipe(hinge, SGD(0.5, Listed(jnp.asarray(lists[::-1]))), 20), run_keys(3))
    assert np.abs(other.network.hidden_weights - together.network.hidden_weights).max() > 1e-3


def test_large_runs_are_trained_in_turn_with_the_same_result(monkeypatch):
    module = sys.modules["widenet.training.ensemble"]  # the package exports a function of the same name
    recipe = Recipe(hinge, SGD(0.5), 2000)
    together = ensemble(networks(5), toy(), recipe, run_keys(5))
    monkeypatch.setattr(module, "SMALL_BYTES", 0)
    monkeypatch.setattr(module, "cores", lambda: 2)
    in_turn = ensemble(networks(5), toy(), recipe, run_keys(5))
    for name in COUNTERS:
        np.testing.assert_array_equal(getattr(together, name), getattr(in_turn, name))


def test_a_long_segment_is_taken_in_slices_with_the_same_result(monkeypatch):
    recipe, calls, epoch = Recipe(logistic, SGD(0.3), 150, check_every=150), [], toy().n_samples
    whole = ensemble(networks(3), toy(), recipe, run_keys(3))

    def counting(*arguments):
        calls.append(tuple(int(end) for end in arguments[4]))
        return together(*arguments)

    monkeypatch.setattr(batches, "together", counting)
    monkeypatch.setattr(batches, "SLICE", 2 * epoch + 3)
    sliced = ensemble(networks(3), toy(), recipe, run_keys(3))
    assert calls == [(start, min(150, start + 2 * epoch)) for start in range(0, 150, 2 * epoch)]
    assert len(calls) > 2
    np.testing.assert_array_equal(sliced.network.hidden_weights, whole.network.hidden_weights)
    np.testing.assert_array_equal(sliced.updates, whole.updates)


def test_one_data_set_per_run_and_one_step_size_per_run():
    sets = [separable(seed=seed) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *sets)
    steps = jnp.asarray([0.1, 0.5, 2.0])
    runs = ensemble(networks(3), stacked, Recipe(hinge, SGD(steps), 3000), run_keys(3))
    for run in range(3):
        alone = train(take(networks(3), run), sets[run], Recipe(hinge, SGD(float(steps[run])), 3000), run_keys(3)[run])
        assert runs.updates[run] == alone.updates
    assert len(set(runs.updates.tolist())) > 1


def test_counters_of_a_converged_run():
    run = train(take(networks(1), 0), toy(), Recipe(hinge, SGD(0.5), 5000), run_keys(1)[0])
    assert run.status == RunStatus.CONVERGED
    assert run.loss == 0
    assert 0 < run.updates <= run.zero_loss_step == run.last_update < run.steps
    before = train(take(networks(1), 0), toy(), Recipe(hinge, SGD(0.5), int(run.last_update) - 1), run_keys(1)[0])
    assert before.status == RunStatus.BUDGET_SPENT
    assert before.loss > 0
    assert before.updates == run.updates - 1


def test_a_run_does_not_notice_a_look_that_a_batch_mate_needs():
    """Both runs reach zero loss before the first look. It is taken for run 0 alone, whose budget ends there."""
    whole = ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), 5000, check_every=240), run_keys(2))
    mates = ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), (240, 5000), check_every=240), run_keys(2))
    assert (whole.zero_loss_step < 240).all()
    np.testing.assert_array_equal(whole.steps, [480, 480])  # at 240 they had just moved
    np.testing.assert_array_equal(mates.steps, [240, 480])
    for name in COUNTERS[:-1]:
        np.testing.assert_array_equal(getattr(mates, name), getattr(whole, name), err_msg=name)


def test_outputs_that_are_no_numbers_are_no_zero_loss():
    """NaN is not below 1, so that the hinge of it alone would be 0."""
    data = Dataset(toy().inputs.at[3].set(jnp.nan), toy().labels)
    runs = ensemble(networks(2), data, Recipe(hinge, SGD(0.5), 5000, check_every=240), run_keys(2))
    assert (runs.status == RunStatus.DIVERGED).all()
    assert (runs.zero_loss_step == -1).all()
    assert np.isnan(runs.loss).all()


def test_a_solved_problem_takes_no_step():
    solved = train(take(networks(1), 0), toy(), Recipe(hinge, SGD(0.5), 5000), run_keys(1)[0])
    again = train(solved.network, toy(), Recipe(hinge, SGD(0.5), 5000), run_keys(1)[0])
    assert (again.status, again.steps, again.updates, again.zero_loss_step) == (RunStatus.CONVERGED, 0, 0, 0)


def test_a_dead_relu_network_stalls():
    dead = eqx.tree_at(lambda net: net.hidden_weights, networks(1, activation=relu()), jnp.zeros((1, 6, 5)))
    run = ensemble(dead, toy(), Recipe(hinge, SGD(0.5), 5000), run_keys(1))
    assert run.status[0] == RunStatus.STALLED
    assert run.loss[0] == 1
    assert run.zero_loss_step[0] == -1


def test_an_exploding_run_is_diverged_not_converged():
    """`y N < 1` is False for NaN, so a blown-up run makes no more updates and could pass for solved."""
    broken = eqx.tree_at(lambda net: net.hidden_weights, networks(3), networks(3).hidden_weights.at[1].set(jnp.nan))
    runs = ensemble(broken, toy(), Recipe(hinge, SGD(0.5), 5000), run_keys(3))
    assert runs.status.tolist() == [RunStatus.CONVERGED, RunStatus.DIVERGED, RunStatus.CONVERGED]
    assert (runs.zero_loss_step >= 0).tolist() == [True, False, True]
    assert np.isnan(runs.loss).tolist() == [False, True, False]
    huge = ensemble(networks(2), toy(), Recipe(hinge, SGD(1e200), 5000, layers=Layers.BOTH), run_keys(2))
    assert (huge.status == RunStatus.DIVERGED).all()


def test_stopping_rules_and_gradient_descent():
    recipe = Recipe(logistic, GradientDescent(5.0), 20_000, stop=loss_below(0.05), check_every=50)
    runs = ensemble(networks(4), toy(), recipe, run_keys(4))
    assert (runs.status == RunStatus.CONVERGED).all()
    assert (runs.loss <= 0.05).all()
    assert (runs.steps % 50 == 0).all()
    early = ensemble(
        networks(4), toy(), Recipe(logistic, GradientDescent(5.0), 20_000, stop=zero_error, check_every=50), run_keys(4)
    )
    assert (early.steps <= runs.steps).all()


def test_a_run_goes_on_after_its_goal_and_has_converged_if_it_still_holds():
    recipe = Recipe(logistic, GradientDescent(5.0), (20_000, 20_000, 10), stop=loss_below(0.05), check_every=50)
    at_goal = ensemble(networks(3), toy(), recipe, run_keys(3))
    longer = ensemble(networks(3), toy(), dataclasses.replace(recipe, after_goal=120), run_keys(3))
    reached = at_goal.status == RunStatus.CONVERGED
    assert reached.tolist() == [True, True, False]
    np.testing.assert_array_equal(longer.status, at_goal.status)
    np.testing.assert_array_equal(longer.steps - at_goal.steps, [120, 120, 0])
    assert (longer.loss[reached] < at_goal.loss[reached]).all()
    with pytest.raises(ValueError, match="after_goal must be a whole number from 0 on, got -1"):
        dataclasses.replace(recipe, after_goal=-1)


def test_a_goal_that_is_lost_again_is_not_converged():
    """The goal holds at the start alone."""

    def early(outputs, labels, losses):
        return jnp.max(jnp.abs(outputs)) < 0.5

    recipe = Recipe(logistic, GradientDescent(5.0), 1000, stop=early, check_every=10, after_goal=200)
    runs = ensemble(networks(2), toy(), recipe, run_keys(2))
    assert (runs.steps == 200).all()
    assert (runs.status == RunStatus.BUDGET_SPENT).all()


def test_a_stopped_run_keeps_its_weights_while_others_go_on():
    steps = jnp.asarray([5.0, 0.02])
    recipe = Recipe(logistic, GradientDescent(steps), 3000, stop=loss_below(0.2), check_every=50)
    runs = ensemble(networks(2), toy(), recipe, run_keys(2))
    assert runs.steps[0] < runs.steps[1]
    alone = train(
        take(networks(2), 0), toy(), Recipe(logistic, GradientDescent(5.0), int(runs.steps[0])), run_keys(2)[0]
    )
    np.testing.assert_allclose(runs.network.hidden_weights[0], alone.network.hidden_weights, atol=1e-13)


def test_gradient_descent_is_the_formula():
    net = take(networks(1), 0)
    run = train(net, toy(), Recipe(logistic, GradientDescent(0.3), 1), run_keys(1)[0])
    x, y = np.asarray(toy().inputs), np.asarray(toy().labels)
    z = x @ np.asarray(net.hidden_weights).T
    outputs = np.where(z > 0, z, 0.2 * z) @ np.asarray(net.output_weights)
    slopes = -y / (1 + np.exp(y * outputs)) / len(y)
    gradient = (slopes[:, None] * np.asarray(net.output_weights) * np.where(z > 0, 1, 0.2)).T @ x
    np.testing.assert_allclose(run.network.hidden_weights, np.asarray(net.hidden_weights) - 0.3 * gradient, atol=1e-15)


def test_records_are_taken_at_their_times_and_held_after_the_end():
    times = (0, 7, 24, 4999)
    record = Record(
        times,
        {
            "square": lambda now: jnp.sum(now.network.hidden_weights**2),
            "loss": lambda now: jnp.mean(hinge(jax.vmap(now.network)(now.data.inputs), now.data.labels)),
        },
    )
    run = train(take(networks(1), 0), toy(), Recipe(hinge, SGD(0.5), 5000), run_keys(1)[0], record=record)
    assert run.times == times
    assert run.records["loss"][-1] == 0 < run.records["loss"][0]
    short = train(take(networks(1), 0), toy(), Recipe(hinge, SGD(0.5), 7), run_keys(1)[0])
    np.testing.assert_allclose(run.records["square"][1], jnp.sum(short.network.hidden_weights**2), rtol=1e-14)


def test_runs_that_need_no_training_are_recorded_before_it():
    """Most of the batch is done at step 0 and leaves it at once; its records must have been taken by then."""
    solved = train(take(networks(1), 0), toy(), Recipe(hinge, SGD(0.5), 5000), run_keys(1)[0]).network.hidden_weights
    nets = eqx.tree_at(lambda net: net.hidden_weights, networks(8), networks(8).hidden_weights.at[1:].set(solved))
    record = Record((0, 10, 100), {"weight": lambda now: now.network.hidden_weights[0, 0]})
    runs = ensemble(nets, toy(), Recipe(hinge, SGD(0.5), 200), run_keys(8), record=record)
    np.testing.assert_array_equal(runs.records["weight"][1:], np.full((7, 3), solved[0, 0]))


def test_at_zero_loss_a_run_told_never_to_stop_is_not_stalled():
    runs = ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), 5000, stop=never), run_keys(2))
    assert (runs.status == RunStatus.BUDGET_SPENT).all()
    assert (runs.loss == 0).all()


def test_mixed_precision_and_impossible_lists_are_refused():
    with pytest.raises(ValueError, match="one dtype, got float64 and float32"):
        ensemble(networks(2, dtype=jnp.float32), toy(), Recipe(hinge, SGD(0.5), 10), run_keys(2))
    for indices in ([0, 99], [-1, 2]):
        with pytest.raises(ValueError, match="must name samples 0 to 23"):
            ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5, Listed(jnp.asarray(indices))), 10), run_keys(2))


class UpdateNorms(eqx.Module):
    """Sums what every update added to the squared norm of W, and counts the steps seen."""

    scale: jax.Array

    def start(self, network):
        return jnp.zeros(()), jnp.zeros((), jnp.int32)

    def update(self, value, step):
        def square(net):
            return jnp.sum(net.hidden_weights**2)

        grown = self.scale * (square(step.after) - square(step.before))
        return value[0] + grown, value[1] + step.is_update.astype(jnp.int32)


def test_a_watch_sees_every_step():
    runs = ensemble(
        networks(3), toy(), Recipe(hinge, SGD(0.5), 2000), run_keys(3), watch=UpdateNorms(jnp.asarray([1.0, 2.0, 3.0]))
    )
    total, seen = runs.watched
    after, before = (np.sum(np.asarray(net.hidden_weights) ** 2, (1, 2)) for net in (runs.network, networks(3)))
    np.testing.assert_allclose(total, (after - before) * [1, 2, 3], rtol=1e-12)
    np.testing.assert_array_equal(seen, runs.updates)


def test_nothing_is_recompiled_for_new_seeds_steps_or_budgets():
    recipe = Recipe(logistic, SGD(0.5), 100)
    ensemble(networks(4), toy(), recipe, run_keys(4))
    traces = n_programs()
    for seed, budget in ((2, 77), (3, 200)):
        ensemble(networks(4, seed=seed), toy(), Recipe(logistic, SGD(0.1 * seed), budget), run_keys(4, seed))
    assert n_programs() == traces


@pytest.mark.parametrize("kernel", ["blocked", "gram", "fused"])
def test_mistakes_are_counted_alike_for_labels_that_are_not_signs(kernel):
    """A loss of one's own may take any labels. A label 0 has no slope, and its margin 0 is a mistake at every step."""

    def own(outputs, labels):
        return hinge(outputs, labels)

    data = Dataset(toy().inputs, (toy().labels + 1) / 2)
    if kernel == "gram":
        data = Dataset(toy().inputs[:4], data.labels[:4])
    runs = [
        ensemble(networks(2), data, Recipe(own, SGD(0.5, kernel=one), 50, stop=never), run_keys(2))
        for one in ("plain", kernel)
    ]
    for name in COUNTERS:
        np.testing.assert_array_equal(getattr(runs[1], name), getattr(runs[0], name), err_msg=name)
    assert (runs[0].mistakes >= 5).all()


def test_mistakes_of_large_batches_do_not_overflow():
    """2^17 samples that are wrong for ever: past 2^31 mistakes after 16,384 steps."""
    tally = Tally(*(jnp.asarray([value], kind) for value, kind in ((0, "int32"), (2**31 - 1, "int64"), (0, "int32"))))
    counted = tally.count(jnp.asarray([True]), jnp.asarray([2.0**17]), jnp.asarray([1]))
    assert counted.mistakes[0] == 2**31 - 1 + 2**17
    assert Tally.zero(1).mistakes.dtype == jnp.int64


@pytest.mark.parametrize("kernel", ["plain", "blocked", "gram"])
def test_the_last_epoch_before_the_largest_number_of_steps(kernel):
    net, key = take(networks(1), 0), run_keys(1)[0]
    start, stop = jnp.int32(2**31 - 31), jnp.int32(2**31 - 1)
    state = State(net, take(Tally.zero(1), 0))
    segment = Segment(toy(), Permutation(), key, jnp.asarray(0.1), None, start, stop, logistic, Layers.HIDDEN, 1)
    after = KERNELS[kernel](state, segment)
    assert after.tally.updates == 30


@pytest.mark.parametrize("kernel", ["plain", "blocked"])
def test_a_change_that_underflows_is_no_update(kernel):
    """The gradient is as small as a normal number can be, and a billionth of it is 0, on a GPU too."""
    tiny = np.finfo(np.float32).tiny
    data = Dataset(jnp.asarray([[tiny, 0.0]], jnp.float32), jnp.asarray([1.0], jnp.float32))
    nets = eqx.tree_at(
        lambda net: net.output_weights, drawn_networks(1, 2, 2, dtype=jnp.float32), jnp.ones((1, 2), jnp.float32)
    )
    run = ensemble(nets, data, Recipe(hinge, SGD(1e-9, kernel=kernel), 5), run_keys(1))
    np.testing.assert_array_equal(run.network.hidden_weights, nets.hidden_weights)
    assert ensemble(nets, data, Recipe(hinge, SGD(1.0, kernel=kernel), 5), run_keys(1)).updates[0] == 5
    if kernel == "plain":
        assert run.updates[0] == 0


def test_an_interrupt_ends_all_threads(monkeypatch):
    monkeypatch.setattr(sys.modules["widenet.training.ensemble"], "SMALL_BYTES", 0)

    def interrupt(fraction, words):
        raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, RuntimeError)):
        ensemble(
            networks(2), toy(), Recipe(logistic, SGD(0.5), 10**9, check_every=1000), run_keys(2), progress=interrupt
        )
