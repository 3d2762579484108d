"""Margins of a single network: Eq. 30, the Lipschitz constant of Section 12, and the order of the two margins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.papers.sarussi2021.formulas import lipschitz_constant, lipschitz_constant_as_printed, margin_threshold
from widenet.papers.sarussi2021.settings import SignedNetwork
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class WrongSide:
    """Networks whose neurons of one sign are all on the wrong side of a point of their class.

    Attributes:
      margins: min y N(x)/‖W‖; thresholds: √k·αv·max ‖x‖.
      sums: Σσ of those neurons at that point, over ‖W‖·‖x‖.
      positive: whether it is a positive point and the plus neurons.
    """

    margins: np.ndarray
    thresholds: np.ndarray
    sums: np.ndarray
    positive: np.ndarray


def wrong_side(networks: Sequence[tuple[SignedNetwork, np.ndarray, np.ndarray]]) -> WrongSide:
    """The first point of each data set is the one on the wrong side; its label says which neurons."""
    rows = []
    for network, points, labels in networks:
        own = network.plus if labels[0] > 0 else network.minus
        margin = (labels * network.outputs(points)).min() / network.norm
        longest = np.linalg.norm(points, axis=1).max()
        total = network.activated(own @ points[0]).sum() / (network.norm * np.linalg.norm(points[0]))
        threshold = margin_threshold(network.slope, network.output_weight, network.half_width, longest)
        rows.append((margin, float(threshold), total, float(labels[0] > 0)))
    columns = np.array(rows).T
    return WrongSide(columns[0], columns[1], columns[2], columns[3] > 0)


def on_the_wrong_side(share: float, sign: float) -> tuple[SignedNetwork, np.ndarray, np.ndarray]:
    """One point x of this label, its own rows −δx, and the others −x: the margin is (1 − δ)/√(1 + δ²) of the bound."""
    point, label = np.array([[1.0, 2.0]]), np.array([sign])
    near, far = np.tile(-share * point, (3, 1)), np.tile(-point, (3, 1))
    plus, minus = (near, far) if sign > 0 else (far, near)
    return SignedNetwork(plus, minus, 0.7, 0.3), point, label


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


@dataclass(frozen=True, eq=False)
class WeightPairs:
    """Two networks of one shape and a point: how far their outputs and their weights are apart.

    Attributes:
      outputs: |N₁(x) − N₂(x)|; weights: ‖W₁ − W₂‖; norms: ‖x‖; half_widths: k; extreme: those that attain the bound.
    """

    outputs: np.ndarray
    weights: np.ndarray
    norms: np.ndarray
    half_widths: np.ndarray
    extreme: np.ndarray
    output_weight: float = 0.3


def weight_pairs(half_widths: Sequence[int], seed: int = 0, *, equal_rows: int = 0) -> WeightPairs:
    """Random pairs, and for each k rows 2x and x exchanged between the signs. `equal_rows` stay, for a control."""
    draw, rows = np.random.default_rng([seed, 12]), []
    for k in half_widths:
        for extreme in (False,) * 20 + (True,):
            point = np.array([3.0, 4.0]) if extreme else draw.normal(size=2)
            if extreme:
                first = np.repeat([2.0, 1.0], k)[:, None] * point
                second = np.repeat([1.0, 2.0], k)[:, None] * point
                second[:equal_rows] = first[:equal_rows]
            else:
                first, second = draw.normal(size=(2, 2 * k, 2))
            networks = [SignedNetwork(each[:k], each[k:], 0.3, 0.2) for each in (first, second)]
            change = abs(networks[0].outputs(point[None])[0] - networks[1].outputs(point[None])[0])
            rows.append((change, np.linalg.norm(first - second), np.linalg.norm(point), k, extreme))
    outputs, weights, norms, widths, extremes = np.array(rows).T
    return WeightPairs(outputs, weights, norms, widths, extremes > 0)


def draw_weight_pairs(scale: Scale, seed: int) -> WeightPairs:
    """Up to k = 50."""
    return weight_pairs((1, 2, 3, 7, 50), seed)


@claim("sarussi2021.section_12_lipschitz", Kind.STEP, "assumption (A1), Section 12", draws=draw_weight_pairs)
def section_12_lipschitz(
    pairs: WeightPairs, *, constant: Callable[..., np.ndarray] = lipschitz_constant, narrow: int = 2
) -> Evidence:
    """W ↦ N_W(x) is Lipschitz with constant v‖x‖√(2k) in the norm of Frobenius, and no smaller one; the printed 2v‖x‖
    is enough for k ≤ 2.
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


@claim("sarussi2021.section_12_lipschitz_as_printed", Kind.STEP, "assumption (A1), Section 12", draws=draw_weight_pairs)
def section_12_lipschitz_as_printed(pairs: WeightPairs) -> Evidence:
    """W ↦ N_W(x) is Lipschitz with constant 2v‖x‖.

    The last step of the chain sets the sum of the norms of rows equal to the norm of all.
    """
    limits = lipschitz_constant_as_printed(pairs.output_weight, pairs.norms, pairs.half_widths) * pairs.weights
    return evidence({"|N₁ − N₂| ≤ 2v‖x‖·‖W₁ − W₂‖": Sides(pairs.outputs, limits, room=IDENTITY * limits)})
