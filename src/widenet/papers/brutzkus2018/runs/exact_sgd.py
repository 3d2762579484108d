"""Batch-1 SGD with the hinge loss in fractions, on few points: no rounding decides anything."""

import functools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Int

MOST_PASSES = 10_000
"""A run that makes updates in each of so many passes has not ended."""


@dataclass(frozen=True, eq=False)
class ExactProblem:
    """Points and a ±v network on them. Arrays hold fractions."""

    #: (n, d) and (n,)
    inputs: np.ndarray
    labels: np.ndarray
    votes: np.ndarray  #: the 2k output weights
    slope: Fraction  #: of the activation for z < 0; 0 is ReLU
    at_zero: Fraction  #: σ'(0); the paper has 0 for ReLU and 1 for Leaky ReLU

    @property
    def half_width(self) -> int:
        """k."""
        return len(self.votes) // 2

    @property
    def weight_error(self) -> Fraction:
        """The largest distance of an output weight from (+1, …, +1, −1, …, −1)."""
        return max(abs(vote - sign) for vote, sign in zip(self.votes, _signs(self.half_width), strict=True))

    def gram_error(self, inputs: np.ndarray | None = None) -> Fraction:
        """The largest entry of XXᵀ − I; of other points than its own if they are given."""
        points = self.inputs if inputs is None else inputs
        gram = points @ points.T
        size = range(len(points))
        return max(abs(gram[i, j] - int(i == j)) for i in size for j in size)

    def derivative(self, z: np.ndarray) -> np.ndarray:
        """σ'(z)."""
        slopes = [Fraction(1) if each > 0 else self.slope if each < 0 else self.at_zero for each in z.ravel()]
        return np.array(slopes, dtype=object).reshape(z.shape)

    def outputs(self, weights: np.ndarray) -> np.ndarray:
        """N(x) of every point."""
        z = self.inputs @ weights.T
        return (self.derivative(z) * z) @ self.votes

    def stuck(self, weights: np.ndarray) -> Bool[np.ndarray, " sample"]:
        """K: points at which every neuron of the first half is off, ⟨w, x⟩ ≤ 0."""
        return np.array([max(row) <= 0 for row in self.inputs @ weights[: self.half_width].T])

    def train(self, start: np.ndarray, step_size: Fraction, most_passes: int = MOST_PASSES) -> "ExactEnd":
        """SGD over the points in their order, again and again, until a pass makes no non-zero update."""
        weights, updates = start, np.zeros(len(self.labels), int)
        stuck = [self.stuck(weights)]
        for _ in range(most_passes):
            before = updates.sum()
            for index, (x, y) in enumerate(zip(self.inputs, self.labels, strict=True)):
                z = weights @ x
                pulls = self.votes * self.derivative(z)
                if y * (pulls @ z) < 1 and pulls.any():
                    weights = weights + step_size * y * np.outer(pulls, x)
                    updates[index] += 1
                    stuck.append(self.stuck(weights))
            if updates.sum() == before:
                return ExactEnd(self, weights, updates, np.stack(stuck), True)
        return ExactEnd(self, weights, updates, np.stack(stuck), False)


@dataclass(frozen=True, eq=False)
class ExactEnd:
    """Where a run got to."""

    problem: ExactProblem
    weights: np.ndarray  #: W there
    updates: Int[np.ndarray, " sample"]  #: non-zero updates on each point
    stuck: Bool[np.ndarray, "time sample"]  #: the set K at the start and after each update
    ended: bool  #: whether no point would make another update

    @functools.cached_property
    def outputs(self) -> np.ndarray:
        """N(x) of every point."""
        return self.problem.outputs(self.weights)

    @property
    def solved(self) -> bool:
        """Whether the training loss is 0."""
        return bool(min(self.problem.labels * self.outputs) >= 1)


def fractions(rows: object) -> np.ndarray:
    """An array of fractions, from numbers or text ("1/2")."""
    given = np.array(rows, dtype=object)
    return np.array([Fraction(each) for each in given.ravel()], dtype=object).reshape(given.shape)


def relu_on_basis(dim: int, half_width: int, *, biased: bool = False) -> ExactProblem:
    """ReLU with output weights ±1 on e_1, …, e_d labelled +1; with biases, on (e_1, 1), …, (e_d, 1)."""
    points = [[int(i == j) for j in range(dim)] + [1] * biased for i in range(dim)]
    return ExactProblem(
        fractions(points), fractions([1] * dim), fractions(_signs(half_width)), Fraction(0), Fraction(0)
    )


def _signs(half_width: int) -> list[int]:
    return [1] * half_width + [-1] * half_width
