"""What a recipe is, and what it refuses, without any training."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from tests.training.problems import networks, toy
from widenet.losses import hinge, logistic
from widenet.training import SGD, Cyclic, GradientDescent, Permutation, Recipe, never, zero_error
from widenet.training.stopping import zero_loss
from widenet.types import Layers

make: Any = functools.partial(Recipe, hinge, SGD(0.5))  # of any type: wrong ones are what is asked about


@pytest.mark.parametrize("max_steps", [1, 2**31 - 1, (1, 2**31 - 1), (5, 6)])
def test_budgets_that_fit(max_steps):
    make(max_steps).check(networks(2), toy(), 2)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"max_steps": 0}, r"between 1 and 2\^31 - 1, got 0"),
        ({"max_steps": -1}, r"between 1 and 2\^31 - 1, got -1"),
        ({"max_steps": 2**31}, r"between 1 and 2\^31 - 1"),
        ({"max_steps": (5, 0)}, r"between 1 and 2\^31 - 1"),
        ({"max_steps": (5, 6, 7)}, "one number or one per run, got 3 for 2 runs"),
        ({"max_steps": (5,)}, "one number or one per run, got 1 for 2 runs"),
        ({"max_steps": 9, "check_every": 0}, "check_every must be at least 1, got 0"),
    ],
)
def test_budgets_and_intervals_that_do_not_fit(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(**change).check(networks(2), toy(), 2)


def test_intervals_of_one_step_fit():
    make(9, check_every=1).check(networks(2), toy(), 2)
    assert make(9, check_every=1e1).check_every == 10


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: Recipe(hinge, max_steps=5), r"got None; write Recipe\(hinge, SGD\(0.5\)"),
        (lambda: Recipe(hinge, 0.1, 5), "got 0.1; a step size belongs to the method"),  # pyright: ignore
        (lambda: Recipe(hinge, SGD, 5), r"call it: SGD\(…\)"),  # pyright: ignore
        (lambda: Recipe(hinge, optax.sgd(0.1), 5), r"wrap it: Optax\(…\)"),  # pyright: ignore
        (lambda: Recipe(hinge, step_size=0.1, max_steps=5), r"pass step_size to the method.*SGD\(0.1\)"),
        (lambda: Recipe(hinge, GradientDescent(0.1), 5, order=Cyclic()), r"pass order to the method.*order=Cyclic\(\)"),
        (lambda: Recipe(hinge, GradientDescent(0.1), 5, batch_size=2), "pass batch_size to the method"),
        (lambda: Recipe(hinge, GradientDescent(0.1), 5, kernel="plain"), "pass kernel to the method"),
        (lambda: Recipe(hinge, GradientDescent(0.1), 5, colour="red"), "Recipe has no argument 'colour'"),
        (lambda: make(5, layers="all"), "layers must be"),
        (lambda: make("5"), "max_steps must be a whole number"),
        (lambda: make((5, 1.5)), "max_steps must be a whole number"),
        (lambda: make(5, after_goal=-1), "after_goal must be a whole number from 0 on"),
        (lambda: make(5, stop=0.1), "stop must be a stopping rule"),
    ],
)
def test_what_no_recipe_can_be_made_of(given, sentence):
    with pytest.raises(Exception, match=rf"(?i){sentence}|type-check"):
        given()


def test_what_a_recipe_is_unless_told_otherwise():
    recipe = make(5)
    assert isinstance(recipe.method, SGD)
    assert isinstance(recipe.method.order, Permutation)
    assert (recipe.method.batch_size, recipe.method.kernel) == (1, "auto")
    assert (recipe.layers, recipe.stop, recipe.check_every, recipe.after_goal) == (Layers.HIDDEN, None, None, 0)
    assert recipe.goal is zero_loss
    assert Recipe(logistic, SGD(0.5), 5).goal is never
    assert make(5, stop=zero_error).goal is zero_error
    assert make(5, layers="both").layers is Layers.BOTH
    descent = Recipe(logistic, GradientDescent(0.25), (3, 4), check_every=2)
    assert (descent.max_steps, descent.check_every) == ((3, 4), 2)
    assert isinstance(descent.method, GradientDescent)
    assert float(jnp.asarray(descent.method.step_size)) == 0.25


def test_only_the_step_size_is_a_number_that_programs_are_given():
    """Everything else is what they are compiled for."""
    recipe = Recipe(hinge, SGD(0.5), 10, stop=zero_error, check_every=5, after_goal=3)
    assert jax.tree.leaves(recipe) == [0.5]
