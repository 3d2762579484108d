"""Lemma 15, part 4: units that capture several points of a cluster at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Evidence, Kind, Silence, at_most, claim, less_than, pick
from widenet.claims.sides import Rate, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.starts import (
    SURENESS,
    Seldom,
    conditions,
    over_cells,
    pairs_of_one_cluster,
    rows_of,
    runs_of,
    starts_on,
    worst,
)
from widenet.papers.chatterji2021.cluster_formulas import (
    LEVEL,
    both_captured,
    pair_share,
    same_cluster_share,
    tight_slack,
    whole_cap_share,
    whole_cluster_share,
)
from widenet.papers.chatterji2021.runs.first_steps import FirstSteps, FirstStepSetting, first_steps
from widenet.records import Scale


@claim("chatterji2021.lemma_15_4", Kind.STEP, "Lemma 15, part 4, for pairs; Appendix D.4", reads=first_steps)
def lemma_15_4(cells: Sequence[FirstSteps]) -> Evidence:
    """With high probability, for all s, q of one cluster, at least ((1 − √r)/2 − o(1))p units are in I_+s and I_+q, and
    as many in I_−s and I_−q: P[both captured] − √(log(2n²/δ)/(2p)) of them with probability 1 − δ, δ = 0.01, and that
    probability is at least (1 − √r)/2 − 2(h + 4α_0)/(σ√(2π)).

    The lemma says it of all points of a cluster at once. Lemma 18 needs pairs only.
    """
    chances = [both_captured(cell.level, cell.deviation, cell.products[cell.same_cluster]).min() for cell in cells]
    shares = [pair_share(cell.radius, cell.level, cell.deviation) for cell in cells]
    return evidence(
        {
            "units in I_+s and I_+q": over_cells(cells, lambda cell: together(cell, cell.helpful_pairs)),
            "units in I_−s and I_−q": over_cells(cells, lambda cell: together(cell, cell.harmful_pairs)),
            "P[both captured] ≥ (1 − √r)/2 − 2a/(σ√(2π))": Sides(chances, shares, Sense.AT_LEAST, trivial=0.0),
        },
        (
            *pick(conditions(cells), "unit_inputs", "bandwidth"),
            at_most("radius", "largest cluster radius r", max(cell.radius for cell in cells), 1, tolerance=ROUNDING),
            pairs_of_one_cluster(cells),
        ),
        runs=runs_of(cells),
        details=rows_of(cells, share=lambda cell: pair_share(cell.radius, cell.level, cell.deviation)),
        note=noted(cells, SURENESS),
    )


def together(cell: FirstSteps, pairs: np.ndarray) -> Seldom:
    """The pair of each run that is farthest below its own bound."""
    chance = both_captured(cell.level, cell.deviation, cell.products) - tight_slack(
        cell.half_width, 2 * cell.n_points**2
    )
    bounds = cell.half_width * chance
    gaps = np.where(cell.same_cluster, pairs - bounds, np.inf).reshape(cell.n_runs, -1)
    lowest = gaps.argmin(axis=1)
    counts = pairs.reshape(cell.n_runs, -1)[np.arange(cell.n_runs), lowest]
    return Seldom(Sides(counts, bounds.ravel()[lowest], Sense.AT_LEAST, trivial=0.0), LEVEL / 2)


@lemma_15_4.speaks
def pairs_on(specimen: Specimen) -> list[FirstStepSetting] | Silence:
    """Random starts on the reader's data."""
    return starts_on(specimen)


@dataclass(frozen=True, eq=False)
class CrossedClusters:
    """Clusters of 2D points cosθ·μ ± sinθ·e_j, and the share of wide networks' units of one sign that capture all."""

    radii: Float[np.ndarray, " cluster"]
    log_points: Float[np.ndarray, " cluster"]
    shares: Float[np.ndarray, " cluster"]


def crossed(radius: float, log_points: float) -> CrossedClusters:
    """One such cluster, D = exp(log_points)."""
    share = whole_cluster_share(radius, log_points)
    return CrossedClusters(np.array([radius]), np.array([log_points]), np.array([share]))


def draw_crossed(scale: Scale, seed: int) -> CrossedClusters:
    """Radii down to 0.01: no C_2 is small enough."""
    cases = ((0.5, math.log(500)), (0.2, math.log(200_000)), (0.1, 19.0), (0.05, 36.0), (0.01, 168.0))
    parts = [crossed(*case) for case in cases]
    return CrossedClusters(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("radii", "log_points", "shares"))
    )


@claim("chatterji2021.lemma_15_4_as_printed", Kind.STEP, "Lemma 15, part 4", draws=draw_crossed)
def lemma_15_4_as_printed(clusters: CrossedClusters) -> Evidence:
    """For all small enough C_2 and large enough C_3, with probability 1 − δ, for all clusters K_k, at least
    ((1 − √r)/2 − o(1))p units are in I_+s for all s ∈ K_k, and as many in I_−s for all s ∈ K_k.
    """
    claimed = [same_cluster_share(radius) for radius in clusters.radii.tolist()]
    return evidence(
        {"share of units that capture a whole cluster": Sides(clusters.shares, claimed, Sense.AT_LEAST)},
        (less_than("radius", "largest cluster radius r", clusters.radii.max(), 1),),
        details={"radii": clusters.radii, "log_points": clusters.log_points, "shares": clusters.shares},
        note="The share for p → ∞, where the o(1) is gone. A union over pairs does not bound what all points share.",
    )


@dataclass(frozen=True, eq=False)
class Caps:
    """Units (v, b) against the cap of radius r around a centre of R^d: which of them are active on all of it."""

    dims: tuple[int, ...]
    radii: tuple[float, ...]
    captured: Bool[np.ndarray, "cap unit"]


def draw_caps(scale: Scale, seed: int) -> Caps:
    """Caps in the plane and in R⁶; a unit is active on all of a cap if it is where v·x is smallest."""
    draw, cases, rows = np.random.default_rng([seed, 154]), ((2, 0.1), (6, 0.5)), []
    for dim, radius in cases:
        weights, bias = draw.standard_normal((60_000, dim)), draw.standard_normal(60_000)
        lengths = np.linalg.norm(weights, axis=1)
        farthest = np.arccos(weights[:, 0] / lengths) + 2 * math.asin(radius / 2)
        rows.append(lengths * np.cos(np.minimum(farthest, np.pi)) + bias > 0)
    return Caps(tuple(dim for dim, _ in cases), tuple(radius for _, radius in cases), np.stack(rows))


@claim("chatterji2021.lemma_15_4_few_dimensions", Kind.STEP, "Lemma 15, part 4, where dr ≤ π", draws=draw_caps)
def lemma_15_4_few_dimensions(caps: Caps) -> Evidence:
    """Where dr ≤ π, part 4 of Lemma 15 is true as printed, for clusters of any size: a wide network's unit of either
    sign captures the whole cap of radius r with probability at least 1/2 − (r/√2)√(d/(2π)) ≥ (1 − √r)/2.
    """
    bounds = [whole_cap_share(dim, radius) for dim, radius in zip(caps.dims, caps.radii, strict=True)]
    claimed = [same_cluster_share(radius) for radius in caps.radii]
    products = [dim * radius for dim, radius in zip(caps.dims, caps.radii, strict=True)]
    missed = [
        Rate(~captured, 1 - bound, quantity="share of units that miss a point of the cap").part("")
        for captured, bound in zip(caps.captured, bounds, strict=True)
    ]
    return evidence(
        {
            "a unit captures the whole cap at least as often as promised": worst(missed),
            "the promise is at least (1 − √r)/2": Sides(bounds, claimed, Sense.AT_LEAST),
        },
        (at_most("few_dimensions", "largest dr", max(products), math.pi),),
    )
