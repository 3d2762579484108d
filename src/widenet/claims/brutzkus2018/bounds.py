"""The upper bounds on non-zero updates, as formulas.

Symbols of the paper: ws = ‖w*‖ is `separator_norm`, α `slope`, η `step_size`, v `output_weight`, R `row_bound`, k
`half_width` (half the number of neurons). All arguments may be arrays.
"""

import jax
import numpy as np
from numpy.typing import NDArray

Values = float | int | np.ndarray | jax.Array
"""One number, or one per trial."""


def max_nonzero_updates(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    row_bound: Values,
    half_width: Values,
) -> NDArray[np.float64]:
    """M_k of Theorem 2: no order of the samples makes SGD update more often than this.

    M_k = ws²/α² + ws²/(kηv²α²) + √(R(8k²η²v² + 8ηk)) ws^{1.5} / (2k(ηvα)^{1.5}) + 2R ws/(ηvα).
    """
    return sum_of(update_bound_terms(separator_norm, slope, step_size, output_weight, row_bound, half_width))


def update_bound_terms(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    row_bound: Values,
    half_width: Values,
) -> tuple[NDArray[np.float64], ...]:
    """The four terms of M_k, in the order of the paper. Infinite where α, η or v is 0."""
    ws, a, eta, v, radius, k = (
        np.asarray(value, np.float64)
        for value in (separator_norm, slope, step_size, output_weight, row_bound, half_width)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (
            (ws / a) ** 2,
            ws**2 / (k * eta * (v * a) ** 2),
            np.sqrt(radius * (8 * (k * eta * v) ** 2 + 8 * eta * k)) * ws**1.5 / (2 * k * (eta * v * a) ** 1.5),
            2 * radius * ws / (eta * v * a),
        )
    # 0/0 (R = 0 with α = 0) promises nothing either.
    return tuple(np.where(np.isnan(term), np.inf, term) for term in terms)


def sum_of(terms: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
    """The terms added from the smallest up, so that the result is as exact as float64 allows."""
    return np.asarray(np.sum(np.sort(np.stack(np.broadcast_arrays(*terms)), axis=0), axis=0))
