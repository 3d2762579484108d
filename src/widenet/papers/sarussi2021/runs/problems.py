"""Section 4 before its first step: separable points, ±v networks, and batch-1 SGD on the logistic loss.

Several runs of one shape go side by side, in the networks of `widenet.training.small`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.user_data import Order
from widenet.diagnostics.agreement_program import separate
from widenet.losses import logistic
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.sarussi2021.sources import EpochOrder, PointsSetting, lengths
from widenet.training.small import Increment, NextSample, SmallNetworks, cyclic, permutations

PerRun = Float[np.ndarray, " run"]


class SgdSetting(PointsSetting):
    """Runs of batch-1 SGD: one per standard deviation of the initial weights and seed, on points of that seed.

    Attributes:
      deviations: of the entries of W_0.
      row_length: of every row of W_0, in directions that are drawn, in place of a deviation.
      n_runs: runs for each deviation.
      half_width: k; output_weight: v, 1/√(2k) if left out.
      order: of the points in an epoch: a fresh random one each time, or always their own.
    """

    deviations: tuple[float, ...] = (1e-3, 0.1, 1.0, 10.0)
    row_length: float | None = None
    n_runs: int = 2
    half_width: int = 5
    slope: float = 0.3
    step_size: float = 0.1
    output_weight: float | None = None
    order: EpochOrder = Order.PERMUTATION
    seed: int = 0


@dataclass(frozen=True, eq=False)
class SgdRuns(Cases):
    """Runs of SGD: what Theorem 4.1 supposes of them, and what its bound is made of."""

    separator_norm: PerRun  #: ‖w*‖; NaN where nothing separates the data
    largest_norm: PerRun  #: R_x
    row_bound: PerRun  #: R_0
    smallest_margin: PerRun  #: min y⟨w*, x⟩; 0 where nothing separates the points, and NaN where that is not known
    relative_input: PerRun  #: the largest ‖x‖ over R_x
    relative_row: PerRun  #: the largest initial row over R_0; 1 where both are 0
    label_error: PerRun  #: the largest distance of a label from ±1
    visits: PerRun  #: by how much a point was visited more or less often than once in an epoch
    start_norm: PerRun  #: G_0
    start_alignment: PerRun  #: F_0
    slope: Number  #: α
    step_size: Number  #: η
    output_weight: Number  #: v
    half_width: Count  #: k
    n_samples: Count  #: n


@dataclass(frozen=True, eq=False)
class Problem:
    """Runs before their first step."""

    inputs: Float[np.ndarray, "run point dim"]
    labels: Float[np.ndarray, "run point"]
    networks: SmallNetworks  #: the starts; the first half of the rows votes plus
    separator: Float[np.ndarray, "run dim"]  #: w* with y⟨w*, x⟩ ≥ 1, the shortest; NaN where none was found
    inseparable: Bool[np.ndarray, " run"]  #: where there is none
    output_weight: float
    slope: float
    step_size: float
    seeds: Int[np.ndarray, " run"]  #: of the orders
    is_cyclic: bool = False  #: whether every epoch has the points in their own order

    @property
    def n_samples(self) -> int:
        """n."""
        return self.labels.shape[1]

    @property
    def half_width(self) -> int:
        """k."""
        return self.networks.output.shape[1] // 2

    @property
    def largest_norm(self) -> PerRun:
        """R_x."""
        return lengths(self.inputs).max(axis=1)

    def margins(self, networks: SmallNetworks) -> Float[np.ndarray, "run point"]:
        """y N(x) of every point."""
        return self.labels * networks.outputs(self.inputs)

    def alignments(self, networks: SmallNetworks) -> PerRun:
        """F = ⟨W, W*⟩."""
        return np.einsum("rjd,rd,j->r", networks.hidden, self.separator, plus_minus_weights(self.half_width))

    def order(self) -> NextSample:
        """Every point once per epoch: in a fresh random order, each run with its own generator, or in their own."""
        if self.is_cyclic:
            return cyclic()
        return permutations([[int(seed), 9] for seed in self.seeds])

    def epochs(self) -> Iterator[Int[np.ndarray, "run point"]]:
        """The same, epoch by epoch."""
        draws = [np.random.default_rng([int(seed), 9]) for seed in self.seeds]
        while True:
            if self.is_cyclic:
                yield np.tile(np.arange(self.n_samples), (len(draws), 1))
            else:
                yield np.stack([draw.permutation(self.n_samples) for draw in draws])

    def next_step(
        self, networks: SmallNetworks, samples: Int[np.ndarray, " run"]
    ) -> tuple[Float[np.ndarray, "run dim"], Increment]:
        """These points, and what SGD adds for them; one that no longer pulls adds 0, and is a step all the same."""
        rows = np.arange(len(samples))
        inputs = self.inputs[rows, samples]
        return inputs, networks.increment(inputs, self.labels[rows, samples], self.step_size, logistic)

    def columns(self, visits: PerRun) -> dict[str, Any]:
        """What `SgdRuns` has of them."""
        rows = np.linalg.norm(self.networks.hidden, axis=2).max(axis=1)
        margins = (self.labels * np.einsum("rnd,rd->rn", self.inputs, self.separator)).min(axis=1)
        return {
            "separator_norm": np.linalg.norm(self.separator, axis=1),
            "largest_norm": self.largest_norm,
            "row_bound": rows,
            "smallest_margin": np.where(self.inseparable, 0.0, margins),
            "relative_input": lengths(self.inputs).max(axis=1) / self.largest_norm,
            "relative_row": np.divide(rows, rows, out=np.ones_like(rows), where=rows > 0),
            "label_error": np.abs(np.abs(self.labels) - 1).max(axis=1),
            "visits": visits,
            "start_norm": np.linalg.norm(self.networks.hidden, axis=(1, 2)),
            "start_alignment": self.alignments(self.networks),
            "slope": self.slope,
            "step_size": self.step_size,
            "output_weight": self.output_weight,
            "half_width": self.half_width,
            "n_samples": self.n_samples,
        }


def missed_visits(order: Int[np.ndarray, "run point"]) -> PerRun:
    """By how much a point is visited more or less often than once in this epoch, at most."""
    n_runs, n = order.shape
    counts = np.bincount((order + n * np.arange(n_runs)[:, None]).ravel(), minlength=n_runs * n)
    return 1.0 * np.abs(counts.reshape(n_runs, n) - 1).max(axis=1)


def make_problem(
    inputs: np.ndarray, labels: np.ndarray, weights: np.ndarray, setting: SgdSetting, seeds: np.ndarray
) -> Problem:
    """Runs on these points from these weights, with what the bounds need to know of both."""
    found = [separate(*pair) for pair in zip(inputs, labels, strict=True)]
    nothing = np.full(inputs.shape[2], np.nan)
    v = weights.shape[1] ** -0.5 if setting.output_weight is None else setting.output_weight
    output = np.tile(v * plus_minus_weights(weights.shape[1] // 2), (len(weights), 1))
    return Problem(
        inputs=inputs,
        labels=labels,
        networks=SmallNetworks(weights, output, setting.slope, setting.slope),
        separator=np.stack([nothing if each.separator is None else each.separator for each in found]),
        inseparable=np.array([each.separable is False for each in found]),
        output_weight=v,
        slope=setting.slope,
        step_size=setting.step_size,
        seeds=seeds,
        is_cyclic=setting.order is Order.CYCLIC,
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
