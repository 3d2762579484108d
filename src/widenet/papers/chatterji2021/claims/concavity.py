"""Lemma 9, and the function F that Lemma 10 applies it to."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.hypotheses import below_inflection, concave, finite_limit
from widenet.papers.chatterji2021.runs.splits import Bend, ConcaveSplit, draw_bend, draw_splits
from widenet.records import Form


@claim("chatterji2021.lemma_9", Kind.STEP, "Lemma 9, Appendix B.5", draws=draw_splits, given=[finite_limit, concave],
       title="A sum of concave terms is smallest at a corner")  # fmt: skip
def lemma_9(splits: ConcaveSplit, *, shift: float = 0.0) -> Promised:
    """For $ψ$ continuous and concave on $(0, M]$ with a finite limit at 0, the infimum of $Σψ(z_i)$ over $z_i > 0$ with
    $Σz_i = M$ is $ψ(M) + (n − 1)ψ(0⁺)$. The points $(M − (n − 1)η, η, …, η)$ come arbitrarily close to it, and no move
    towards them, from $(z_1, z_k)$ to $(z_1 + z_k − η, η)$, raises the sum.

    In code: `shift` moves the infimum, for a control.
    """
    points, moves = splits.per("sample"), splits.per("change")
    least = points.infimum + shift
    sums = np.abs(points.sums) + np.abs(least)
    moved = np.abs(moves.sum_after) + np.abs(moves.sum_before)
    return {
        "no_point": at_least(points.sums, least, within=ROUNDING, of=sums, text="no point lies below"),
        "corner": equal(splits.corner_sum - (splits.infimum + shift), 0.0, within=STEP, text="the way comes near"),
        "no_move": at_most(moves.sum_after, moves.sum_before, within=ROUNDING, of=moved, text="no move raises the sum"),
    }


@claim("chatterji2021.entropy_concave", Kind.STEP, "Proof of Lemma 10, before Eq. 5 (with the range)", draws=draw_bend,
       given=[below_inflection], form=Form.REPAIR, title="The function of Lemma 10 is concave up to 1.524")  # fmt: skip
def entropy_concave(drawn: Bend) -> Promised:
    """$F(z) = (1 − e^{−z}) log(1/(e^z − 1))$ tends to 0 at 0 and is concave on $(0, 1.524]$. Also $F(z) = H(e^{−z}) −
    z$, where $H$ is the entropy of a coin in nats.

    The paper calls F concave without a range; its second derivative is +0.033 at 1.63. Lemma 10 needs nL ≤ 1 only.
    """
    keep, lose = np.exp(-drawn.z), -np.expm1(-drawn.z)
    entropy = keep * drawn.z - lose * np.log(lose)
    return {
        "limit": equal(drawn.per("cell").first_value, 0.0, within=STEP, text="$F(0⁺) = 0$"),
        "concave": at_most(drawn.curvature, 0.0, within=ROUNDING, text="$F'' ≤ 0$"),
        "entropy": equal(drawn.value, entropy - drawn.z, room=ROUNDING, text="$F(z) = H(e^{−z}) − z$"),
    }
