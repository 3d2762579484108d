"""One step of SGD and the population loss: Lemma B.4, its Eq. 3, and coupling on whole batches."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Number, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most
from widenet.claims.sides import Rate
from widenet.claims.tolerances import ROUNDING
from widenet.papers.li2018.hypotheses import (
    DATA,
    LARGE_RESIDUAL,
    large_residuals,
    two_steps_are_promised,
    unit_norm,
)
from widenet.papers.li2018.runs.drops import Drops, Steps, batch_coupling_settings, drops
from widenet.papers.li2018.sources import Sample
from widenet.papers.li2018.user_data import drawn_on
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, cross_entropies, gradient

PerMove = Float[np.ndarray, " move"]


@dataclass(frozen=True, eq=False)
class Moves(Cases):
    """ℓ(W + D) − ℓ(W) at one point, and the three terms of its bound."""

    rows = "move"

    increase: PerMove  #: ℓ(W + D) − ℓ(W)
    linear: PerMove  #: Σ⟨∂ℓ/∂w_r, D_r⟩ over the neurons that keep their pattern at the point
    quadratic: PerMove  #: (Σ‖a_r‖‖D_r‖)²
    rough: PerMove  #: Σ‖a_r‖‖D_r‖ over the others
    norm_error: Number


Case = tuple[SoftmaxNetwork, np.ndarray, np.ndarray, int]
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


def listed_moves(*cases: Case) -> Moves:
    """From cases one by one."""
    rows = np.concatenate([move_terms(*case) for case in cases], axis=1)
    return Moves(*rows, norm_error=max(abs(float(np.linalg.norm(point)) - 1) for _, _, point, _ in cases))


POINT = np.array([1.0, 0.0])


def curved_case(size: float) -> Case:
    """Two neurons with votes (1, −1) and (−1, 1), f = 0, so o = 1/2; the first moves, and f changes by (t, −t)."""
    network = SoftmaxNetwork(4 * np.tile(POINT, (2, 1)), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    return network, size * np.outer([1.0, 0.0], POINT)[None], POINT, 0


def kinked_case(height: float, size: float) -> Case:
    """f = (F, −F) at a point of the second class, and a neuron with votes (1, −1) just below its kink, moved across."""
    hidden = np.stack([height * POINT, -1e-12 * POINT])
    network = SoftmaxNetwork(hidden, np.array([[1.0, 1.0], [-1.0, -1.0]]))
    return network, np.stack([0 * POINT, size * POINT])[None], POINT, 1


def random_moves(draw: np.random.Generator, point: np.ndarray, width: int, n_classes: int, kind: int) -> Case:
    """Gaussian weights and votes, and ten Gaussian moves from a thousandth to all of the size of the weights."""
    network = SoftmaxNetwork(draw.normal(size=(width, len(point))), draw.normal(size=(n_classes, width)))
    changes = draw.normal(size=(10, width, len(point))) * 10 ** draw.uniform(-3, 0, (10, 1, 1))
    return network, changes, point, kind


def measure_random_moves(sample: Sample, seed: int) -> Moves:
    """At twenty points."""
    draw = np.random.default_rng([seed, 92])
    places = draw.integers(0, len(sample.points), 20)
    return listed_moves(
        *(random_moves(draw, sample.points[at], 20, sample.n_classes, int(sample.classes[at])) for at in places)
    )


@drawn_on(measure_random_moves)
def draw_moves(scale: Scale, seed: int) -> Moves:
    """Random networks with ten moves of several sizes each, and two instances that nearly attain a term."""
    draw, cases = np.random.default_rng([seed, 91]), []
    for _ in range(20):
        m, k, dim = int(draw.integers(1, 20)), int(draw.integers(2, 5)), int(draw.integers(1, 5))
        point = draw.normal(size=dim)
        cases.append(random_moves(draw, point / np.linalg.norm(point), m, k, int(draw.integers(k))))
    return listed_moves(*cases, curved_case(0.1), kinked_case(4.0, 0.001))


@claim("li2018.equation_3", Kind.STEP, "Eq. 3, proof of Lemma B.4", draws=draw_moves, given=[unit_norm],
       title="A step changes the loss by little more than its linear part")  # fmt: skip
def equation_3(found: Moves, *, quarter: float = 0.25, root: float = 2**0.5) -> Promised:
    """A step D changes the loss at a point of norm 1 by at most Σ_{r∈S}⟨∂ℓ/∂w_r, D_r⟩ + ¼(Σ‖a_r‖‖D_r‖)² +
    √2·Σ_{r∉S}‖a_r‖‖D_r‖, where S are the neurons that keep their pattern there: Eq. 3 with its constants. ¼ and √2 are
    both approached.

    The paper takes S = {r: ⟨w_r, x'⟩ ≥ τ}; without an absolute value that is less than half of the neurons.
    """
    bound = found.linear + quarter * found.quadratic + root * found.rough
    room = {"within": ROUNDING, "of": 1 + np.abs(found.linear) + found.quadratic}
    smooth = found.rough == 0
    return {
        "smooth": at_most(found.increase, bound, where=smooth, event="moves without a change of pattern",
                          text="no pattern changes", **room),
        "rough": at_most(found.increase, bound, where=~smooth, event="moves with a change of pattern",
                         text="some patterns change", **room),
    }  # fmt: skip


class DropSteps(Drops):
    """Drops, as a share of what a small step gives; and for how many steps coupling is promised."""

    ratios: Steps = derived(lambda runs: runs.drops / (runs.step_size * runs.squares))
    promised_steps: Number = derived(lambda runs: runs.promised.sum())


@claim("li2018.lemma_b_4", Kind.STEP, "Lemma B.4, Appendix B.3", reads=drops, given=[*DATA, large_residuals],
       title="A step of SGD lowers the population loss")  # fmt: skip
def lemma_b_4(runs: DropSteps, *, half: float = 0.5, failure: float = 0.05) -> Promise:
    """A step of SGD on a fresh batch lowers the population loss by ηγm·Ω̃((vδ/(kl))²) while v is large, for η small, B
    large and t small enough, without constants. Looked at with (η/2)Σ_r‖∇_r‖², ∇ the gradient of the population, in 95
    of 100 steps with v ≥ 0.05; ½ is the printed coefficient of that term, the rest is ours.

    The text has the sign of Δ_t the other way round, and uses two values of τ; see `theorem_4_1_budget`.
    """
    s = runs.per("step")
    large = s.residuals >= LARGE_RESIDUAL
    least = float(s.ratios[large].min(initial=np.inf))
    falls = Rate(
        s.ratios < half,
        failure,
        where=large,
        event="steps with v ≥ 0.05",
        quantity="share of steps that drop less",
        text="the loss drops by $(η/2)Σ‖∇_r‖²$",
    )
    return Promise(
        {"drop": falls},
        details={"smallest ratio": least if large.any() else None},
        open_constant=f"those of η = Õ(·), B = Ω̃(·), t = Õ(·) and the drop (smallest drop seen: {least:.3g}·ηΣ‖∇_r‖²)",
    )


@claim("li2018.lemma_b_4_coupled", Kind.STEP, "proof of Lemma B.4", reads=drops.at(batch_coupling_settings),
       given=[unit_norm, two_steps_are_promised],
       title="Most neurons keep their patterns on a whole batch")  # fmt: skip
def lemma_b_4_coupled(runs: DropSteps, *, tenth: float = 0.1) -> Promised:
    """With τ = σγ/(100B), for t ≤ τ/(2·max|a|·η), at least a share 1 − γ/10 of the neurons has the patterns of the
    start and |⟨w_r^t, x⟩| ≥ τ on all points of a fresh batch of B.

    The proof uses the weaker 1 − γ/(2B) for one point.
    """
    s = runs.per("step")
    limit = 1 - tenth * s.share
    return {
        "coupled": at_least(
            s.coupled, limit, where=s.promised == 1, event="steps that are promised", text="share of neurons"
        )
    }
