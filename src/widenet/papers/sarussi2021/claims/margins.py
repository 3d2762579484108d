"""Margins of a single network: Eq. 30, the Lipschitz constant of Section 12, and the order of the two margins."""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.papers.sarussi2021.formulas import lipschitz_constant, lipschitz_constant_as_printed
from widenet.papers.sarussi2021.runs.single_networks import (
    WeightPairs,
    WrongSide,
    on_the_wrong_side,
    weight_pairs,
    wrong_side,
)
from widenet.papers.sarussi2021.settings import SignedNetwork
from widenet.records import Scale


def draw_wrong_side(scale: Scale, seed: int) -> WrongSide:
    """Random networks, and the two that nearly attain the bound."""
    draw, drawn = np.random.default_rng([seed, 30]), []
    for number in range(300):
        k, dim, n = (int(draw.integers(low, high)) for low, high in ((1, 6), (1, 5), (1, 5)))
        points, labels = draw.normal(size=(n, dim)), draw.choice([-1.0, 1.0], n)
        rows = draw.normal(size=(2, k, dim)) * draw.choice([0.01, 1.0], size=(2, 1, 1))
        own = 0 if labels[0] > 0 else 1
        # Reflected so that they see the first point from behind.
        rows[own] *= np.where(rows[own] @ points[0] > 0, -1.0, 1.0)[:, None]
        if number % 2:
            # The other rows see it from behind too, and farther: then it is classified right, with a positive margin.
            rows[1 - own] = -points[0] * draw.uniform(0.5, 2, size=(k, 1)) + 0.1 * draw.normal(size=(k, dim))
        drawn.append((SignedNetwork(rows[0], rows[1], 0.5, float(draw.uniform(0.05, 0.9))), points, labels))
    return wrong_side([*drawn, on_the_wrong_side(0.001, 1.0), on_the_wrong_side(0.001, -1.0)])


@claim("sarussi2021.equation_30", Kind.STEP, "Eq. 30, Section 14.1", draws=draw_wrong_side)
def equation_30(found: WrongSide, *, share: float = 1.0) -> Evidence:
    """If all plus neurons are on the wrong side of a positive point, or all minus neurons on the wrong side of a
    negative point, then the normalized margin is at most √k·αv·max ‖x‖. It is enough that
    the sum of their σ is not positive.
    """
    limits, parts = share * found.thresholds, {}
    for name, scored in (
        ("plus neurons, a positive point", found.positive),
        ("minus neurons, a negative point", ~found.positive),
    ):
        parts[name] = Sides(found.margins, limits, room=ROUNDING * limits, scored=scored)
    return evidence(parts, (at_most("wrong_side", "largest Σσ of these neurons, relative", found.sums.max(), 0),))


def draw_weight_pairs(scale: Scale, seed: int) -> WeightPairs:
    """Up to k = 50."""
    return weight_pairs((1, 2, 3, 7, 50), seed)


@claim("sarussi2021.section_12_lipschitz", Kind.STEP, "assumption (A1), Section 12 (repaired)", draws=draw_weight_pairs)
def section_12_lipschitz(
    pairs: WeightPairs, *, constant: Callable[..., np.ndarray] = lipschitz_constant, narrow: int = 2
) -> Evidence:
    """W ↦ N_W(x) is Lipschitz with constant v‖x‖√(2k) in the norm of Frobenius, and no smaller one; the printed 2v‖x‖
    is enough for k ≤ 2.

    The last step of the printed chain sets the sum of the norms of rows equal to the norm of all; from k = 3 on its
    constant is too small. That there is some constant is all that is used.
    """
    v = pairs.output_weight
    limits = constant(v, pairs.norms, pairs.half_widths) * pairs.weights
    printed = lipschitz_constant_as_printed(v, pairs.norms, pairs.half_widths) * pairs.weights
    best = lipschitz_constant(v, pairs.norms, pairs.half_widths) * pairs.weights
    return evidence(
        {
            "|N₁ − N₂| ≤ v‖x‖√(2k)·‖W₁ − W₂‖": Sides(pairs.outputs, limits, room=IDENTITY * limits),
            "it is attained": Sides(pairs.outputs, best, Sense.EQUAL, room=IDENTITY * best, scored=pairs.extreme),
            "2v‖x‖ is enough for k ≤ 2": Sides(
                pairs.outputs, printed, room=IDENTITY * printed, scored=pairs.half_widths <= narrow
            ),
        }
    )


@claim("sarussi2021.section_12_lipschitz_as_printed", Kind.STEP, "assumption (A1), Section 12, last display",
       draws=draw_weight_pairs)  # fmt: skip
def section_12_lipschitz_as_printed(pairs: WeightPairs) -> Evidence:
    """|N₁ − N₂| ≤ 2v‖x‖·‖W₁ − W₂‖ for every width."""
    printed = lipschitz_constant_as_printed(pairs.output_weight, pairs.norms, pairs.half_widths) * pairs.weights
    return evidence({"|N₁ − N₂| ≤ 2v‖x‖·‖W₁ − W₂‖": Sides(pairs.outputs, printed, room=IDENTITY * printed)})
