"""Which boundaries small networks have: ReLU, clusters that mix signs, and perfectly clustered networks."""

import numpy as np

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import STEP
from widenet.diagnostics.rays import boundary_rays
from widenet.papers.sarussi2021.formulas import mixed_clusters_angle
from widenet.papers.sarussi2021.runs.shapes import (
    MixedClusters,
    PerfectClusters,
    TwoNeurons,
    mixed_clusters,
    perfect_clusters,
    two_neurons,
)
from widenet.records import Scale


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
        {"the rays are 90° + 2·atan α apart": Sides(gaps, promised, Sense.EQUAL, room=STEP * np.array(promised))},
        (at_most("tight", "spread of a cluster relative to its length", clusters.spread, 0.1),),
    )


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
