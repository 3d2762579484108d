"""The bounds of Theorem 1 and its lemmas, in reduced coordinates. Logarithms are natural, norms Frobenius.

The constant C₁ of the paper is "large enough". What its proof needs of the loss is solved for here, per number of
points n and as one number for all n.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

Numbers = Any
"""One number, or an array with one per case; the result is of the same kind."""

SHARP = (3 + math.sqrt(5)) / 2
"""κ = 2.618…: ‖∇²L‖ ≤ κpL, where Lemma 6 has 5pL; attained in the limit."""

LEAST_LOG_LOSS = -690.0
"""Below this the loss, or the gradient of one of its points, is no normal number of float64 any more."""

LEAST_SHARE = 5 / 6
"""Of L log(1/L) in Lemma 10, and of α‖∇L‖² in Lemmas 5 and 8."""


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where the function changes its sign between the two, to the last digits."""
    return float(scipy.optimize.root_scalar(function, bracket=(low, high), xtol=1e-15, rtol=1e-15).root)


def z_log_squared(z: Numbers) -> Numbers:
    """z log²(1/z), at most 4/e² on (0, 1]."""
    return z * np.log(z) ** 2


def step_scale_terms(norm: Numbers, loss: Numbers, half_width: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The three terms of (6), whose minimum is Q̃₁."""
    inverse_log = np.log(loss)
    return (
        1 / (30 * half_width * loss * inverse_log**2),
        108 * norm**2 / (125 * loss * inverse_log**4),
        math.e**2 / (120 * half_width),
    )


def largest_step_scale(norm: Numbers, loss: Numbers, half_width: Numbers) -> Numbers:
    """Q̃₁ (6)."""
    first, second, third = step_scale_terms(norm, loss, half_width)
    return np.minimum(np.minimum(first, second), third)


def rate_constant(step_scale: Numbers, norm: Numbers, loss: Numbers) -> Numbers:
    """Q̃₂(Q₁) (7)."""
    return 125 * step_scale * loss * np.log(loss) ** 4 / (216 * norm**2)


def scheduled_step(step_scale: Numbers, log_loss: Numbers) -> Numbers:
    """α_t = Q₁ log²(1/L_t)."""
    return step_scale * log_loss**2


def step_product(half_width: Numbers, step: Numbers, loss: Numbers) -> Numbers:
    """30pαL, at most 1 by I2."""
    return 30 * half_width * step * loss


def hessian_bound(half_width: Numbers, loss: Numbers) -> Numbers:
    """5pL (Lemma 6)."""
    return 5 * half_width * loss


def off_diagonal_bound(bandwidth: Numbers, loss: Numbers) -> Numbers:
    """L (23)."""
    return loss


def diagonal_bound(bandwidth: Numbers, loss: Numbers) -> Numbers:
    """(1 + 1/h)L (24)."""
    return (1 + 1 / bandwidth) * loss


def wide_diagonal_bound(bandwidth: Numbers, loss: Numbers) -> Numbers:
    """2L/h (24)."""
    return 2 * loss / bandwidth


def gradient_bound(half_width: Numbers, loss: Numbers) -> Numbers:
    """√(2p) min{L, 1} (Lemma 7)."""
    return np.sqrt(2 * half_width) * np.minimum(loss, 1)


def squared_hessian_sum(half_width: Numbers, loss: Numbers) -> Numbers:
    """12p²L², where the proof of Lemma 6 arrives."""
    return 12 * half_width**2 * loss**2


def repaired_hessian_sum(half_width: Numbers, loss: Numbers) -> Numbers:
    """(4p − 1)²L², what its four sums give when they are added up again."""
    return (4 * half_width - 1) ** 2 * loss**2


def largest_double_sum(half_width: Numbers) -> Numbers:
    """2p − 1: the most that Σ_{j≠k} ‖a_j‖‖a_k‖ can be where Σ‖a_j‖² = 1 over 2p rows."""
    return 2 * half_width - 1


def relative_decrease(step: Numbers, loss: Numbers, norm: Numbers) -> Numbers:
    """125αL log²(1/L)/(216‖V‖²): the share of L_t that the first line of (8) takes off."""
    return 125 * step * loss * np.log(loss) ** 2 / (216 * norm**2)


def relative_decrease_at_start(step_scale: Numbers, loss: Numbers, first_loss: Numbers, first_norm: Numbers) -> Numbers:
    """125Q₁L_t log⁴(1/L₁)/(216‖V¹‖²): the share that (8) takes off."""
    return 125 * step_scale * loss * np.log(first_loss) ** 4 / (216 * first_norm**2)


def log_growth_factor(step: Numbers, gradient_norm: Numbers, loss: Numbers, norm: Numbers) -> Numbers:
    """log B_t, B_t the curly bracket of (9)."""
    gained, grown = growth_terms(step, gradient_norm, loss, norm)
    return np.log1p(gained) - np.log1p(grown)


def growth_terms(step: Numbers, gradient_norm: Numbers, loss: Numbers, norm: Numbers) -> tuple[Numbers, Numbers]:
    """5α‖∇L‖²/(3L log(1/L)) and α‖∇L‖/‖V‖, of which the first must not be the smaller one."""
    moved = step * gradient_norm
    return 5 * moved * (gradient_norm / loss) / (3 * -np.log(loss)), moved / norm


def entropy_term(z: Numbers) -> Numbers:
    """F(z) = (1 − e^{−z}) log(1/(e^z − 1)) of Lemma 10: the loss z of a point times nothing but z."""
    return -np.expm1(-z) * -(z + np.log(-np.expm1(-z)))


def entropy_curvature(z: Numbers) -> Numbers:
    """F''(z) = e^{−z}(log(e^z − 1) − 1/(1 − e^{−z}))."""
    return np.exp(-z) * (z + np.log(-np.expm1(-z)) + 1 / np.expm1(-z))


INFLECTION = root(entropy_curvature, 1.0, 2.0)
"""1.524…: F is concave up to here, and not beyond."""


def alignment_bound(n_samples: Numbers, loss: Numbers, penalty: Numbers | None = None) -> Numbers:
    """The right side of (5) times ‖V‖: F(nL)/n − L; sharper with −mean(g)/2 as the penalty."""
    return entropy_term(n_samples * loss) / n_samples - (loss if penalty is None else penalty)


def alignment_share(loss: Numbers) -> Numbers:
    """(5/6)L log(1/L), Lemma 10 times ‖V‖."""
    return LEAST_SHARE * loss * -np.log(loss)


def lost_share(n_samples: Numbers, loss: Numbers) -> Numbers:
    """(1 + log 2 + log n)/log(1/L) + nL, what the proof of Lemma 10 loses; it needs at most 1/6."""
    return (1 + math.log(2) + np.log(n_samples)) / -np.log(loss) + n_samples * loss


def last_line_share(exponent: Numbers) -> Numbers:
    """1 − (1 + 2 log 2)/((1 + C₁) log 2) − 2^{−C₁}, the last line of the proof of Lemma 10; it needs 5/6."""
    return 1 - (1 + 2 * math.log(2)) / ((1 + exponent) * math.log(2)) - 2**-exponent


LEAST_EXPONENT = root(lambda c: last_line_share(c) - LEAST_SHARE, 5.0, 50.0)
"""The least C₁ with which the proof of Lemma 10 goes through, 19.656…"""


def universal_threshold(n_samples: int) -> float:
    """n^{−(1 + C₁)} with that C₁."""
    return math.exp(-(1 + LEAST_EXPONENT) * math.log(n_samples))


def proof_threshold(n_samples: int) -> float:
    """The largest L with `lost_share` at most 1/6."""
    return _largest_loss(lambda loss: 1 / 6 - lost_share(n_samples, loss))


def equation_5_threshold(n_samples: int) -> float:
    """The largest L at which (5) itself gives Lemma 10; it is above the other two."""
    return _largest_loss(lambda loss: alignment_bound(n_samples, loss) / (loss * -math.log(loss)) - LEAST_SHARE)


def _largest_loss(room: Callable[[float], float]) -> float:
    """Where the room, which shrinks as the loss grows, is used up."""
    return math.exp(root(lambda log_loss: room(math.exp(log_loss)), -690.0, -5.0))


def row_length(loss: float, bandwidth: float) -> float:
    """c with log(1 + e^{−(c − h/2)}) = L: where every point has one unit at c and no other, the loss is L."""
    return bandwidth / 2 - math.log(math.expm1(loss))


THIRD_TERM_LIMIT = 0.65
"""Up to this L₁ the third term of (6) is the smallest one."""
