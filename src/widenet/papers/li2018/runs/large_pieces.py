"""Pieces P_{1,r} of neurons drawn at random, for fixed coefficients."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.tolerances import ROUNDING
from widenet.papers.li2018.formulas import best_large_share, share_room, two_point_share
from widenet.papers.li2018.runs.single_neurons import random_coefficients, split_off, weights_in_span
from widenet.papers.li2018.sources import HEXAGON, TOY, Sample, equal_shares, structure_columns
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale

Instances = Float[np.ndarray, " instance"]
FixedPieces = tuple[Sample, np.ndarray, float | None]
"""Points, coefficients, and the probability where it is known."""


@dataclass(frozen=True, eq=False)
class LargePieces(Cases):
    """Instances of fixed coefficients with p₁v₁ = v: how often ‖P₁‖ ≥ v/2."""

    rows = "instance"

    shares: Instances  #: of the draws
    bounds: Instances  #: the sharp bound
    exact: Instances  #: the probability where it is known, NaN elsewhere
    is_known: Bool[np.ndarray, " instance"]  #: whether it is
    slopes: Instances  #: δ/((k − 1)l)
    draws: Count
    least_own: Number  #: the smallest coefficient of the own class over v
    norm_error: Number
    separation: Instances
    opposite_separation: Instances
    relative_diameter: Instances
    n_classes: Int[np.ndarray, " instance"]
    per_class: Int[np.ndarray, " instance"]
    sample: Sample | None = None  #: where there is one instance, its points

    @property
    def share_room(self) -> Instances:
        """What chance may do to the shares."""
        return share_room(self.shares, self.draws)


def large_draws(sample: Sample, coefficients: np.ndarray, draw: np.random.Generator, count: int) -> np.ndarray:
    """‖P₁‖/v of drawn neurons; the coefficient of the first point is v."""
    gates = weights_in_span(draw, count, sample.points) @ sample.points.T >= 0
    return np.linalg.norm((gates * coefficients) @ sample.points, axis=1) / coefficients[0]


def measure_large(instances: Sequence[FixedPieces], seed: int, *, count: int = 8000, level: float = 0.5) -> LargePieces:
    """Instances (points, coefficients p·v of the class of the first point, exact probability or None)."""
    rows, structures = [], tuple(sample.measured() for sample, _, _ in instances)
    for number, ((sample, coefficients, exact), found) in enumerate(zip(instances, structures, strict=True)):
        draw = np.random.default_rng([seed, 65, number])
        share = (large_draws(sample, coefficients, draw, count) >= level - ROUNDING).mean()
        own = sample.classes == sample.classes[0]
        slope = found.distance / ((found.n_classes - 1) * found.per_class)
        rows.append((share, best_large_share(sample.points[~own] @ sample.points[0]), exact, exact is not None, slope))
    shares, bounds, exacts, known, slopes = np.array(rows, np.float64).T
    error = max(sample.norm_error for sample, _, _ in instances)
    least = least_own([each[:2] for each in instances])
    numbers, alone = structure_columns(structures), instances[0][0] if len(instances) == 1 else None
    columns = {"shares": shares, "bounds": bounds, "exact": exacts, "is_known": known.astype(bool), "slopes": slopes}
    return LargePieces(**columns, draws=count, least_own=least, norm_error=error, **numbers, sample=alone)


def least_own(instances: Sequence[tuple[Sample, np.ndarray]]) -> float:
    """The smallest coefficient of the class of the first point, over its own."""
    return min(
        float((coefficients[sample.classes == sample.classes[0]] / coefficients[0]).min())
        for sample, coefficients in instances
    )


def two_points(angle: float) -> FixedPieces:
    """One point of either class at this angle, coefficients v and −v; the probability is known."""
    points = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    return equal_shares(points, np.arange(2), np.arange(2)), np.array([1.0, -1.0]), two_point_share(angle)


def idle_cross() -> FixedPieces:
    """An orthogonal point of the other class with coefficient 0: ‖P₁‖ is v or 0, each with probability 1/2."""
    return equal_shares(np.eye(2), np.arange(2), np.arange(2)), np.array([1.0, 0.0]), 0.5


def toy_instances(draw: np.random.Generator, count: int) -> list[FixedPieces]:
    """Toys with random coefficients."""
    toys = [TOY.draw(int(draw.integers(2**31))) for _ in range(count)]
    return [(toy, random_coefficients(draw, toy.classes == toy.classes[0], 1, 0.1)[0], None) for toy in toys]


def measure_own_large(sample: Sample, seed: int) -> LargePieces:
    """Three points in turn are the first, every point a component."""
    instances = []
    for number in range(min(3, len(sample.points))):
        order = np.roll(np.arange(len(sample.points)), -number * len(sample.points) // 3)
        turned = Sample(sample.points[order], sample.classes[order], order, sample.shares[order])
        own = turned.classes == turned.classes[0]
        draw = np.random.default_rng([seed, 69, number])
        instances.append((turned, random_coefficients(draw, own, 1, 0.1)[0], None))
    return measure_large(instances, seed, count=2000)


@drawn_on_points(measure_own_large, most=300)
def draw_large(scale: Scale, seed: int) -> LargePieces:
    """Toys, two points at angles around the critical one, and the instance that attains the sharp bound."""
    known = [two_points(angle) for angle in (0.05, 0.4, 0.5, 0.51, 1.3)]
    return measure_large([*toy_instances(np.random.default_rng([seed, 66]), 5), *known, idle_cross()], seed)


def draw_hexagon_large(scale: Scale, seed: int) -> LargePieces:
    """The antipodal hexagon with o = 1/2 everywhere: coefficients 1/12 and −1/12."""
    sample = HEXAGON.draw(seed)
    return measure_large([(sample, np.where(sample.classes == 0, 1 / 12, -1 / 12), None)], seed)


# ── the reflection behind the repair ──


@dataclass(frozen=True, eq=False)
class Reflections(Cases):
    """Pairs of weights αx + β and −αx + β."""

    rows = "pair"

    jumps: Float[np.ndarray, " pair"]  #: ⟨P(α) − P(−α), x_{1,1}⟩/v
    clearance: Float[np.ndarray, " pair"]  #: the smallest |⟨β, x⟩|/|α⟨x_{1,1}, x⟩| of another class
    alone: Bool[np.ndarray, " pair"]  #: whether the class has one point only
    least_own: Number


def measure_reflections(
    instances: Sequence[tuple[Sample, np.ndarray]], seed: int, *, keep_all: bool = False
) -> Reflections:
    """Pairs in which a point of another class would change sides are left out, unless a control keeps them."""
    rows = []
    for number, (sample, coefficients) in enumerate(instances):
        draw = np.random.default_rng([seed, 67, number])
        alpha, beta = split_off(weights_in_span(draw, 3000, sample.points), sample.points[0])
        alpha, first = np.abs(alpha), sample.points[0]
        own = sample.classes == sample.classes[0]
        reach = np.abs(alpha[:, None] * (sample.points[~own] @ first))
        with np.errstate(divide="ignore"):  # a point across x₁ never changes sides
            clearance = (np.abs(beta @ sample.points[~own].T) / reach).min(axis=1)
        sides = []
        for sign in (1, -1):
            gates = (beta + sign * alpha[:, None] * first) @ sample.points.T >= 0
            sides.append((gates * coefficients) @ (sample.points @ first))
        kept = (clearance > 1) | keep_all
        jumps = (sides[0] - sides[1]) / coefficients[0]
        rows.append(np.stack([jumps, clearance, np.full(len(jumps), own.sum() == 1)])[:, kept])
    columns = np.concatenate(rows, axis=1)
    return Reflections(columns[0], columns[1], columns[2].astype(bool), least_own(instances))


def draw_reflections(scale: Scale, seed: int) -> Reflections:
    """Toys, and classes of one point."""
    toys = [each[:2] for each in toy_instances(np.random.default_rng([seed, 68]), 4)]
    return measure_reflections([*toys, two_points(1.0)[:2]], seed)
