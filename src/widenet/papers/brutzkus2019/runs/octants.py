"""Exact probabilities of what a random start explores: counting octants, no sampling.

A filter with independent Gaussian entries has a rotation-invariant direction, so the signs of its fits ⟨w, p_1⟩ and
⟨w, p_2⟩ and which of the two is larger give eight octants of probability 1/8 each. A cone W⁺(i) is two octants; so are
the parts of W⁺(1) ∪ W⁺(3) that p_2 or p_4 fits. Counts of k independent filters are then multinomial, and probabilities
are whole numbers over 2^k or 4^k.
"""

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import scipy
from jaxtyping import Bool, Float, Int

from widenet.data.xord import PATTERNS

RADIUS = Fraction(2)
"""Counts are promised to lie within 2√k of their means."""


def octant(filters: Float[np.ndarray, "*batch filter 2"]) -> Int[np.ndarray, "*batch filter"]:
    """0 to 7: [⟨w, p_1⟩ > 0] + 2·[⟨w, p_2⟩ > 0] + 4·[|⟨w, p_1⟩| > |⟨w, p_2⟩|]."""
    across, along = np.moveaxis(filters @ PATTERNS[:2].T, -1, 0)
    return (across > 0) + 2 * (along > 0) + 4 * (np.abs(across) > np.abs(along))


def from_octant(
    octants: Int[np.ndarray, "*batch filter"],
    larger: float | Float[np.ndarray, "*batch filter"] = 2.0,
    smaller: float | Float[np.ndarray, "*batch filter"] = 1.0,
) -> Float[np.ndarray, "*batch filter 2"]:
    """A filter in each octant whose two fits have these sizes."""
    is_across = octants >= 4
    across = np.where(octants % 2 == 1, 1, -1) * np.where(is_across, larger, smaller)
    along = np.where(octants // 2 % 2 == 1, 1, -1) * np.where(is_across, smaller, larger)
    return (across[..., None] * PATTERNS[0] + along[..., None] * PATTERNS[1]) / 2


def equally_likely(filters: Float[np.ndarray, "*batch filter 2"]) -> float:
    """The p-value of the χ² test that a filter lies in each octant equally often; 0 where a filter is not finite."""
    if not np.isfinite(filters).all():
        return 0.0
    return float(scipy.stats.chisquare(np.bincount(octant(filters).ravel(), minlength=8)).pvalue)


def within(half_width: int, parts: int, radius: Fraction = RADIUS) -> Bool[np.ndarray, " count"]:
    """For n = 0, …, k: whether |n − k/parts| ≤ radius·√k, decided in whole numbers."""
    off = radius.denominator * (parts * np.arange(half_width + 1) - half_width)
    return off**2 <= (radius.numerator * parts) ** 2 * half_width


@functools.lru_cache(maxsize=1024)
def _ways(half_width: int, radius: Fraction) -> tuple[int, ...]:
    """For j = 0, …, k: the words of length j over two letters in which both counts are within radius·√k of k/4."""
    allowed = np.flatnonzero(within(half_width, 4, radius)).tolist()
    low, high = (allowed[0], allowed[-1]) if allowed else (1, 0)
    return tuple(
        sum(math.comb(length, n) for n in range(max(low, length - high), min(high, length - low) + 1))
        for length in range(half_width + 1)
    )


def _halves(half_width: int, radius: Fraction) -> list[int]:
    return np.flatnonzero(within(half_width, 2, radius)).tolist()


def axis_explored(half_width: int, radius: Fraction = RADIUS) -> Fraction:
    """P(||W⁺(1) ∪ W⁺(3)| − k/2| ≤ 2√k), for one sign of filters."""
    return Fraction(sum(math.comb(half_width, j) for j in _halves(half_width, radius)), 2**half_width)


def both_axes_explored(half_width: int, radius: Fraction = RADIUS) -> Fraction:
    """The event of Lemma 6.1 as extended in Lemma E.2: both signs of filters."""
    return axis_explored(half_width, radius) ** 2


def positive_cones_explored(half_width: int, radius: Fraction = RADIUS) -> Fraction:
    """The event of Lemma E.15: |W⁺(1)| and |W⁺(3)| within 2√k of k/4, jointly."""
    ways = _ways(half_width, radius)
    total = sum(math.comb(half_width, j) * ways[j] << (half_width - j) for j in range(half_width + 1))
    return Fraction(total, 4**half_width)


def negative_parts_explored(half_width: int, radius: Fraction = RADIUS) -> Fraction:
    """The event of Lemma E.19: U⁺(2), U⁺(4) and both parts of U⁺(1) ∪ U⁺(3) within 2√k of k/4, jointly."""
    ways = _ways(half_width, radius)
    total = sum(math.comb(half_width, j) * ways[j] * ways[half_width - j] for j in range(half_width + 1))
    return Fraction(total, 4**half_width)


def explored_for_positive(half_width: int, radius: Fraction = RADIUS) -> Fraction:
    """What the proof of Proposition E.18 uses: Lemmas E.2 and E.15 together."""
    return _plus_filters(half_width, radius) * axis_explored(half_width, radius)


def explored_for_negative(half_width: int, radius: Fraction = RADIUS) -> Fraction:
    """What the proof of Proposition E.22 uses: Lemmas E.2 and E.19 together."""
    return axis_explored(half_width, radius) * _minus_filters(half_width, radius)


def explored_for_all(half_width: int, radius: Fraction = RADIUS) -> Fraction:
    """What the proof of Theorem 6.3 uses: Lemmas E.2, E.15 and E.19 together."""
    return _plus_filters(half_width, radius) * _minus_filters(half_width, radius)


def _plus_filters(half_width: int, radius: Fraction) -> Fraction:
    ways = _ways(half_width, radius)
    total = sum(math.comb(half_width, j) * ways[j] << (half_width - j) for j in _halves(half_width, radius))
    return Fraction(total, 4**half_width)


def _minus_filters(half_width: int, radius: Fraction) -> Fraction:
    ways = _ways(half_width, radius)
    total = sum(math.comb(half_width, j) * ways[j] * ways[half_width - j] for j in _halves(half_width, radius))
    return Fraction(total, 4**half_width)


def all_octants(n_filters: int) -> Int[np.ndarray, "start filter"]:
    """Every way to put the filters into octants: 8^n rows of equal probability."""
    return np.array(list(itertools.product(range(8), repeat=n_filters)))


def share_of(event: Callable[[Float[np.ndarray, "start filter 2"]], np.ndarray], n_filters: int) -> Fraction:
    """The exact probability of an event that octants decide: its share of all 8^n rows."""
    happens = event(from_octant(all_octants(n_filters)))
    return Fraction(int(np.sum(happens)), len(happens))
