"""Which boundaries small networks have: ReLU, clusters that mix signs, and perfectly clustered networks."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise, Promised, at_most, equal, hypothesis
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import STEP
from widenet.papers.sarussi2021.formulas import mixed_clusters_angle
from widenet.papers.sarussi2021.runs.shapes import (
    MixedClusters,
    PerfectClusters,
    TwoNeurons,
    draw_mixed,
    draw_perfect,
    draw_relu,
)
from widenet.records import Form


@hypothesis("Leaky slope $α$", extreme=False)
def relu(network: TwoNeurons) -> Sides:
    """α = 0."""
    return at_most(network.slope, 0)


@hypothesis("spread of a cluster relative to its length", extreme=False)
def tight(clusters: MixedClusters) -> Sides:
    """Neurons of a cluster are close together."""
    return at_most(clusters.spread, 0.1)


@hypothesis("distance of a row from its mean")
def clustered(clusters: PerfectClusters) -> Sides:
    """All rows of one sign are equal."""
    return at_most(clusters.farthest, 0)


@hypothesis("angle between collinear rows, in degrees")
def collinear(clusters: PerfectClusters) -> Sides:
    """They point in the same direction."""
    return at_most(clusters.widest, 0, within=1e-6)


@claim("sarussi2021.section_11_1", Kind.CONSTRUCTION, "Section 11.1 and Figure 4", draws=draw_relu, given=[relu],
       title="With ReLU even two neurons make no linear boundary")  # fmt: skip
def section_11_1(network: TwoNeurons) -> Promised:
    """Theorem 5.1 is false for ReLU, even with $r = 0$. For $w = (1, 0)$ and $u = (0, 1)$ the network is $0$ on a
    quarter of every square around the origin, and whichever label $0$ gets, the boundary consists of two rays $135°$
    apart: at $45°$ and $180°$, or at $45°$ and $270°$.
    """
    return {
        "zeros": equal(network.zeros, network.expected_zeros, text="0 at a quarter of the nodes, and on the diagonal"),
        "plus_rays": Fact(network.plus_bends, text="rays at 45° and 180° if 0 is positive"),
        "minus_rays": Fact(network.minus_bends, text="rays at 45° and 270° if 0 is negative"),
    }


@claim("sarussi2021.section_5_mixed_clusters", Kind.CONSTRUCTION, "not in the paper; for Section 5", draws=draw_mixed,
       given=[tight], form=Form.OURS, title="Clusters that mix signs make no linear boundary")  # fmt: skip
def section_5_mixed_clusters(clusters: MixedClusters) -> Promised:
    """Two tight clusters of neurons do not make a linear boundary if both contain neurons of both signs. For $w = (1 +
    δ)e_1, (1 + δ)e_2$ and $u = e_1, e_2$ the two rays of the boundary are $90° + 2·tan⁻¹ α$ apart, not $180°$.
    """
    angle = mixed_clusters_angle(clusters.slope)
    return {"rays": equal(clusters.gap, angle, within=STEP, text="the rays are $90° + 2·tan⁻¹ α$ apart")}


@claim("sarussi2021.corollary_6_1", Kind.MAIN, "Corollary 6.1, Section 6.1", draws=draw_perfect,
       form=Form.SHARPER, given=[clustered, collinear],
       title="A perfectly clustered network is a linear classifier")  # fmt: skip
def corollary_6_1(clusters: PerfectClusters) -> Promise:
    """If all $w$ are equal and all $u$ are equal, then $sign N(x) = sign((w − u)·x)$ for every $x$, ties included. Not
    in the paper: rows of one sign that are positive multiples of each other are enough.

    In small whole numbers, so that no tie is lost to rounding.
    """
    tie, alike = clusters.difference == 0, ~clusters.collinear
    agrees = np.sign(clusters.outputs) == np.sign(clusters.difference)
    return Promise(
        {
            "signs": Fact(agrees, where=alike & ~tie, event="equal rows, no tie", text="$sign N = sign (w − u)·x$"),
            "ties": Fact(
                clusters.outputs == 0, where=alike & tie, event="equal rows, ties", text="$N = 0$ where $(w − u)·x = 0$"
            ),
            "collinear_signs": Fact(
                agrees, where=clusters.collinear, event="collinear rows", text="the same for collinear rows"
            ),
        },
        details={"ties": (alike & tie).sum(), "pairs": alike.sum()},
    )
