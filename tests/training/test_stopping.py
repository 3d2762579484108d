"""Goals, by hand."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import loss_below, never, zero_error
from widenet.training.stopping import zero_loss


def says(rule, outputs=(1.0, 1.0), labels=(1.0, 1.0), losses=(0.0, 0.0)):
    return bool(rule(jnp.asarray(outputs), jnp.asarray(labels), jnp.asarray(losses)))


@pytest.mark.parametrize(
    ("losses", "is_reached"),
    [((0.0, 0.0), True), ((0.0, 1e-300), False), ((1.0, 1.0), False), ((0.0, -1.0), False), ((-1.0, -1.0), False)],
)
def test_every_loss_is_zero(losses, is_reached):
    assert says(zero_loss, losses=losses) == is_reached


@pytest.mark.parametrize(
    ("outputs", "labels", "is_reached"),
    [
        ((0.1, -0.1), (1.0, -1.0), True),
        ((0.1, 0.1), (1.0, -1.0), False),
        ((-0.1, 0.1), (1.0, -1.0), False),
        (((2.0, 1.0, 0.0), (0.0, 1.0, 2.0)), (0.0, 2.0), True),
        (((2.0, 1.0, 0.0), (0.0, 1.0, 2.0)), (0.0, 1.0), False),
    ],
)
def test_every_sample_has_its_sign_or_its_class(outputs, labels, is_reached):
    assert says(zero_error, outputs, labels) == is_reached


def test_never():
    assert not says(never)


def test_a_mean_loss_of_at_most_so_much():
    """Means 1/2, a little more and a little less."""
    assert [says(loss_below(0.5), losses=(0.0, each)) for each in (1.0, 1.01, 0.99)] == [True, False, True]
    assert says(loss_below(0.0))
    assert loss_below(0.25) is loss_below(0.25)


@pytest.mark.parametrize("target", [float("nan"), [0.1], np.ones(1), np.ones(2), "0.1", True, None])
def test_targets_that_are_no_number(target: Any):
    with pytest.raises(Exception, match=r"(?i)loss_below takes one number|type-check|type check"):
        loss_below(target)
