"""A part of the points, drawn at random."""

import numpy as np


def drawn_points(labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Which points to take if there may be so many, every class among them; all where there are no more."""
    if len(labels) <= count:
        return np.arange(len(labels))
    firsts = np.unique(labels, return_index=True)[1]
    drawn = np.random.default_rng([seed, 13]).permutation(len(labels))
    return np.sort(np.concatenate([firsts, drawn[~np.isin(drawn, firsts)]])[:count])
