"""On which points neurons agree: sign patterns, and the agreement regimes of sarussi2021 (Definitions 6.2 and 6.3).

A neural agreement regime NAR(β, c) holds rows with c_i⟨w, x_i⟩ ≥ β‖w‖ for every row w and point x_i. Everything is
NumPy, with any leading axes.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

Rows = Float[np.ndarray, "*batch neuron dim"]
Points = Float[np.ndarray, "point dim"]


def sign_pattern(rows: Rows, points: Points) -> Bool[np.ndarray, "*batch neuron point"]:
    """Where ⟨w, x⟩ > 0; 0 counts as negative, as σ'(0) = α does."""
    return rows @ points.T > 0


def agree(rows: Rows, points: Points) -> Bool[np.ndarray, "*batch"]:
    """Whether all rows have the same sign on every point."""
    pattern = sign_pattern(rows, points)
    return np.asarray((pattern == pattern[..., :1, :]).all(axis=(-2, -1)))


def common_signs(rows: Rows, points: Points) -> Float[np.ndarray, "*batch point"]:
    """±1 where all rows agree, 0 where they do not."""
    pattern = sign_pattern(rows, points)
    return np.where(pattern.all(axis=-2), 1.0, np.where(pattern.any(axis=-2), 0.0, -1.0))


def agreement_margin(rows: Rows, points: Points) -> Float[np.ndarray, "*batch"]:
    """The largest β: min |⟨w, x⟩|/‖w‖ over rows and points; 0 where a row is 0."""
    lengths = np.linalg.norm(rows, axis=-1)[..., None]
    products = np.abs(rows @ points.T)
    return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0).min(axis=(-2, -1)))


def in_regime(
    rows: Rows, points: Points, signs: Float[np.ndarray, " point"], margin: float
) -> Bool[np.ndarray, "*batch"]:
    """Whether c_i⟨w, x_i⟩ ≥ β‖w‖ for every row and point, and no row is 0."""
    lengths = np.linalg.norm(rows, axis=-1)[..., None]
    return np.asarray(((rows @ points.T * signs >= margin * lengths) & (lengths > 0)).all(axis=(-2, -1)))


def most_disagreements(rows: Rows, points: Points) -> Int[np.ndarray, "*batch"]:
    """The largest number of points on which two of the rows differ in sign."""
    pattern = sign_pattern(rows, points).astype(np.int64)
    ones = pattern.sum(axis=-1)
    both = pattern @ np.swapaxes(pattern, -1, -2)
    return np.asarray((ones[..., :, None] + ones[..., None, :] - 2 * both).max(axis=(-2, -1)))


def right_share(rows: Rows, points: Points, labels: Float[np.ndarray, " point"]) -> Float[np.ndarray, "*batch"]:
    """The share of the rows with y⟨w, x⟩ > 0 on every point; pass −y for the rows with output weight −v."""
    return np.asarray((rows @ points.T * labels > 0).all(axis=-1).mean(axis=-1))
