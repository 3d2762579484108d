"""Networks one by one: on the wrong side of a point, in pairs, and as replacements of other networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases, Number
from widenet.diagnostics.agreement_program import critical_margins
from widenet.papers.sarussi2021.formulas import margin_threshold
from widenet.papers.sarussi2021.runs.clouds import Pairs, random_network
from widenet.papers.sarussi2021.sources import SignedNetwork, SmallCloud, lift
from widenet.records import Scale

Networks = Float[np.ndarray, " network"]
Units = Float[np.ndarray, " unit"]


@dataclass(frozen=True, eq=False)
class WrongSide(Cases):
    """Networks whose neurons of one sign are all on the wrong side of a point of their class."""

    rows: ClassVar = "network"

    margins: Networks  #: min y N(x)/‖W‖
    thresholds: Networks  #: √k·αv·max ‖x‖
    sums: Networks  #: Σσ of those neurons at that point, over ‖W‖·‖x‖
    positive: Bool[np.ndarray, " network"]  #: whether it is a positive point and the plus neurons


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


@dataclass(frozen=True, eq=False)
class WeightPairs(Cases):
    """Two networks of one shape and a point: how far their outputs and their weights are apart."""

    rows: ClassVar = "network"

    outputs: Networks  #: |N₁(x) − N₂(x)|
    weights: Networks  #: ‖W₁ − W₂‖
    norms: Networks  #: ‖x‖
    half_width: Networks  #: k
    extreme: Bool[np.ndarray, " network"]  #: those that attain the bound
    output_weight: Number = 0.3  #: v


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


@dataclass(frozen=True, eq=False)
class Expressed(Cases):
    """Units a·σ(p·x) of a network with free output weights, and the two neurons that replace each."""

    rows: ClassVar = "unit"

    outputs: Units  #: a_i σ(p_i·x)
    replaced: Units  #: v(σ(w_i·x) − σ(u_i·x))
    size: Units  #: |a_i|·‖p_i‖·‖x‖
    weights: Units  #: a_i
    output_weight: Number  #: the smallest v


def express(draw: np.random.Generator, n_networks: int, *, divide: bool = True) -> Expressed:
    """w = a·p/v, u = 0 for a ≥ 0, and w = 0, u = |a|·p/v otherwise. `divide` leaves v out, for a control."""
    found, smallest = [], np.inf
    for _ in range(n_networks):
        k, dim, v = int(draw.integers(1, 7)), int(draw.integers(1, 5)), float(draw.uniform(0.1, 3))
        weights, rows, points = draw.normal(size=k), draw.normal(size=(k, dim)), draw.normal(size=(8, dim))
        slope, smallest = float(draw.uniform(0.01, 0.99)), min(smallest, v)
        scaled = np.abs(weights)[:, None] * rows / (v if divide else 1.0)
        plus, minus = np.where(weights[:, None] >= 0, scaled, 0.0), np.where(weights[:, None] >= 0, 0.0, scaled)
        network = SignedNetwork(plus, minus, v, slope)
        found.append(
            np.stack(
                [
                    (weights * network.activated(points @ rows.T)).ravel(),
                    (v * (network.activated(points @ plus.T) - network.activated(points @ minus.T))).ravel(),
                    np.outer(np.linalg.norm(points, axis=1), np.linalg.norm(rows, axis=1) * np.abs(weights)).ravel(),
                    np.broadcast_to(weights, (8, k)).ravel(),
                ]
            )
        )
    return Expressed(*np.concatenate(found, axis=1), output_weight=smallest)


def draw_expressed(scale: Scale, seed: int) -> Expressed:
    """A hundred networks with weights of both signs."""
    return express(np.random.default_rng([seed, 3]), 100)


def biased_network() -> tuple[SignedNetwork, np.ndarray]:
    """Three neurons of each sign whose last coordinate is a bias, and points of the plane without it."""
    draw = np.random.default_rng(81)
    plus, minus = draw.normal(size=(2, 3, 3))
    return SignedNetwork(plus, minus, 0.7, 0.2), draw.normal(size=(20, 2))


@dataclass(frozen=True, eq=False)
class Scaled(Cases):
    """Networks, asked about points before and after their weights were multiplied by c."""

    rows: ClassVar = "pair"

    factors: Pairs  #: c
    outputs: Pairs  #: N_W
    scaled: Pairs  #: N_{cW}
    signs: Pairs  #: of N_{cW}
    size: Pairs  #: Σ v|σ|, which rounding is measured against


def draw_scaled(scale: Scale, seed: int, *, factors: Sequence[float] = (1e-6, 0.5, 3.0, 1e6)) -> Scaled:
    """Random networks and points; a negative factor is a control."""
    draw, rows = np.random.default_rng([seed, 27]), []
    for factor in factors:
        for _ in range(10):
            network = random_network(draw)
            points = draw.normal(size=(10, network.plus.shape[1]))
            scaled = SignedNetwork(factor * network.plus, factor * network.minus, 1.0, network.slope)
            after = scaled.outputs(points)
            row = (np.full(10, factor), network.outputs(points), after, np.sign(after), network.scale(points))
            rows.append(np.stack(row))
    return Scaled(*np.concatenate(rows, axis=1))


def biased(share: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs of a network with biases, of the one without on lifted points, and what rounding is measured against."""
    network, points = biased_network()
    rows, biases = network.weights[:, :-1], share * network.weights[:, -1]
    direct = network.activated(points @ rows.T + biases) @ network.output_weights
    return direct, network.outputs(lift(points)), network.scale(lift(points))


def lifted_critical(ones: bool = True) -> np.ndarray:
    """The critical β of a few lifted points."""
    data, labels = SmallCloud(n_samples=8).draw(0)
    return np.concatenate(critical_margins(lift(data) if ones else data, labels))
