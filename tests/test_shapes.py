"""Shapes are checked in the first calls of each test; a function that is trusted is checked again in the next one."""

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from tests import shapes
from widenet.diagnostics.homogeneous_margins import normalized_margin

RIGHT = (np.ones((2, 3)), np.ones(2))
WRONG = (np.ones((2, 3)), np.ones((2, 1)))
"""One norm per row of margins, and a shape that NumPy would broadcast without a word."""


@pytest.fixture(autouse=True)
def _types_are_checked(request: pytest.FixtureRequest) -> None:
    if "first_calls" not in (request.config.getoption("--jaxtyping-packages", default=None) or ""):
        pytest.skip("types are not checked in this run")


def test_a_wrong_shape_is_noticed_in_the_first_call_and_in_the_last_that_is_checked():
    for _ in range(shapes.MOST - 1):
        normalized_margin(*RIGHT)
    with pytest.raises(TypeCheckError, match="normalized_margin"):
        normalized_margin(*WRONG)


def test_then_a_function_is_trusted_until_the_next_test():
    for _ in range(shapes.MOST):
        normalized_margin(*RIGHT)
    assert normalized_margin(*WRONG).shape == (2, 2)
    shapes.check_again()
    with pytest.raises(TypeCheckError):
        normalized_margin(*WRONG)


def test_the_test_before_is_forgotten():
    with pytest.raises(TypeCheckError):
        normalized_margin(*WRONG)
