"""Identities of the softmax network: Eq. 1, the residuals v, and the pseudo gradient."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Number
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING
from widenet.papers.li2018.hypotheses import off_kinks
from widenet.papers.li2018.sources import TOY, Sample, listed_network
from widenet.papers.li2018.user_data import drawn_on
from widenet.records import Scale
from widenet.training.small.softmax import (
    SoftmaxNetwork,
    cross_entropies,
    gradient,
    residuals,
    start_softmax,
)

FD_STEP = 1e-6
"""h of the central differences."""

Start = tuple[SoftmaxNetwork, SoftmaxNetwork, Sample]
"""(network at the start, network now, points)."""


def random_starts(sample: Sample, seed: int, count: int, width: int = 40) -> Iterator[Start]:
    """Networks of several sizes of weights on these points, each with another one that it started from."""
    for number in range(count):
        draw = np.random.default_rng([seed, 1, number])
        start = start_softmax(draw, width, sample.points.shape[1], sample.n_classes)
        change = draw.normal(size=start.hidden.shape) * 10 ** draw.uniform(-2, 1) / np.sqrt(width)
        yield start, start.moved(change), sample


# ── Eq. 1 ──


Directions = Float[np.ndarray, " direction"]
Entries = Float[np.ndarray, " entry"]


@dataclass(frozen=True, eq=False)
class Slopes(Cases):
    """The gradient against differences of the loss along directions, and entry by entry against Eq. 1 written out."""

    along: Directions  #: ⟨gradient, V⟩
    measured: Directions  #: the central difference of the loss
    slope_sizes: Directions  #: ‖gradient‖‖V‖
    entries: Entries  #: of the gradient
    written: Entries  #: of Eq. 1, summed term by term
    entry_sizes: Entries  #: what they are made of
    clearance: Number  #: the smallest |⟨w, x⟩| over the step h‖V_r‖ among the networks that differences were taken of

    def counts(self) -> dict[str, int]:
        """A direction is what was tried."""
        return {"tried": len(self.per("direction"))}


def written_out(network: SoftmaxNetwork, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Eq. 1, sample by sample and class by class as printed; and the same with absolute values."""
    total, size = np.zeros_like(network.hidden), np.zeros_like(network.hidden)
    for point, kind, share in zip(sample.points, sample.classes, sample.shares, strict=True):
        pre = network.hidden @ point
        logits = network.votes @ np.maximum(pre, 0)
        probabilities = scipy.special.softmax(logits)
        others = [i for i in range(len(logits)) if i != kind]
        first = sum(network.votes[i] * probabilities[i] for i in others)
        second = sum(network.votes[kind] * probabilities[i] for i in others)
        total += share * ((first - second) * (pre >= 0))[:, None] * point
        size += share * (np.abs(first) + np.abs(second))[:, None] * np.abs(point)
    return total, size


def measure_slopes(starts: Iterator[Start], seed: int, fd_step: float = FD_STEP) -> Slopes:
    """Five directions for each network; networks with a neuron too near to a kink take no part in the differences."""
    draw, along, rows, clearance = np.random.default_rng([seed, 2]), [], [], np.inf
    for _, network, sample in starts:
        slope = gradient(network, sample.points, sample.classes, sample.shares)
        written, sizes = written_out(network, sample)
        rows.append(np.stack([slope.ravel(), written.ravel(), np.full(slope.size, sizes.max())]))
        pre = np.abs(network.preactivations(sample.points))
        for _ in range(5):
            way = draw.normal(size=slope.shape)
            way /= np.linalg.norm(way, axis=1, keepdims=True)
            if pre.min() <= 10 * fd_step:
                continue
            clearance = min(clearance, float(pre.min() / fd_step))
            losses = [
                sample.shares
                @ cross_entropies(network.moved(sign * fd_step * way).logits(sample.points), sample.classes)
                for sign in (1, -1)
            ]
            size = np.linalg.norm(slope) * np.linalg.norm(way)
            along.append((float((slope * way).sum()), (losses[0] - losses[1]) / (2 * fd_step), size))
    return Slopes(*np.array(along).reshape(-1, 3).T, *np.concatenate(rows, axis=1), clearance=float(clearance))


@drawn_on(lambda sample, seed: measure_slopes(random_starts(sample, seed, 3), seed), most=200)
def draw_slopes(scale: Scale, seed: int) -> Slopes:
    """Eight networks on toy points, and one with a neuron exactly on a kink."""
    return measure_slopes(iter([*random_starts(TOY.draw(seed), seed, 8), listed_network()]), seed)


@claim("li2018.equation_1", Kind.IDENTITY, "Eq. 1, Section 3", draws=draw_slopes, given=[off_kinks],
       title="Eq. 1 is the gradient of the loss")  # fmt: skip
def equation_1(found: Slopes) -> Promised:
    """∂L/∂w_r = (Σ_{i≠y} a_{i,r} o_i − Σ_{i≠y} a_{y,r} o_i)·1[⟨w_r, x⟩ ≥ 0]·x is the gradient of the loss −log o_y
    wherever there is one; where ⟨w_r, x⟩ = 0 it is a definition, with the neuron switched on.
    """
    d, e = found.per("direction"), found.per("entry")
    return {
        "differences": equal(
            d.measured, d.along, within=CLOSED_FORM, of=d.slope_sizes + 1, text="differences of the loss"
        ),
        "entries": equal(e.entries, e.written, within=ROUNDING, of=e.entry_sizes, text="row by row as printed"),
    }


# ── the residuals ──


@dataclass(frozen=True, eq=False)
class Residuals(Cases):
    """v of points under networks, one row per point."""

    rows = "point"

    own: Float[np.ndarray, " point"]  #: at the class of the point
    others: Float[np.ndarray, "point other"]  #: elsewhere


def measure_residuals(starts: Iterator[Start]) -> Residuals:
    """Of all points under all networks."""
    own, others = [], []
    for _, network, sample in starts:
        v = residuals(network.logits(sample.points), sample.classes)
        is_own = np.arange(v.shape[1]) == sample.classes[:, None]
        own.append(v[is_own])
        others.append(v[~is_own].reshape(len(v), -1))
    return Residuals(np.concatenate(own), np.concatenate(others))


@drawn_on(lambda sample, seed: measure_residuals(random_starts(sample, seed, 10)))
def draw_residuals(scale: Scale, seed: int) -> Residuals:
    """Forty networks on toy points."""
    return measure_residuals(random_starts(TOY.draw(seed), seed, 40))


@claim("li2018.section_5_residuals", Kind.IDENTITY, "Section 5.1, and properties 1 and 2, Appendix A",
       draws=draw_residuals, given=[], title="The residuals of a point add up to 0, its own is largest")  # fmt: skip
def section_5_residuals(found: Residuals) -> Promised:
    """v_{a,a,b} = 1 − o_a lies in [0, 1], v_{s,a,b} = −o_s for s ≠ a, and Σ_s v_{s,a,b} = 0. So |v_{s,a,b}| ≤
    v_{a,a,b}, and the largest p·v is that of a class at its own component.
    """
    return {
        "sum": equal(found.own + found.others.sum(axis=1), 0, within=ROUNDING, text="$Σ_s v_s = 0$"),
        "lower": at_least(found.own, 0, text="$v_a ≥ 0$"),
        "upper": at_most(found.own, 1, text="$v_a ≤ 1$"),
        "largest": at_most(np.abs(found.others), found.own[:, None], room=ROUNDING, text="$|v_s| ≤ v_a$"),
    }


# ── the pseudo gradient ──


@dataclass(frozen=True, eq=False)
class Pseudo(Cases):
    """The pseudo gradient of networks, entry by entry, from its definition and from the P_{i,r}."""

    rows = "entry"

    defined: Entries  #: from Eq. 1 with the gates of the start
    combined: Entries  #: Σ_i a_{i,r} P_{i,r}
    entry_sizes: Entries  #: what they are made of
    sums: Entries  #: Σ_i P_{i,r}
    largest: Entries  #: max_i ‖P_{i,r}‖ of that neuron


def pieces(v: Float[np.ndarray, "point kind"], gates: np.ndarray, points: np.ndarray) -> np.ndarray:
    """P_{i,r}, from p·v, as (class, neuron, dim)."""
    return np.einsum("sk,sr,sd->krd", v, gates.astype(np.float64), points)


def measure_pseudo(starts: Iterator[Start]) -> Pseudo:
    """All networks."""
    found = []
    for start, network, sample in starts:
        gates, logits = start.gates(sample.points), network.logits(sample.points)
        written = gradient(network, sample.points, sample.classes, sample.shares, gates=gates)
        weighted = sample.shares[:, None] * residuals(logits, sample.classes)
        p = pieces(weighted, gates, sample.points)
        combined = np.einsum("kr,krd->rd", network.votes, p)
        norms = np.linalg.norm(p, axis=2).max(axis=0)
        size = network.largest_vote * np.abs(weighted).sum()
        found.append(
            np.stack(
                [
                    written.ravel(),
                    combined.ravel(),
                    np.full(written.size, size),
                    p.sum(axis=0).ravel(),
                    np.repeat(norms, written.shape[1]),
                ]
            )
        )
    return Pseudo(*np.concatenate(found, axis=1))


@drawn_on(lambda sample, seed: measure_pseudo(random_starts(sample, seed, 3, width=10)), most=300)
def draw_pseudo(scale: Scale, seed: int) -> Pseudo:
    """Ten networks on toy points, and the small one."""
    return measure_pseudo(iter([*random_starts(TOY.draw(seed), seed, 10), listed_network()]))


@claim("li2018.pseudo_gradient", Kind.IDENTITY, "last display before Appendix A.1, and A.2", draws=draw_pseudo,
       given=[], title="The pseudo gradient is minus the sum of votes times pieces")  # fmt: skip
def pseudo_gradient(found: Pseudo, *, sign: float = -1.0) -> Promised:
    """The pseudo gradient, Eq. 1 with the patterns of the start, is −Σ_i a_{i,r} P_{i,r} with
    P_{i,r} = Σ_{a,b} p_{a,b} v_{i,a,b} 1[⟨w_r⁰, x_{a,b}⟩ ≥ 0] x_{a,b}.
    """
    text = "$∂̃L/∂w_r$ and the sum over classes"
    return {"sum": equal(found.defined, sign * found.combined, within=ROUNDING, of=found.entry_sizes, text=text)}


pseudo_gradient_as_printed = pseudo_gradient.variant(
    "pseudo_gradient_as_printed",
    where="last display before Appendix A.1, and A.2",
    statement="The pseudo gradient is Σ_{a,b,i} p_{a,b} a_{i,r} v_{i,a,b} 1[⟨w_r⁰, x_{a,b}⟩ ≥ 0] x_{a,b}, with a plus.",
    title="The pseudo gradient is the sum of votes times pieces",
    sign=1.0,
)


@claim("li2018.lemma_a_3_sum", Kind.IDENTITY, "proof of Lemma A.3", draws=draw_pseudo, given=[],
       title="The pieces of a neuron add up to 0 over the classes")  # fmt: skip
def lemma_a_3_sum(found: Pseudo) -> Promised:
    """Σ_i P_{i,r} = 0 for every neuron of every network, because Σ_i v_{i,a,b} = 0.

    The proof of Lemma A.3 prints twice that this sum is Ω̃(vδ/(kl)); meant is Σ_i a_{i,r} P_{i,r}.
    """
    return {"sum": equal(found.sums, 0, within=ROUNDING, of=found.largest, text="$Σ_i P_{i,r} = 0$")}
