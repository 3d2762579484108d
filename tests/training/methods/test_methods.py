"""One battery for every method: alone or among others, in chunks, in turn, recorded, watched, stopped."""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import drawn_networks, n_programs, networks, run_keys, toy
from widenet.losses import hinge, logistic
from widenet.networks import relu
from widenet.training import (
    SGD,
    Adam,
    Flow,
    GradientDescent,
    LinearClock,
    Recipe,
    Record,
    StepRule,
    ensemble,
    loss_below,
    train,
)
from widenet.types import RunStatus

COUNTERS = ("status", "updates", "mistakes", "last_update", "zero_loss_step", "steps")


class Slower(StepRule):
    """A step that falls with the loss and with time."""

    scale: float | jax.Array

    def __call__(self, log_loss, taken):
        return self.scale * jnp.exp(log_loss / 2) / jnp.sqrt(1 + 0.01 * taken.astype(float))


METHODS = {
    "sgd": SGD(0.5),
    "mini-batches": SGD(0.5, batch_size=5, kernel="plain"),
    "sgd by a rule": SGD(Slower(0.7), batch_size=3),
    "descent": GradientDescent(1.0),
    "descent by a rule": GradientDescent(Slower(2.0)),
    "adam": Adam(0.02, batch_size=4),
    "flow": Flow(LinearClock(0.5)),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def number_of(method):
    return method.clock.step if isinstance(method, Flow) else method.step_size


def take(tree, run):
    return jax.tree.map(lambda leaf: leaf[run], tree)


def recipe_of(method, max_steps: int | tuple[int, ...] = 120, **others):
    return Recipe(logistic, method=method, max_steps=max_steps, **{"check_every": 40, **others})


@every_method
def test_batch_invariance(method):
    """Run 5 alone, among 7 and among 300: the same start bit for bit, the same counters, the same path."""
    record = Record((0, 10, 100), {"weights": lambda now: now.network.hidden_weights})
    recipe = recipe_of(method, stop=loss_below(0.5))
    alone = train(take(drawn_networks(6), 5), toy(), recipe, run_keys(6)[5], record=record)
    for others in (7, 300):
        batch = ensemble(drawn_networks(others), toy(), recipe, run_keys(others), record=record)
        np.testing.assert_array_equal(batch.records["weights"][5, 0], alone.records["weights"][0])
        for name in COUNTERS:
            assert getattr(batch, name)[5] == getattr(alone, name), name
        np.testing.assert_allclose(batch.records["weights"][5], alone.records["weights"], rtol=0, atol=1e-13)


@every_method
def test_chunks_and_turns_do_not_change_results(method, monkeypatch):
    recipe = recipe_of(method)
    whole = ensemble(networks(7), toy(), recipe, run_keys(7))
    chunks = ensemble(networks(7), toy(), recipe, run_keys(7), chunk=2)
    monkeypatch.setattr(sys.modules["widenet.training.ensemble"], "SMALL_BYTES", 0)
    in_turn = ensemble(networks(7), toy(), recipe, run_keys(7))
    for other in (chunks, in_turn):
        for name in COUNTERS:
            np.testing.assert_array_equal(getattr(other, name), getattr(whole, name), err_msg=name)
        np.testing.assert_allclose(other.network.hidden_weights, whole.network.hidden_weights, atol=1e-13)


@every_method
def test_a_look_in_between_does_not_change_the_path(method):
    """What a method keeps from step to step outlives the segment."""
    record = Record(range(0, 121, 7), {"weights": lambda now: now.network.hidden_weights})
    whole = ensemble(networks(2), toy(), recipe_of(method), run_keys(2))
    pieces = ensemble(networks(2), toy(), recipe_of(method), run_keys(2), record=record)
    np.testing.assert_allclose(pieces.network.hidden_weights, whole.network.hidden_weights, atol=1e-13)
    np.testing.assert_array_equal(pieces.updates, whole.updates)


@every_method
def test_an_observation_sees_the_start_the_data_and_the_step(method):
    def seen(now):
        moved = jnp.linalg.norm(now.network.hidden_weights - now.start.hidden_weights)
        return jnp.stack([moved, jnp.sum(now.data.labels), now.step.astype(float)])

    recipe = recipe_of(method, (120, 50))
    runs = ensemble(networks(2), toy(), recipe, run_keys(2), record=Record((0, 30, 80), {"seen": seen}))
    moved, labels, steps = np.moveaxis(runs.records["seen"], 2, 0)
    assert (moved[:, 0] == 0).all()
    assert (moved[:, 1:] > 0).all()
    np.testing.assert_array_equal(labels, np.full((2, 3), np.sum(toy().labels)))
    np.testing.assert_array_equal(steps, [[0, 30, 80], [0, 30, 50]])  # the second run rests at 50
    distance = np.linalg.norm(runs.network.hidden_weights[1] - networks(2).hidden_weights[1])
    np.testing.assert_allclose(moved[1, 2], distance, rtol=1e-12)


class Steps(eqx.Module):
    """How many steps were seen, and the sum of what they moved."""

    def start(self, network):
        return jnp.zeros((), jnp.int32), jnp.zeros_like(network.hidden_weights)

    def update(self, value, step):
        return value[0] + 1, value[1] + step.after.hidden_weights - step.before.hidden_weights


@every_method
def test_a_watch_sees_every_step(method):
    runs = ensemble(networks(2), toy(), recipe_of(method, (120, 50)), run_keys(2), watch=Steps())
    np.testing.assert_array_equal(runs.watched[0], [120, 50])
    moved = runs.network.hidden_weights - networks(2).hidden_weights
    np.testing.assert_allclose(runs.watched[1], moved, atol=1e-13)


@every_method
def test_runs_end_as_they_should(method):
    nets = networks(3)
    nets = eqx.tree_at(lambda net: net.hidden_weights, nets, nets.hidden_weights.at[1].set(jnp.nan))
    runs = ensemble(nets, toy(), recipe_of(method, (4000, 4000, 1), stop=loss_below(0.6)), run_keys(3))
    assert runs.status.tolist() == [RunStatus.CONVERGED, RunStatus.DIVERGED, RunStatus.BUDGET_SPENT]
    assert runs.loss[0] <= 0.6 < runs.loss[2]
    dead = eqx.tree_at(lambda net: net.hidden_weights, networks(1, activation=relu()), jnp.zeros((1, 6, 5)))
    loss = logistic if isinstance(method, Flow) else hinge
    stalled = ensemble(dead, toy(), Recipe(loss, method=method, max_steps=5000), run_keys(1))
    assert stalled.status[0] == RunStatus.STALLED


@every_method
def test_a_step_of_each_run_is_that_run_alone(method):
    """One number per run, or one rule per run."""
    factors = jnp.asarray([0.5, 1.0, 2.0])

    def scaled(by):
        return eqx.tree_at(number_of, method, jax.tree.map(lambda size: size * by, number_of(method)))

    runs = ensemble(networks(3), toy(), recipe_of(scaled(factors)), run_keys(3))
    for run in range(3):
        own = train(take(networks(3), run), toy(), recipe_of(scaled(float(factors[run]))), run_keys(3)[run])
        np.testing.assert_allclose(runs.network.hidden_weights[run], own.network.hidden_weights, atol=1e-13)
    assert np.ptp(runs.loss) > 1e-4


@every_method
def test_nothing_is_recompiled_for_other_numbers(method):
    ensemble(networks(3), toy(), recipe_of(method), run_keys(3))
    traces = n_programs()
    other = eqx.tree_at(number_of, method, jax.tree.map(lambda size: 0.5 * size, number_of(method)))
    ensemble(networks(3, seed=5), toy(), recipe_of(other, 77), run_keys(3, 5))
    assert n_programs() == traces


@pytest.mark.parametrize("kind", [SGD, GradientDescent, Adam])
@pytest.mark.parametrize("step_size", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_steps_are_refused(kind, step_size):
    with pytest.raises(ValueError, match="step_size must be positive and finite"):
        kind(step_size)


def test_what_a_method_is_unless_told_otherwise():
    flow = Flow(LinearClock(1.0))
    assert (flow.tolerance, flow.events, flow.slots, flow.most_solver_steps, flow.n_samples) == (
        1e-8,
        (),
        16,
        100_000,
        0,
    )
    assert "n_samples" not in repr(flow)
    sgd, adam = SGD(0.1), Adam(0.1)
    assert (sgd.batch_size, sgd.kernel, adam.batch_size) == (1, "auto", 1)
