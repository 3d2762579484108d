"""Separable data, beside the network W* that stacks its separator."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.base import NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.user_data import UserData
from widenet.networks.arrays import outputs_of, plus_minus_weights
from widenet.papers.brutzkus2018.sources import BasisTrial, RandomTrials, equal_scale
from widenet.papers.brutzkus2018.user_data import reason_in_labels
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class Separated(Cases):
    """Separable data and a ±v network."""

    inputs: Float[np.ndarray, "sample dim"]
    labels: Float[np.ndarray, " sample"]
    separator: Float[np.ndarray, " dim"]  #: w*
    half_width: Count  #: k
    output_weight: Number  #: v
    slope: Number  #: α, 0 for ReLU

    @column
    def smallest_margin(self) -> Number:
        """min_i y_i⟨w*, x_i⟩."""
        return float((self.labels * (self.inputs @ self.separator)).min())

    @column
    def gain(self) -> Number:
        """kv(1 + α): the network W* says gain·⟨w*, x⟩."""
        return self.half_width * self.output_weight * (1 + self.slope)

    @column
    def reach(self) -> Number:
        """kv(1 + α)·min y⟨w*, x⟩: the smallest margin of the network W*."""
        return self.gain * self.smallest_margin

    def stacked(self) -> Float[np.ndarray, "neuron dim"]:
        """W*: k copies of w* over k copies of −w*."""
        return np.outer(plus_minus_weights(self.half_width), self.separator)

    def outputs(self, hidden: Float[np.ndarray, "neuron dim"]) -> Float[np.ndarray, " sample"]:
        """N(x) for every point."""
        output = plus_minus_weights(int(self.half_width), float(self.output_weight))
        return outputs_of(hidden, output, self.inputs, float(self.slope))

    def mean_hinge(self, hidden: Float[np.ndarray, "neuron dim"]) -> float:
        """L_S."""
        return float(np.maximum(1 - self.labels * self.outputs(hidden), 0).mean())


def separated_cases(scale: Scale, seed: int) -> list[Separated]:
    """Random separable data for Leaky ReLU and for ReLU, and the basis, where every margin is exactly 1."""
    each = 10 if scale is Scale.QUICK else 100
    drawn = RandomTrials(seed=seed, n_batches=4, per_batch=each, max_bound=1e9).draw()
    cases = []
    for trial in [*drawn, *BasisTrial(dim=5, half_width=3, slope=0.5, step_size=1.0).draw()]:
        parts = (trial.inputs, trial.labels, trial.separator, trial.half_width, trial.output_weight)
        cases += [Separated(*parts, trial.slope), Separated(*parts, 0.0)]
    return cases


def separated_on(user_data: UserData) -> list[Separated] | NotApplicable:
    """The reader's data with the separator that was found, for both activations."""
    if (reason := reason_in_labels(user_data)) is not None:
        return reason
    separator = user_data.separation.vector(user_data.inputs.shape[1])
    half = user_data.choices.n_neurons // 2
    weight = user_data.choices.output_weight or equal_scale(half)
    parts = (user_data.inputs, user_data.labels, separator, half, weight)
    return [Separated(*parts, user_data.choices.slope), Separated(*parts, 0.0)]


def cases_around_one(scale: Scale, seed: int) -> list[Separated]:
    """The random cases, and one point with kv(1 + α) exactly 1, just below, and 1 only if α counted twice."""
    point = (np.ones((1, 1)), np.ones(1), np.ones(1))  # S = {(1, +1)} and w* = 1
    edges = [Separated(*point, 1, weight, 0.25) for weight in (0.8, 0.79, 2 / 3)]
    return [*separated_cases(scale, seed), *edges]


@dataclass(frozen=True, eq=False)
class ExactPoint(Cases):
    """S = {(1, +1)} in one dimension with w* = 1, in exact numbers."""

    half_width: int  #: k
    output_weight: Fraction  #: v
    slope: Fraction  #: α

    @property
    def output(self) -> Fraction:
        """N(1) at W*: kv(σ(1) − σ(−1))."""
        return self.half_width * self.output_weight * (1 - self.slope * Fraction(-1))

    @column
    def loss(self) -> Number:
        """L_S(W*)."""
        return float(max(1 - self.output, Fraction(0)))


def exact_points(scale: Scale, seed: int) -> list[ExactPoint]:
    """The instance."""
    return [ExactPoint(1, Fraction(1, 2), Fraction(1, 10))]


@dataclass(frozen=True, eq=False)
class SeparatedSets(Cases):
    """Data sets with a separator."""

    rows: ClassVar = "set"

    smallest_margin: Float[np.ndarray, " set"]  #: min y⟨w*, x⟩
    largest_input: Float[np.ndarray, " set"]  #: max ‖x‖
    separator_norm: Float[np.ndarray, " set"]  #: ‖w*‖


def separated_sets(scale: Scale, seed: int) -> SeparatedSets:
    """Random separable data, and e_1 alone, where ‖w*‖ = 1."""
    batches, each = (4, 25) if scale is Scale.QUICK else (40, 25)
    drawn = RandomTrials(seed=seed, n_batches=batches, per_batch=each, max_bound=1e9).draw()
    trials = [*drawn, *BasisTrial(dim=1, half_width=1, slope=0.5, step_size=1.0).draw()]
    return SeparatedSets(
        np.array([trial.smallest_margin for trial in trials]),
        np.array([np.linalg.norm(trial.inputs, axis=1).max() for trial in trials]),
        np.array([trial.separator_norm for trial in trials]),
    )


def footnote_1_on(user_data: UserData) -> SeparatedSets | NotApplicable:
    """The reader's data with the separator that was found."""
    if (reason := reason_in_labels(user_data)) is not None:
        return reason
    separator = user_data.separation.separator
    if separator is None:
        return NotApplicable(f"There is no separator to speak of: the data is {user_data.separation.sentence}.")
    margins = user_data.labels * (user_data.inputs @ separator)
    return SeparatedSets(
        np.array([margins.min()]), np.array([user_data.largest_norm]), np.array([np.linalg.norm(separator)])
    )
