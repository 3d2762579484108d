"""Losses of one prediction and one label, elementwise: the caller takes the mean.

With one output the label is ±1, and outputs and labels must have the same shape; (n,) against (n, 1) would broadcast
silently. With several outputs (a last axis of at least two) the label is the number of a class, 0 to outputs − 1.
The subgradient at a kink is the paper's, and it is what automatic differentiation gives here: `hinge` has
derivative 0 where y N(x) = 1 exactly, so such a point produces no update.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Loss = Callable[[Array, Float[Array, "*sample"]], Float[Array, "*sample"]]
"""(outputs, labels) → losses."""


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


def log_cross_entropy(
    outputs: Float[Array, "*sample output"], labels: Float[Array, "*sample"]
) -> Float[Array, "*sample"]:
    """log of the cross-entropy, finite where the cross-entropy itself underflows."""
    lead = jax.scipy.special.logsumexp(_leads(outputs, labels), axis=-1)
    return log_logistic(-lead, jnp.ones_like(lead))


def cross_entropy(outputs: Float[Array, "*sample output"], labels: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """−log of the softmax at the label, accurate down to the smallest number of the dtype.

    It is softplus(log Σ_{i≠y} exp(f_i − f_y)): the plain form freezes where exp(f_y) swallows the other terms.
    """
    return jax.nn.softplus(jax.scipy.special.logsumexp(_leads(outputs, labels), axis=-1))


def multiclass_hinge(
    outputs: Float[Array, "*sample output"], labels: Float[Array, "*sample"]
) -> Float[Array, "*sample"]:
    """max(1 − (f_y − max_{i≠y} f_i), 0), with derivative 0 at margin 1; classes that tie for the maximum share it."""
    return hinge(-jnp.max(_leads(outputs, labels), axis=-1), jnp.ones_like(labels))


def zero_one(outputs: Float[Array, "*prediction"], labels: Float[Array, "*sample"]) -> Float[Array, "*sample"]:
    """1 where the sign or the class is wrong. An output of 0, or a tie, is wrong: the network did not decide."""
    several = outputs.ndim == labels.ndim + 1
    margins = -jnp.max(_leads(outputs, labels), axis=-1) if several else _margins(outputs, labels)
    return jnp.where(margins > 0, 0.0, 1.0).astype(outputs.dtype)


SATURATING: frozenset[Loss] = frozenset({hinge, multiclass_hinge})
"""Losses that are exactly 0, with gradient 0, on a whole region: once there, SGD stays."""


OF_SIGNS: frozenset[Loss] = frozenset({hinge, logistic})
"""Losses of one output, whose labels are ±1."""


POSITIVE: dict[Loss, Loss] = {logistic: log_logistic, cross_entropy: log_cross_entropy}
"""Losses that are never 0, and their logarithms: where such a loss is 0, the dtype has no number that small."""


def log_mean(loss: Loss, outputs: Array, labels: Float[Array, " sample"]) -> Float[Array, ""]:
    """log of the mean loss over the samples, in the log domain where the loss is one of `POSITIVE`."""
    if loss not in POSITIVE:
        return jnp.log(jnp.mean(loss(outputs, labels)))
    logs = POSITIVE[loss](outputs, labels)
    return jax.scipy.special.logsumexp(logs) - math.log(logs.shape[0])


def _margins(outputs: Array, labels: Array) -> Array:
    if outputs.shape != labels.shape:
        raise ValueError(f"outputs and labels must have one shape, got {outputs.shape} and {labels.shape}")
    return labels * outputs


def _leads(outputs: Array, labels: Array) -> Array:
    """f_i − f_y for every class i, and −∞ at the label itself."""
    if outputs.ndim != labels.ndim + 1 or outputs.shape[:-1] != labels.shape or outputs.shape[-1] < 2:
        raise ValueError(f"outputs must have one more axis than labels, got {outputs.shape} and {labels.shape}")
    classes = jnp.arange(outputs.shape[-1], dtype=labels.dtype).reshape(*[1] * labels.ndim, -1)
    is_label = classes == labels[..., None]
    own = jnp.sum(jnp.where(is_label, outputs, 0), axis=-1, keepdims=True)
    return jnp.where(is_label, -jnp.inf, outputs - own)
