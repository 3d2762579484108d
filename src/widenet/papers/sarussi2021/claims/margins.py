"""Margins of a single network: Eq. 30, the Lipschitz constant of Section 12, and the order of the two margins."""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise, Promised, at_most, equal, hypothesis
from widenet.claims.sides import Sides
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.papers.sarussi2021.formulas import lipschitz_constant, lipschitz_constant_as_printed
from widenet.papers.sarussi2021.runs.single_networks import (
    WeightPairs,
    WrongSide,
    draw_weight_pairs,
    draw_wrong_side,
)
from widenet.records import Form


@hypothesis("$Σσ$ of these neurons, relative", key="wrong_side")
def on_one_side(found: WrongSide) -> Sides:
    """They are on the wrong side of the point, in sum."""
    return at_most(found.sums, 0)


@claim("sarussi2021.equation_30", Kind.STEP, "Eq. 30, Section 14.1", draws=draw_wrong_side, given=[on_one_side],
       form=Form.SHARPER,       title="Neurons on the wrong side of a point bound the margin")  # fmt: skip
def equation_30(found: WrongSide, *, share: float = 1.0) -> Promised:
    """If all plus neurons are on the wrong side of a positive point, or all minus neurons on the wrong side of a
    negative point, then the normalized margin is at most $√k·αv·max ‖x‖$. It is enough that the sum of their $σ$ is not
    positive.
    """
    limit = share * found.thresholds
    return {
        "positive_point": at_most(
            found.margins,
            limit,
            within=ROUNDING,
            where=found.positive,
            event="networks whose plus neurons are on the wrong side of a positive point",
            text="plus neurons, a positive point",
        ),
        "negative_point": at_most(
            found.margins,
            limit,
            within=ROUNDING,
            where=~found.positive,
            event="networks whose minus neurons are on the wrong side of a negative point",
            text="minus neurons, a negative point",
        ),
    }


@claim("sarussi2021.section_12_lipschitz", Kind.STEP, "assumption (A1), Section 12 (repaired)",
       draws=draw_weight_pairs, given=[], form=Form.REPAIR,
       title="The Lipschitz constant of the network in its weights")  # fmt: skip
def section_12_lipschitz(
    pairs: WeightPairs, *, constant: Callable[..., np.ndarray] = lipschitz_constant, narrow: int = 2
) -> Promised:
    """$W ↦ N_W(x)$ is Lipschitz in the Frobenius norm with constant $v‖x‖√(2k)$, and with no smaller one. The printed
    $2v‖x‖$ is enough for $k ≤ 2$.

    The last step of the printed chain sets the sum of the norms of rows equal to the norm of all; from k = 3 on its
    constant is too small. That there is some constant is all that is used.
    """
    shape = (pairs.output_weight, pairs.norms, pairs.half_width)
    limit = constant(*shape) * pairs.weights
    printed = lipschitz_constant_as_printed(*shape) * pairs.weights
    best = lipschitz_constant(*shape) * pairs.weights
    return {
        "lipschitz": at_most(pairs.outputs, limit, within=IDENTITY, text="$|N₁ − N₂| ≤ v‖x‖√(2k)·‖W₁ − W₂‖$"),
        "attained": equal(
            pairs.outputs, best, within=IDENTITY, where=pairs.extreme, event="extreme pairs", text="it is attained"
        ),
        "narrow": at_most(
            pairs.outputs,
            printed,
            within=IDENTITY,
            where=pairs.half_width <= narrow,
            event="$k ≤ 2$",
            text="$2v‖x‖$ is enough for $k ≤ 2$",
        ),
    }


@claim("sarussi2021.section_12_lipschitz_as_printed", Kind.STEP, "assumption (A1), Section 12, last display",
       draws=draw_weight_pairs, given=[], title="A Lipschitz constant that does not depend on the width")  # fmt: skip
def section_12_lipschitz_as_printed(pairs: WeightPairs) -> Promise:
    """$|N₁ − N₂| ≤ 2v‖x‖·‖W₁ − W₂‖$ for every width."""
    printed = lipschitz_constant_as_printed(pairs.output_weight, pairs.norms, pairs.half_width) * pairs.weights
    return Promise(
        {"lipschitz": at_most(pairs.outputs, printed, within=IDENTITY, text="$|N₁ − N₂| ≤ 2v‖x‖·‖W₁ − W₂‖$")},
        note="k plus rows 2x and k minus rows x, exchanged: N changes by 2kv‖x‖², and 2√(2k)·v‖x‖² is promised, which "
        "is less from k = 3 on.",
    )
