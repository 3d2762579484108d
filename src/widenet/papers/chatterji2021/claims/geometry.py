"""Inner products of clustered points (Lemma 21), the clusters after the reduction (Appendix C), and two angles."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Silence, at_least, at_most, claim, less_than
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.diagnostics.four_clusters import find_clusters
from widenet.papers.chatterji2021.specimens import silence_over_clusters
from widenet.papers.chatterji2021.cluster_formulas import cluster_product_bounds, initial_deviation
from widenet.papers.chatterji2021.cluster_settings import Clustered, clustered
from widenet.papers.chatterji2021.settings import reduced_points
from widenet.records import Scale

Cases = Float[np.ndarray, " case"]
Opposite = Float[np.ndarray, " opposite"]
Same = Float[np.ndarray, " same"]


@dataclass(frozen=True, eq=False)
class ClusterProducts:
    """Inner products of points whose clusters are known, in reduced coordinates, one entry per pair.

    Attributes:
      opposite, opposite_overlap, opposite_radius: x_s·x_q of opposite classes, with Δ and r of their clusters.
      same, same_radius: x_s·x_q in one cluster, with r; unit: whether both points have length 1.
      radius: the largest r; distance: the largest ‖x − μ‖/(r/√2); centre_error: the largest |‖μ‖ − 1|.
    """

    opposite: Opposite
    opposite_overlap: Opposite
    opposite_radius: Opposite
    same: Same
    same_radius: Same
    unit: np.ndarray
    radius: float
    distance: float
    centre_error: float


def products_of(points: np.ndarray, labels: np.ndarray, clusters: np.ndarray, centres: np.ndarray, radius: float,
                overlap: float) -> ClusterProducts:  # fmt: skip
    """All pairs of reduced points around reduced centres; Δ and r are the original ones."""
    products = points @ points.T
    lengths = np.abs(np.linalg.norm(points, axis=1) - 1) <= STEP
    opposite, same = labels[:, None] != labels[None], clusters[:, None] == clusters[None]
    distances = np.linalg.norm(points - centres[clusters], axis=1)
    return ClusterProducts(
        opposite=products[opposite],
        opposite_overlap=np.full(opposite.sum(), overlap),
        opposite_radius=np.full(opposite.sum(), radius),
        same=products[same],
        same_radius=np.full(same.sum(), radius),
        unit=(lengths[:, None] & lengths[None])[same],
        radius=radius,
        distance=float(distances.max() * math.sqrt(2) / radius) if radius > 0 else 1.0,
        centre_error=float(np.abs(np.linalg.norm(centres[np.unique(clusters)], axis=1) - 1).max()),
    )


def joined(parts: list[ClusterProducts]) -> ClusterProducts:
    """All pairs in turn."""
    arrays = ("opposite", "opposite_overlap", "opposite_radius", "same", "same_radius", "unit")
    return ClusterProducts(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays},
        **{name: max(getattr(part, name) for part in parts) for name in ("radius", "distance", "centre_error")},
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


def products_of_clusters(drawn: Clustered) -> ClusterProducts:
    """The pairs of clustered points."""
    centres, shape = reduced_points(drawn.shape.centres), drawn.shape
    return products_of(drawn.reduced, drawn.labels, drawn.clusters, centres, shape.radius, shape.overlap)


def scattered(dim: int, radius: float, overlap: float, seed: int) -> Clustered:
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


def draw_products(scale: Scale, seed: int) -> ClusterProducts:
    """Clusters in 2, 5 and 50 dimensions, and the pairs that attain a bound."""
    grid = itertools.product((2, 5, 50), (0.05, 0.3, 0.9), (0.0, 0.4))
    drawn = [products_of_clusters(scattered(*case, seed)) for case in grid]
    return joined([*drawn, stretched(0.999), shrunk(0.01), ends(0.05)])


@claim("chatterji2021.lemma_21", Kind.STEP, "Lemma 21, Appendix E", draws=draw_products)
def lemma_21(pairs: ClusterProducts) -> Evidence:
    """In reduced coordinates, with ‖μ_k‖ = 1, ‖x_s − μ_k‖ ≤ r/√2 and r < 1: x_s·x_q ≤ (1 + Δ)/2 + 2r for opposite
    classes and x_s·x_q ≥ 1 − 2r in one cluster; √2 r + r²/2 in place of 2r does, and r² for unit vectors of a cluster.
    """
    far = np.array([cluster_product_bounds(*each)[:2] for each in
                    zip(pairs.opposite_overlap.tolist(), pairs.opposite_radius.tolist(), strict=True)])  # fmt: skip
    near = np.array([cluster_product_bounds(0.0, radius)[2:] for radius in pairs.same_radius.tolist()])
    far, near = far.reshape(-1, 2), near.reshape(-1, 2)
    return evidence(
        {
            "opposite classes: (1 + Δ)/2 + 2r": Sides(pairs.opposite, far[:, 0], room=ROUNDING),
            "opposite classes: (1 + Δ)/2 + √2 r + r²/2": Sides(pairs.opposite, far[:, 1], room=ROUNDING),
            "one cluster: 1 − 2r": Sides(pairs.same, near[:, 0], Sense.AT_LEAST, room=ROUNDING),
            "one cluster: 1 − √2 r − r²/2": Sides(pairs.same, near[:, 1], Sense.AT_LEAST, room=ROUNDING),
            "unit vectors of one cluster: 1 − r²": Sides(
                pairs.same, 1 - pairs.same_radius**2, Sense.AT_LEAST, room=ROUNDING, scored=pairs.unit
            ),
        },
        (
            less_than("radius", "largest cluster radius r", pairs.radius, 1),
            at_most("distance", "largest ‖x − μ‖, in units of r/√2", pairs.distance, 1, tolerance=STEP / 4),
            at_most("centres", "largest distance of ‖μ‖ from 1", pairs.centre_error, 0, tolerance=STEP),
        ),
    )


@lemma_21.speaks
def products_on(specimen: Specimen) -> ClusterProducts | Silence:
    """The reader's points, each class split into two clusters."""
    found = clusters_on(specimen)
    return found if isinstance(found, Silence) else products_of_clusters(found)


def clusters_on(specimen: Specimen) -> Clustered | Silence:
    """The reader's points, each class split into two clusters around normalized means."""
    if (reason := silence_over_clusters(specimen)) is not None:
        return reason
    own = find_clusters(specimen.inputs, specimen.labels)
    found = clustered(specimen.inputs, specimen.labels, own)
    if not np.isfinite(found.shape.radius):
        return Silence("It is about clusters around unit centres, and the mean of a cluster is 0 here.")
    return found


@dataclass(frozen=True, eq=False)
class ReducedClusters:
    """Points and centres before and after the reduction, and the entries of a start in both coordinates.

    Attributes:
      distances, reduced_distances: ‖x − μ_k‖ and ‖x̃ − μ̃_k‖.
      between, reduced_between: μ_k·μ_l and μ̃_k·μ̃_l.
      deviation, entries: σ, and a start drawn with the deviation of the exact scaling; centre_error: |‖μ‖ − 1|.
    """

    distances: Float[np.ndarray, " point"]
    reduced_distances: Float[np.ndarray, " point"]
    between: Float[np.ndarray, " pair"]
    reduced_between: Float[np.ndarray, " pair"]
    deviation: float
    entries: np.ndarray
    centre_error: float


def reduced_clusters(drawn: Clustered, seed: int) -> ReducedClusters:
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


def draw_reduced(scale: Scale, seed: int) -> ReducedClusters:
    """Four clusters in five dimensions."""
    return reduced_clusters(scattered(5, 0.3, 0.2, seed), seed)


@claim("chatterji2021.appendix_c", Kind.IDENTITY, "Section 4.1; Appendix C", draws=draw_reduced)
def appendix_c(found: ReducedClusters) -> Evidence:
    """Without biases on x̃ = (x, 1)/√2: σ̃ = √2 σ, ‖x̃ − μ̃_k‖ = ‖x − μ_k‖/√2, and μ̃_k·μ̃_l = (1 + μ_k·μ_l)/2."""
    return evidence(
        {
            "σ̃ = √2 σ": Sides(
                found.entries.std(), math.sqrt(2) * found.deviation, Sense.EQUAL, room=0.01 * found.deviation
            ),
            "distances shrink by √2": Sides(
                found.reduced_distances, found.distances / math.sqrt(2), Sense.EQUAL, room=ROUNDING
            ),
            "products of centres move halfway to 1": Sides(
                found.reduced_between, (1 + found.between) / 2, Sense.EQUAL, room=ROUNDING
            ),
        },
        (at_most("centres", "largest distance of ‖μ‖ from 1", found.centre_error, 0, tolerance=STEP),),
    )


@appendix_c.speaks
def reduced_on(specimen: Specimen) -> ReducedClusters | Silence:
    """The reader's points, each class split into two clusters."""
    found = clusters_on(specimen)
    return found if isinstance(found, Silence) else reduced_clusters(found, specimen.choices.seed)


def draw_radii(scale: Scale, seed: int) -> Cases:
    """r from 0 to 1, both included."""
    return np.concatenate([[0.0], np.geomspace(1e-12, 1, 500), np.linspace(0, 1, 501)])


@claim("chatterji2021.appendix_d_4", Kind.STEP, "Appendix D.4, last step", draws=draw_radii)
def appendix_d_4(radii: Cases, *, share: float = 1.0) -> Evidence:
    """arccos(1 − 2r)/π ≤ √r for 0 ≤ r ≤ 1, with equality at both ends.

    `share` of the right side is for a control.
    """
    # arccos(1 − 2r) = 2 arcsin √r, which keeps its digits near r = 0.
    exact = 2 * np.arcsin(np.sqrt(np.clip(radii, 0, 1))) / np.pi
    with np.errstate(invalid="ignore"):
        bound = share * np.sqrt(radii)
    return evidence(
        {"arccos(1 − 2r)/π ≤ √r": Sides(exact, bound, room=ROUNDING * bound)},
        (
            at_least("radius", "smallest r", radii.min(), 0),
            at_most("radius_below_one", "largest r", radii.max(), 1),
        ),
    )


def draw_angles(scale: Scale, seed: int) -> Float[np.ndarray, "case both"]:
    """Δ and r from 0 on, small ones too."""
    steps = np.concatenate([[0.0], np.geomspace(1e-6, 1e-2, 9), np.linspace(0.02, 1, 25)])
    return np.array(list(itertools.product(steps, steps)))


@claim("chatterji2021.appendix_d_5", Kind.STEP, "Appendix D.5, last step", draws=draw_angles)
def appendix_d_5(
    cases: Float[np.ndarray, "case both"], *, constant: float = 1 / 3, of_overlap: float = 0.25, of_radius: float = 1.0
) -> Evidence:
    """(1 − arccos(min(1, (1 + Δ)/2 + 2r))/π)/2 ≤ 1/3 + Δ/4 + r for all Δ, r ≥ 0, with equality at 0; the paper asks for
    small ones.

    The constants are for controls.
    """
    overlap, radius = cases.T
    left = (1 - np.arccos(np.minimum(1, (1 + overlap) / 2 + 2 * radius)) / np.pi) / 2
    at_zero, along, across = (overlap == 0) & (radius == 0), (radius == 0) & (overlap > 0), radius > 0
    sides = Sides(left, constant + of_overlap * overlap + of_radius * radius, room=ROUNDING)
    return evidence(
        {
            "at Δ = r = 0": sides.only(at_zero),
            "with Δ alone": sides.only(along),
            "with r": sides.only(across),
        },
        (
            at_least("overlap", "smallest Δ", overlap.min(), 0),
            at_least("radius", "smallest r", radius.min(), 0),
        ),
    )
