"""When a run has reached its goal.

A rule sees the outputs and losses on the whole training set at every check and says yes or no. Divergence, stalling
and the step budget are not rules: every run is watched for them.
"""

import functools
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from widenet.losses import zero_one

StoppingRule = Callable[
    [Float[Array, " sample *output"], Float[Array, " sample"], Float[Array, " sample"]], Bool[Array, ""]
]
"""(outputs, labels, losses) → has the goal been reached?"""


def zero_loss(
    outputs: Float[Array, " sample *output"], labels: Float[Array, " sample"], losses: Float[Array, " sample"]
) -> Bool[Array, ""]:
    """Every training loss is exactly 0 (for the hinge loss: every margin is at least 1)."""
    return jnp.all(losses == 0)


def zero_error(
    outputs: Float[Array, " sample *output"], labels: Float[Array, " sample"], losses: Float[Array, " sample"]
) -> Bool[Array, ""]:
    """Every training point has the right sign, or the right class."""
    return jnp.all(zero_one(outputs, labels) == 0)


def never(
    outputs: Float[Array, " sample *output"], labels: Float[Array, " sample"], losses: Float[Array, " sample"]
) -> Bool[Array, ""]:
    """Train until the budget is spent."""
    return jnp.zeros((), bool)


def loss_below(target: float) -> StoppingRule:
    """The mean training loss is at most `target`. One rule per target, so that none is compiled twice.

    Raises:
      ValueError: the target is no number.
    """
    number = np.asarray(target)
    if number.ndim or number.dtype.kind not in "iuf" or np.isnan(number):
        raise ValueError(f"loss_below takes one number, got {target!r}")
    return _loss_below(float(number))


@functools.lru_cache(maxsize=128)
def _loss_below(target: float) -> StoppingRule:

    def rule(
        outputs: Float[Array, " sample *output"], labels: Float[Array, " sample"], losses: Float[Array, " sample"]
    ) -> Bool[Array, ""]:
        return jnp.mean(losses) <= target

    return rule
