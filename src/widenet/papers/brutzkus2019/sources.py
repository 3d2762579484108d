"""What networks of XORD are trained on and start from: training sets by their pattern sets, laws of points, filters.

N(x) depends on x only through the set of patterns in x, so a training set is how often each of the 15 sets occurs.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERNS, SET_LABELS, make_xord, set_index
from widenet.errors import DataError
from widenet.networks.arrays import plus_minus_weights
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.papers.brutzkus2019.formulas import (
    smallest_delta,
)
from widenet.records import ClosedModel
from widenet.types import Dataset


class TrainingSet(ClosedModel):
    """What training sees of a data set of XORD. As plain numbers it can be part of a setting.

    Attributes:
      counts: how many points have each of the 15 pattern sets.
      not_signs: points with an entry other than ±1; they are in no count.
      mislabelled: points whose label is not f*; they are in no count.
      whole: where this is only the diverse part of a training set, that training set.
    """

    counts: tuple[int, ...]
    not_signs: int = 0
    mislabelled: int = 0
    whole: "TrainingSet | None" = None

    @property
    def per_class(self) -> tuple[int, int]:
        """m₊ and m₋."""
        counts = np.array(self.counts)
        return int(counts[SET_LABELS > 0].sum()), int(counts[SET_LABELS < 0].sum())

    @property
    def size(self) -> int:
        """All points, those that are in no count too."""
        return sum(self.counts) + self.not_signs + self.mislabelled

    @property
    def diverse(self) -> tuple[int, int]:
        """The diverse points of each class."""
        return self.counts[DIVERSE_POSITIVE], self.counts[DIVERSE_NEGATIVE]

    @property
    def non_diverse(self) -> int:
        """Points that lack a pattern that their class can have."""
        return sum(self.counts) - sum(self.diverse)

    @property
    def proportions(self) -> Int[np.ndarray, " 15"]:
        """The smallest counts with the same shares in each class: the loss is the same, a mean per class."""
        counts = np.array(self.counts)
        for members in (SET_LABELS > 0, SET_LABELS < 0):
            counts[members] //= max(int(np.gcd.reduce(counts[members])), 1)
        return counts

    def diverse_part(self) -> "TrainingSet":
        """The diverse points alone, as many of each class: what the theorems can speak about."""
        size = min(self.diverse)
        return from_sets({DIVERSE_POSITIVE: size, DIVERSE_NEGATIVE: size})


def from_sets(numbers: dict[int, int]) -> TrainingSet:
    """A training set from how many points have each pattern set (by its place among the 15)."""
    return TrainingSet(counts=tuple(numbers.get(place, 0) for place in range(15)))


PAIR = from_sets({DIVERSE_POSITIVE: 1, DIVERSE_NEGATIVE: 1})
"""One diverse point of each class. Any diverse training set gives the same loss and the same gradient."""


def from_data(data: Dataset) -> TrainingSet:
    """Your own points: those that are no points of XORD are counted and left out."""
    inputs, labels = np.asarray(data.inputs), np.asarray(data.labels)
    if inputs.ndim != 2 or inputs.shape[1] % 2:
        raise DataError(f"a point of XORD is made of pairs; inputs have the shape {inputs.shape}.")
    signs = np.isin(inputs, (-1.0, 1.0)).all(axis=1)
    held = (inputs.reshape(len(inputs), inputs.shape[1] // 2, 1, 2) == PATTERNS).all(axis=-1).any(axis=1)
    right = labels == np.where(held[:, 0] | held[:, 2], 1.0, -1.0)
    places = held @ np.array([1, 2, 4, 8]) - 1
    counts = np.bincount(places[signs & right], minlength=15)
    return TrainingSet(
        counts=tuple(counts.tolist()),
        not_signs=int((~signs).sum()),
        mislabelled=int((signs & ~right).sum()),
    )


HARD_SETS = ((2,), (4,), (1, 2, 4), (2, 3, 4))
"""A_1, …, A_4."""


class Law(ClosedModel):
    """A law of points as in the examples of Section 6.3, with the δ that is asked about it.

    Labels are fair; points are diverse with probabilities p₊ and p₋, and otherwise have one of the sets A_1, …, A_4.
    """

    diverse_positive: float
    diverse_negative: float
    delta: float

    @property
    def diverse_pair(self) -> float:
        """p₊p₋: how often one point of each class gives two diverse ones."""
        return self.diverse_positive * self.diverse_negative

    @property
    def probabilities(self) -> Float[np.ndarray, " 15"]:
        """Of the 15 pattern sets."""
        return np.asarray(make_xord(4, self.diverse_positive, self.diverse_negative, HARD_SETS).probabilities)

    @property
    def smallest_hard_share(self) -> float:
        """p* = min_i P[P_x = A_i]."""
        return float(self.probabilities[[set_index(*patterns) for patterns in HARD_SETS]].min())


def draw_filters(
    seed: int, n_runs: int, half_width: int, deviation: float = 1.0, stream: int = 0
) -> Float[np.ndarray, "run filter 2"]:
    """Independent N(0, σ_g²) entries; another `stream` of the same seed is independent of this one."""
    return np.random.default_rng([seed, half_width, stream]).normal(0, deviation, (n_runs, 2 * half_width, 2))


def as_networks(filters: Float[np.ndarray, "run filter 2"]) -> ConvMaxPool:
    """Networks with these filters, of which the first half votes +1 and the other −1."""
    votes = plus_minus_weights(filters.shape[1] // 2)
    return ConvMaxPool(jnp.asarray(filters), jnp.asarray(np.tile(votes, (len(filters), 1))))


def equal_law(share: float, delta: float | None = None) -> Law:
    """p₊ = p₋, with the smallest δ that Theorem 6.5 speaks of unless another is given."""
    delta = smallest_delta(share, share) if delta is None else delta
    return Law(diverse_positive=share, diverse_negative=share, delta=delta)
