"""Inner products of clustered points (Lemma 21), the clusters after the reduction (Appendix C), and two angles."""

import math

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.tolerances import ROUNDING
from widenet.papers.chatterji2021.cluster_hypotheses import (
    distance,
    overlap,
    radius_below_one,
    radius_positive,
    small_radius,
    unit_centres,
)
from widenet.papers.chatterji2021.runs.cluster_pairs import (
    ClusterProducts,
    Radii,
    ReducedClusters,
    Shapes,
    draw_angles,
    draw_products,
    draw_radii,
    draw_reduced,
)
from widenet.records import Form


@claim("chatterji2021.lemma_21", Kind.STEP, "Lemma 21, Appendix E", draws=draw_products,
       given=[small_radius, distance, unit_centres],
       form=Form.SHARPER, title="Points are close in a cluster and apart across classes")  # fmt: skip
def lemma_21(pairs: ClusterProducts) -> Promised:
    """In reduced coordinates, with $‖μ_k‖ = 1$, $‖x_s − μ_k‖ ≤ r/√2$ and $r < 1$: $x_s·x_q ≤ (1 + Δ)/2 + 2r$ for
    opposite classes and $x_s·x_q ≥ 1 − 2r$ in one cluster. Sharper: $√2 r + r²/2$ in place of $2r$, and $r²$ for unit
    vectors of one cluster.
    """
    across, within = pairs.per("opposite"), pairs.per("same")
    far, sharp_far, _, _ = across.bounds.T
    _, _, near, sharp_near = within.bounds.T
    return {
        "opposite": at_most(across.opposite, far, room=ROUNDING, text="opposite classes: $(1 + Δ)/2 + 2r$"),
        "opposite_sharp": at_most(
            across.opposite, sharp_far, room=ROUNDING, text="opposite classes: $(1 + Δ)/2 + √2 r + r²/2$"
        ),
        "same": at_least(within.same, near, room=ROUNDING, text="one cluster: $1 − 2r$"),
        "same_sharp": at_least(within.same, sharp_near, room=ROUNDING, text="one cluster: $1 − √2 r − r²/2$"),
        "unit": at_least(
            within.same,
            1 - within.radius**2,
            room=ROUNDING,
            where=within.unit,
            event="pairs of unit vectors",
            text="unit vectors of one cluster: $1 − r²$",
        ),
    }


@claim("chatterji2021.appendix_c", Kind.IDENTITY, "Section 4.1; Appendix C", draws=draw_reduced,
       given=[unit_centres], title="Without biases $σ$ grows by $√2$ and distances shrink")  # fmt: skip
def appendix_c(found: ReducedClusters) -> Promised:
    """Without biases on $x̃ = (x, 1)/√2$: $σ̃ = √2 σ$, $‖x̃ − μ̃_k‖ = ‖x − μ_k‖/√2$, and $μ̃_k·μ̃_l = (1 + μ_k·μ_l)/2$."""
    points, pairs = found.per("point"), found.per("pair")
    return {
        "deviation": equal(
            found.reduced_deviation, math.sqrt(2) * found.deviation, within=0.01, of=found.deviation, text="$σ̃ = √2 σ$"
        ),
        "distances": equal(
            points.reduced_distances, points.distances / math.sqrt(2), room=ROUNDING, text="distances shrink by $√2$"
        ),
        "products": equal(
            pairs.reduced_between,
            (1 + pairs.between) / 2,
            room=ROUNDING,
            text="products of centres move halfway to $1$",
        ),
    }


@claim("chatterji2021.appendix_d_4", Kind.STEP, "Appendix D.4, last step", draws=draw_radii,
       given=[radius_positive, radius_below_one], title="$arccos(1 − 2r)/π$ is at most $√r$")  # fmt: skip
def appendix_d_4(radii: Radii, *, share: float = 1.0) -> Promised:
    """$arccos(1 − 2r)/π ≤ √r$ for $0 ≤ r ≤ 1$, with equality at both ends.

    In code: `share` of the right side is for a control.
    """
    return {"angle": at_most(radii.angle, share * radii.root, within=ROUNDING, text="$arccos(1 − 2r)/π ≤ √r$")}


@claim("chatterji2021.appendix_d_5", Kind.STEP, "Appendix D.5, last step", draws=draw_angles,
       given=[overlap, radius_positive],
       form=Form.SHARPER, title="Opposite points share at most $1/3 + Δ/4 + r$ of the units")  # fmt: skip
def appendix_d_5(
    cases: Shapes, *, constant: float = 1 / 3, of_overlap: float = 0.25, of_radius: float = 1.0
) -> Promised:
    """$(1 − arccos(min(1, (1 + Δ)/2 + 2r))/π)/2 ≤ 1/3 + Δ/4 + r$ for all $Δ, r ≥ 0$, with equality at 0; the paper
    requires them to be small.

    In code: The constants are for controls.
    """
    limit = constant + of_overlap * cases.overlap + of_radius * cases.radius
    flat, wide = cases.radius == 0, cases.overlap > 0
    events = {
        "at_zero": ("at $Δ = r = 0$", "cases with Δ = r = 0", flat & (cases.overlap == 0)),
        "along": ("with $Δ$ alone", "cases with r = 0 < Δ", flat & wide),
        "across": ("with $r$", "cases with r > 0", cases.radius > 0),
    }
    return {
        key: at_most(cases.share, limit, room=ROUNDING, where=where, text=text, event=event)
        for key, (text, event, where) in events.items()
    }
