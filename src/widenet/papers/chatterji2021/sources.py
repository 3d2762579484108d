"""Data and networks of the paper as records of plain values, in the coordinates of Appendix A: biases are zero.

A network with biases on unit inputs x is a network without biases on x̃ = (x, 1)/√2, which are unit vectors too: its
rows are ṽ = √2(v, b), and a step α there is a step 2α here. All statements of Section 3 are about these coordinates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.data.sources import ListedPoints, OwnPoints
from widenet.diagnostics.huberized import HuberNetwork, Labels, Points, Rows, log_mean_loss
from widenet.papers.chatterji2021.formulas import LEAST_LOG_LOSS, equation_5_threshold
from widenet.records import ClosedModel

STEP_FACTOR = 2.0
"""α̃ = 2α."""


def reduced_points(points: Points) -> Float[np.ndarray, "point more"]:
    """x̃ = (x, 1)/√2, of unit length where x is."""
    return np.concatenate([points, np.ones((len(points), 1))], axis=1) / np.sqrt(2)


def reduced_weights(weights: Rows, biases: Float[np.ndarray, " both"]) -> Float[np.ndarray, "both more"]:
    """ṽ = √2(v, b)."""
    return np.sqrt(2) * np.concatenate([weights, biases[:, None]], axis=1)


def restored_weights(weights: Float[np.ndarray, "both more"]) -> tuple[Rows, Float[np.ndarray, " both"]]:
    """(v, b) of rows ṽ."""
    return weights[:, :-1] / np.sqrt(2), weights[:, -1] / np.sqrt(2)


class Axes(ClosedModel):
    """e_1, …, e_n as reduced inputs, all labelled +1: the least overlap that reduced inputs can have."""

    kind: Literal["axes"] = "axes"
    n_samples: int = Field(ge=1)

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """The same for every seed."""
        return np.eye(self.n_samples), np.ones(self.n_samples)


class Sphere(ClosedModel):
    """Unit points of R^d in random directions, reduced; every second one is labelled −1."""

    kind: Literal["sphere"] = "sphere"
    n_samples: int = Field(ge=1)
    dim: int = Field(ge=1)

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """Other points for every seed."""
        drawn = np.random.default_rng([seed, 2021]).normal(size=(self.n_samples, self.dim))
        points = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return reduced_points(points), np.where(np.arange(self.n_samples) % 2, -1.0, 1.0)


class OwnReducedPoints(OwnPoints):
    """Your own data, reduced."""

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """The same for every seed."""
        points, labels = super().draw(seed)
        return reduced_points(points), labels


ReducedPointsSource = Annotated[ListedPoints | Axes | Sphere | OwnReducedPoints, Field(discriminator="kind")]
"""Where reduced inputs come from: `draw(seed)`."""


class ReducedPointsSetting(ClosedModel):
    """What every setting with data has."""

    points: ReducedPointsSource


@dataclass(frozen=True, eq=False)
class Case:
    """A network and the data it is looked at on, in reduced coordinates."""

    points: Points
    labels: Labels
    network: HuberNetwork


class RandomCases(ClosedModel):
    """p ≤ 8, at most 4 inputs, at most 6 points; rows of 10^U(−2,1)·h, so that units lie on all three pieces of φ.

    A part of the networks is stretched, which brings losses of points that are fitted down, and others up. Where the
    loss is no number of float64 then, as in one network of 30,000, the rows are halved until it is one.
    """

    kind: Literal["random"] = "random"
    n_networks: int = Field(default=150, ge=1)
    seed: int = 0

    def cases(self) -> Iterator[Case]:
        """One after the other."""
        draw = np.random.default_rng([self.seed, 41])
        for number in range(self.n_networks):
            p, dim, n = (int(draw.integers(1, most + 1)) for most in (8, 4, 6))
            points = draw.normal(size=(n, dim))
            points /= np.linalg.norm(points, axis=1, keepdims=True)
            labels = draw.choice([-1.0, 1.0], n)
            size = 10 ** draw.uniform(-2, 1) * (40.0 if number % 3 == 0 else 1.0) / p
            weights = size * draw.normal(size=(2 * p, dim))
            if number % 4 == 0 and (labels == labels[0]).all():  # helpful units grow: a small loss
                weights = np.abs(weights) * np.repeat([labels[0], -labels[0]], p)[:, None] * np.sign(points[0])
            while log_mean_loss(HuberNetwork(weights, 1 / p).margins(points, labels)) < LEAST_LOG_LOSS:
                weights = weights / 2
            yield Case(points, labels, HuberNetwork(weights, 1 / p))


class OwnCases(ReducedPointsSetting):
    """Networks with Gaussian rows of several sizes on your data."""

    kind: Literal["own"] = "own"
    half_width: int = Field(ge=1)
    n_networks: int = Field(default=6, ge=1)
    seed: int = 0

    def cases(self) -> Iterator[Case]:
        """From rows far below the bandwidth to rows that fit."""
        points, labels = self.points.draw(self.seed)
        draw = np.random.default_rng([self.seed, 43])
        for size in np.geomspace(0.1, 10.0, self.n_networks):
            rows = size / self.half_width * draw.normal(size=(2 * self.half_width, points.shape[1]))
            yield Case(points, labels, HuberNetwork(rows, 1 / self.half_width))


class PlacedCases(ClosedModel):
    """The networks in which the inequalities of Section 3.3 are attained, or nearly."""

    kind: Literal["placed"] = "placed"
    half_widths: tuple[int, ...] = (1, 2, 3, 16)

    def cases(self) -> Iterator[Case]:
        """For every width one of each kind."""
        for p in self.half_widths:
            yield steepest_curve(p)
            yield flat_step(p)
            yield from (all_on(p, margin) for margin in (30.0, -30.0))
            yield harmful_units(p)
        yield from ThinCases().cases()


class ThinCases(ClosedModel):
    """Networks on which (5) gives Lemma 10 with nothing to spare."""

    kind: Literal["thin"] = "thin"
    sample_sizes: tuple[int, ...] = (2, 3)

    def cases(self) -> Iterator[Case]:
        """One per number of points."""
        yield from (one_loss(n) for n in self.sample_sizes)


UNIT = np.array([0.6, 0.8])


def on_one_point(heights: np.ndarray, label: float = 1.0) -> Case:
    """One point x = (0.6, 0.8), and rows along it with these pre-activations, plus rows first."""
    rows = np.asarray(heights)[:, None] * UNIT
    return Case(UNIT[None], np.array([label]), HuberNetwork(rows, 2 / len(rows)))


def steepest_curve(half_width: int) -> Case:
    """Helpful units far up, harmful ones at h exactly: ‖∇²L‖ tends to κpL, and both blocks of (23), (24) to theirs."""
    p = half_width
    return on_one_point(np.repeat([30.5 / p + 0.5 / p, 1 / p], p))


def flat_step(half_width: int) -> Case:
    """Harmful units on the parabola near 0 and nothing else: a step 1/(3M) gains no more than Lemma 5 says."""
    p = half_width
    return on_one_point(np.repeat([1e-3 / p, -1.0], p), label=-1.0)


def all_on(half_width: int, margin: float) -> Case:
    """Every unit on the linear piece, so that the gradient is √(2p)·g."""
    return on_one_point(np.repeat([2 + max(margin, 0) / half_width, 2 + max(-margin, 0) / half_width], half_width))


def harmful_units(half_width: int) -> Case:
    """Helpful units off and harmful ones at 2h: the penalty of (4) is hp/2·g, half of what it prints."""
    return on_one_point(np.repeat([-1.0, 2 / half_width], half_width))


def one_loss(n_samples: int) -> Case:
    """Nearly all of nL on the first axis, whose harmful units are at h, and L where (5) just gives Lemma 10."""
    p, loss = 64, equation_5_threshold(n_samples)
    h, axes = 1 / p, np.eye(n_samples)
    rows = np.zeros((2 * p, n_samples))
    rows[:p] = -1.0
    # The margin of the first point is c − h/2 less p harmful units of φ(h) = h/2 each.
    rows[0] = (h / 2 + 0.5 - np.log(np.expm1(n_samples * loss))) * axes[0]
    for other in range(1, n_samples):
        rows[other] = (40 + h / 2) * axes[other]
    rows[p:] = h * axes[0]
    return Case(axes, np.ones(n_samples), HuberNetwork(rows, h))
