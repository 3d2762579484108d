"""The potentials kept by scalars inside a block, against the weights themselves at every step."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import kernel_of, networks, run_keys, separable
from widenet.losses import hinge, logistic
from widenet.training import Extremes, PotentialWatch, Recipe, ensemble
from widenet.types import Layers

STEPS = 70
RUNS = 2
DATA = separable()


class Path(PotentialWatch):
    """Everything a watch is shown, update by update."""

    def begin(self, square, alignment):
        first = jnp.stack([square, alignment, 0 * square, 0 * square, 0 * square, 0 * square])
        return jnp.zeros((), jnp.int32), jnp.zeros((STEPS + 1, 6)).at[0].set(first)

    def fold(self, value, move):
        count, rows = value
        margin = jnp.sum(move.labels * move.outputs)
        gains = move.square_gain, move.alignment_gain
        row = jnp.stack([move.square, move.alignment, *gains, margin, jnp.sum(jnp.abs(move.output_weights))])
        return count + 1, rows.at[count + 1].set(row)


def watch(kind, bias):
    votes = jnp.tile(jnp.repeat(jnp.asarray([1.0, -1.0]), 3), (RUNS, 1))
    direction = jnp.asarray(np.random.default_rng(3).normal(size=(RUNS, 5)))
    return kind(votes, direction, shift=jnp.asarray([0.5, -1.5]) if bias else None)


def train(kernel, kind, loss, layers, batch, bias):
    recipe = Recipe(loss, 0.7, STEPS, batch_size=batch, layers=Layers(layers), check_every=35, kernel=kernel)
    return ensemble(networks(RUNS, bias=bias), DATA, recipe, run_keys(RUNS), watch=watch(kind, bias))


@pytest.mark.parametrize(
    ("fast", "loss", "layers", "batch", "bias"),
    [
        ("blocked", hinge, "hidden", 1, False),
        ("gram", hinge, "both", 5, True),
        ("gram", logistic, "both", 1, True),
        ("blocked", logistic, "hidden", 5, False),
    ],
)
def test_scalars_follow_the_weights_at_every_update(fast, loss, layers, batch, bias):
    plain, quick = (train(kernel, Path, loss, layers, batch, bias) for kernel in ("plain", fast))
    np.testing.assert_array_equal(plain.watched[0], plain.updates)
    np.testing.assert_array_equal(quick.watched[0], plain.updates)
    scale = np.abs(plain.watched[1]).max(axis=1, keepdims=True)
    assert (np.abs(plain.watched[1] - quick.watched[1]) <= 1e-12 * scale).all()
    assert (plain.updates > 5).all()


def test_the_oracle_is_the_formula():
    """G² and F at the end, from the last weights by NumPy, bias and all."""
    run, seen = train("blocked", Extremes, hinge, "hidden", 1, True), watch(Extremes, True)
    weights = np.asarray(run.network.hidden_weights)
    target = np.asarray(seen.votes)[:, :, None] * np.asarray(seen.direction)[:, None]
    square, alignment = (weights**2).sum((1, 2)), (weights * target).sum((1, 2))
    square += (np.asarray(run.network.bias) ** 2).sum(1)
    alignment += np.asarray(seen.shift) * (np.asarray(seen.votes) * np.asarray(run.network.bias)).sum(1)
    np.testing.assert_allclose(run.watched["square"], square, rtol=1e-12)
    np.testing.assert_allclose(run.watched["alignment"], alignment, rtol=1e-12)


def test_extremes_are_those_of_the_path():
    path = train("plain", Path, hinge, "hidden", 1, False)
    ends = train("blocked", Extremes, hinge, "hidden", 1, False).watched
    for run in range(RUNS):
        rows = path.watched[1][run, 1 : path.updates[run] + 1]
        for name, column in (("square_gain", 2), ("alignment_gain", 3), ("margin", 4)):
            np.testing.assert_allclose(ends[f"smallest_{name}"][run], rows[:, column].min(), rtol=1e-11, atol=1e-13)
            np.testing.assert_allclose(ends[f"largest_{name}"][run], rows[:, column].max(), rtol=1e-11, atol=1e-13)
    assert (ends["largest_margin"] < 1).all()  # the hinge loss moves nothing from margin 1 on


def test_control_a_wrong_direction_is_seen():
    right = train("blocked", Extremes, hinge, "hidden", 1, False).watched["alignment"]
    turned = dataclasses.replace(watch(Extremes, False), direction=1.001 * watch(Extremes, False).direction)
    recipe = Recipe(hinge, 0.7, STEPS, check_every=35, kernel="plain")
    wrong = ensemble(networks(RUNS), DATA, recipe, run_keys(RUNS), watch=turned).watched["alignment"]
    assert (np.abs(wrong / right - 1) > 1e-4).all()


def test_the_fast_kernels_take_it():
    assert kernel_of(Recipe(hinge, 0.5, 10), networks(1), DATA, watch(Extremes, False)) == "blocked"
    assert jax.tree.leaves(watch(Extremes, False))[0].shape == (RUNS, 6)
