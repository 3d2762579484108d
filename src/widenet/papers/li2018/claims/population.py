"""One step of SGD and the population loss: Lemma B.4, its Eq. 3, and coupling on whole batches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Kind, at_least, claim
from widenet.claims.sides import Rate, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.diagnostics.components import Structure
from widenet.papers.li2018.claims.network import unit_norm
from widenet.papers.li2018.claims.specimens import separated
from widenet.papers.li2018.runs.drops import Drops, batch_coupling_settings, drops
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, cross_entropies, gradient


@dataclass(frozen=True, eq=False)
class Moves:
    """ℓ(W + D) − ℓ(W) at one point, and the three terms of its bound, per case.

    `linear` = Σ⟨∂ℓ/∂w_r, D_r⟩ over the neurons that keep their pattern at the point; `quadratic` = (Σ‖a_r‖‖D_r‖)²;
    `rough` = Σ‖a_r‖‖D_r‖ over the others.
    """

    increase: np.ndarray
    linear: np.ndarray
    quadratic: np.ndarray
    rough: np.ndarray
    norm_error: float


def move_terms(network: SoftmaxNetwork, change: np.ndarray, point: np.ndarray, kind: int) -> tuple[float, ...]:
    """(increase, linear, quadratic, rough)."""
    points, classes, one = point[None], np.array([kind]), np.ones(1)
    after = network.moved(change)
    kept = (network.gates(points) == after.gates(points))[0]
    sizes = np.linalg.norm(network.votes, axis=0) * np.linalg.norm(change, axis=1)
    slope = gradient(network, points, classes, one)
    before, later = (cross_entropies(each.logits(points), classes)[0] for each in (network, after))
    return (
        float(later - before),
        float((slope * change).sum(axis=1)[kept].sum()),
        float(sizes.sum() ** 2),
        float(sizes[~kept].sum()),
    )


def listed_moves(*cases: tuple[SoftmaxNetwork, np.ndarray, np.ndarray, int]) -> Moves:
    """From cases one by one."""
    rows = np.array([move_terms(*case) for case in cases]).T
    return Moves(*rows, norm_error=max(abs(float(np.linalg.norm(point)) - 1) for _, _, point, _ in cases))


POINT = np.array([1.0, 0.0])


def curved_case(size: float) -> tuple[SoftmaxNetwork, np.ndarray, np.ndarray, int]:
    """Two neurons with votes (1, −1) and (−1, 1), f = 0, so o = 1/2; the first moves, and f changes by (t, −t)."""
    network = SoftmaxNetwork(4 * np.tile(POINT, (2, 1)), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    return network, size * np.outer([1.0, 0.0], POINT), POINT, 0


def kinked_case(height: float, size: float) -> tuple[SoftmaxNetwork, np.ndarray, np.ndarray, int]:
    """f = (F, −F) at a point of the second class, and a neuron with votes (1, −1) just below its kink, moved across."""
    hidden = np.stack([height * POINT, -1e-12 * POINT])
    network = SoftmaxNetwork(hidden, np.array([[1.0, 1.0], [-1.0, -1.0]]))
    return network, np.stack([0 * POINT, size * POINT]), POINT, 1


def draw_moves(scale: Scale, seed: int) -> Moves:
    """Random networks and moves of several sizes, and two instances that nearly attain a term."""
    draw, cases = np.random.default_rng([seed, 91]), []
    for _ in range(200):
        m, k, dim = int(draw.integers(1, 20)), int(draw.integers(2, 5)), int(draw.integers(1, 5))
        network = SoftmaxNetwork(draw.normal(size=(m, dim)), draw.normal(size=(k, m)))
        point = draw.normal(size=dim)
        change = draw.normal(size=(m, dim)) * 10 ** draw.uniform(-3, 0)
        cases.append((network, change, point / np.linalg.norm(point), int(draw.integers(k))))
    return listed_moves(*cases, curved_case(0.1), kinked_case(4.0, 0.001))


@claim("li2018.equation_3", Kind.STEP, "Eq. 3, proof of Lemma B.4", draws=draw_moves)
def equation_3(found: Moves, *, quarter: float = 0.25, root: float = 2**0.5) -> Evidence:
    """A step D changes the loss at a point of norm 1 by at most Σ_{r∈S}⟨∂ℓ/∂w_r, D_r⟩ + ¼(Σ‖a_r‖‖D_r‖)² +
    √2·Σ_{r∉S}‖a_r‖‖D_r‖, where S are the neurons that keep their pattern there: Eq. 3 with its constants. ¼ and √2 are
    both approached.

    The paper takes S = {r: ⟨w_r, x'⟩ ≥ τ}; without an absolute value that is less than half of the neurons.
    """
    bound = found.linear + quarter * found.quadratic + root * found.rough
    room = ROUNDING * (1 + np.abs(found.linear) + found.quadratic)
    smooth = found.rough == 0
    return evidence(
        {
            "no pattern changes": Sides(found.increase, bound, room=room, scored=smooth),
            "some patterns change": Sides(found.increase, bound, room=room, scored=~smooth),
        },
        (unit_norm(found.norm_error),),
    )


def structure_of(cell: Drops) -> Structure:
    """What the cell says about its data."""
    distance = min(cell.separation, cell.opposite_separation)
    diameter = cell.relative_diameter * distance if np.isfinite(cell.relative_diameter) else 0.0
    return Structure(cell.separation, cell.opposite_separation, diameter, cell.n_classes, cell.per_class, 0)


@claim("li2018.lemma_b_4", Kind.STEP, "Lemma B.4, Appendix B.3", reads=drops)
def lemma_b_4(cells: Sequence[Drops], *, half: float = 0.5, failure: float = 0.05, level: float = 0.05) -> Evidence:
    """A step of SGD on a fresh batch lowers the population loss by ηγm·Ω̃((vδ/(kl))²) while v is large. Held against
    (η/2)Σ_r‖∇_r‖² with the gradient ∇ of the population, in 95 of 100 steps with v ≥ 0.05; ½ is the printed coefficient
    of that term, the rest is ours.

    The text has the sign of Δ_t the other way round, and uses two values of τ; see `theorem_4_1_budget`.
    """
    ratios = np.concatenate([cell.drops / (cell.step_size * cell.squares) for cell in cells])
    scored = np.concatenate([cell.residuals for cell in cells]) >= level
    return evidence(
        {
            "the loss drops by (η/2)Σ‖∇_r‖²": Rate(
                ratios[scored] < half, failure, quantity="share of steps that drop less"
            )
        },
        (
            unit_norm(max(cell.norm_error for cell in cells)),
            *separated(structure_of(cells[0])),
            at_least("steps", "steps with v ≥ 0.05", int(scored.sum()), 1),
        ),
        details={"smallest ratio": ratios[scored].min() if scored.any() else None},
    )


@claim("li2018.lemma_b_4_coupled", Kind.STEP, "proof of Lemma B.4", reads=drops.at(batch_coupling_settings))
def lemma_b_4_coupled(cells: Sequence[Drops], *, tenth: float = 0.1) -> Evidence:
    """With τ = σγ/(100B), for t ≤ τ/(2·max|a|·η), at least a share 1 − γ/10 of the neurons has the patterns of the
    start and |⟨w_r^t, x⟩| ≥ τ on all points of a fresh batch of B.

    The proof uses the weaker 1 − γ/(2B) for one point.
    """
    shares, promised, limits = (
        np.concatenate(each)
        for each in zip(
            *((c.coupled, c.promised, np.full(len(c.coupled), 1 - tenth * c.share)) for c in cells), strict=True
        )
    )
    return evidence(
        {"share of neurons": Sides(shares, limits, Sense.AT_LEAST, scored=promised > 0)},
        (
            unit_norm(max(cell.norm_error for cell in cells)),
            at_least("steps", "fewest steps that are promised", min(c.promised.sum() for c in cells), 2),
        ),
    )
