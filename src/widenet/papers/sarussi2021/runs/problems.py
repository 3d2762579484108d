"""Section 4 before its first step: separable points, ±v networks, and batch-1 SGD on the logistic loss, in NumPy.

Several runs of one shape go side by side. Trainings here are so small that compiling them would cost more than they do;
a test compares a step with the engine's plain kernel.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Bool, Float, Int

from widenet.diagnostics.agreement_program import separate
from widenet.papers.sarussi2021.settings import PointsSetting, lengths

Weights = Float[np.ndarray, "run both dim"]
Runs = Float[np.ndarray, " run"]


class SgdSetting(PointsSetting):
    """Runs of batch-1 SGD: one per standard deviation of the initial weights and seed, on points of that seed.

    Attributes:
      deviations: of the entries of W_0.
      row_length: of every row of W_0, in directions that are drawn, in place of a deviation.
      n_runs: runs for each deviation.
      half_width: k; output_weight: v, 1/√(2k) if left out.
    """

    deviations: tuple[float, ...] = (1e-3, 0.1, 1.0, 10.0)
    row_length: float | None = None
    n_runs: int = 2
    half_width: int = 5
    slope: float = 0.3
    step_size: float = 0.1
    output_weight: float | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Problem:
    """Runs before their first step.

    Attributes:
      inputs, labels, weights: per run; the first half of the rows votes plus.
      separator: w* with y⟨w*, x⟩ ≥ 1, the shortest; NaN where none was found, and `inseparable` where there is none.
      largest_norm, row_bound: R_x and R_0.
      seeds: of the orders.
    """

    inputs: Float[np.ndarray, "run point dim"]
    labels: Float[np.ndarray, "run point"]
    weights: Weights
    separator: Float[np.ndarray, "run dim"]
    inseparable: Bool[np.ndarray, " run"]
    output_weight: float
    slope: float
    step_size: float
    largest_norm: Runs
    row_bound: Runs
    seeds: Int[np.ndarray, " run"]

    @property
    def n_runs(self) -> int:
        """How many runs."""
        return len(self.weights)

    @property
    def n_samples(self) -> int:
        """n."""
        return self.labels.shape[1]

    @property
    def half_width(self) -> int:
        """k."""
        return self.weights.shape[1] // 2

    @property
    def signs(self) -> Float[np.ndarray, " both"]:
        """+1 and −1: which way each neuron votes."""
        return np.repeat([1.0, -1.0], self.half_width)

    @property
    def smallest_margin(self) -> Runs:
        """min y⟨w*, x⟩; 0 where nothing separates the points, and NaN where that is not known."""
        found = (self.labels * np.einsum("rnd,rd->rn", self.inputs, self.separator)).min(axis=1)
        return np.where(self.inseparable, 0.0, found)

    def margins(self, weights: Weights) -> Float[np.ndarray, "run point"]:
        """y N(x) of every point."""
        products = np.matmul(self.inputs, weights.transpose(0, 2, 1))
        activated = np.maximum(products, self.slope * products)
        return self.labels * (activated @ (self.output_weight * self.signs))

    def scales(self, weights: Weights) -> Float[np.ndarray, "run point"]:
        """v Σ|σ(z_j)| of every point: what rounding of its margin is measured against."""
        products = np.matmul(self.inputs, weights.transpose(0, 2, 1))
        return self.output_weight * np.abs(np.maximum(products, self.slope * products)).sum(axis=2)

    def epochs(self) -> Iterator[Int[np.ndarray, "run point"]]:
        """Every point once per epoch, in a fresh random order, each run with its own generator."""
        draws = [np.random.default_rng([int(seed), 9]) for seed in self.seeds]
        while True:
            yield np.stack([draw.permutation(self.n_samples) for draw in draws])


@dataclass(frozen=True, eq=False)
class Move:
    """One update of every run, before it is made.

    Attributes:
      margins: q_t = y_t N(x_t); pushes: |ℓ'(q_t)|.
      products: ⟨w_j, x_t⟩; coefficients: the update adds coefficient·x_t to its row.
      inputs: x_t.
    """

    margins: Runs
    pushes: Runs
    products: Float[np.ndarray, "run both"]
    coefficients: Float[np.ndarray, "run both"]
    inputs: Float[np.ndarray, "run dim"]

    @property
    def change(self) -> Weights:
        """W_t − W_{t−1}."""
        return self.coefficients[:, :, None] * self.inputs[:, None, :]


def next_move(problem: Problem, weights: Weights, samples: Int[np.ndarray, " run"]) -> Move:
    """The update on these points; σ'(0) = α."""
    rows = np.arange(len(weights))
    inputs, labels = problem.inputs[rows, samples], problem.labels[rows, samples]
    products = np.matmul(weights, inputs[:, :, None])[:, :, 0]
    slopes = np.where(products > 0, 1.0, problem.slope)
    outputs = slopes * problem.output_weight * problem.signs
    margins = labels * (outputs * products).sum(axis=1)
    pushes = scipy.special.expit(-margins)
    return Move(margins, pushes, products, (problem.step_size * pushes * labels)[:, None] * outputs, inputs)


def make_problem(
    inputs: np.ndarray, labels: np.ndarray, weights: np.ndarray, setting: SgdSetting, seeds: np.ndarray
) -> Problem:
    """Runs on these points from these weights, with what the bounds need to know of both."""
    found = [separate(*pair) for pair in zip(inputs, labels, strict=True)]
    nothing = np.full(inputs.shape[2], np.nan)
    return Problem(
        inputs=inputs,
        labels=labels,
        weights=weights,
        separator=np.stack([nothing if each.separator is None else each.separator for each in found]),
        inseparable=np.array([each.separable is False for each in found]),
        output_weight=weights.shape[1] ** -0.5 if setting.output_weight is None else setting.output_weight,
        slope=setting.slope,
        step_size=setting.step_size,
        largest_norm=lengths(inputs).max(axis=1),
        row_bound=np.linalg.norm(weights, axis=2).max(axis=1),
        seeds=seeds,
    )


def with_length(rows: Float[np.ndarray, "row dim"], length: float) -> Float[np.ndarray, "row dim"]:
    """The same directions."""
    return length * rows / np.linalg.norm(rows, axis=1, keepdims=True)


def draw_problem(setting: SgdSetting) -> Problem:
    """The runs of a setting: deviations in turn, and for each of them the seeds."""
    inputs, labels, weights, seeds = [], [], [], []
    for number, deviation in enumerate(setting.deviations):
        for run in range(setting.n_runs):
            seed = 1000 * setting.seed + number * setting.n_runs + run
            points = setting.points.draw(seed)
            draw = np.random.default_rng([seed, 1])
            inputs.append(points[0])
            labels.append(points[1])
            rows = draw.normal(size=(2 * setting.half_width, points[0].shape[1]))
            weights.append(deviation * rows if setting.row_length is None else with_length(rows, setting.row_length))
            seeds.append(seed)
    return make_problem(np.stack(inputs), np.stack(labels), np.stack(weights), setting, np.array(seeds))
