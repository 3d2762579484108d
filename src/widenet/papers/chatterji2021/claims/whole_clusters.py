"""Lemma 15, part 4: units that capture several points of a cluster at once."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.implication import Promise, Promised, at_least
from widenet.papers.chatterji2021.claims.starts import LEVEL, SURENESS, Seldom, Starts, Worst, rows_of, seldom
from widenet.papers.chatterji2021.cluster_formulas import same_cluster_share, whole_cap_share, whole_cluster_share
from widenet.papers.chatterji2021.cluster_hypotheses import (
    bandwidth,
    few_dimensions,
    one_cluster,
    radius_at_most_one,
    small_radius,
    unit_inputs,
)
from widenet.papers.chatterji2021.runs.first_steps import first_steps
from widenet.records import Scale

Clusters = Float[np.ndarray, " cluster"]


@claim("chatterji2021.lemma_15_4", Kind.STEP, "Lemma 15, part 4, for pairs; Appendix D.4", reads=first_steps,
       given=[unit_inputs, bandwidth, radius_at_most_one, one_cluster],
       title="Many units capture both points of a pair in one cluster")  # fmt: skip
def lemma_15_4(runs: Starts) -> Promise:
    """With high probability, for all s, q of one cluster, at least ((1 − √r)/2 − o(1))p units are in I_+s and I_+q, and
    as many in I_−s and I_−q: P[both captured] − √(log(2n²/δ)/(2p)) of them with probability 1 − δ, δ = 0.01, and that
    probability is at least (1 − √r)/2 − 2(h + 4α_0)/(σ√(2π)).

    The lemma says it of all points of a cluster at once. Lemma 18 needs pairs only.
    """
    setting, text = runs.per("cell"), "$P$[both captured] $≥ (1 − √r)/2 − 2a/(σ√(2π))$"
    return Promise(
        {
            "helpful": together(runs, runs.helpful_together, "units in $I_+s$ and $I_+q$"),
            "harmful": together(runs, runs.harmful_together, "units in $I_−s$ and $I_−q$"),
            "chance": at_least(setting.pair_chance, setting.pair_share, trivial=0.0, text=text),
        },
        details=lambda: rows_of(runs.cells, share=lambda cell: cell.pair_share),
        note=SURENESS,
    )


def together(runs: Starts, weakest: np.ndarray, text: str) -> Seldom:
    """The pair of each run that is farthest below its own bound."""
    counts, bounds = weakest.T
    return seldom(runs, at_least(counts, bounds, trivial=0.0, text=text), LEVEL / 2)


@dataclass(frozen=True, eq=False)
class CrossedClusters(Cases):
    """Clusters of 2D points cosθ·μ ± sinθ·e_j."""

    rows: ClassVar = "cluster"

    radius: Clusters  #: r
    log_points: Clusters  #: log D
    shares: Clusters  #: the share of wide networks' units of one sign that capture all points

    @column
    def claimed(self) -> Clusters:
        """(1 − √r)/2."""
        return np.array([same_cluster_share(radius) for radius in self.radius.tolist()])


def crossed(*cases: tuple[float, float]) -> CrossedClusters:
    """Such clusters, by r and log D."""
    radius, log_points = np.array(cases).T
    return CrossedClusters(radius, log_points, np.array([whole_cluster_share(*case) for case in cases]))


def draw_crossed(scale: Scale, seed: int) -> CrossedClusters:
    """Radii down to 0.01: no C_2 is small enough."""
    return crossed((0.5, math.log(500)), (0.2, math.log(200_000)), (0.1, 19.0), (0.05, 36.0), (0.01, 168.0))


@claim("chatterji2021.lemma_15_4_as_printed", Kind.STEP, "Lemma 15, part 4", draws=draw_crossed, given=[small_radius],
       title="Nearly half of the units capture a whole cluster")  # fmt: skip
def lemma_15_4_as_printed(clusters: CrossedClusters) -> Promise:
    """For all small enough C_2 and large enough C_3, with probability 1 − δ, for all clusters K_k, at least
    ((1 − √r)/2 − o(1))p units are in I_+s for all s ∈ K_k, and as many in I_−s for all s ∈ K_k.
    """
    text = "share of units that capture a whole cluster"
    return Promise(
        {"share": at_least(clusters.shares, clusters.claimed, text=text)},
        details={"radii": clusters.radius, "log_points": clusters.log_points, "shares": clusters.shares},
        note="The share for p → ∞, where the o(1) is gone. A union over pairs does not bound what all points share.",
    )


@dataclass(frozen=True, eq=False)
class Cap(Cases):
    """Units (v, b) against the cap of radius r around a centre of R^d."""

    rows: ClassVar = "unit"

    dim: Count  #: d
    radius: Number  #: r
    captured: Bool[np.ndarray, " unit"]  #: which of them are active on all of it

    @column
    def bound(self) -> float:
        """1/2 − (r/√2)√(d/(2π))."""
        return whole_cap_share(self.dim, self.radius)

    @column
    def claimed(self) -> float:
        """(1 − √r)/2."""
        return same_cluster_share(self.radius)

    @column
    def spread(self) -> Number:
        """dr."""
        return self.dim * self.radius


def draw_caps(scale: Scale, seed: int) -> list[Cap]:
    """Caps in the plane and in R⁶; a unit is active on all of a cap if it is where v·x is smallest."""
    draw, made = np.random.default_rng([seed, 154]), []
    for dim, radius in ((2, 0.1), (6, 0.5)):
        weights, bias = draw.standard_normal((60_000, dim)), draw.standard_normal(60_000)
        lengths = np.linalg.norm(weights, axis=1)
        farthest = np.arccos(weights[:, 0] / lengths) + 2 * math.asin(radius / 2)
        made.append(Cap(dim, radius, lengths * np.cos(np.minimum(farthest, np.pi)) + bias > 0))
    return made


@claim("chatterji2021.lemma_15_4_few_dimensions", Kind.STEP, "Lemma 15, part 4, where dr ≤ π", draws=draw_caps,
       given=[few_dimensions], title="In few dimensions, units capture whole clusters")  # fmt: skip
def lemma_15_4_few_dimensions(caps: Cap) -> Promised:
    """Where dr ≤ π, part 4 of Lemma 15 is true as printed, for clusters of any size: a wide network's unit of either
    sign captures the whole cap of radius r with probability at least 1/2 − (r/√2)√(d/(2π)) ≥ (1 − √r)/2.
    """
    each = caps.per("cell")
    return {
        "captures": Worst(
            ~caps.captured,
            1 - caps.bound,
            setting=caps.cell,
            quantity="share of units that miss a point of the cap",
            text="a unit captures the whole cap at least as often as promised",
        ),
        "promise": at_least(each.bound, each.claimed, text="the promise is at least $(1 − √r)/2$"),
    }
