"""What is launched for several widths, and how launches are divided again; the trainings themselves are left out."""

from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import networks, run_keys, toy
from widenet.errors import InputError
from widenet.losses import hinge
from widenet.networks import TwoLayer, relu
from widenet.training import SGD, GradientDescent, Listed, Recipe, Record, ensembles, widths
from widenet.types import Trajectory

RECIPE = Recipe(hinge, SGD(0.5), 10)


class Bare(eqx.Module):
    """A network that is no `TwoLayer`, of the shape of one that has no second layer."""

    hidden_weights: jax.Array

    def __call__(self, x):
        return jnp.sum(self.hidden_weights @ x)


@pytest.fixture
def launched(monkeypatch):
    """What each launch was given; instead of training, the budget of a run is its number of steps. The first `refused`
    launches find no memory."""
    seen = SimpleNamespace(calls=[], refused=0)

    def spy(nets, data, recipe, keys, *, record, memory, progress):
        n_runs = keys.shape[0]
        seen.calls.append(SimpleNamespace(nets=nets, recipe=recipe, keys=keys, record=record, memory=memory))
        if len(seen.calls) <= seen.refused:
            raise InputError("no memory")
        progress(0.5, "training")
        steps = np.broadcast_to(np.asarray(recipe.max_steps, np.int32), (n_runs,))
        counts = {name: np.zeros(n_runs, np.int32) for name in ("status", "updates", "mistakes", "last_update")}
        return Trajectory(
            network=nets, steps=steps, **counts, zero_loss_step=steps, loss=np.zeros(n_runs), times=(), records={}
        )

    monkeypatch.setattr(widths, "ensemble", spy)
    return seen


def shapes(launched):
    return [call.nets.hidden_weights.shape for call in launched.calls]


def test_widths_of_similar_size_share_a_launch_and_are_cut_back(launched):
    """Two runs of 5 neurons, one of 6 and three of 8 are filled up to 8; the run of 2 neurons is by itself."""
    five = jax.tree.map(lambda leaf: leaf[:, ::2] if leaf.ndim > 1 else leaf, networks(2, 10))
    nets = [five, networks(1, 6), networks(1, 2), networks(3, 8)]
    recipes = [
        Recipe(hinge, SGD(jnp.asarray([0.5, 0.25])), (4, 5)),
        Recipe(hinge, SGD(0.125), 6),
        Recipe(hinge, SGD(2.0), 7),
        Recipe(hinge, SGD(1.0), 8),
    ]
    keys = [run_keys(net.hidden_weights.shape[0], seed) for seed, net in enumerate(nets)]
    told = []
    runs = ensembles(nets, toy(), recipes, keys, memory=10**9, progress=lambda share, _: told.append(share))
    assert shapes(launched) == [(6, 8, 5), (1, 2, 5)]
    together, alone = launched.calls
    assert together.recipe.method.step_size.tolist() == [0.5, 0.25, 0.125, 1, 1, 1]
    assert together.recipe.max_steps == (4, 5, 6, 8, 8, 8)
    np.testing.assert_array_equal(jax.random.key_data(together.keys[2]), jax.random.key_data(keys[1][0]))
    np.testing.assert_array_equal(jax.random.key_data(together.keys[3:]), jax.random.key_data(keys[3]))
    assert (alone.recipe.max_steps, alone.memory, together.memory) == ((7,), 10**9, 10**9)
    assert [run.steps.tolist() for run in runs] == [[4, 5], [6], [7], [8, 8, 8]]
    for run, net in zip(runs, nets, strict=True):
        for mine, theirs in zip(jax.tree.leaves(run.network), jax.tree.leaves(net), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert told == [0.25, 0.75]


def test_a_single_width_stays_as_it_is(launched):
    run = ensembles([networks(2, 6)], toy(), RECIPE, [run_keys(2)])[0]
    assert shapes(launched) == [(2, 6, 5)]
    assert run.network.n_neurons == 6


@pytest.mark.parametrize(
    ("indices", "record"),
    [(None, Record((0,), {"weights": lambda now: now.network.hidden_weights})), ([3, 1, 2], None)],
    ids=["a record", "an order of its own"],
)
def test_what_looks_at_networks_or_orders_is_launched_apart(launched, indices, record):
    recipe = RECIPE if indices is None else Recipe(hinge, SGD(0.5, Listed(indices)), 10)
    ensembles([networks(2, 6), networks(2, 8)], toy(), recipe, [run_keys(2)] * 2, record=record)
    assert shapes(launched) == [(2, 6, 5), (2, 8, 5)]
    assert [call.record for call in launched.calls] == [record, record]


def test_networks_of_another_kind_are_launched_apart_and_left_as_they_are(launched):
    nets = [Bare(jnp.full((2, 6, 5), 3.0)), Bare(jnp.full((2, 6, 5), 4.0))]
    recipe = Recipe(hinge, method=GradientDescent(0.5), max_steps=10)
    runs = ensembles(nets, toy(), recipe, [run_keys(2)] * 2)
    assert shapes(launched) == [(2, 6, 5)] * 2
    for run, net in zip(runs, nets, strict=True):
        np.testing.assert_array_equal(run.network.hidden_weights, net.hidden_weights)


@pytest.mark.parametrize(
    ("nets", "refused", "shapes_"),
    [((6,), 1, [6]), ((6, 8), 2, [8, 6]), ((6, 8), 3, [8, 6])],
    ids=["alone", "the first", "both"],
)
def test_what_does_not_fit_as_it_is_is_refused(launched, nets, refused, shapes_):
    launched.refused = refused
    with pytest.raises(InputError, match="no memory"):
        ensembles([networks(1, width) for width in nets], toy(), RECIPE, [run_keys(1)] * len(nets))
    assert [shape[1] for shape in shapes(launched)] == shapes_


def test_what_does_not_fit_when_filled_up_is_launched_by_itself(launched):
    launched.refused = 1
    runs = ensembles([networks(1, 6), networks(1, 8)], toy(), RECIPE, [run_keys(1)] * 2)
    assert shapes(launched) == [(2, 8, 5), (1, 6, 5), (1, 8, 5)]
    assert [run.network.n_neurons for run in runs] == [6, 8]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"networks": None}, "networks must be a list with one entry per width, got one NoneType;"),
        ({"keys": np.zeros(2)}, r"keys must be a list with one entry per width, got one ndarray of shape \(2,\);"),
        ({"data": "toy"}, "data must be one widenet.Dataset for all runs, got a str;"),
        ({"recipe": None}, "recipe must be a Recipe or a list with one per width, got None"),
        ({"recipe": iter([RECIPE])}, "recipe must be a Recipe or a list with one per width"),
        ({"recipe": [RECIPE, None]}, "recipe must be a Recipe or a list with one per width"),
        ({"recipe": [RECIPE, RECIPE]}, "got 1 networks, 2 recipes and 1 arrays of keys"),
        ({"keys": [None]}, r"entry 0 of keys \(from 0\) must be an array of JAX keys, one per run, got a NoneType"),
        (
            {"recipe": [Recipe(hinge, SGD(0.5), (1, 2, 3))]},
            r"entry 0 \(from 0\): max_steps must be one number or one per",
        ),
    ],
)
def test_what_is_no_list_of_widths(change, words):
    given = {"networks": [networks(2)], "data": toy(), "recipe": RECIPE, "keys": [run_keys(2)]} | change
    with pytest.raises(ValueError, match=words):
        widths._one_recipe_each(**given)


def test_one_recipe_is_that_of_every_width():
    two = [networks(2), networks(3)]
    assert widths._one_recipe_each(two, toy(), RECIPE, [run_keys(2), run_keys(3)]) == [RECIPE, RECIPE]


@pytest.mark.parametrize("second", [(2, 4), (2, 3, 4)], ids=["one output", "three outputs"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_neurons_of_zeros_are_added_behind_and_cut_off_again(second, has_bias):
    rows, votes, bias = np.ones((2, 4, 5)), np.full(second, 2.0), np.full((2, 4), 3.0)
    net = TwoLayer(jnp.asarray(rows), jnp.asarray(votes), jnp.asarray(bias) if has_bias else None, relu())
    more = widths.pad(net, 7)
    assert more.n_neurons == 7
    np.testing.assert_array_equal(more.hidden_weights, np.concatenate([rows, np.zeros((2, 3, 5))], axis=1))
    zeros = np.zeros((*second[:-1], 3))
    np.testing.assert_array_equal(more.output_weights, np.concatenate([votes, zeros], axis=-1))
    if has_bias:
        np.testing.assert_array_equal(more.bias, np.concatenate([bias, np.zeros((2, 3))], axis=1))
    back = widths.cut(more, 4)
    assert (back.bias is None) == (not has_bias)
    for mine, theirs in zip(jax.tree.leaves(back), jax.tree.leaves(net), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_widths_must_have_in_common():
    def launch(n_runs=2, width=6, dim=3, outputs=(), bias=False, dtype=jnp.float64, recipe=RECIPE):
        rows, second = jnp.zeros((n_runs, width, dim), dtype), jnp.zeros((n_runs, *outputs, width), dtype)
        return widths._launch(TwoLayer(rows, second, jnp.zeros((n_runs, width)) if bias else None, relu()), recipe)

    same = launch()
    assert launch(n_runs=3) == launch(width=5) == launch(recipe=Recipe(hinge, SGD(jnp.ones(2)), (7, 8))) == same
    assert launch(n_runs=3, outputs=(4,)) == launch(width=7, outputs=(4,)) == launch(outputs=(4,))
    for other in (
        launch(width=9),
        launch(dim=4),
        launch(outputs=(4,)),
        launch(bias=True),
        launch(dtype=jnp.float32),
        launch(recipe=Recipe(hinge, SGD(0.5, batch_size=2), 10)),
        launch(recipe=Recipe(hinge, SGD(0.5), 10, check_every=3)),
    ):
        assert other != same
    assert launch(outputs=(4,)) != launch(outputs=(5,))


def test_slopes_that_runs_share_are_given_to_each():
    net = TwoLayer(jnp.ones((2, 4, 5)), jnp.ones((2, 4)), None, relu())
    given = widths._with_run_axis(net, 2)
    assert all(leaf.shape == (2,) for leaf in jax.tree.leaves(given.activation))
    assert given.hidden_weights.shape == (2, 4, 5)
