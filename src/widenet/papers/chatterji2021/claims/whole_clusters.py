"""Lemma 15, part 4: units that capture several points of a cluster at once."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise, Promised, at_least
from widenet.papers.chatterji2021.claims.starts import LEVEL, SURENESS, RandomStarts, Seldom, Worst, seldom
from widenet.papers.chatterji2021.cluster_hypotheses import (
    bandwidth,
    few_dimensions,
    one_cluster,
    radius_at_most_one,
    small_radius,
    unit_inputs,
)
from widenet.papers.chatterji2021.runs.first_steps import first_steps, rows_of
from widenet.papers.chatterji2021.runs.start_laws import Cap, CrossedClusters, draw_caps, draw_crossed
from widenet.records import Form


@claim("chatterji2021.lemma_15_4", Kind.STEP, "Lemma 15, part 4, for pairs; Appendix D.4", reads=first_steps,
       given=[unit_inputs, bandwidth, radius_at_most_one, one_cluster],
       form=Form.REPAIR, title="Many units capture both points of a pair in one cluster")  # fmt: skip
def lemma_15_4(runs: RandomStarts) -> Promise:
    """With high probability, for all $s$, $q$ of one cluster, at least $((1 − √r)/2 − o(1))p$ units are in both $I_+s$
    and $I_+q$, and as many in both $I_−s$ and $I_−q$. With probability $1 − δ$, $δ = 0.01$, their share is at least
    $P$[both captured] $− √(log(2n²/δ)/(2p))$, and that probability is at least $(1 − √r)/2 − 2(h + 4α_0)/(σ√(2π))$.

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


def together(runs: RandomStarts, weakest: np.ndarray, text: str) -> Seldom:
    """The pair of each run that is farthest below its own bound."""
    counts, bounds = weakest.T
    return seldom(runs, at_least(counts, bounds, trivial=0.0, text=text), LEVEL / 2)


@claim("chatterji2021.lemma_15_4_as_printed", Kind.STEP, "Lemma 15, part 4", draws=draw_crossed, given=[small_radius],
       title="Nearly half of the units capture a whole cluster")  # fmt: skip
def lemma_15_4_as_printed(clusters: CrossedClusters) -> Promise:
    """For all small enough $C_2$ and large enough $C_3$, with probability $1 − δ$, for all clusters $K_k$, at least
    $((1 − √r)/2 − o(1))p$ units are in $I_+s$ for all $s ∈ K_k$, and as many in $I_−s$ for all $s ∈ K_k$.
    """
    text = "share of units that capture a whole cluster"
    return Promise(
        {"share": at_least(clusters.shares, clusters.claimed, text=text)},
        details={"radii": clusters.radius, "log_points": clusters.log_points, "shares": clusters.shares},
        note="The share for p → ∞, where the o(1) is gone. A union over pairs does not bound what all points share.",
    )


@claim("chatterji2021.lemma_15_4_few_dimensions", Kind.STEP, "Lemma 15, part 4, where dr ≤ π", draws=draw_caps,
       given=[few_dimensions], form=Form.REPAIR, title="In few dimensions, units capture whole clusters")  # fmt: skip
def lemma_15_4_few_dimensions(caps: Cap) -> Promised:
    """Where $dr ≤ π$, part 4 of Lemma 15 is true as printed, for clusters of any size: a unit of a wide network, of
    either sign, captures the whole cap of radius $r$ with probability at least $1/2 − (r/√2)√(d/(2π)) ≥ (1 − √r)/2$.
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
