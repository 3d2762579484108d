"""Pieces of all classes under random votes, and pieces of whole components."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.tolerances import IDENTITY
from widenet.papers.li2018.formulas import (
    beyond,
    mean_event_threshold,
    mean_event_threshold_as_printed,
    mixing_probability,
    share_room,
    within,
)
from widenet.papers.li2018.runs.random_networks import pieces
from widenet.papers.li2018.runs.single_neurons import random_coefficients, split_off, weights_in_span
from widenet.papers.li2018.sources import TOY, Basis, Caps, Sample, SpreadPoints, structure_columns
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale
from widenet.training.small.softmax import residuals, start_softmax

Neurons = Float[np.ndarray, " neuron"]


@dataclass(frozen=True, eq=False)
class VotedPieces(Cases):
    """How often ‖Σ a_i P_i‖ ≥ ‖P_1‖ over the votes a of a neuron."""

    rows = "neuron"

    shares: Neurons  #: of the draws
    n_classes: Neurons  #: k
    is_extreme: Bool[np.ndarray, " neuron"]  #: whether P_i = −P_1/(k − 1)
    totals: Neurons  #: ‖Σ P_i‖/‖P_1‖
    draws: Neurons
    variances: Neurons  #: of the projection of Σ a_i P_i on P_1, over ‖P_1‖
    exact: Neurons  #: the probability, where the P_i span two dimensions at most, else NaN


def extreme_pieces(n_classes: int) -> np.ndarray:
    """P_1 = (1), and −1/(k − 1) for the others."""
    p = np.full((n_classes, 1), -1 / (n_classes - 1))
    p[0] = 1.0
    return p


def measure_mixed(neurons: Sequence[tuple[np.ndarray, bool, int]], seed: int) -> VotedPieces:
    """Neurons (P as (class, dim), whether extreme, how many votes to draw)."""
    rows = []
    for number, (p, is_extreme, count) in enumerate(neurons):
        votes = np.random.default_rng([seed, 71, number]).normal(size=(count, len(p)))
        first = np.linalg.norm(p[0])
        large = np.linalg.norm(votes @ p, axis=1) >= first
        total, variance = np.linalg.norm(p.sum(axis=0)) / first, ((p @ p[0] / first**2) ** 2).sum()
        rows.append((large.mean(), len(p), is_extreme, total, count, variance, exact_mixing(p)))
    columns = np.array(rows, np.float64).T
    return VotedPieces(columns[0], columns[1], columns[2].astype(bool), *columns[3:])


def exact_mixing(p: Float[np.ndarray, "kind dim"]) -> float:
    """Pr[‖Σ a_i P_i‖ ≥ ‖P_1‖]; NaN where the P_i span three dimensions or more."""
    sizes = np.sort(np.linalg.eigvalsh(p @ p.T) / (p[0] @ p[0]))[::-1]
    if (sizes[2:] > IDENTITY).any():
        return np.nan
    return mixing_probability(sizes[0], max(sizes[1], 0.0))


def toy_pieces(draw: np.random.Generator, count: int) -> list[np.ndarray]:
    """P of neurons of a toy network, the largest class first."""
    sample = TOY.draw(int(draw.integers(2**31)))
    network = start_softmax(draw, count, sample.points.shape[1], sample.n_classes)
    weighted = sample.shares[:, None] * residuals(network.logits(sample.points), sample.classes)
    p = pieces(weighted, network.gates(sample.points), sample.points)
    found = []
    for neuron in range(count):
        order = np.argsort(-np.linalg.norm(p[:, neuron], axis=1))
        if np.linalg.norm(p[order[0], neuron]) > 0:
            found.append(p[order, neuron])
    return found


def draw_mixed(scale: Scale, seed: int) -> VotedPieces:
    """The extreme case for 2 to 7 classes, and neurons of a toy."""
    extreme = [(extreme_pieces(k), True, 60_000) for k in (2, 3, 5, 6, 7)]
    return measure_mixed(
        [*extreme, *((p, False, 5000) for p in toy_pieces(np.random.default_rng([seed, 72]), 20))], seed
    )


def draw_printed_mixing(scale: Scale, seed: int) -> VotedPieces:
    """Seven classes at the extreme case: q_7 = 0.3545."""
    return measure_mixed([(extreme_pieces(7), True, 60_000)], seed)


# ── clusters: Lemmas B.2 and B.3 ──

Instances = Float[np.ndarray, " instance"]


@dataclass(frozen=True, eq=False)
class MeanEvents(Cases):
    """The event of Lemma B.2, per instance."""

    rows = "instance"

    shares: Instances  #: how often S ≤ v/3 was drawn, at τ = σδ/(24(k − 1)l)
    exact: Instances  #: its probability on orthonormal centres, NaN elsewhere
    orthonormal: Bool[np.ndarray, " instance"]  #: whether the centres are
    thresholds: Instances  #: τ
    distances: Instances  #: δ, with mirror images
    draws: Count
    largest: Number  #: max |p v_{1,a,b}|/v over the other classes
    others: Instances  #: (k − 1)l
    per_class: Instances  #: l

    @column
    def joint(self) -> Instances:
        """Pr[E_τ]: α and β are independent."""
        return within(self.thresholds) * self.shares

    @property
    def share_room(self) -> Instances:
        """What chance may do to the shares."""
        return share_room(self.shares, self.draws)


def measure_mean_events(
    instances: Sequence[Basis | SpreadPoints], seed: int, *, factor: float = 1.0, largest: float = 1.0
) -> MeanEvents:
    """Where every other class has |p v| = v; `factor` multiplies τ, and `largest` |p v|/v, for controls."""
    rows, count = [], 4000
    for number, source in enumerate(instances):
        sample, k, per_class = source.draw(seed), source.n_classes, source.per_class
        centres, distance = sample.points, sample.measured().distance
        tau = factor * mean_event_threshold(distance, 1.0, k, per_class)
        draw = np.random.default_rng([seed, 73, number])
        _, beta = split_off(weights_in_span(draw, count, centres), centres[0])
        hits = (np.abs(beta @ centres[per_class:].T) <= 4 * tau).sum(axis=1)
        known = isinstance(source, Basis)
        exact = float(beyond(4 * tau) ** ((k - 1) * per_class)) if known else np.nan
        rows.append(((largest * hits <= 1 / 3).mean(), exact, known, tau, distance, (k - 1) * per_class, per_class))
    shares, exact, known, *columns = np.array(rows, np.float64).T
    tau, distances, others, per_class = columns
    return MeanEvents(
        shares,
        exact,
        known.astype(bool),
        tau,
        distances,
        draws=count,
        largest=largest,
        others=others,
        per_class=per_class,
    )


def draw_mean_events(scale: Scale, seed: int) -> MeanEvents:
    """Orthonormal centres of 3 and 20 classes, and spread ones."""
    spread = [SpreadPoints(n_classes=k, dim=dim, least_distance=0.5) for k, dim in ((3, 30), (8, 60))]
    return measure_mean_events([Basis(n_classes=3), Basis(n_classes=20), *spread], seed)


@dataclass(frozen=True, eq=False)
class ComponentPieces(Cases):
    """How often ‖P₁‖ ≥ v/4 with expectations over caps, per λ."""

    rows = "instance"

    shares: Instances
    slopes: Instances  #: δ/((k − 1)l)
    draws: Count
    norm_error: Number
    least_own: Number
    separation: Instances
    opposite_separation: Instances
    relative_diameter: Instances
    n_classes: Int[np.ndarray, " instance"]
    per_class: Int[np.ndarray, " instance"]


def measure_clusters(samples: Sequence[Sample], seed: int, *, factor: float = 1.0) -> ComponentPieces:
    """Random coefficients, one per component, that of the first being v; `factor` multiplies P, for a control."""
    rows, leasts, count = [], [], 800
    structures = tuple(sample.measured() for sample in samples)
    for number, (sample, found) in enumerate(zip(samples, structures, strict=True)):
        draw = np.random.default_rng([seed, 74, number])
        _, first, which = np.unique(sample.components, return_index=True, return_inverse=True)
        own = sample.classes[first] == sample.classes[first[0]]
        coefficients = random_coefficients(draw, own)[0]
        weights = coefficients[which] * sample.shares / np.bincount(which, sample.shares)[which]
        gates = weights_in_span(draw, count, sample.points) @ sample.points.T >= 0
        norms = factor * np.linalg.norm((gates * weights) @ sample.points, axis=1)
        rows.append(((norms >= 0.25).mean(), found.distance / ((found.n_classes - 1) * found.per_class)))
        leasts.append(float(coefficients[own].min()))
    columns, error = np.array(rows).T, max(sample.norm_error for sample in samples)
    return ComponentPieces(
        *columns, draws=count, norm_error=error, least_own=min(leasts), **structure_columns(structures)
    )


@drawn_on_points(lambda sample, seed: measure_clusters([sample], seed), most=300)
def draw_clusters(scale: Scale, seed: int) -> ComponentPieces:
    """Caps of three classes with λ = 1/(8l), 1/(48l) and 0."""
    caps = [Caps(dim=15, relative_diameter=each, n_points=240) for each in (1 / 16, 1 / 96, 0.0)]
    return measure_clusters([each.draw(seed) for each in caps], seed)


def draw_printed_events(scale: Scale, seed: int) -> MeanEvents:
    """Orthonormal centres of 30 classes at τ = σδ/(12l)."""
    centres = Basis(n_classes=30)
    distance, k, per_class = 2**0.5, centres.n_classes, centres.per_class
    larger = mean_event_threshold_as_printed(distance, 1.0, per_class)
    factor = larger / mean_event_threshold(distance, 1.0, k, per_class)
    return measure_mean_events([centres], seed, factor=factor)


@dataclass(frozen=True, eq=False)
class ComponentSpread(Cases):
    """A component of two points at a distance λδ, seen from its normalised mean x*, for neurons drawn."""

    rows = "draw"

    products: Float[np.ndarray, " draw"]  #: ⟨β, x* − x⟩/(σδ) at one of the two points
    per_class: Count  #: l
    relative_diameter: Number  #: λ


def measure_spread(per_class: int, relative_diameter: float, seed: int) -> ComponentSpread:
    """At distance δ = √2, x at an angle ψ from x* with 2·sin ψ = λδ; β is Gaussian across x*."""
    distance = 2**0.5
    sine = relative_diameter * distance / 2
    beta = np.random.default_rng([seed, 75]).normal(size=4000)
    return ComponentSpread(-sine * beta / distance, per_class, relative_diameter)


def draw_spread(scale: Scale, seed: int) -> ComponentSpread:
    """One component per class, as wide as (A1) allows: λ = 1/8."""
    return measure_spread(1, 1 / 8, seed)
