"""Samples with weights: equal ones together, and how often an epoch visits each."""

import hashlib
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

MOST_VISITS = 10
"""Of an epoch to a sample, on average: weights of a thousand do not make an epoch a thousand times as long."""
ROUNDING = 1e-9
"""A sum of weights this little above a whole number is that number."""


class WeightedSamples(NamedTuple):
    """Every distinct sample once, in an order that does not depend on that of the rows.

    Attributes:
      inputs: the points.
      labels: numbers of classes.
      totals: the weight of each.
    """

    inputs: Float[np.ndarray, "sample dim"]
    labels: Int[np.ndarray, " sample"]
    totals: Float[np.ndarray, " sample"]

    @property
    def unit(self) -> float:
        """The weight that is worth one visit: 1, less where the mean weight is less, and more where it is huge."""
        mean = float(self.totals.mean())
        return mean if mean < 1 else max(1.0, mean / MOST_VISITS)

    @property
    def visits(self) -> Int[np.ndarray, " sample"]:
        """How often an epoch comes to each sample."""
        return np.maximum(np.ceil(self.totals / self.unit - ROUNDING), 1).astype(int)

    @property
    def step_weights(self) -> Float[np.ndarray, " sample"]:
        """What a gradient is multiplied by at each visit, at most 1: no weight makes a step longer than η."""
        return self.totals / self.unit / self.visits


def distinct(
    inputs: Float[np.ndarray, "row dim"], labels: Int[np.ndarray, " row"], weights: Float[np.ndarray, " row"]
) -> WeightedSamples:
    """Rows of positive weight; equal ones with one label become one sample with the sum of their weights.

    So a weight of 2 is the same as the row given twice, and a weight of 0 the same as leaving it out.
    """
    kept = weights > 0
    inputs, labels, weights = inputs[kept] + 0.0, labels[kept], weights[kept]  # −0 becomes 0
    digests = np.array(
        [
            hashlib.blake2b(row.tobytes() + label.tobytes(), digest_size=16).digest()
            for row, label in zip(inputs, labels, strict=True)
        ]
    )
    _, first, place = np.unique(digests, return_index=True, return_inverse=True)
    return WeightedSamples(inputs[first], labels[first], np.bincount(place, weights))
