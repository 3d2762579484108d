"""Inequalities folded over every step: against the recorded run and `Sides`, on every method and exact kernel."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.problems import kernel_of, networks, run_keys, toy, with_method
from widenet.claims.sides import Sense, Sides
from widenet.losses import hinge, logistic
from widenet.training import SGD, Adam, Closest, Found, GradientDescent, Potentials, Recipe, Record, ensemble
from widenet.types import Layers

STEPS, RUNS = 40, 3


def square(network):
    return jnp.sum(network.hidden_weights**2)


def around(step, centre):
    """One inequality that ‖W‖² crosses on its way, both ways round, one that it always keeps, one without an answer."""
    return {
        "at most": (square(step.after), centre),
        "at least": (square(step.after), centre),
        "grows slowly": (square(step.after), 4.0 * square(step.before)),
        "no answer": (jnp.where(step.number % 2 == 0, jnp.nan, 0.0), centre),
    }


@pytest.mark.parametrize(
    "method", [SGD(0.7, batch_size=4), GradientDescent(2.0), Adam(0.05, batch_size=4)], ids=lambda m: type(m).__name__
)
def test_what_is_folded_is_what_the_recorded_run_shows(method):
    """Every step is recorded; `Sides` judges the record of each run with the same pairs."""
    record = Record(range(STEPS + 1), {"square": lambda now: square(now.network)})
    recipe = Recipe(logistic, method=method, max_steps=STEPS)
    path = ensemble(networks(RUNS), toy(), recipe, run_keys(RUNS), record=record).records["square"]
    centre = np.median(path, axis=1)
    watch = Closest(around, jnp.asarray(centre), at_least=("at least",))
    found = ensemble(networks(RUNS), toy(), recipe, run_keys(RUNS), watch=watch).watched
    for run in range(RUNS):
        after, before = path[run, 1:], path[run, :-1]
        expected = {
            "at most": Sides(after, centre[run], room=1e-12 * np.maximum(after, centre[run])),
            "at least": Sides(after, centre[run], Sense.AT_LEAST, room=1e-12 * np.maximum(after, centre[run])),
            "grows slowly": Sides(after, 4 * before),
            "no answer": Sides(np.where(np.arange(STEPS) % 2, np.nan, 0.0), centre[run]),
        }
        for name, sides in expected.items():
            mine, closest = jax.tree.map(lambda leaf, run=run: leaf[run], found[name]), sides.closest
            assert closest is not None
            assert (mine.steps, mine.broken) == (STEPS, sides.broken.sum()), name
            assert mine.undecided == STEPS - sides.decided.sum()
            assert mine.at == closest + 1, name
            np.testing.assert_allclose(mine.ratio, sides.closeness[closest], rtol=1e-9, err_msg=name)
            np.testing.assert_allclose(mine.measured, np.asarray(sides.measured)[closest], rtol=1e-9)
            np.testing.assert_allclose(mine.promised, np.asarray(sides.promised)[closest], rtol=1e-9)
        assert 0 < found["at most"].broken[run] < STEPS
        assert found["at most"].broken[run] + found["at least"].broken[run] <= STEPS


def test_the_reckoning_is_that_of_sides():
    """Signs, zeros, rounding, infinities: one step each."""
    draw = np.random.default_rng(0)
    sides = np.concatenate([[0.0, 1.0, -1.0, 1 + 1e-13, 1 + 1e-11, np.inf, -np.inf, np.nan], draw.normal(size=8)])
    low, high = (side.ravel() for side in np.meshgrid(sides, sides))
    for at_least, sense in ((False, Sense.AT_MOST), (True, Sense.AT_LEAST)):

        def fold(pair, at_least=at_least):
            return Found.nothing().after(pair, jnp.int32(1), at_least, 1e-12)

        found = jax.vmap(fold)((jnp.asarray(low), jnp.asarray(high)))
        expected = Sides(low, high, sense, room=1e-12 * np.maximum(np.abs(low), np.abs(high)))
        np.testing.assert_array_equal(found.broken, expected.broken)
        np.testing.assert_array_equal(found.undecided, ~expected.decided)
        np.testing.assert_array_equal(np.where(expected.decided, found.ratio, np.nan), expected.closeness)


@pytest.mark.parametrize(
    ("sides", "others", "words"),
    [
        (lambda step: {}, {}, "a dictionary of inequalities by name"),
        (lambda step: {"norm": square(step.after)}, {}, "two numbers, for 'norm'"),
        (lambda step: {"norm": (step.labels, 1.0)}, {}, "two numbers, for 'norm'"),
        (
            lambda step: {"norm": (1.0, 1.0)},
            {"at_least": ("nrom",)},
            r"inequalities of sides, \['norm'\], got \['nrom'\]",
        ),
        (lambda step, bound: {"norm": (1.0, bound)}, {}, r"must take a Step, but takes \(step, bound\)"),
    ],
)
def test_sides_that_are_none_are_refused(sides, others, words):
    with pytest.raises(ValueError, match=words):
        ensemble(networks(2), toy(), Recipe(hinge, 0.5, 10), run_keys(2), watch=Closest(sides, **others))


def test_a_room_is_not_negative_and_a_name_is_no_list_of_letters():
    with pytest.raises(ValueError, match="room must be a number from 0 on, got -1"):
        Closest(lambda step: {}, room=-1.0)
    with pytest.raises(ValueError, match=r"at_least must be a tuple of names, got 'norm'"):
        Closest(lambda step: {}, at_least="norm")  # pyright: ignore[reportArgumentType]
    assert Closest(lambda step: {}, at_least=["norm"]).at_least == ("norm",)  # pyright: ignore[reportArgumentType]


def test_a_watch_of_whole_steps_needs_the_plain_kernel():
    watch = Closest(lambda step: {"norm": (square(step.after), 1.0)})
    assert kernel_of(Recipe(hinge, 0.5, 10), networks(1), toy(), watch) == "plain"
    with pytest.raises(ValueError, match="a Closest that follows Potentials"):
        kernel_of(Recipe(hinge, 0.5, 10, kernel="blocked"), networks(1), toy(), watch)


# The potentials of the proofs, on the exact kernels.

UPDATES = 40


def potentials(n_runs, bias):
    votes = jnp.tile(jnp.repeat(jnp.asarray([1.0, -1.0]), 3), (n_runs, 1))
    direction = jnp.tile(jnp.asarray(np.random.default_rng(3).normal(size=5)), (n_runs, 1))
    return Potentials(votes, direction, shift=jnp.full(n_runs, 0.5) if bias else None)


def shown(move, update):
    """Everything that is shown, at the update with this number alone."""
    seen = {
        "square": move.square,
        "alignment": move.alignment,
        "square_gain": move.square_gain,
        "alignment_gain": move.alignment_gain,
        "margins": jnp.sum(move.labels * move.outputs),
        "output_weights": jnp.sum(jnp.abs(move.output_weights)),
        "number": move.number,
    }
    is_it = move.updates == update.astype(move.updates.dtype)
    return {name: (jnp.where(is_it, value.astype(float), jnp.nan), 1e6) for name, value in seen.items()}


def followed(kernel, loss, layers, batch, bias, sides=shown):
    """The same run over and over: each looks at another of its updates."""
    nets = jax.tree.map(lambda leaf: jnp.repeat(leaf, UPDATES, axis=0), networks(1, bias=bias))
    recipe = Recipe(loss, 0.7, 2 * STEPS, batch_size=batch, layers=Layers(layers), check_every=35, kernel=kernel)
    watch = Closest(sides, jnp.arange(1, UPDATES + 1), follows=potentials(UPDATES, bias))
    keys = jnp.repeat(run_keys(1), UPDATES, axis=0)
    return ensemble(nets, toy(), recipe, keys, watch=watch)


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
    plain, quick = (followed(kernel, loss, layers, batch, bias) for kernel in ("plain", fast))
    seen = np.arange(1, UPDATES + 1) <= plain.updates[0]
    assert seen.sum() > 5
    for name, mine in plain.watched.items():
        np.testing.assert_array_equal(mine.steps, plain.updates)
        np.testing.assert_array_equal(quick.watched[name].steps, plain.updates)
        np.testing.assert_array_equal(np.isfinite(mine.measured), seen, err_msg=name)
        scale = np.abs(mine.measured[seen]).max()
        theirs = quick.watched[name].measured
        np.testing.assert_allclose(theirs[seen], mine.measured[seen], rtol=0, atol=1e-12 * scale, err_msg=name)


def test_the_oracle_is_the_formula():
    """G² and F after the last update, from the last weights by NumPy, bias and all."""
    run = followed("blocked", hinge, "hidden", 1, True)
    last, watched = int(run.updates[0]) - 1, potentials(1, True)
    assert last < UPDATES
    weights, bias = np.asarray(run.network.hidden_weights[0]), np.asarray(run.network.bias[0])
    votes, direction = np.asarray(watched.votes[0]), np.asarray(watched.direction[0])
    np.testing.assert_allclose(run.watched["square"].measured[last], (weights**2).sum() + (bias**2).sum(), rtol=1e-12)
    alignment = votes @ weights @ direction + 0.5 * votes @ bias
    np.testing.assert_allclose(run.watched["alignment"].measured[last], alignment, rtol=1e-12)


def growth(move, given):
    """Eq. 11 and 12 of brutzkus2018 at every update: G² grows by at most, and F by at least, so much."""
    (square, alignment), most, least = given
    updates = move.updates.astype(float)
    return {
        "equation_11_step": (move.square_gain, most),
        "equation_11": (move.square, square + updates * most),
        "equation_12_step": (move.alignment_gain, least),
        "equation_12": (move.alignment, alignment + updates * least),
    }


@pytest.mark.parametrize(("loosened", "tightened", "broken"), [(1.0, 1.0, False), (0.1, 1.0, True), (1.0, 10.0, True)])
def test_one_training_serves_the_inequalities_of_a_proof_on_the_exact_kernel(loosened, tightened, broken):
    """With the right constants nothing is broken; controls promise a tenth of the growth, and ten times the rise."""
    half, slope, step_size = 3, 0.2, 0.5
    direction = np.asarray(find_direction())
    nets, size = networks(RUNS), 6**-0.5
    follows = Potentials(
        jnp.tile(jnp.repeat(jnp.asarray([1.0, -1.0]), half), (RUNS, 1)), jnp.tile(direction, (RUNS, 1))
    )
    first = jax.vmap(lambda follows, net: follows.of(net))(follows, nets)
    most = jnp.full(RUNS, loosened * (2 * step_size + 2 * half * step_size**2 * size**2))
    least = jnp.full(RUNS, tightened * (2 * half * step_size * size * slope))
    watch = Closest(growth, (first, most, least), ("equation_12_step", "equation_12"), follows=follows)
    recipe = Recipe(hinge, step_size, 2000)
    assert kernel_of(recipe, nets, toy(), watch) == "blocked"
    runs = ensemble(nets, toy(), recipe, run_keys(RUNS), watch=watch)
    assert (runs.updates > 5).all()
    assert any((found.broken > 0).any() for found in runs.watched.values()) == broken
    assert (runs.watched["equation_11"].steps == runs.updates).all()
    by_weights = ensemble(nets, toy(), with_method(recipe, kernel="plain"), run_keys(RUNS), watch=watch)
    for name, found in runs.watched.items():
        theirs = by_weights.watched[name]
        np.testing.assert_array_equal(found.broken, theirs.broken)
        np.testing.assert_allclose(found.ratio, theirs.ratio, rtol=1e-9)


def find_direction():
    """w* of the data: y⟨w*, x⟩ ≥ 1 on every point."""
    draw = np.random.default_rng(0)
    direction = draw.normal(size=toy().dim)
    margins = np.asarray(toy().labels) * (np.asarray(toy().inputs) @ direction)
    return direction / margins.min()


def test_control_a_wrong_direction_is_seen():
    right = followed("blocked", hinge, "hidden", 1, False).watched["alignment"].measured
    recipe = Recipe(hinge, 0.7, 2 * STEPS, check_every=35, kernel="plain")
    follows = potentials(UPDATES, False)
    follows = dataclasses.replace(follows, direction=1.001 * follows.direction)
    nets = jax.tree.map(lambda leaf: jnp.repeat(leaf, UPDATES, axis=0), networks(1))
    watch = Closest(shown, jnp.arange(1, UPDATES + 1), follows=follows)
    wrong = ensemble(nets, toy(), recipe, jnp.repeat(run_keys(1), UPDATES, axis=0), watch=watch)
    seen = np.isfinite(right)
    assert (np.abs(wrong.watched["alignment"].measured[seen] / right[seen] - 1) > 1e-4).all()


def test_projections_with_biases_and_without_an_entry_for_them():
    inputs, direction = jnp.asarray([[1.0, 2.0], [3.0, -1.0]]), jnp.asarray([2.0, 1.0])
    for shift, has_bias, expected in ((None, True, [4, 5]), (0.5, True, [4.5, 5.5]), (0.5, False, [4, 5])):
        follows = Potentials(jnp.ones(1), direction, shift=None if shift is None else jnp.asarray(shift))
        np.testing.assert_array_equal(follows.projections(inputs, has_bias), expected)
