"""Losses of one output and one label, elementwise: the caller takes the mean.

The subgradient at a kink is the paper's, and it is what automatic differentiation gives here: `hinge` has
derivative 0 where y N(x) = 1 exactly, so such a point produces no update. Outputs and labels must have the same
shape; (n,) against (n, 1) would broadcast silently.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Loss = Callable[[Float[Array, "*sample"], Float[Array, "*sample"]], Float[Array, "*sample"]]


def hinge(outputs: Float[Array, "*sample"], labels: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """max(1 − y N(x), 0), with derivative 0 at y N(x) = 1."""
    margins = _margins(outputs, labels)
    return jnp.where(margins < 1, 1 - margins, jnp.zeros_like(margins))


def logistic(outputs: Float[Array, "*sample"], labels: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """log(1 + exp(−y N(x))), accurate down to the smallest number of the dtype.

    The plain form freezes near y N(x) = 37, where 1 + exp(−37) rounds to 1; log1p does not.
    """
    return jax.nn.softplus(-_margins(outputs, labels))


def log_logistic(outputs: Float[Array, "*sample"], labels: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """log of the logistic loss, finite where the loss itself underflows (y N(x) > 745 in float64).

    With t = exp(−m): log log(1 + t) = −m + log(log1p(t)/t), and log1p(t)/t = 1 − t/2 + O(t²).
    """
    margins = _margins(outputs, labels)
    far = -margins + jnp.log1p(-jnp.exp(-jnp.maximum(margins, 30)) / 2)
    near = jnp.log(jax.nn.softplus(-jnp.minimum(margins, 30)))
    return jnp.where(margins > 30, far, near)


def zero_one(outputs: Float[Array, "*sample"], labels: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """1 where the sign is wrong. An output of exactly 0 is wrong: the network did not decide."""
    return jnp.where(_margins(outputs, labels) > 0, 0.0, 1.0).astype(outputs.dtype)


SATURATING: frozenset[Loss] = frozenset({hinge})
"""Losses that are exactly 0, with gradient 0, on a whole region: once there, SGD stays."""


def _margins(outputs: Array, labels: Array) -> Array:
    if outputs.shape != labels.shape:
        raise ValueError(f"outputs and labels must have one shape, got {outputs.shape} and {labels.shape}")
    return labels * outputs
