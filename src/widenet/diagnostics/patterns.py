"""Activation patterns before and after training: which neurons changed sides, and on how many points."""

import numpy as np
from jaxtyping import Float

Preactivations = Float[np.ndarray, "point neuron"]


def flip_share(start: Preactivations, end: Preactivations) -> float:
    """The share of (neuron, point) pairs whose pattern 1[z > 0] changed."""
    return float(((start > 0) != (end > 0)).mean())


def coupled_share(start: Preactivations, end: Preactivations) -> float:
    """The share of neurons with the same gates 1[z ≥ 0] on all points: there gradient and pseudo gradient are one."""
    return float(((start >= 0) == (end >= 0)).all(axis=0).mean())
