"""Inner products of clustered points, and clusters before and after the reduction. Nothing is trained here."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Number, column
from widenet.claims.experiments import drawn_on
from widenet.claims.user_data import UserData
from widenet.diagnostics.four_clusters import find_clusters
from widenet.papers.chatterji2021.cluster_formulas import cluster_product_bounds, initial_deviation
from widenet.papers.chatterji2021.cluster_sources import LabelledClusters, clustered
from widenet.papers.chatterji2021.sources import reduced_points
from widenet.papers.chatterji2021.user_data import reason_in_clusters
from widenet.records import Scale

UNIT = 1e-9
"""How far the length of a point may be from 1."""


@dataclass(frozen=True, eq=False)
class ClusterProducts(Cases):
    """Inner products of points whose clusters are known, in reduced coordinates, one entry per pair."""

    opposite: Float[np.ndarray, " opposite"]  #: x_s·x_q of opposite classes
    same: Float[np.ndarray, " same"]  #: x_s·x_q in one cluster
    unit: Bool[np.ndarray, " same"]  #: whether both points have length 1
    overlap: Number  #: Δ
    radius: Number  #: r
    distance: Number  #: the largest ‖x − μ‖/(r/√2)
    centre_error: Number  #: the largest |‖μ‖ − 1|

    @column
    def bounds(self) -> Float[np.ndarray, " 4"]:
        """Those of `cluster_product_bounds`."""
        return np.array(cluster_product_bounds(self.overlap, self.radius))


def products_of(points: np.ndarray, labels: np.ndarray, clusters: np.ndarray, centres: np.ndarray, radius: float,
                overlap: float) -> ClusterProducts:  # fmt: skip
    """All pairs of reduced points around reduced centres; Δ and r are the original ones."""
    products = points @ points.T
    lengths = np.abs(np.linalg.norm(points, axis=1) - 1) <= UNIT
    opposite, same = labels[:, None] != labels[None], clusters[:, None] == clusters[None]
    distances = np.linalg.norm(points - centres[clusters], axis=1)
    return ClusterProducts(
        opposite=products[opposite],
        same=products[same],
        unit=(lengths[:, None] & lengths[None])[same],
        overlap=overlap,
        radius=radius,
        distance=float(distances.max() * math.sqrt(2) / radius) if radius > 0 else 1.0,
        centre_error=float(np.abs(np.linalg.norm(centres[np.unique(clusters)], axis=1) - 1).max()),
    )


def stretched(radius: float) -> ClusterProducts:
    """Both bounds of opposite classes attained: one centre for both, and points (1 + r/√2)μ."""
    centre, far = np.array([[0.6, 0.8]]), 1 + radius / math.sqrt(2)
    return products_of(far * centre[[0, 0]], np.array([1.0, -1.0]), np.array([0, 2]), centre[[0, 0, 0, 0]], radius, 1.0)


def shrunk(radius: float) -> ClusterProducts:
    """One cluster at its least: points (1 − r/√2)μ."""
    centre, near = np.array([[0.6, 0.8]]), 1 - radius / math.sqrt(2)
    return products_of(near * centre[[0, 0]], np.ones(2), np.zeros(2, int), centre[[0, 0, 0, 0]], radius, 0.0)


def ends(radius: float) -> ClusterProducts:
    """Unit points at both ends of a cluster of the plane, reduced."""
    angle = 2 * math.asin(radius / 2)
    points = np.array([(math.cos(angle), math.sin(angle)), (math.cos(angle), -math.sin(angle))])
    centres = reduced_points(np.array([(1.0, 0.0)] * 4))
    return products_of(reduced_points(points), np.ones(2), np.zeros(2, int), centres, radius, 0.0)


def products_of_clusters(drawn: LabelledClusters) -> ClusterProducts:
    """The pairs of clustered points."""
    centres, shape = reduced_points(drawn.shape.centres), drawn.shape
    return products_of(drawn.reduced, drawn.labels, drawn.clusters, centres, shape.radius, shape.overlap)


def scattered(dim: int, radius: float, overlap: float, seed: int) -> LabelledClusters:
    """Unit points at distance r from four centres of the plane, in random directions."""
    draw = np.random.default_rng([seed, dim, int(100 * radius)])
    side = math.sqrt(1 - overlap**2)
    plane = math.sqrt(0.5) * np.array([(1.0, -1.0), (-1.0, 1.0), (side + overlap, side - overlap),
                                       (-side - overlap, overlap - side)])  # fmt: skip
    centres = np.concatenate([plane, np.zeros((4, dim - 2))], axis=1)
    own = np.arange(24) % 4
    across = draw.standard_normal((24, dim))
    across -= np.sum(across * centres[own], axis=1, keepdims=True) * centres[own]
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angle = 2 * math.asin(radius / 2)
    points = math.cos(angle) * centres[own] + math.sin(angle) * across
    return clustered(points, np.where(own < 2, 1.0, -1.0), own, centres)


def drawn_on_clusters(measure: Callable[[LabelledClusters, int], Any]) -> Callable[[Any], Any]:
    """Says of a function that draws cases how it makes them on your points: `measure` gets these and the seed.

    Each class is split into two clusters around normalized means.
    """

    def on(user_data: UserData) -> Any:
        if (reason := reason_in_clusters(user_data)) is not None:
            return reason
        own = find_clusters(user_data.inputs, user_data.labels)
        found = clustered(user_data.inputs, user_data.labels, own)
        if not np.isfinite(found.shape.radius):
            return NotApplicable("It is about clusters around unit centres, and the mean of a cluster is 0 here.")
        return measure(found, user_data.choices.seed)

    return drawn_on(on)


@drawn_on_clusters(lambda found, seed: products_of_clusters(found))
def draw_products(scale: Scale, seed: int) -> list[ClusterProducts]:
    """Clusters in 2, 5 and 50 dimensions, and the pairs that attain a bound."""
    grid = itertools.product((2, 5, 50), (0.05, 0.3, 0.9), (0.0, 0.4))
    drawn = [products_of_clusters(scattered(*case, seed)) for case in grid]
    return [*drawn, stretched(0.999), shrunk(0.01), ends(0.05)]


Points = Float[np.ndarray, " point"]
Pairs = Float[np.ndarray, " pair"]


@dataclass(frozen=True, eq=False)
class ReducedClusters(Cases):
    """Points and centres before and after the reduction, and the entries of a start in both coordinates."""

    distances: Points  #: ‖x − μ_k‖
    reduced_distances: Points  #: ‖x̃ − μ̃_k‖
    between: Pairs  #: μ_k·μ_l
    reduced_between: Pairs  #: μ̃_k·μ̃_l
    deviation: Number  #: σ
    entries: Float[np.ndarray, " entry"]  #: a start drawn with the deviation of the exact scaling
    centre_error: Number  #: |‖μ‖ − 1|

    @column
    def reduced_deviation(self) -> float:
        """σ̃, as measured."""
        return float(self.entries.std())


def reduced_clusters(drawn: LabelledClusters, seed: int) -> ReducedClusters:
    """Both coordinates of clustered points, beside a start of 120,000 weights."""
    centres, p = drawn.shape.centres, 20_000
    lifted, known = reduced_points(centres), np.unique(drawn.clusters)
    entries = initial_deviation(p, 0.25, "exact") * np.random.default_rng([seed, 3]).standard_normal(6 * p)
    return ReducedClusters(
        distances=np.linalg.norm(drawn.points - centres[drawn.clusters], axis=1),
        reduced_distances=np.linalg.norm(drawn.reduced - lifted[drawn.clusters], axis=1),
        between=(centres[known] @ centres[known].T).ravel(),
        reduced_between=(lifted[known] @ lifted[known].T).ravel(),
        deviation=initial_deviation(p, 0.25, "sec4"),
        entries=entries,
        centre_error=float(np.abs(np.linalg.norm(centres[known], axis=1) - 1).max()),
    )


@drawn_on_clusters(reduced_clusters)
def draw_reduced(scale: Scale, seed: int) -> ReducedClusters:
    """Four clusters in five dimensions."""
    return reduced_clusters(scattered(5, 0.3, 0.2, seed), seed)


PerCase = Float[np.ndarray, " case"]


@dataclass(frozen=True, eq=False)
class Radii(Cases):
    """Some r."""

    rows: ClassVar = "case"

    radius: PerCase

    @column
    def angle(self) -> PerCase:
        """arccos(1 − 2r)/π = 2 arcsin √r/π, which keeps its digits near r = 0."""
        return 2 * np.arcsin(np.sqrt(np.clip(self.radius, 0, 1))) / np.pi

    @column
    def root(self) -> PerCase:
        """√r."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.radius)


def draw_radii(scale: Scale, seed: int) -> Radii:
    """r from 0 to 1, both included."""
    return Radii(np.concatenate([[0.0], np.geomspace(1e-12, 1, 500), np.linspace(0, 1, 501)]))


@dataclass(frozen=True, eq=False)
class Shapes(Cases):
    """Pairs of Δ and r."""

    rows: ClassVar = "case"

    overlap: PerCase  #: Δ
    radius: PerCase  #: r

    @column
    def share(self) -> PerCase:
        """(1 − arccos(min(1, (1 + Δ)/2 + 2r))/π)/2."""
        return (1 - np.arccos(np.minimum(1, (1 + self.overlap) / 2 + 2 * self.radius)) / np.pi) / 2


def draw_angles(scale: Scale, seed: int) -> Shapes:
    """Δ and r from 0 on, small ones too."""
    steps = np.concatenate([[0.0], np.geomspace(1e-6, 1e-2, 9), np.linspace(0.02, 1, 25)])
    return Shapes(*np.array(list(itertools.product(steps, steps))).T)
