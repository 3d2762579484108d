"""Budgets and layers as they may be said."""

from typing import Any

import numpy as np
import pytest

from widenet.losses import hinge
from widenet.training import SGD, Recipe
from widenet.types import Layers


@pytest.mark.parametrize("layers", [np.ones(2), 0, None, "hiden", ["hidden"]])
def test_layers_are_one_of_two_words(layers):
    with pytest.raises(ValueError, match="layers must be 'hidden' or 'both', got"):
        Recipe(hinge, SGD(0.5), 10, layers=layers)
    assert Recipe(hinge, SGD(0.5), 10, layers="hidden").layers is Layers.HIDDEN


@pytest.mark.parametrize("budget", ["5", "ab", None, 1.5])
def test_a_budget_that_is_no_number(budget: Any):
    with pytest.raises(ValueError, match=f"max_steps must be a whole number, got {budget!r}"):
        Recipe(hinge, SGD(0.5), budget)


@pytest.mark.parametrize("budgets", [[3, 4.0], (3, 4), np.array([3, 4]), np.array([3.0, 4.0])])
def test_budgets_of_each_run_are_kept_as_whole_numbers(budgets: Any):
    assert Recipe(hinge, SGD(0.5), budgets).max_steps == (3, 4)
    assert Recipe(hinge, SGD(0.5), np.int64(7)).max_steps == 7
    assert Recipe(hinge, SGD(0.5), np.array(7.0)).max_steps == 7
