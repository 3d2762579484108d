"""Two samples of one point each, in one dimension, and where SGD gets to on them, in fractions."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number, column
from widenet.papers.brutzkus2018.runs.exact_sgd import ExactEnd, ExactProblem, fractions
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class TwoSamples(Cases):
    """Two samples of one point each, in one dimension, and where SGD gets to from one W_0, in fractions."""

    rows: ClassVar = "sample"

    first: ExactEnd
    second: ExactEnd
    separators: tuple[Fraction, Fraction]  #: the w* of both
    step_size: Number  #: η

    @property
    def ends(self) -> tuple[ExactEnd, ExactEnd]:
        """Both runs."""
        return self.first, self.second

    @column
    def same_points(self) -> bool:
        """Whether the points that made updates are the same, labels aside."""
        listed = [np.repeat(end.problem.inputs, end.updates, axis=0).tolist() for end in self.ends]
        return listed[0] == listed[1]

    @column
    def difference(self) -> Number:
        """The largest difference of the two outputs on the points."""
        return float(max(abs(self.first.outputs - self.second.problem.outputs(self.second.weights))))

    @column
    def is_same(self) -> bool:
        """Whether it is exactly 0."""
        return not (self.first.outputs - self.second.problem.outputs(self.second.weights)).any()

    @column
    def smallest_margin(self) -> Float[np.ndarray, " sample"]:
        """min y⟨w*, x⟩."""
        pairs = zip(self.ends, self.separators, strict=True)
        return np.array([float(min(end.problem.labels * end.problem.inputs[:, 0] * w)) for end, w in pairs])

    @column
    def largest_input(self) -> Float[np.ndarray, " sample"]:
        """max ‖x‖."""
        return np.array([float(abs(end.problem.inputs).max()) for end in self.ends])

    @column
    def slope(self) -> Float[np.ndarray, " sample"]:
        """α."""
        return np.array([float(end.problem.slope) for end in self.ends])

    @column
    def loss(self) -> Float[np.ndarray, " sample"]:
        """0 where the run ends at loss 0, else 1."""
        return np.array([0.0 if end.solved else 1.0 for end in self.ends])

    def counts(self) -> dict[str, int]:
        """Pairs."""
        return {"tried": len(self.cells)}


def opposite_labels(scale: Scale, seed: int) -> list[TwoSamples]:
    """S = {(1, +1)} and S' = {(1, −1)}, k = v = 1, α = 1/2, η = 1, W_0 = 0."""
    return [two_samples(1, -1)]


def two_samples(first: int, second: int) -> TwoSamples:
    """The point 1 with these labels."""
    half = Fraction(1, 2)
    ends = [
        ExactProblem(fractions([[1]]), fractions([label]), fractions([1, -1]), half, Fraction(1)).train(
            fractions([[0], [0]]), Fraction(1)
        )
        for label in (first, second)
    ]
    return TwoSamples(ends[0], ends[1], (Fraction(first), Fraction(second)), 1.0)
