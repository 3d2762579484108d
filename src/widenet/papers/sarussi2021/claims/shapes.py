"""Which boundaries small networks have: ReLU, clusters that mix signs, and perfectly clustered networks."""

from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import STEP
from widenet.diagnostics.rays import boundary_rays
from widenet.diagnostics.sign_clusters import widest_angle
from widenet.papers.sarussi2021.formulas import mixed_clusters_angle
from widenet.papers.sarussi2021.runs.clouds import Clouds, ask
from widenet.papers.sarussi2021.settings import SignedNetwork
from widenet.records import Scale

GRID = 200


@dataclass(frozen=True, eq=False)
class TwoNeurons:
    """The network w = (1, 0), u = (0, 1) on a grid of the square [−1, 1]².

    Attributes:
      signs: of N on the grid; zeros stay 0.
      rays_plus, rays_minus: the two rays of the boundary, in degrees, when zeros count as positive, as negative.
      slope: α.
    """

    signs: np.ndarray
    rays_plus: np.ndarray
    rays_minus: np.ndarray
    slope: float


def two_neurons(slope: float) -> TwoNeurons:
    """An even grid, which has no node at 0."""
    side = np.linspace(-1, 1, GRID)
    network = SignedNetwork(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 1.0, slope)
    points = np.stack([each.ravel() for each in np.meshgrid(side, side)], axis=1)
    signs = np.sign(network.outputs(points)).reshape(GRID, GRID)
    return TwoNeurons(signs, _turns(network, 1.0), _turns(network, -1.0), slope)


def _turns(network: SignedNetwork, zero: float) -> np.ndarray:
    """Where the label changes on the circle, if 0 has this label: between two of 16 arcs without a kink inside."""
    angles = np.radians(np.arange(16) * 22.5 + 11.25)
    outputs = network.outputs(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    labels = np.where(outputs == 0, zero, np.sign(outputs))
    return np.flatnonzero(labels != np.roll(labels, 1)) * 22.5


def draw_relu(scale: Scale, seed: int) -> TwoNeurons:
    """α = 0."""
    return two_neurons(0.0)


@claim("sarussi2021.section_11_1", Kind.CONSTRUCTION, "Section 11.1 and Figure 4", draws=draw_relu)
def section_11_1(network: TwoNeurons) -> Evidence:
    """Theorem 5.1 is false for ReLU, even with r = 0: for w = (1, 0) and u = (0, 1) the network is 0 on a quarter of
    every square around the origin, and whichever label 0 gets, the boundary is two rays 135° apart: at 45° and 180°, or
    at 45° and 270°.
    """
    m = len(network.signs)
    return evidence(
        {
            # The quadrant, and the nodes of the diagonal ray.
            "0 at a quarter of the nodes, and on the diagonal": Sides(
                int((network.signs == 0).sum()), m * m // 4 + m // 2, Sense.EQUAL
            ),
            "rays at 45° and 180° if 0 is positive": Fact(network.rays_plus.tolist() == [45.0, 180.0]),
            "rays at 45° and 270° if 0 is negative": Fact(network.rays_minus.tolist() == [45.0, 270.0]),
        },
        (at_most("relu", "Leaky slope α", network.slope, 0),),
    )


@dataclass(frozen=True, eq=False)
class MixedClusters:
    """Networks with two tight clusters of neurons, each with neurons of both signs, per slope."""

    networks: tuple[SignedNetwork, ...]
    spread: float


def mixed_clusters(*, matched: bool = False, spread: float = 0.01) -> MixedClusters:
    """w = (1 + δ)e₁, (1 + δ)e₂ and u = e₁, e₂. `matched` sorts the same vectors by sign, for a control."""
    first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    if matched:
        plus, minus = np.stack([(1 + spread) * first, first]), np.stack([(1 + spread) * second, second])
    else:
        plus, minus = (1 + spread) * np.stack([first, second]), np.stack([first, second])
    return MixedClusters(tuple(SignedNetwork(plus, minus, 1.0, slope) for slope in (0.1, 0.4)), spread)


def draw_mixed(scale: Scale, seed: int) -> MixedClusters:
    """At α = 0.1 and 0.4."""
    return mixed_clusters()


@claim("sarussi2021.section_5_mixed_clusters", Kind.CONSTRUCTION, "not in the paper; for Section 5", draws=draw_mixed)
def section_5_mixed_clusters(clusters: MixedClusters) -> Evidence:
    """Two tight clusters of neurons do not make a linear boundary if both hold neurons of both signs: for
    w = (1 + δ)e₁, (1 + δ)e₂ and u = e₁, e₂ the two rays of the boundary are 90° + 2·atan α apart, not 180°.
    """
    gaps, promised = [], []
    for network in clusters.networks:
        rays = boundary_rays(network.weights, network.output_weights, network.slope)
        gaps.append(rays[1] - rays[0] if len(rays) == 2 else np.nan)
        promised.append(float(mixed_clusters_angle(network.slope)))
    return evidence(
        {"the rays are 90° + 2·atan α apart": Sides(gaps, promised, Sense.EQUAL, room=STEP * 180)},
        (at_most("tight", "spread of a cluster relative to its length", clusters.spread, 0.1),),
    )


@dataclass(frozen=True, eq=False)
class PerfectClusters:
    """Pairs of a network and a point in small whole numbers, where nothing is rounded.

    Attributes:
      equal: networks whose rows of one sign are equal; collinear: they are positive multiples of one row.
      widest: the largest angle between two rows of one sign, of the collinear networks, in degrees.
    """

    equal: Clouds
    collinear: Clouds
    widest: float


def perfect_clusters(seed: int, *, turned: float = 1.0) -> PerfectClusters:
    """Rows and points with entries from −3 to 3. `turned` multiplies one collinear row, for a control."""
    draw = np.random.default_rng([seed, 61])
    equal, collinear, widest = [], [], 0.0
    for _ in range(60):
        k, slope = int(draw.choice([1, 2, 4])), float(draw.choice([0.25, 0.5]))
        w, u = draw.integers(-3, 4, (2, 3)).astype(float)
        points = draw.integers(-3, 4, (40, 3)).astype(float)
        # Ties: points orthogonal to w, to u, to both and to their difference.
        points[:4] = np.stack([_across(w, points[0]), _across(u, points[1]), np.cross(w, u), _across(w - u, points[3])])
        equal.append(ask(SignedNetwork(np.tile(w, (k, 1)), np.tile(u, (k, 1)), 1.0, slope), points))
        multiples = draw.choice([0.5, 1.0, 2.0], size=(2, 4))
        multiples[0, 0] *= turned
        rows = multiples[0][:, None] * w, multiples[1][:, None] * u
        collinear.append(ask(SignedNetwork(*rows, 1.0, slope), points))
        angles = [float(widest_angle(each)) for each in rows if each.any()]
        widest = max([widest, *angles])
    return PerfectClusters(Clouds.joined(equal), Clouds.joined(collinear), widest)


def _across(normal: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A whole-number point orthogonal to `normal`."""
    return np.cross(normal, point)


def draw_perfect(scale: Scale, seed: int) -> PerfectClusters:
    """Sixty networks of each kind."""
    return perfect_clusters(seed)


@claim("sarussi2021.corollary_6_1", Kind.MAIN, "Corollary 6.1, Section 6.1", draws=draw_perfect)
def corollary_6_1(clusters: PerfectClusters) -> Evidence:
    """If all w are equal and all u are equal, then sign N(x) = sign (w − u)·x for every x, ties included. Not in the
    paper: rows of one sign that are positive multiples of each other are enough.

    In small whole numbers, so that no tie is lost to rounding.
    """
    equal, collinear = clusters.equal, clusters.collinear
    tie = equal.difference == 0
    distances = max(equal.plus_distance.max(), equal.minus_distance.max())
    return evidence(
        {
            "sign N = sign (w − u)·x": Fact(np.sign(equal.outputs) == np.sign(equal.difference), scored=~tie),
            "N = 0 where (w − u)·x = 0": Fact(equal.outputs == 0, scored=tie),
            "the same for collinear rows": Fact(np.sign(collinear.outputs) == np.sign(collinear.difference)),
        },
        (
            at_most("clustered", "largest distance of a row from its mean", distances, 0),
            at_most(
                "collinear", "largest angle between collinear rows, in degrees", clusters.widest, 0, tolerance=1e-6
            ),
        ),
        details={"ties": int(tie.sum()), "pairs": len(equal)},
    )
