"""Random starts of XORD networks, and the events of Section E.0.1 that the proofs are conditioned on.

Filters have a run axis, then the w filters before the u filters, and two coordinates.
"""

from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float

from widenet.data.xord import PATTERNS
from widenet.diagnostics import exploration
from widenet.papers.brutzkus2019.formulas import start_limit
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.octants import RADIUS

Filters = Float[np.ndarray, "*run filter 2"]
Event = Bool[np.ndarray, "*run"]


def axes_are_explored(filters: Filters, radius: Fraction = RADIUS) -> Event:
    """Lemma 6.1 and E.2: |W⁺(1) ∪ W⁺(3)| and |U⁺(1) ∪ U⁺(3)| within 2√k of k/2."""
    counts = [exploration.on_positive_axis(half).sum(axis=-1) for half in exploration.plus_and_minus(filters)]
    return _all_within(np.stack(counts, axis=-1), filters.shape[-2] // 2, 2, radius)


def positive_cones_are_explored(filters: Filters, radius: Fraction = RADIUS) -> Event:
    """Lemma E.15: |W⁺(1)| and |W⁺(3)| within 2√k of k/4."""
    plus, _ = exploration.plus_and_minus(filters)
    return _all_within(exploration.sizes(exploration.cones(plus))[..., ::2], plus.shape[-2], 4, radius)


def negative_parts_are_explored(filters: Filters, radius: Fraction = RADIUS) -> Event:
    """Lemma E.19: |U⁺(2)|, |U⁺(4)| and both |(U⁺(1) ∪ U⁺(3)) ∩ U⁻(l)| within 2√k of k/4."""
    _, minus = exploration.plus_and_minus(filters)
    alone = exploration.sizes(exploration.cones(minus))[..., 1::2]
    parts = exploration.on_positive_axis(minus)[..., None] & exploration.negative_sides(minus)
    return _all_within(np.concatenate([alone, parts.sum(axis=-2)], axis=-1), minus.shape[-2], 4, radius)


def is_small(filters: Filters, step_size: float) -> Event:
    """The event of Lemma E.3: every |⟨w_0, p_i⟩| and |⟨u_0, p_i⟩| is at most √2η/4."""
    return np.abs(filters @ PATTERNS[:2].T).max(axis=(-2, -1)) <= start_limit(step_size)


def _all_within(counts: np.ndarray, half_width: int, parts: int, radius: Fraction) -> np.ndarray:
    return np.all(octants.within(half_width, parts, radius)[counts], axis=-1)
