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


def stable_rank(values: Values) -> float:
    """Σσ²/σ₁²."""
    return float((values**2).sum() / values.max() ** 2)


def rank_gap(values: Values, place: int) -> float:
    """σ_j/σ_{j+1} at j = place, counted from 1; infinite where the second is 0."""
    if place >= len(values):
        return float("inf")
    return float(values[place - 1] / values[place]) if values[place] > 0 else float("inf")


def numerical_rank(values: Values, tolerance: float = 1e-10) -> int:
    """How many exceed this share of the largest."""
    return int((values > tolerance * values.max()).sum()) if len(values) and values.max() > 0 else 0
