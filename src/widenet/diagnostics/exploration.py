"""Which directions the filters of brutzkus2019 look into: the sets W⁺(i), W⁻(i), U⁺(i), U⁻(i), and their sizes.

The paper writes W⁺(i) for two different things. In the XOR problem it is a *half-plane*, {j: ⟨w_j, x_i⟩ > 0}, and every
filter lies in two of the four. In XORD it is a *cone*, {j: p_i fits w_j best}, and every filter lies in one. Also, x_2
and x_4 of XOR are p_4 and p_2 of XORD. So there are two functions with two names here, each for either sign of filters.

All comparisons are strict. A filter on a border (probability 0), and one that is not a number, is in no set. Filters
may have any leading axes (run, time); a filter axis and two coordinates come last. Everything is NumPy.
"""

import math

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.data.xord import PATTERNS

XOR_POINTS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
"""x_1, …, x_4 of the XOR problem, in its own order: x_2 is p_4, and x_4 is p_2."""

XOR_LABELS = np.array([1.0, -1.0, 1.0, -1.0])
"""y_1, …, y_4."""

Filters = Float[np.ndarray, "*batch filter 2"]
Half = Float[np.ndarray, "*batch half 2"]
Membership = Bool[np.ndarray, "*batch filter 4"]
AxisSides = Bool[np.ndarray, "*batch filter 2"]
Members = Bool[np.ndarray, "*batch filter"]


def plus_and_minus(filters: Filters) -> tuple[Half, Half]:
    """(w, u): the first half of the filters, with output weight +1, and the second, with −1."""
    n_filters = filters.shape[-2]
    if n_filters % 2:
        raise ValueError(f"there are as many filters of each sign, got {n_filters} in all")
    return filters[..., : n_filters // 2, :], filters[..., n_filters // 2 :, :]


def half_planes(filters: Filters) -> Membership:
    """XOR: whether ⟨w, x_i⟩ > 0, for i = 1, …, 4. W⁺(i) is column i − 1; W⁻(i) is column i − 1 for −w."""
    return filters @ XOR_POINTS.T > 0


def cones(filters: Filters) -> Membership:
    """XORD: whether p_i is the pattern that fits best, for i = 1, …, 4. W⁺(i) is column i − 1."""
    fits = filters @ PATTERNS.T
    # p_i fits better than p_{i+2} = −p_i if its fit is positive, and better than ±p_{i−1} if it exceeds both.
    return fits > np.abs(fits[..., [3, 0, 1, 2]])


def negative_sides(filters: Filters) -> AxisSides:
    """XORD: which of the negative patterns p_2 (column 0) and p_4 (column 1) fits better: W⁻(2) and W⁻(4)."""
    return filters @ PATTERNS[1::2].T > 0


def on_positive_axis(filters: Filters) -> Members:
    """XORD: W⁺(1) ∪ W⁺(3), the filters that a positive pattern fits best: |⟨w, p_1⟩| > |⟨w, p_2⟩|."""
    member = cones(filters)
    return member[..., 0] | member[..., 2]


def on_negative_axis(filters: Filters) -> Members:
    """XORD: W⁺(2) ∪ W⁺(4), the filters that a negative pattern fits best."""
    member = cones(filters)
    return member[..., 1] | member[..., 3]


def sizes(membership: Membership | AxisSides) -> Int[np.ndarray, "*batch set"]:
    """|W⁺(i)| for every i: how many filters are in each set."""
    return membership.sum(axis=-2)


def explored(counts: Int[np.ndarray, "*batch"], half_width: int, *, radius: float = 2.0) -> Bool[np.ndarray, "*batch"]:
    """Whether each count of k filters lies within k/2 ± radius·√k, limits included."""
    reach = radius * math.sqrt(half_width)
    return (counts >= half_width / 2 - reach) & (counts <= half_width / 2 + reach)
