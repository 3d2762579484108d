"""Samples of one distribution, one per trial, with fresh points of it: drawn, or taken from a reader's own data."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from widenet.data.own import recall
from widenet.data.points import separable_points
from widenet.diagnostics import find_separator
from widenet.records import ClosedModel


@dataclass(frozen=True, eq=False)
class SampleSets:
    """Samples of one distribution, one per trial, and fresh points of it.

    Attributes:
      inputs, labels: S of each trial.
      fresh_inputs, fresh_labels: points that no training sees; they measure L_D.
      separator: w*; zero where there is none.
      separator_is_given: whether w* belongs to the distribution; False where it was found on data.
      longest_elsewhere: max ‖x‖ of a reader's data, points that no trial drew among them.
    """

    inputs: Float[np.ndarray, "trial sample dim"]
    labels: Float[np.ndarray, "trial sample"]
    fresh_inputs: Float[np.ndarray, "fresh dim"]
    fresh_labels: Float[np.ndarray, " fresh"]
    separator: Float[np.ndarray, " dim"]
    separator_is_given: bool = True
    longest_elsewhere: float = 0.0

    def __len__(self) -> int:
        """The number of trials."""
        return len(self.labels)

    @property
    def n_samples(self) -> int:
        """n."""
        return self.labels.shape[1]

    @property
    def separator_norm(self) -> float:
        """‖w*‖."""
        return float(np.linalg.norm(self.separator))

    @property
    def smallest_margin(self) -> float:
        """min y⟨w*, x⟩ over every point drawn, fresh ones too: w* must separate the distribution."""
        products = self.labels * (self.inputs @ self.separator)
        fresh = self.fresh_labels * (self.fresh_inputs @ self.separator)
        return float(min(products.min(), fresh.min(initial=np.inf)))

    @property
    def largest_norm(self) -> float:
        """max ‖x‖ over every point, fresh ones too: all points of the distribution must lie in the ball."""
        drawn = np.sqrt((self.inputs**2).sum(axis=2).max())
        fresh = np.sqrt((self.fresh_inputs**2).sum(axis=1).max(initial=0.0))
        return float(max(drawn, fresh, self.longest_elsewhere))


class DrawnSamples(ClosedModel):
    """i.i.d. samples of one separable distribution, whose w* is known."""

    kind: Literal["drawn"] = "drawn"
    seed: int
    trials: int
    n_samples: int
    separator_norm: float
    largest_margin: float
    dim: int = 20
    fresh: int = 0

    def draw(self) -> SampleSets:
        """The samples."""
        draw, used = np.random.default_rng(self.seed), self.trials * self.n_samples
        inputs, labels, separator = separable_points(
            draw, self.dim, used + self.fresh, self.separator_norm, self.largest_margin
        )
        return SampleSets(
            inputs[:used].reshape(self.trials, self.n_samples, self.dim),
            labels[:used].reshape(self.trials, self.n_samples),
            inputs[used:],
            labels[used:],
            separator,
        )


class OwnSamples(ClosedModel):
    """A reader's own data: a fixed part held out, and trials that draw from the rest without replacement.

    w* is found on all of it, so what the generalization bounds say about it is a heuristic, and is labelled so.
    """

    kind: Literal["own"] = "own"
    own_data: str
    trials: int
    n_samples: int
    seed: int

    def draw(self) -> SampleSets:
        """The samples."""
        data, draw = recall(self.own_data), np.random.default_rng(self.seed)
        inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)
        if not 0 < self.n_samples < len(labels):
            raise ValueError(f"a trial needs from 1 to {len(labels) - 1} of {len(labels)} points, got {self.n_samples}")
        shuffled = draw.permutation(len(labels))
        held_out = shuffled[: max(1, (len(labels) - self.n_samples) // 2)]
        rest = shuffled[len(held_out) :]
        chosen = np.stack([draw.permutation(rest)[: self.n_samples] for _ in range(self.trials)])
        return SampleSets(
            inputs[chosen],
            labels[chosen],
            inputs[held_out],
            labels[held_out],
            find_separator(data).vector(data.dim),
            separator_is_given=False,
            longest_elsewhere=float(np.linalg.norm(inputs, axis=1).max()),
        )
