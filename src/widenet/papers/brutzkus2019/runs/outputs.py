"""What networks of XORD answer, in plain NumPy: filter by filter, point by point, or on the 15 pattern sets."""

import functools
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from widenet.data.xord import set_points


@functools.cache
def one_point_per_set() -> Float[np.ndarray, "15 8"]:
    """A point for each pattern set. Made on first use: JAX would start for a constant of the module."""
    return np.asarray(set_points().inputs)


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
    points = one_point_per_set()
    return np.stack([outputs(filters, points[place]) for place in sets], axis=-1)
