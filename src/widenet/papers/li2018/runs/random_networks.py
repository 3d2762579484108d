"""Random networks with another one that they started from: slopes, residuals and pseudo gradients."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.cases import Cases, Number
from widenet.papers.li2018.sources import TOY, Sample, listed_network
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, cross_entropies, gradient, residuals, start_softmax

FD_STEP = 1e-6
"""h of the central differences."""

StartedNetwork = tuple[SoftmaxNetwork, SoftmaxNetwork, Sample]
"""(network at the start, network now, points)."""


def random_starts(sample: Sample, seed: int, count: int, width: int = 40) -> Iterator[StartedNetwork]:
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
class GradientSlopes(Cases):
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


def measure_slopes(starts: Iterator[StartedNetwork], seed: int, fd_step: float = FD_STEP) -> GradientSlopes:
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
    return GradientSlopes(*np.array(along).reshape(-1, 3).T, *np.concatenate(rows, axis=1), clearance=float(clearance))


@drawn_on_points(lambda sample, seed: measure_slopes(random_starts(sample, seed, 3), seed), most=200)
def draw_slopes(scale: Scale, seed: int) -> GradientSlopes:
    """Eight networks on toy points, and one with a neuron exactly on a kink."""
    return measure_slopes(iter([*random_starts(TOY.draw(seed), seed, 8), listed_network()]), seed)


# ── the residuals ──


@dataclass(frozen=True, eq=False)
class Residuals(Cases):
    """v of points under networks, one row per point."""

    rows = "point"

    own: Float[np.ndarray, " point"]  #: at the class of the point
    others: Float[np.ndarray, "point other"]  #: elsewhere


def measure_residuals(starts: Iterator[StartedNetwork]) -> Residuals:
    """Of all points under all networks."""
    own, others = [], []
    for _, network, sample in starts:
        v = residuals(network.logits(sample.points), sample.classes)
        is_own = np.arange(v.shape[1]) == sample.classes[:, None]
        own.append(v[is_own])
        others.append(v[~is_own].reshape(len(v), -1))
    return Residuals(np.concatenate(own), np.concatenate(others))


@drawn_on_points(lambda sample, seed: measure_residuals(random_starts(sample, seed, 10)))
def draw_residuals(scale: Scale, seed: int) -> Residuals:
    """Forty networks on toy points."""
    return measure_residuals(random_starts(TOY.draw(seed), seed, 40))


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


def measure_pseudo(starts: Iterator[StartedNetwork]) -> Pseudo:
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


@drawn_on_points(lambda sample, seed: measure_pseudo(random_starts(sample, seed, 3, width=10)), most=300)
def draw_pseudo(scale: Scale, seed: int) -> Pseudo:
    """Ten networks on toy points, and the small one."""
    return measure_pseudo(iter([*random_starts(TOY.draw(seed), seed, 10), listed_network()]))
