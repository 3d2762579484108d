"""Losses of one margin, elementwise: the caller takes the mean.

Each takes the margin m = y N(x) and returns the loss of that sample. The subgradient at a kink is the paper's and
is what automatic differentiation gives here: `hinge` has derivative 0 at m = 1, so a point with y N(x) ≥ 1
produces no update.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def hinge(margin: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """max(1 − m, 0), with derivative 0 (not −1) at m = 1."""
    return jnp.where(margin < 1, 1 - margin, jnp.zeros_like(margin))


def logistic(margin: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """log(1 + exp(−m)), accurate from m = −1e300 to losses as small as the dtype can hold.

    For m > 0 the plain form rounds 1 + exp(−m) to 1 near m = 37; log1p does not.
    """
    return jax.nn.softplus(-margin)


def log_logistic(margin: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """log of the logistic loss, finite where the loss itself underflows (m > 745 in float64).

    log log(1 + e^{−m}) = −m + log(log1p(t)/t) with t = e^{−m}; the second term goes to 0 as t does.
    """
    ratio_at = jnp.exp(-jnp.maximum(margin, 30))
    far = -margin + jnp.log1p(-ratio_at / 2)
    near = jnp.log(jax.nn.softplus(-jnp.minimum(margin, 30)))
    return jnp.where(margin > 30, far, near)


def zero_one(margin: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """1 where the sign is wrong. A margin of exactly 0 is wrong: the network did not decide."""
    return jnp.where(margin > 0, 0.0, 1.0).astype(margin.dtype)
