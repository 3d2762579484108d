"""How often P_{1,r} is large for one neuron and fixed coefficients: Lemma A.2, what repairs it, and the fact behind."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, equal
from widenet.claims.tolerances import STEP
from widenet.papers.li2018.formulas import EXPLICIT_SLOPE
from widenet.papers.li2018.hypotheses import SEPARATED, SEPARATED_AS_PRINTED, clearance, signs, unit_norm
from widenet.papers.li2018.runs.large_pieces import (
    LargePieces,
    Reflections,
    draw_hexagon_large,
    draw_large,
    draw_reflections,
)
from widenet.records import Form

ADMISSIBLE = (unit_norm, signs)
"""(A2), and coefficients of the own class that are not negative."""


@claim("li2018.lemma_a_2", Kind.STEP, "Lemma A.2, Appendix A.2", draws=draw_large, given=[*ADMISSIBLE, *SEPARATED],
       form=Form.REPAIR, title="A neuron has a large piece with probability $Ω(δ/(kl))$")  # fmt: skip
def lemma_a_2(found: LargePieces, *, slope: float = EXPLICIT_SLOPE) -> Promised:
    """For fixed coefficients with $p_{1,1}v_{1,1,1} = v$ and $p_{1,b}v_{1,1,b} ≥ 0$, a neuron has a large $P_{1,r}$
    with probability $Ω(δ/(kl))$, where $δ$ counts mirror images: $Pr[‖P_{1,r}‖ ≥ v/2] ≥ 0.0829·δ/((k − 1)l)$. For two
    points at an angle $ψ$ it is $ψ/π$ below 2·arcsin(1/4) and $(π + ψ)/(2π)$ above.
    """
    return {
        "likely": at_least(
            found.shares, slope * found.slopes, room=found.share_room, text="$Pr[‖P‖ ≥ v/2] ≥ 0.0829·δ/((k − 1)l)$"
        ),
        "two_points": equal(
            found.shares,
            found.exact,
            room=found.share_room,
            where=found.is_known,
            event="instances of two points",
            optional=True,
            text="exactly so for two points",
        ),
    }


@claim("li2018.lemma_a_2_sharp", Kind.STEP, "repairs the proof of Lemma A.2; not in the paper", draws=draw_large,
       given=ADMISSIBLE, title="A sharp bound on the probability of a large piece",
       form=Form.SHARPER)  # fmt: skip
def lemma_a_2_sharp(found: LargePieces, *, half: float = 1.0) -> Promised:
    """For fixed coefficients as in Lemma A.2 and every $τ$: $Pr[‖P_{1,r}‖ ≥ v/2] ≥ ½(2Φ(τ/σ) − 1)(1 − Σ(2Φ(τ|c|/(σs)) −
    1))$ over the points of other classes, $c = ⟨x_{1,1}, x⟩$, $s² = 1 − c²$; 1/2 is attained. No logarithm, no bound on
    the coefficients of other classes, and no tail is needed.
    """
    bounds, attained = half * np.maximum(found.bounds, 0), np.isclose(found.bounds, found.exact)
    return {
        "bound": at_least(
            found.shares,
            bounds,
            room=found.share_room,
            where=~attained,
            event="instances that do not attain it",
            trivial=0.0,
            text="$Pr[‖P‖ ≥ v/2]$ is at least the bound",
        ),
        "attained": equal(
            found.shares,
            bounds,
            room=found.share_room,
            where=attained,
            event="instances that attain it",
            optional=True,
            text="attained",
        ),
    }


@claim("li2018.lemma_a_2_as_printed", Kind.STEP, "Lemma A.2, Appendix A.2", draws=draw_hexagon_large,
       given=[*ADMISSIBLE, *SEPARATED_AS_PRINTED],
       title="A large piece is likely even beside mirror images")  # fmt: skip
def lemma_a_2_as_printed(found: LargePieces) -> Promised:
    """For any possible fixed ${p v}$ in $[−v, v]$ with $p_{1,1}v_{1,1,1} = v$, under (A1) to (A3): $‖P_{1,r}‖ =
    Ω̃(vδ/(kl))$ with probability $Ω(δ/(kl))$.

    Judged against the constant 0.0829 at size v/2, with the δ of (A1). On the hexagon no constant would do: P is 0.
    """
    slopes = found.separation / ((found.n_classes - 1) * found.per_class)
    limit = EXPLICIT_SLOPE * slopes
    return {"likely": at_least(found.shares, limit, room=found.share_room, text="a large $P$ is likely")}


lemma_b_2_as_printed = lemma_a_2_as_printed.variant(
    "lemma_b_2_as_printed",
    where="Lemma B.2, Appendix B.2",
    title="A large piece is likely even beside mirrored components",
    statement=(
        "Under (A1) to (A3), for any fixed ${p v}$ with $E[p_{1,1}v_{1,1,1}] = max E[p v] = v$: $‖P_{1,r}‖ = "
        "Ω̃(vδ/(kl))$ with probability $Ω(δ/(kl))$. Checked on components of one point each."
    ),
)


# ── the reflection behind the repair ──


@claim("li2018.lemma_a_2_reflection", Kind.STEP, "behind lemma_a_2_sharp; not in the paper", draws=draw_reflections,
       given=[clearance, signs], title="Reflecting a neuron changes its piece by at least $v$",
       form=Form.OURS)  # fmt: skip
def lemma_a_2_reflection(found: Reflections, *, size: float = 1.0) -> Promised:
    """Where no point of another class changes sides between $αx_{1,1} + β$ and $−αx_{1,1} + β$, $α > 0$, $P_{1,r}$
    changes by at least $v$ along $x_{1,1}$, and by $v$ exactly if its class has no other point: so one of the two has
    norm at least $v/2$.
    """
    return {
        "several": at_least(
            found.jumps,
            size,
            within=STEP,
            where=~found.alone,
            event="classes of several points",
            text="changes by at least $v$",
        ),
        "one": equal(
            found.jumps,
            size,
            within=STEP,
            where=found.alone,
            event="classes of one point",
            text="by $v$ for a class of one point",
        ),
    }
