"""The setting of the paper: separable data, a ±v Leaky ReLU network, hinge loss, batch-1 SGD.

A `Trial` is one such setting before its first step, in NumPy. A `TrialSource` says in plain values where trials come
from: drawn all over the parameter space, the sequence that nearly attains the bound, or a reader's own data.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.claims.user_data import Order as SampleOrder
from widenet.data.own import recall
from widenet.data.points import separable_points, unit_rows
from widenet.diagnostics import find_separator
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.records import ClosedModel

BLIND = (SampleOrder.PERMUTATION, SampleOrder.CYCLIC, SampleOrder.WITH_REPLACEMENT)
ADVERSARIAL = (SampleOrder.HARDEST, SampleOrder.EASIEST, SampleOrder.SLOWEST)


@dataclass(frozen=True, eq=False)
class Trial:
    """A run before its first step.

    Symbols: `separator` is w* (zero where there is none), `output` the ±v, `slope` α, `step_size` η, `row_bound` R,
    `at_zero` σ'(0). `order` and `seed` fix the order of the samples.
    """

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]
    hidden: Float[np.ndarray, "neuron dim"]
    output: Float[np.ndarray, " neuron"]
    slope: float
    step_size: float
    row_bound: float
    order: SampleOrder = SampleOrder.CYCLIC
    seed: int = 0
    at_zero: float = 1.0

    @property
    def half_width(self) -> int:
        """k."""
        return len(self.output) // 2

    @property
    def output_weight(self) -> float:
        """v."""
        return float(self.output[0])

    @property
    def separator_norm(self) -> float:
        """‖w*‖, without under- or overflow of its square."""
        largest = np.abs(self.separator).max(initial=0.0)
        return float(largest * np.linalg.norm(self.separator / largest)) if 0 < largest < np.inf else float(largest)

    @property
    def smallest_margin(self) -> float:
        """min_i y_i⟨w*, x_i⟩."""
        return float((self.labels * (self.inputs @ self.separator)).min())

    @property
    def votes(self) -> Float[np.ndarray, " neuron"]:
        """+1 for the first half of the neurons, −1 for the others."""
        return np.where(np.arange(len(self.output)) < self.half_width, 1.0, -1.0)

    @property
    def parameters(self) -> tuple[float, float, float, float, float, int]:
        """The arguments of `formulas.max_nonzero_updates`, in its order."""
        return (
            self.separator_norm,
            self.slope,
            self.step_size,
            self.output_weight,
            self.row_bound,
            self.half_width,
        )


def equal_scale(half_width: int) -> float:
    """R = v = 1/√(2k) (Eq. 6)."""
    return (2 * half_width) ** -0.5


SLOPES = (0.01, 0.1, 0.3, 0.7, 0.95)
"""With α = 0.01 the bound exceeds 4e4, so that slope is drawn at paper scale only."""


class RandomTrials(ClosedModel):
    """Trials all over the parameter space: `n_batches` shapes with `per_batch` trials each.

    Draws with M_k above `max_bound` would train for minutes, and are drawn again.
    """

    kind: Literal["random"] = "random"
    seed: int
    n_batches: int
    per_batch: int
    max_bound: float

    def draw(self) -> list[Trial]:
        """The batches take the three blind orders in turn."""
        draw = np.random.default_rng(self.seed)
        return [
            trial
            for index in range(self.n_batches)
            for trial in _batch(draw, self.per_batch, self.max_bound, BLIND[index % len(BLIND)], self.seed + index)
        ]


class BasisTrial(ClosedModel):
    """e_1, …, e_d, all labelled +1, cycled; every row starts against w* = (1, …, 1). R = v = 1/√(2k) unless given."""

    kind: Literal["basis"] = "basis"
    dim: int
    half_width: int
    slope: float
    step_size: float
    output_weight: float | None = None
    row_bound: float | None = None

    def draw(self) -> list[Trial]:
        """The one trial."""
        scale = equal_scale(self.half_width)
        radius = scale if self.row_bound is None else self.row_bound
        output = plus_minus_weights(self.half_width, scale if self.output_weight is None else self.output_weight)
        ones = np.ones(self.dim)
        hidden = np.outer(-radius / np.sqrt(self.dim) * np.sign(output), ones)
        return [Trial(np.eye(self.dim), ones, ones, hidden, output, self.slope, self.step_size, radius)]


class OnePoint(ClosedModel):
    """S = {(1, +1)} and w* = 1 in one dimension, from given rows: the steps of the proof are attained on it."""

    kind: Literal["one point"] = "one point"
    slope: float
    step_size: float
    output_weight: float
    plus_rows: tuple[float, ...]
    minus_rows: tuple[float, ...]

    def draw(self) -> list[Trial]:
        """The one trial; R is the largest row."""
        rows, one = np.array([*self.plus_rows, *self.minus_rows])[:, None], np.ones(1)
        output = plus_minus_weights(len(self.plus_rows), self.output_weight)
        return [Trial(one[:, None], one, one, rows, output, self.slope, self.step_size, float(np.abs(rows).max()))]


class Fan(ClosedModel):
    """Points (1/‖w*‖, q) of the unit disc, all labelled +1, q on a grid; the easiest active point comes next.

    w* = (‖w*‖, 0) has margin 1 on all of them. The easiest active point has y N(x) just below 1, so every update adds
    nearly 2η to G²: the inequality of the proof that other data leaves furthest open is nearly an equality for
    thousands of updates. Rows start against w*, with norm R; k = 1, v = 1/√2.
    """

    kind: Literal["fan"] = "fan"
    separator_norm: float
    n_points: int
    slope: float
    step_size: float
    row_bound: float = 0.0

    def draw(self) -> list[Trial]:
        """The one trial."""
        widest = np.sqrt(1 - self.separator_norm**-2)
        across = np.linspace(-widest, widest, self.n_points)
        inputs = np.stack([np.full(self.n_points, 1 / self.separator_norm), across], axis=1)
        rows = self.row_bound * np.array([[-1.0, 0.0], [1.0, 0.0]])
        return [
            Trial(
                inputs,
                np.ones(self.n_points),
                np.array([self.separator_norm, 0.0]),
                rows,
                plus_minus_weights(1, equal_scale(1)),
                self.slope,
                self.step_size,
                self.row_bound,
                SampleOrder.EASIEST,
            )
        ]


class OwnTrials(ClosedModel):
    """Your data, as it is, in a new random order each pass or in the order you chose; R = v = 1/√(2k) if left out.

    The separator is found and certified here; it is zero when there is none and NaN when that is not known, which the
    hypothesis shows.
    """

    kind: Literal["own"] = "own"
    own_data: str
    n_runs: int
    n_neurons: int
    slope: float
    step_size: float
    seed: int
    init_scale: float | None = None
    output_weight: float | None = None
    order: SampleOrder = SampleOrder.PERMUTATION

    def draw(self) -> list[Trial]:
        """Runs that differ in their initial weights and orders."""
        data = recall(self.own_data)
        inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)
        separator = find_separator(data).vector(data.dim)
        half = self.n_neurons // 2
        scale = equal_scale(half)
        radius = scale if self.init_scale is None else self.init_scale
        weight = scale if self.output_weight is None else self.output_weight
        draw = np.random.default_rng(self.seed)
        return [
            Trial(
                inputs,
                labels,
                separator,
                radius * unit_rows(draw, 2 * half, data.dim),
                plus_minus_weights(half, weight),
                self.slope,
                self.step_size,
                radius,
                self.order,
                self.seed + run,
            )
            for run in range(self.n_runs)
        ]


class TiedWidths(ClosedModel):
    """The same data and the same step at several widths, rows uniform on the sphere of radius 1/√(2k)."""

    kind: Literal["widths"] = "widths"
    seed: int
    n_data_sets: int
    half_widths: tuple[int, ...] = (1, 4, 16, 64)

    def draw(self) -> list[Trial]:
        """Every data set at every width."""
        draw = np.random.default_rng(self.seed)
        trials = []
        for number in range(self.n_data_sets):
            points = separable_points(draw, 10, 40, float(draw.uniform(2, 6)))
            slope, eta = float(draw.uniform(0.2, 0.9)), float(np.exp(draw.uniform(-1, 3)))
            for half in self.half_widths:
                scale = equal_scale(half)
                rows = scale * unit_rows(draw, 2 * half, 10)
                weights = plus_minus_weights(half, scale)
                order = SampleOrder.WITH_REPLACEMENT
                trials.append(Trial(*points, rows, weights, slope, eta, scale, order, self.seed + number))
        return trials


class SmallSteps(ClosedModel):
    """n = 100 points with ‖w*‖ = 2, R = v = 1/√(2k), step sizes log-uniform in a range: for training both layers."""

    kind: Literal["small steps"] = "small steps"
    seed: int
    per_width: int
    half_widths: tuple[int, ...] = (1, 5, 20)
    step_sizes: tuple[float, float] = (0.01, 0.5)

    def draw(self) -> list[Trial]:
        """Every width with data sets of its own."""
        draw = np.random.default_rng(self.seed)
        return [trial for half in self.half_widths for trial in self._at_width(draw, half)]

    def _at_width(self, draw: np.random.Generator, half: int) -> list[Trial]:
        scale, count = equal_scale(half), self.per_width
        points = [separable_points(draw, 10, 100, 2.0) for _ in range(count)]
        rows = [scale * unit_rows(draw, 2 * half, 10) for _ in range(count)]
        slopes = draw.choice([0.1, 0.5, 0.9], count)
        low, high = np.log(self.step_sizes)
        etas = np.exp(draw.uniform(low, high, count))
        order = BLIND[half % len(BLIND)]
        return [
            Trial(
                *points[run],
                rows[run],
                plus_minus_weights(half, scale),
                float(slopes[run]),
                float(etas[run]),
                scale,
                order,
                self.seed + half + run,
            )
            for run in range(count)
        ]


TrialSource = Annotated[
    RandomTrials | BasisTrial | Fan | OnePoint | OwnTrials | TiedWidths | SmallSteps, Field(discriminator="kind")
]
"""Where trials come from; the kind keeps two sources with equal fields apart."""


def _batch(draw: np.random.Generator, count: int, max_bound: float, order: SampleOrder, seed: int) -> list[Trial]:
    dim, n_samples, half = int(draw.integers(2, 21)), int(draw.integers(5, 81)), int(draw.integers(1, 31))
    trials = []
    for run in range(count):
        norm, slope, eta, weight, radius = _parameters(draw, half, max_bound)
        inputs, labels, separator = separable_points(draw, dim, n_samples, norm)
        output = plus_minus_weights(half, weight)
        rows = (
            radius * unit_rows(draw, 2 * half, dim),
            np.zeros((2 * half, dim)),
            -radius * np.outer(np.sign(output), separator / norm),
        )[draw.integers(3)]
        trials.append(Trial(inputs, labels, separator, rows, output, slope, eta, radius, order, seed + run))
    return trials


def _parameters(draw: np.random.Generator, half: int, max_bound: float) -> tuple[float, float, float, float, float]:
    """(‖w*‖, α, η, v, R) with a bound that can be waited for."""
    while True:
        norm = float(1 / draw.uniform(0.05, 0.5))
        slope = float(draw.choice(SLOPES))
        eta = float(np.exp(draw.uniform(np.log(0.03), np.log(100))))
        weight = radius = equal_scale(half)
        if draw.random() < 0.5:
            weight, radius = (float(value) for value in np.exp(draw.uniform(np.log(0.05), np.log(5), size=2)))
        if max_nonzero_updates(norm, slope, eta, weight, radius, half) <= max_bound:
            return norm, slope, eta, weight, radius


@dataclass(frozen=True, eq=False)
class SampleSets:
    """Samples of one distribution, one per trial, and fresh points of it."""

    #: S of each trial
    inputs: Float[np.ndarray, "trial sample dim"]
    labels: Float[np.ndarray, "trial sample"]
    #: points that no training sees; they measure L_D
    fresh_inputs: Float[np.ndarray, "fresh dim"]
    fresh_labels: Float[np.ndarray, " fresh"]
    separator: Float[np.ndarray, " dim"]  #: w*; zero where there is none
    separator_is_given: bool = True  #: whether w* belongs to the distribution; False where it was found on data
    longest_elsewhere: float = 0.0  #: max ‖x‖ of a reader's data, points that no trial drew among them

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
