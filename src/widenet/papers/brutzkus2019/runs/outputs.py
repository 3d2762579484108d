"""What networks of XORD answer, in plain NumPy: filter by filter, point by point, or on the 15 pattern sets."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from widenet.data.xord import set_points

SET_POINTS = np.asarray(set_points().inputs)
"""One point for each of the 15 pattern sets."""


def responses(
    filters: Float[np.ndarray, "*batch channel 2"], x: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "*batch channel"]:
    """max_i σ(⟨w, x_i⟩) of every filter on one point."""
    return np.maximum(filters @ x.reshape(-1, 2).T, 0).max(axis=-1)


def outputs(
    filters: Float[np.ndarray, "*batch channel 2"], x: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "*batch"]:
    """N(x) of networks with as many w's as u's."""
    answers = responses(filters, x)
    half = answers.shape[-1] // 2
    return np.asarray(answers[..., :half].sum(axis=-1) - answers[..., half:].sum(axis=-1))


def on_sets(
    filters: Float[np.ndarray, "*network channel 2"], sets: Sequence[int] = range(15)
) -> Float[np.ndarray, "*network set"]:
    """N on one point for each of these pattern sets, by default all 15."""
    return np.stack([outputs(filters, SET_POINTS[place]) for place in sets], axis=-1)
