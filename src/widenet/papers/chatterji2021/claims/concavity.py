"""Lemma 9, and the function F that Lemma 10 applies it to."""

import math
from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, at_most, claim
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.formulas import INFLECTION
from widenet.papers.chatterji2021.runs.splits import Bend, Split, draw_bend, draw_splits


@claim("chatterji2021.lemma_9", Kind.STEP, "Lemma 9, Appendix B.5", draws=draw_splits)
def lemma_9(splits: Sequence[Split], *, shift: float = 0.0) -> Evidence:
    """The infimum of Σψ(z_i) over z_i > 0 with Σz_i = M is ψ(M) + (n − 1)ψ(0⁺), for ψ continuous and concave on (0, M]
    with a finite limit at 0; (M − (n − 1)η, η, …, η) comes arbitrarily near to it, and no move on the way there, from
    (z_1, z_k) to (z_1 + z_k − η, η), raises the sum.

    `shift` moves the infimum, for a control.
    """
    values, limits, gaps, moved = [], [], [], []
    for each in splits:
        n = each.samples.shape[1]
        least = float(each.function(np.array([each.total]))[0]) + (n - 1) * each.limit + shift
        found = each.function(each.samples).sum(axis=1)
        values.append(found)
        limits.append(np.full(len(found), least))
        gaps.append(each.function(each.corner).sum(axis=1)[-1] - least)
        sums = each.function(each.moves).sum(axis=2)
        moved.append(np.stack([sums[:, 1:].ravel(), sums[:, :-1].ravel()]))
    low, promised = np.concatenate(values), np.concatenate(limits)
    room = ROUNDING * (np.abs(low) + np.abs(promised))
    after, before = np.concatenate(moved, axis=1)
    bend = max(each.bend for each in splits)
    return evidence(
        {
            "no point lies below": Sides(low, promised, Sense.AT_LEAST, room=room),
            "the way comes near": Sides(gaps, 0.0, Sense.EQUAL, room=STEP),
            "no move raises the sum": Sides(after, before, room=ROUNDING * (np.abs(after) + np.abs(before))),
        },
        (
            _finite_limit(splits),
            at_most("concave", "largest second difference of ψ", bend, 0, tolerance=ROUNDING),
        ),
    )


def _finite_limit(splits: Sequence[Split]) -> Hypothesis:
    worst = max(abs(each.limit) for each in splits)
    return Hypothesis(
        key="finite_limit",
        name="largest |ψ(0⁺)|",
        required="finite",
        actual=worst if math.isfinite(worst) else str(worst),
        slack=None,
        met=math.isfinite(worst),
    )


@claim("chatterji2021.entropy_concave", Kind.STEP, "Proof of Lemma 10, before Eq. 5 (with the range)", draws=draw_bend)
def entropy_concave(drawn: Bend) -> Evidence:
    """F(z) = (1 − e^{−z}) log(1/(e^z − 1)) tends to 0 at 0 and is concave on (0, 1.524]. Also F(z) = H(e^{−z}) − z, H
    the entropy of a coin in nats.

    The paper calls F concave without a range; its second derivative is +0.033 at 1.63. Lemma 10 needs nL ≤ 1 only.
    """
    first = int(drawn.z.argmin())
    keep = np.exp(-drawn.z)
    entropy = keep * drawn.z - -np.expm1(-drawn.z) * np.log(-np.expm1(-drawn.z))
    return evidence(
        {
            "F(0⁺) = 0": Sides(drawn.value[first], 0.0, Sense.EQUAL, room=STEP),
            "F'' ≤ 0": Sides(drawn.curvature, 0.0, room=ROUNDING),
            "F(z) = H(e^{−z}) − z": Sides(drawn.value, entropy - drawn.z, Sense.EQUAL, room=ROUNDING),
        },
        (at_most("below_inflection", "largest z", drawn.z.max(), INFLECTION, tolerance=ROUNDING),),
    )
