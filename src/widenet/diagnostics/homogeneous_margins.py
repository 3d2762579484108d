"""Margins of a network that is homogeneous of degree 1 in its weights, divided by their norm.

The smoothed margin −log(exp(nL) − 1)/‖W‖ of the logistic loss never decreases along gradient flow once nL < log 2.
Losses of late times underflow, so everything goes through logarithms. NumPy, with any leading axes.
"""

import numpy as np
import scipy.special
from jaxtyping import Float

Margins = Float[np.ndarray, "*batch point"]
"""y N(x) of every point."""


def losses(margins: Margins) -> Margins:
    """log(1 + e^{−q}); a NaN stays one, without a warning."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.logaddexp(0, -margins))


def log_losses(margins: Margins) -> Margins:
    """log log(1 + e^{−q}), finite where the loss underflows."""
    far = -margins + np.log1p(-np.exp(-np.maximum(margins, 30.0)) / 2)
    near = np.log(np.logaddexp(0, -np.minimum(margins, 30.0)))
    return np.where(margins > 30, far, near)


def log_total_loss(margins: Margins) -> Float[np.ndarray, "*batch"]:
    """log(nL), the logarithm of the sum of the losses."""
    return np.asarray(scipy.special.logsumexp(log_losses(margins), axis=-1))


def normalized_margin(margins: Margins, norm: Float[np.ndarray, "*batch"] | float) -> Float[np.ndarray, "*batch"]:
    """min q/‖W‖ (Eq. 4)."""
    return np.asarray(margins.min(axis=-1) / norm)


def smoothed_margin(margins: Margins, norm: Float[np.ndarray, "*batch"] | float) -> Float[np.ndarray, "*batch"]:
    """−log(exp(nL) − 1)/‖W‖ (Eq. 5): the margin a single point of this loss would have. Negative while nL > log 2."""
    return np.asarray(margin_of_loss(log_total_loss(margins)) / norm)


def margin_of_loss(log_total: Float[np.ndarray, "*batch"]) -> Float[np.ndarray, "*batch"]:
    """ℓ^{−1}(S) = −log(e^S − 1), from log S."""
    total = np.exp(np.minimum(log_total, 700.0))
    small = -(log_total + total / 2)
    middle = -np.log(np.expm1(np.clip(total, 1e-300, 30.0)))
    return np.where(log_total < -30, small, np.where(total > 30, -total, middle))


def loss_weights(margins: Margins) -> Margins:
    """p_i = |ℓ'(q_i)|/(nL): the weights with which points push in the clock of dW/ds = −∇ log(nL)."""
    return np.asarray(np.exp(-np.logaddexp(0, margins) - log_total_loss(margins)[..., None]))
