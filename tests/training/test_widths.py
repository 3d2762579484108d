"""Several widths in one call: each width's result is that of its own ensemble."""

import functools
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, run_keys, toy
from widenet.errors import InputError
from widenet.losses import hinge, logistic
from widenet.networks import TwoLayer, make_two_layer, relu
from widenet.training import SGD, Recipe, Record, ensemble, ensembles, widths, zero_error
from widenet.types import Dataset, Layers

COUNTERS = ("status", "updates", "mistakes", "last_update", "zero_loss_step", "steps")
RUNS, WIDTHS = (2, 1), (6, 8)


@functools.cache
def asked():
    """(networks, recipes, keys), one entry per width: step sizes, budgets and numbers of runs differ."""
    nets = [networks(n_runs, width, bias=True) for n_runs, width in zip(RUNS, WIDTHS, strict=True)]
    recipes = [
        Recipe(hinge, SGD(jnp.asarray([0.5, 0.2])), (40, 500), layers=Layers.BOTH),
        Recipe(hinge, SGD(0.1), 700, layers=Layers.BOTH),
    ]
    return nets, recipes, [run_keys(n_runs) for n_runs in RUNS]


@pytest.fixture(scope="module")
def alone():
    return [ensemble(net, toy(), recipe, key) for net, recipe, key in zip(*asked(), strict=True)]


@pytest.fixture
def launches(monkeypatch):
    """The widths that were launched; the first `refused` launches find no memory."""
    seen, real = SimpleNamespace(widths=[], refused=0), widths.ensemble

    def spy(nets, *others, **options):
        seen.widths.append(nets.n_neurons)
        if len(seen.widths) <= seen.refused:
            raise InputError("no memory")
        return real(nets, *others, **options)

    monkeypatch.setattr(widths, "ensemble", spy)
    return seen


@pytest.mark.parametrize(
    ("refused", "launched"), [(0, [8]), (1, [8, 6, 8])], ids=["together", "no room when filled up"]
)
def test_each_width_is_its_own_ensemble(alone, launches, refused, launched):
    launches.refused = refused
    nets, recipes, keys = asked()
    together = ensembles(nets, toy(), recipes, keys)
    assert launches.widths == launched
    for own, run in zip(alone, together, strict=True):
        for name in COUNTERS:
            np.testing.assert_array_equal(getattr(run, name), getattr(own, name), err_msg=name)
        for mine, theirs in zip(jax.tree.leaves(run.network), jax.tree.leaves(own.network), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [{"after_goal": 7}, {"check_every": 3}, {"layers": Layers.HIDDEN}, {"stop": zero_error}],
    ids=lambda c: next(iter(c)),
)
def test_what_differs_in_anything_else_is_launched_apart(launches, change):
    """Only step sizes and budgets are joined; every other field of a recipe has one value per launch."""
    recipes = [
        Recipe(hinge, SGD(0.5), 10, layers=Layers.BOTH),
        Recipe(hinge, SGD(0.5), 10, **{"layers": Layers.BOTH, **change}),
    ]
    ensembles([networks(1), networks(1)], toy(), recipes, [run_keys(1)] * 2)
    assert len(launches.widths) == 2


def test_what_fits_neither_way_is_refused(launches):
    launches.refused = 2
    with pytest.raises(InputError, match="no memory"):
        ensembles([networks(1, 18), networks(1, 20)], toy(), Recipe(hinge, SGD(0.5), 10), [run_keys(1)] * 2)
    assert launches.widths == [32, 18]


@pytest.mark.parametrize("kernel", ["plain", "blocked"])
def test_neurons_of_zeros_stay_zero(kernel):
    nets = widths.pad(networks(2, 4, bias=True), 7)
    end = ensemble(nets, toy(), Recipe(logistic, SGD(3.0, kernel=kernel), 60, layers=Layers.BOTH), run_keys(2)).network
    for leaf in (end.hidden_weights[:, 4:], end.output_weights[:, 4:], end.bias[:, 4:]):
        assert not np.any(leaf)
    assert np.any(end.bias[:, :4])
    assert widths.cut(end, 4).hidden_weights.shape == (2, 4, 5)


class Sharp(eqx.Module):
    """An activation with a number of its own in each run."""

    function: Any = eqx.field(static=True)
    sharpness: Any

    def __call__(self, z: Any) -> Any:
        return self.function(self.sharpness * z)


def with_activation(n_runs: int, width: int, function: Any) -> Any:
    def made(key: Any, sharpness: Any) -> TwoLayer:
        return make_two_layer(key, width, toy().inputs.shape[-1], Sharp(function, sharpness))

    return jax.vmap(made)(run_keys(n_runs), jnp.linspace(1.0, 2.0, n_runs))


def test_an_activation_that_mixes_its_entries_is_refused():
    """A neuron of zeros is no zero to softmax, and gradients that are written out know nothing of the other entries."""
    recipe, keys = Recipe(logistic, SGD(0.5), 10), [run_keys(2)] * 2
    nets = [with_activation(2, width, jax.nn.softmax) for width in (6, 8)]
    with pytest.raises(ValueError, match=r"^entry 0 \(from 0\): activation must act on each entry alone"):
        ensembles(nets, toy(), recipe, keys)
    nets = [with_activation(2, width, jnp.tanh) for width in (6, 8)]
    for net, run in zip(nets, ensembles(nets, toy(), recipe, keys), strict=True):
        np.testing.assert_allclose(run.loss, ensemble(net, toy(), recipe, keys[0]).loss, rtol=1e-12)


def test_padded_widths_are_few_and_near():
    neurons = np.arange(4, 1025)
    padded = np.asarray([widths.padded_width(int(count)) for count in neurons])
    assert (padded >= neurons).all()
    assert (padded < 2 * neurons).all()
    assert len(set(padded.tolist())) == 9
    assert [widths.padded_width(width) for width in (1, 2, 3, 4)] == [1, 2, 4, 4]


def test_with_a_record_every_width_is_seen_as_it_is():
    record = Record((0, 24), {"weights": lambda now: now.network.hidden_weights})
    recipe = Recipe(logistic, SGD(0.5, kernel="plain"), 24)
    runs = ensembles([networks(2, 6), networks(2, 8)], toy(), recipe, [run_keys(2)] * 2, record=record)
    assert [run.records["weights"].shape for run in runs] == [(2, 2, 6, 5), (2, 2, 8, 5)]


def test_a_budget_per_run_is_that_run_alone():
    budgets = (24, 100, 2000)
    record = Record((0, 24, 50), {"weights": lambda now: now.network.hidden_weights})
    runs = ensemble(networks(3), toy(), Recipe(logistic, SGD(0.5), budgets), run_keys(3), record=record)
    np.testing.assert_array_equal(runs.steps, budgets)
    for i, budget in enumerate(budgets):
        alone = ensemble(networks(3), toy(), Recipe(logistic, SGD(0.5), budget), run_keys(3))
        np.testing.assert_allclose(runs.network.hidden_weights[i], alone.network.hidden_weights[i], atol=1e-13)
        assert runs.loss[i] == pytest.approx(float(alone.loss[i]), rel=1e-12)
    np.testing.assert_array_equal(runs.records["weights"][0, 1], runs.records["weights"][0, 2])


def test_impossible_packs_are_refused():
    with pytest.raises(ValueError, match="got 2 networks, 2 recipes and 1 arrays of keys"):
        ensembles([networks(2), networks(2)], toy(), Recipe(hinge, SGD(0.5), 10), [run_keys(2)])
    with pytest.raises(ValueError, match="one number or one per run, got 3 for 2 runs"):
        ensemble(networks(2), toy(), Recipe(hinge, SGD(0.5), (1, 2, 3)), run_keys(2))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: {"method": SGD(jnp.asarray([0.1, 0.2]))}, r"step_size must be .* got shape \(2,\) for 3 runs"),
        (lambda: {"max_steps": (1, 2)}, "max_steps must be one number or one per run, got 2 for 3 runs"),
    ],
)
def test_the_wrong_width_is_named_with_its_own_numbers(change, words):
    recipes = [Recipe(hinge, SGD(0.5), 10), Recipe(**({"loss": hinge, "method": SGD(0.5), "max_steps": 10} | change()))]
    with pytest.raises(ValueError, match=rf"entry 1 \(from 0\): {words}"):
        ensembles([networks(3, 6), networks(3, 8)], toy(), recipes, [run_keys(3)] * 2)


def test_every_run_needs_its_network_and_all_share_the_data():
    recipe, keys = Recipe(hinge, SGD(0.5), 10), [run_keys(3)] * 2
    one = jax.tree.map(lambda leaf: leaf[0], networks(3, 8))
    with pytest.raises(ValueError, match=r"entry 1 \(from 0\): .* number of runs, got \[8\] and 3 keys"):
        ensembles([networks(3, 6), one], toy(), recipe, keys)
    own = Dataset(jnp.tile(toy().inputs, (3, 1, 1)), jnp.tile(toy().labels, (3, 1)))
    with pytest.raises(ValueError, match=r"one widenet.Dataset for all runs, got inputs of shape \(3, 24, 5\)"):
        ensembles([networks(3, 6), networks(3, 8)], own, recipe, keys)


MISTAKES = """
import jax
import jax.numpy as jnp
import widenet as wn
from widenet.training import SGD, Recipe, ensembles, train

keys, recipe = jax.random.split(jax.random.key(0), 3), Recipe(wn.hinge, SGD(0.1), 10)
data = wn.Dataset(jnp.eye(4), jnp.ones(4))

def make(key):
    return wn.make_two_layer(key, 4, 4, wn.relu())

nets = jax.vmap(make)(keys)
for call in (
    lambda: ensembles([nets, nets], data, recipe, keys),
    lambda: ensembles(nets, data, recipe, [keys]),
    lambda: ensembles([nets], data, recipe, [jax.random.PRNGKey(0)]),
    lambda: ensembles([nets], data, None, [keys]),
    lambda: train(make(keys[0]), data, recipe, 0),
    lambda: train(make(keys[0]), data, recipe, jax.random.PRNGKey(0)),
    lambda: train(make(keys[0]), data, recipe, keys),
):
    try:
        call()
    except ValueError as error:
        print(error)
"""


def test_mistakes_get_a_sentence_where_types_are_not_checked():
    """In a process of its own: here the types are checked first."""
    done = subprocess.run([sys.executable, "-c", MISTAKES], capture_output=True, text=True, check=True)
    assert [line.split(";")[0] for line in done.stdout.splitlines()] == [
        "keys must be a list with one entry per width, got one PRNGKeyArray of shape (3,)",
        "networks must be a list with one entry per width, got one TwoLayer",
        "entry 0 of keys (from 0) must be an array of JAX keys, one per run, got uint32 of shape (2,)",
        "recipe must be a Recipe or a list with one per width, got None",
        "train needs one key such as jax.random.key(0), got 0",
        "train needs one key such as jax.random.key(0), got uint32 of shape (2,)",
        "train needs one key such as jax.random.key(0), got key<fry> of shape (3,)",
    ]


def test_networks_of_other_outputs_share_no_launch():
    recipe = Recipe(hinge, SGD(0.1), 7)

    def launch(n_outputs, width=6):
        rows, second = jnp.zeros((2, width, 3)), jnp.zeros((2, n_outputs, width))
        return widths._launch(TwoLayer(rows, second, None, relu()), recipe)

    assert launch(2) == launch(2) != launch(3)
    assert launch(2, 6) == launch(2, 7)
