"""What a record takes, and the sentences for what it does not. Records of runs are tested with ensembles."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, run_keys, toy
from widenet.losses import hinge
from widenet.training import SGD, Recipe, Record, ensemble, train

RECIPE = Recipe(hinge, SGD(0.5), 10)


def weight(now):
    return now.network.hidden_weights[0, 0]


@pytest.mark.parametrize("times", [np.arange(0, 30, 10), range(0, 30, 10), np.asarray([0, 1e1, 2e1])])
def test_times_may_be_any_whole_numbers_in_a_row(times):
    for given in (times, jnp.asarray(np.asarray(times))):
        kept = Record(given, {"weight": weight}).times
        assert kept == (0, 10, 20)
        assert all(type(time) is int for time in kept)


def test_a_record_of_an_array_of_times():
    runs = ensemble(networks(2), toy(), RECIPE, run_keys(2), record=Record(np.arange(0, 30, 5), {"weight": weight}))
    assert runs.times == (0, 5, 10)
    assert runs.records["weight"].shape == (2, 3)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.asarray([0, 10.5]), "a record time must be a whole number, got 10.5"),
        (np.asarray([0, np.inf]), "a record time must be a whole number, got inf"),
        ((False, True), "a record time must be a whole number, got False"),
        (np.asarray([[0, 1]]), r"must be a list of whole numbers, got array\(\[\[0, 1\]\]\)"),
        (np.asarray([-1, 2]), r"must increase from 0 on, got \(-1, 2\)"),
        ((), "a record of weight needs at least one time"),
    ],
)
def test_impossible_times_are_refused(times, words):
    with pytest.raises(ValueError, match=words):
        Record(times, {"weight": weight})


@pytest.mark.parametrize(
    ("observation", "kind"),
    [
        (lambda now: {"weights": now.network.hidden_weights}, "dict"),
        (lambda now: now.network, "TwoLayer"),
        (lambda now: (now.network.hidden_weights,), "tuple"),
        (lambda now: None, "NoneType"),
        (lambda now: "large", "the text 'large'"),
    ],
)
def test_an_observation_returns_one_array(observation, kind):
    with pytest.raises(ValueError, match=f"must return one array or number, got {kind} from 'state'"):
        ensemble(networks(2), toy(), RECIPE, run_keys(2), record=Record((0,), {"state": observation}))


def test_a_record_that_starts_past_the_budget_is_refused():
    network = jax.tree.map(lambda leaf: leaf[0], networks(1))
    with pytest.raises(ValueError, match="start within the budget of 10 steps, got 20 first"):
        train(network, toy(), RECIPE, run_keys(1)[0], record=Record((20, 30), {"weight": weight}))
    assert Record((20, 30)).until(10).times == ()


def test_record_times():
    with pytest.raises(ValueError, match="must increase"):
        Record((0, 5, 5))


class Fold(eqx.Module):
    begin: Any = eqx.field(static=True)
    then: Any = eqx.field(static=True)

    def start(self, network):
        return self.begin

    def update(self, value, step):
        return self.then(value, step)


@pytest.mark.parametrize(
    ("watch", "got"),
    [
        (Fold(0.0, lambda value, step: None), "None"),
        (Fold(0.0, lambda value, step: (value, value)), r"\('float64\[\]', 'float64\[\]'\)"),
        (Fold(0.0, lambda value, step: value + step.labels), r"float64\[1\]"),
    ],
)
def test_a_watch_keeps_the_form_of_its_value(watch, got):
    with pytest.raises(ValueError, match=rf"the form that start gives, float64\[\], got {got}"):
        ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), 10), run_keys(2), watch=watch)


def test_a_watch_may_start_from_a_whole_number():
    """JAX makes a float of it where one is added."""
    watch = Fold(0, lambda value, step: value + step.step_size)
    runs = ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), 10), run_keys(2), watch=watch)
    assert np.allclose(runs.watched, 0.5 * runs.steps)
