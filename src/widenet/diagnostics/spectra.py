"""Singular values of weights and of what training added to them, and how many of them count."""

import numpy as np
from jaxtyping import Float

Values = Float[np.ndarray, " place"]


def singular_values(matrix: Float[np.ndarray, "row column"]) -> Values:
    """In falling order, in float64."""
    return np.linalg.svd(np.asarray(matrix, np.float64), compute_uv=False)


def effective_rank(values: Values) -> float:
    """exp of the entropy of σ²/Σσ²: 1 for one direction, n for n equal ones."""
    shares = values**2 / (values**2).sum()
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


SMALL = 1e-10
"""Singular values up to this share of the largest count as 0."""


def numerical_rank(values: Values) -> int:
    """How many do not count as 0."""
    return int((values > SMALL * values.max()).sum()) if len(values) and values.max() > 0 else 0
