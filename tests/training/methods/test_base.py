"""What every method says of itself: epochs, looks, the memory of a step; numbers worked out by hand."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, toy
from widenet.training import (
    SGD,
    Adam,
    Cyclic,
    Flow,
    GradientDescent,
    LinearClock,
    Listed,
    LogSquared,
    Permutation,
    StepRule,
)
from widenet.training.methods.base import (
    Sizes,
    check_order,
    check_step_size,
    init,
    keeps,
    numbers_of_runs,
    without_runs,
)
from widenet.types import Layers

SIZES = Sizes(item=8, samples=10, dim=3, batch=2, weights=100, neurons=4)
MANY = Sizes(item=8, samples=10, dim=3, batch=70, weights=100, neurons=4)
"""More samples in a step than a block has rows, which are 64."""


@pytest.mark.parametrize(
    ("method", "sizes", "bytes_of"),
    [
        (SGD(0.1, kernel="plain"), SIZES, (300 + 8 * 2 * (3 + 16), 0)),
        (SGD(0.1, kernel="gram"), SIZES, (100 + 8 * (120 + 64 * 80), 8 * 100 * 2)),
        (SGD(0.1, kernel="gram"), MANY, (100 + 8 * (120 + 70 * 86), 8 * 100 * 2)),
        (SGD(0.1, kernel="gram"), Sizes(8, 10, 3, 1, 100, 4), (100 + 8 * (120 + 64 * 80), 8 * 100)),
        (SGD(0.1, kernel="minibatch"), SIZES, (200 + 8 * 64 * 20, 8 * 30)),
        (SGD(0.1, kernel="blocked"), SIZES, (200 + 8 * 64 * (6 + 20 + 128), 0)),
        (SGD(0.1, kernel="blocked"), MANY, (200 + 8 * 70 * (6 + 20 + 140), 0)),
        (GradientDescent(0.1), SIZES, (300 + 5 * 8 * 40, 0)),
        (Adam(0.1), SIZES, (500 + 8 * 2 * (3 + 16), 0)),
        (Flow(LinearClock(1.0)), SIZES, (1600 + 16 * 8 * 40 + 4 * 8 * 4 * 16 * 19, 2 * 8 * 10 * 7)),
        (Flow(LinearClock(1.0), slots=2), SIZES, (1600 + 16 * 8 * 40 + 4 * 8 * 4 * 2 * 5, 2 * 8 * 10 * 7)),
    ],
)
def test_the_memory_of_a_step(method, sizes, bytes_of):
    assert method.memory(sizes) == bytes_of


@pytest.mark.parametrize(
    ("method", "samples", "epoch", "interval"),
    [
        (SGD(0.1), 24, 24, 1008),
        (SGD(0.1, batch_size=5), 24, 4, 1000),
        (SGD(0.1), 500, 500, 1000),
        (SGD(0.1), 999, 999, 1998),
        (SGD(0.1), 1000, 1000, 1000),
        (SGD(0.1), 1500, 1500, 1500),
        (SGD(0.1, batch_size=None), 24, 1, 100),
        (Adam(0.1, batch_size=10), 24, 2, 1000),
        (GradientDescent(0.1), 24, 1, 100),
        (Flow(LinearClock(1.0)), 24, 1, 100),
    ],
)
def test_epochs_and_looks(method, samples, epoch, interval):
    """A look after whole epochs, and at least 1000 steps; after 100 where a step sees all samples."""
    assert method.steps_per_epoch(samples) == epoch
    assert method.look_interval(samples) == interval


def test_what_an_order_takes_to_draw():
    """Twelve bytes for every sample of an epoch."""
    assert SGD(0.1).order_bytes(24) == 12 * 24
    assert SGD(0.1, batch_size=5).order_bytes(24) == 12 * 20
    assert SGD(0.1, Listed([0, 1, 2]), 1).order_bytes(24) == 12 * 3
    assert GradientDescent(0.1).order_bytes(24) == 12 * 24


@pytest.mark.parametrize(("batch", "fits"), [(0, False), (1, True), (24, True), (25, False), (-1, False)])
def test_batches_from_one_to_all_samples(batch, fits):
    method = SGD(0.1, batch_size=batch)
    if fits:
        method.check(toy(), 2)
    else:
        with pytest.raises(ValueError, match=f"between 1 and 24 samples, got {batch}"):
            method.check(toy(), 2)


def test_steps_are_one_number_or_one_per_run():
    SGD(jnp.asarray([0.1, 0.2])).check(toy(), 2)
    with pytest.raises(ValueError, match=r"got shape \(2,\) for 3 runs"):
        SGD(jnp.asarray([0.1, 0.2])).check(toy(), 3)
    with pytest.raises(ValueError, match=r"got shape \(2,\) for 3 runs"):
        GradientDescent(LogSquared(jnp.asarray([0.1, 0.2]))).check(toy(), 3)
    same = numbers_of_runs(SGD(1.0), 3)
    assert same.dtype == jnp.float64
    assert same.tolist() == [1, 1, 1]
    assert numbers_of_runs(SGD(jnp.asarray([0.5, 2.0])), 2).tolist() == [0.5, 2]


def test_a_wrong_number_is_refused_where_it_was_typed_and_measured_ones_are_not():
    for right in (1e-300, 0.05, 1, 1e300, np.float32(0.5), np.asarray([0.0, -1.0, np.nan]), LogSquared(1.0)):
        check_step_size(right)
    for wrong in (0, 0.0, -0.05, np.inf, np.nan):
        with pytest.raises(ValueError, match="step_size must be positive and finite"):
            check_step_size(wrong)
    for wrong in (True, "0.1", 1j, None, [0.1], ["a"], LogSquared, print):
        with pytest.raises(ValueError, match="step_size must be a number, one number per run, or a StepRule"):
            check_step_size(wrong)


class Own(StepRule):
    gives: Any = eqx.field(static=True)
    number: Any = 0.5

    def __call__(self, log_loss, taken):
        return self.gives(self, log_loss, taken)


class Short(StepRule):
    def __call__(self, log_loss):  # pyright: ignore[reportIncompatibleMethodOverride]
        return 0.1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Own(lambda own, log_loss, taken: jnp.ones(3)), r"must give one number.* got shape \(3,\)"),
        (lambda: Own(lambda own, log_loss, taken: None), "must give one number.* got None"),
        (lambda: Own(lambda own, log_loss, taken: {"step": 1.0}), "must give one number.* got dict"),
        (lambda: Own(print, "0.1"), "fields of a step rule must be numbers, or static, got '0.1'"),
        (lambda: Own(print, jnp.ones(3)), r"one per run, got shape \(3,\) for 2 runs; a table of steps is a list"),
        (Short, r"must take \(log_loss, taken\), but Short takes \(log_loss\)"),
    ],
)
def test_a_rule_that_gives_no_step_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        GradientDescent(make()).check(toy(), 2)


def test_rules_that_give_one_number_fit():
    for gives in (
        lambda own, log_loss, taken: 1,
        lambda own, log_loss, taken: own.number / (1.0 + taken.astype(float)),
        lambda own, log_loss, taken: jnp.asarray([1.0, 0.5])[taken],
    ):
        GradientDescent(Own(gives)).check(toy(), 2)
    GradientDescent(Own(lambda own, log_loss, taken: jnp.stack(own.number)[taken], [1.0, 0.5, 0.2])).check(toy(), 2)


def test_an_order_is_no_class_and_no_name():
    check_order(Cyclic())
    for wrong in (Cyclic, "cyclic", None):
        with pytest.raises(ValueError, match=r"order must be Permutation\(\)"):
            check_order(wrong)


def test_what_a_method_keeps_and_how_its_runs_are_trained():
    methods = SGD(0.1), GradientDescent(0.1), Adam(0.1), Flow(LinearClock(1.0))
    assert [keeps(method) for method in methods] == [False, False, True, True]
    assert [method.in_turn for method in methods] == [False, False, False, True]
    assert [method.ended(None) for method in methods[:3]] == [None] * 3
    assert [method.report(None) for method in methods[:3]] == [None] * 3


def test_the_steps_by_which_a_run_is_tried():
    """SGD: every sample once, alone. Adam: one more epoch in its own order. The others: one step on all samples."""
    tried = [method.trial(24) for method in (SGD(0.1, batch_size=5), Adam(0.1, batch_size=5), GradientDescent(0.1))]
    tried.append(Flow(LinearClock(1.0)).trial(24))
    assert [(trial.batch_size, trial.steps) for trial in tried] == [(1, 24), (5, 4), (24, 1), (24, 1)]
    assert [type(trial.order) for trial in tried] == [Cyclic, *[type(None)] * 3]


def test_a_program_is_compiled_for_a_method_without_its_numbers():
    one, other = without_runs(SGD(0.1, batch_size=5)), without_runs(SGD(0.7, batch_size=5))
    assert jax.tree.structure(one) == jax.tree.structure(other)
    assert not jax.tree.leaves(one)
    assert jax.tree.structure(one) != jax.tree.structure(without_runs(SGD(0.1, batch_size=4)))
    assert isinstance(one.sampling.order, Permutation)


def test_steps_that_are_being_traced_are_taken_on_trust():
    """Their numbers are not known yet; those that are known and come as a bare tuple are none."""
    assert jax.eval_shape(lambda size: SGD(size).step_size, 0.1).shape == ()
    with pytest.raises(ValueError, match="step_size must be a number, one number per run, or a StepRule"):
        check_step_size((0.1, 0.2))


def test_how_a_run_is_tried_is_known_when_a_program_is_compiled():
    assert jax.tree.leaves(SGD(0.1).trial(24)) == []
    assert jax.tree.structure(SGD(0.1).trial(24)) != jax.tree.structure(SGD(0.1).trial(25))
    five, four = (Adam(0.1, batch_size=size).trial(24) for size in (5, 4))
    assert jax.tree.structure(five) != jax.tree.structure(four)


@pytest.mark.parametrize("layers", list(Layers))
def test_what_is_kept_is_kept_for_the_weights_that_move(layers):
    kept = init(Adam(0.1), numbers_of_runs(Adam(0.1), 2), networks(2, bias=True), layers)
    for moment in (kept.mu, kept.nu):
        np.testing.assert_array_equal(moment.hidden_weights, np.zeros((2, 6, 5)))
        np.testing.assert_array_equal(moment.bias, np.zeros((2, 6)))
        assert (moment.output_weights is None) == (layers is Layers.HIDDEN)
    np.testing.assert_array_equal(kept.count, [0, 0])
    assert init(SGD(0.1), numbers_of_runs(SGD(0.1), 2), networks(2), layers) is None
