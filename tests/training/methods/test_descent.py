"""Gradient descent against a loop in NumPy, with steps that depend on the loss; and where float64 ends."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.methods.by_hand import parts_of, train_by_hand
from tests.training.problems import networks, run_keys, toy
from widenet.losses import hinge, logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import (
    SGD,
    Cyclic,
    GradientDescent,
    LogSquared,
    Recipe,
    Record,
    StepRule,
    ensemble,
    never,
)
from widenet.types import Dataset, RunStatus

STEPS = 30


class TwoPhases(StepRule):
    """A constant step until the loss is below a threshold, then Q log²(1/L_t)."""

    constant: float | jax.Array
    threshold: float | jax.Array
    scale: float | jax.Array

    def __call__(self, log_loss, taken):
        return jnp.where(log_loss < jnp.log(self.threshold), self.scale * log_loss**2, self.constant)


RULES = {
    "constant": (2.0, lambda log_loss, taken: 2.0),
    "log squared": (LogSquared(1.5), lambda log_loss, taken: 1.5 * log_loss**2),
    "first, then": (LogSquared(1.5, first=0.3), lambda log_loss, taken: 1.5 * log_loss**2 if taken else 0.3),
    "two phases": (
        TwoPhases(2.0, 0.6, 1.5),
        lambda log_loss, taken: 1.5 * log_loss**2 if log_loss < math.log(0.6) else 2.0,
    ),
}


class StepSizes(eqx.Module):
    """A watch that keeps the size of every step."""

    length: int = eqx.field(static=True)

    def start(self, network):
        return jnp.zeros(self.length)

    def update(self, value, step):
        return value.at[step.number - 1].set(step.step_size)


def weights(now):
    net = now.network
    return jnp.concatenate([net.hidden_weights.ravel(), net.output_weights, net.bias])


def both_ways(rule, by_hand, layers="both", n_runs=2):
    nets = networks(n_runs, bias=True)
    recipe = Recipe(logistic, method=GradientDescent(rule), max_steps=STEPS, layers=layers)
    record = Record(range(STEPS + 1), {"weights": weights})
    runs = ensemble(nets, toy(), recipe, run_keys(n_runs), record=record, watch=StepSizes(STEPS))
    data = [(np.asarray(toy().inputs), np.asarray(toy().labels))] * STEPS

    def change(gradients, log_loss, taken):
        return [by_hand(log_loss, taken) * part for part in gradients]

    theirs = [train_by_hand(nets, run, data, change, both=layers == "both") for run in range(n_runs)]
    return runs, theirs


def path_of(theirs):
    return np.stack([[np.concatenate([part.ravel() for part in parts]) for parts in path] for path, _ in theirs])


@pytest.mark.parametrize("layers", ["hidden", "both"])
@pytest.mark.parametrize("name", RULES)
def test_agrees_with_the_loop_by_hand_at_every_step(name, layers):
    rule, by_hand = RULES[name]
    runs, theirs = both_ways(rule, by_hand, layers)
    np.testing.assert_allclose(runs.records["weights"], path_of(theirs), rtol=0, atol=1e-12)
    for run, (_, told) in enumerate(theirs):
        used = [by_hand(log_loss, taken) for taken, log_loss in enumerate(told)]
        np.testing.assert_allclose(runs.watched[run], used, rtol=1e-12)
    assert name == "constant" or np.ptp(runs.watched, axis=1).min() > 0.01


def test_both_phases_occur():
    _, theirs = both_ways(*RULES["two phases"])
    for _, told in theirs:
        assert told[0] > math.log(0.6) > told[-1]


@pytest.mark.parametrize("wrong", [LogSquared(1.5 * (1 + 1e-6)), LogSquared(1.5, first=0.3), 1.5])
def test_control_another_rule_is_noticed(wrong):
    _, theirs = both_ways(*RULES["log squared"])
    nets, record = networks(2, bias=True), Record(range(STEPS + 1), {"weights": weights})
    recipe = Recipe(logistic, method=GradientDescent(wrong), max_steps=STEPS, layers="both")
    runs = ensemble(nets, toy(), recipe, run_keys(2), record=record)
    assert np.abs(runs.records["weights"] - path_of(theirs)).max() > 1e-9


def test_it_is_sgd_on_the_whole_set():
    nets = networks(3, bias=True)
    whole = ensemble(nets, toy(), Recipe(logistic, SGD(0.7, Cyclic(), None, kernel="plain"), STEPS), run_keys(3))
    runs = ensemble(nets, toy(), Recipe(logistic, method=GradientDescent(0.7), max_steps=STEPS), run_keys(3))
    np.testing.assert_allclose(runs.network.hidden_weights, whole.network.hidden_weights, atol=1e-14)
    for name in ("updates", "mistakes", "last_update", "steps"):
        np.testing.assert_array_equal(getattr(runs, name), getattr(whole, name))


def one_point(margin, dtype=jnp.float64):
    """One neuron on one point, x = 1, with this output: N(x) = w."""
    net = TwoLayer(jnp.full((1, 1, 1), margin, dtype), jnp.ones((1, 1), dtype), None, leaky_relu(0.5))
    return net, Dataset(jnp.ones((1, 1), dtype), jnp.ones(1, dtype))


@pytest.mark.parametrize("margin", [20.0, 700.0, 800.0, 5000.0])
def test_a_rule_sees_the_loss_where_it_has_underflowed(margin):
    net, data = one_point(margin)
    runs = ensemble(
        net,
        data,
        Recipe(logistic, method=GradientDescent(LogSquared(0.5)), max_steps=1),
        run_keys(1),
        watch=StepSizes(1),
    )
    expected = 0.5 * math.log(math.log1p(math.exp(-margin))) ** 2 if margin < 700 else 0.5 * margin**2
    np.testing.assert_allclose(runs.watched[0], [expected], rtol=1e-12)


def test_control_the_plain_logarithm_would_be_lost():
    assert jnp.isinf(jnp.log(logistic(jnp.asarray(800.0), jnp.asarray(1.0))))


@pytest.mark.parametrize(
    "method",
    [
        GradientDescent(1.0),
        GradientDescent(LogSquared(1e-3)),
        SGD(1.0),
        SGD(1.0, kernel="plain"),
    ],
)
@pytest.mark.parametrize(("margin", "updates"), [(45.0, True), (800.0, False)], ids=["too small to add", "underflowed"])
def test_a_run_at_the_end_of_float64_says_so(method, margin, updates):
    """exp(−45) is far below the last digit of 45; exp(−800) is no number at all. Nothing will ever change."""
    net, data = one_point(margin)
    run = ensemble(net, data, Recipe(logistic, method=method, max_steps=10**6, check_every=50), run_keys(1))
    assert run.status[0] == RunStatus.FROZEN
    assert run.steps[0] <= 100
    assert bool(run.updates[0]) == updates
    np.testing.assert_array_equal(run.network.hidden_weights, net.hidden_weights)
    assert "last digit" in RunStatus(run.status[0]).sentence


def test_a_run_that_reaches_the_end_of_float32_on_its_way_says_so():
    net, data = one_point(19.82, jnp.float32)
    run = ensemble(net, data, Recipe(logistic, method=GradientDescent(LogSquared(1.0)), max_steps=10**6), run_keys(1))
    assert run.status[0] == RunStatus.FROZEN
    assert 1e-9 < run.loss[0] < 1e-8
    assert run.network.hidden_weights[0, 0, 0] > 19.821
    before = ensemble(net, data, Recipe(logistic, method=GradientDescent(LogSquared(1.0)), max_steps=100), run_keys(1))
    assert before.status[0] == RunStatus.BUDGET_SPENT  # control


def test_one_sample_that_still_counts_keeps_a_run_from_being_frozen():
    """Nine of ten samples are far beyond the last digit. Draws that miss the tenth change nothing, and stop nothing."""
    net, _ = one_point(1.0)
    inputs = jnp.full((10, 1), 100.0).at[9].set(0.5)
    data = Dataset(inputs, jnp.ones(10))
    recipe = Recipe(logistic, method=SGD(0.01), max_steps=60, check_every=1)
    run = ensemble(net, data, recipe, run_keys(1))
    assert run.status[0] == RunStatus.BUDGET_SPENT
    far = ensemble(net, Dataset(inputs.at[9].set(100.0), data.labels), recipe, run_keys(1))
    assert far.status[0] == RunStatus.FROZEN  # control


def test_gradients_that_cancel_are_a_stall():
    """Two samples that pull against each other: no sample rests, and the mean gradient is exactly zero."""
    net, _ = one_point(0.0)
    data = Dataset(jnp.ones((2, 1)), jnp.asarray([1.0, -1.0]))
    run = ensemble(net, data, Recipe(logistic, method=GradientDescent(0.1), max_steps=1000), run_keys(1))
    assert run.status[0] == RunStatus.STALLED
    assert run.updates[0] == 0
    sgd = ensemble(net, data, Recipe(logistic, SGD(0.1), 1000), run_keys(1))
    assert sgd.status[0] == RunStatus.BUDGET_SPENT


def test_zero_loss_of_a_hinge_is_not_frozen():
    net, data = one_point(5.0)
    run = ensemble(net, data, Recipe(hinge, method=GradientDescent(0.1), max_steps=500, stop=never), run_keys(1))
    assert run.status[0] == RunStatus.BUDGET_SPENT
    assert run.loss[0] == 0
    again = ensemble(net, data, Recipe(hinge, method=GradientDescent(0.1), max_steps=500), run_keys(1))
    assert again.status[0] == RunStatus.CONVERGED


def test_parts_are_taken_apart_in_the_order_of_the_oracle():
    net = networks(1, bias=True)
    assert [part.shape for part in parts_of(net, 0)] == [(6, 5), (6,), (6,)]
