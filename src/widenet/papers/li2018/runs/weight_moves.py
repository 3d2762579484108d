"""Moves of the weights, and what they do to the loss at one point."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number
from widenet.papers.li2018.sources import Sample
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, cross_entropies, gradient

PerMove = Float[np.ndarray, " move"]


@dataclass(frozen=True, eq=False)
class WeightMoves(Cases):
    """ℓ(W + D) − ℓ(W) at one point, and the three terms of its bound."""

    rows = "move"

    increase: PerMove  #: ℓ(W + D) − ℓ(W)
    linear: PerMove  #: Σ⟨∂ℓ/∂w_r, D_r⟩ over the neurons that keep their pattern at the point
    quadratic: PerMove  #: (Σ‖a_r‖‖D_r‖)²
    rough: PerMove  #: Σ‖a_r‖‖D_r‖ over the others
    norm_error: Number


MoveCase = tuple[SoftmaxNetwork, np.ndarray, np.ndarray, int]
"""(network, moves of its weights as (move, neuron, dim), a point, the class of the point)."""


def move_terms(
    network: SoftmaxNetwork, changes: Float[np.ndarray, "move neuron dim"], point: Float[np.ndarray, " dim"], kind: int
) -> Float[np.ndarray, "4 move"]:
    """(increase, linear, quadratic, rough), one column per move."""
    before, after = network.hidden @ point, (network.hidden + changes) @ point
    kept = (before >= 0) == (after >= 0)
    sizes = np.linalg.norm(network.votes, axis=0) * np.linalg.norm(changes, axis=2)
    slope = gradient(network, point[None], np.array([kind]), np.ones(1))
    logits = np.maximum(np.concatenate([before[None], after]), 0) @ network.votes.T
    losses = cross_entropies(logits, np.full(len(logits), kind))
    linear = np.where(kept, (changes * slope).sum(axis=2), 0).sum(axis=1)
    return np.stack([losses[1:] - losses[0], linear, sizes.sum(axis=1) ** 2, np.where(kept, 0, sizes).sum(axis=1)])


def listed_moves(*cases: MoveCase) -> WeightMoves:
    """From cases one by one."""
    rows = np.concatenate([move_terms(*case) for case in cases], axis=1)
    return WeightMoves(*rows, norm_error=max(abs(float(np.linalg.norm(point)) - 1) for _, _, point, _ in cases))


POINT = np.array([1.0, 0.0])


def curved_case(size: float) -> MoveCase:
    """Two neurons with votes (1, −1) and (−1, 1), f = 0, so o = 1/2; the first moves, and f changes by (t, −t)."""
    network = SoftmaxNetwork(4 * np.tile(POINT, (2, 1)), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    return network, size * np.outer([1.0, 0.0], POINT)[None], POINT, 0


def kinked_case(height: float, size: float) -> MoveCase:
    """f = (F, −F) at a point of the second class, and a neuron with votes (1, −1) just below its kink, moved across."""
    hidden = np.stack([height * POINT, -1e-12 * POINT])
    network = SoftmaxNetwork(hidden, np.array([[1.0, 1.0], [-1.0, -1.0]]))
    return network, np.stack([0 * POINT, size * POINT])[None], POINT, 1


def random_moves(draw: np.random.Generator, point: np.ndarray, width: int, n_classes: int, kind: int) -> MoveCase:
    """Gaussian weights and votes, and ten Gaussian moves from a thousandth to all of the size of the weights."""
    network = SoftmaxNetwork(draw.normal(size=(width, len(point))), draw.normal(size=(n_classes, width)))
    changes = draw.normal(size=(10, width, len(point))) * 10 ** draw.uniform(-3, 0, (10, 1, 1))
    return network, changes, point, kind


def measure_random_moves(sample: Sample, seed: int) -> WeightMoves:
    """At twenty points."""
    draw = np.random.default_rng([seed, 92])
    places = draw.integers(0, len(sample.points), 20)
    return listed_moves(
        *(random_moves(draw, sample.points[at], 20, sample.n_classes, int(sample.classes[at])) for at in places)
    )


@drawn_on_points(measure_random_moves)
def draw_moves(scale: Scale, seed: int) -> WeightMoves:
    """Random networks with ten moves of several sizes each, and two instances that nearly attain a term."""
    draw, cases = np.random.default_rng([seed, 91]), []
    for _ in range(20):
        m, k, dim = int(draw.integers(1, 20)), int(draw.integers(2, 5)), int(draw.integers(1, 5))
        point = draw.normal(size=dim)
        cases.append(random_moves(draw, point / np.linalg.norm(point), m, k, int(draw.integers(k))))
    return listed_moves(*cases, curved_case(0.1), kinked_case(4.0, 0.001))
