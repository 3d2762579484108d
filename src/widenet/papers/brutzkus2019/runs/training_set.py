"""A training set of XORD as its theorems see it: how often each of the 15 pattern sets occurs, and what is wrong."""

from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Hypothesis, at_least, at_most
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERNS, SET_LABELS
from widenet.errors import DataError
from widenet.types import Dataset


@dataclass(frozen=True)
class TrainingSet:
    """What training sees of a data set of XORD.

    Attributes:
      counts: how many points have each of the 15 pattern sets.
      not_signs: points with an entry other than ±1; they are in no count.
      mislabelled: points whose label is not f*; they are in no count.
    """

    counts: tuple[int, ...]
    not_signs: int = 0
    mislabelled: int = 0

    @property
    def per_class(self) -> tuple[int, int]:
        """m₊ and m₋."""
        counts = np.array(self.counts)
        return int(counts[SET_LABELS > 0].sum()), int(counts[SET_LABELS < 0].sum())

    @property
    def non_diverse(self) -> int:
        """Points that lack a pattern that their class can have."""
        return sum(self.counts) - self.counts[DIVERSE_POSITIVE] - self.counts[DIVERSE_NEGATIVE]

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The assumptions of Section 6 on the training set, measured."""
        positive, negative = self.per_class
        return (
            at_most("points_with_an_entry_that_is", "points with an entry that is not ±1", self.not_signs, 0),
            at_most("points_whose_label_is_not_f", "points whose label is not f*(x)", self.mislabelled, 0),
            at_most("points_that_are_not_diverse", "points that are not diverse", self.non_diverse, 0),
            at_least("points_in_the_smaller_class", "points in the smaller class", min(positive, negative), 1),
            at_most(
                "difference_of_the_two_class_sizes", "difference of the two class sizes", abs(positive - negative), 0
            ),
        )

    def diverse_part(self) -> "TrainingSet":
        """The diverse points alone, as many of each class: what the theorems can speak about."""
        size = min(self.counts[DIVERSE_POSITIVE], self.counts[DIVERSE_NEGATIVE])
        return from_sets({DIVERSE_POSITIVE: size, DIVERSE_NEGATIVE: size})


def from_sets(numbers: dict[int, int]) -> TrainingSet:
    """A training set from how many points have each pattern set (by its place among the 15)."""
    return TrainingSet(tuple(numbers.get(place, 0) for place in range(15)))


PAIR = from_sets({DIVERSE_POSITIVE: 1, DIVERSE_NEGATIVE: 1})
"""One diverse point of each class. Any diverse training set gives the same loss and the same gradient."""


def from_data(data: Dataset) -> TrainingSet:
    """A reader's own points: those that are no points of XORD are counted and left out."""
    inputs, labels = np.asarray(data.inputs), np.asarray(data.labels)
    if inputs.ndim != 2 or inputs.shape[1] % 2:
        raise DataError(f"a point of XORD is made of pairs; inputs have the shape {inputs.shape}.")
    signs = np.isin(inputs, (-1.0, 1.0)).all(axis=1)
    held = (inputs.reshape(len(inputs), inputs.shape[1] // 2, 1, 2) == PATTERNS).all(axis=-1).any(axis=1)
    right = labels == np.where(held[:, 0] | held[:, 2], 1.0, -1.0)
    places = held @ np.array([1, 2, 4, 8]) - 1
    counts = np.bincount(places[signs & right], minlength=15)
    return TrainingSet(tuple(counts.tolist()), int((~signs).sum()), int((signs & ~right).sum()))


def of_each_class(data: Dataset | TrainingSet) -> TrainingSet:
    """The training set of some data; it needs a point of XORD of each class."""
    points = data if isinstance(data, TrainingSet) else from_data(data)
    if not min(points.per_class):
        positive, negative = points.per_class
        raise DataError(
            f"training needs points of XORD of each class, got {positive} of +1 and {negative} of -1; left out: "
            f"{points.not_signs} with an entry that is not ±1, {points.mislabelled} with a label that is not f*(x), "
            "+1 where (1, 1) or (-1, -1) occurs."
        )
    return points
