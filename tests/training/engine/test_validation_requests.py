"""The edges of what a request may hold: counts, watches, shapes that a loss and a goal are shown."""

from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, toy
from widenet.losses import hinge
from widenet.training import never
from widenet.training.engine.validation import check, check_is_watch, check_rule, whole
from widenet.types import Dataset


@pytest.mark.parametrize("value", [True, False, "0", "3", None, [3], float("nan"), float("inf"), 2.5])
@pytest.mark.parametrize("limits", [(), (0,), (0, 4)])
def test_what_is_no_whole_number_is_none_within_any_limits(value, limits):
    with pytest.raises(ValueError, match="n must be a whole number"):
        whole("n", value, *limits)


@pytest.mark.parametrize(("least", "value"), [(0, 0), (-2, -2), (1, 1)])
def test_the_least_count_is_one(least, value):
    assert whole("n", value, least) == value
    with pytest.raises(ValueError, match=f"from {least} on, got {value - 1}"):
        whole("n", value - 1, least)


class Watching(eqx.Module):
    def start(self, network):
        return 0

    def update(self, value, step):
        return value


class Silent(eqx.Module):
    def start(self, network):
        return 0


class Endless(eqx.Module):
    def update(self, value, step):
        return value


def test_a_watch_starts_and_goes_on():
    for watch in (None, Watching()):
        check_is_watch(watch)
    plain = SimpleNamespace(start=print, update=print)
    for watch in (Silent(), Endless(), plain, Watching, 0):
        with pytest.raises(ValueError, match="watch must be an instance"):
            check_is_watch(watch)


def test_numbers_that_a_run_has_one_of_may_have_another_dtype():
    """The slopes of an activation are float64 where weights and points are float32."""
    nets = networks(2, dtype=jnp.float32)
    assert {leaf.dtype.name for leaf in jax.tree.leaves(nets.activation)} == {"float64"}
    data = Dataset(toy().inputs.astype(jnp.float32), toy().labels.astype(jnp.float32))
    check(nets, data, hinge, never, 2)


@pytest.mark.parametrize(
    ("inputs", "labels"), [((3,), ()), ((2, 2, 2, 2), (2, 2, 2)), ((4, 3), (3,)), ((2, 4, 3), (2,))]
)
def test_points_have_two_axes_or_three_with_runs(inputs, labels):
    data = eqx.tree_at(lambda data: (data.inputs, data.labels), toy(), (jnp.ones(inputs), jnp.ones(labels)))
    with pytest.raises(ValueError, match="a data set needs one row of inputs for each label"):
        check(networks(2), data, hinge, never, 2)


@pytest.mark.parametrize("which", ["inputs", "labels"])
def test_points_and_labels_are_both_arrays(which):
    data: Any = eqx.tree_at(lambda data: getattr(data, which), toy(), [1.0])
    with pytest.raises(ValueError, match="inputs and labels of a Dataset must be arrays"):
        check(networks(2), data, hinge, never, 2)


@pytest.mark.parametrize("per_run", [False, True])
def test_a_loss_and_a_goal_are_shown_all_samples_of_one_run(per_run):
    """24 outputs, labels and losses, whether runs share their data or not."""
    seen = []

    def loss(outputs, labels):
        seen.append((outputs.shape, labels.shape))
        return hinge(outputs, labels)

    def goal(outputs, labels, losses):
        seen.append((outputs.shape, labels.shape, losses.shape))
        return jnp.all(losses == 0)

    data = jax.tree.map(lambda leaf: jnp.stack([leaf] * 2), toy()) if per_run else toy()
    check(networks(2), data, loss, goal, 2)
    assert seen == [((24,),) * 2, ((24,),) * 3]


def test_a_goal_is_shown_one_loss_per_sample_of_several_classes():
    seen = []

    def goal(outputs, labels, losses):
        seen.append((outputs.shape, labels.shape, losses.shape))
        return jnp.all(losses == 0)

    outputs, labels = jax.ShapeDtypeStruct((7, 3), np.float64), jax.ShapeDtypeStruct((7,), np.float64)
    check_rule("stop", goal, outputs, labels)
    assert seen == [((7, 3), (7,), (7,))]


@pytest.mark.parametrize(
    "answer",
    [
        lambda losses: jnp.sum(losses),
        lambda losses: losses == 0,
        lambda losses: None,
        lambda losses: jnp.sum(losses == 0),
    ],
    ids=["a number", "one answer per sample", "nothing", "a count"],
)
def test_a_goal_that_says_neither_yes_nor_no(answer):
    numbers = jax.ShapeDtypeStruct((7,), np.float64)
    with pytest.raises(ValueError, match="goal must give a single true or false"):
        check_rule("goal", lambda outputs, labels, losses: answer(losses), numbers, numbers)
