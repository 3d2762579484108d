"""Rows of the gradient, and how far they move when the residuals do."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Number
from widenet.papers.li2018.formulas import net_bound
from widenet.papers.li2018.runs.random_networks import random_starts
from widenet.papers.li2018.sources import TOY, Sample, steep_network
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, gradient, wrong_mass

# ── how large a row is ──

Neurons = Float[np.ndarray, " neuron"]


@dataclass(frozen=True, eq=False)
class GradientRows(Cases):
    """Rows of the gradient of networks."""

    rows = "neuron"

    norms: Neurons  #: ‖∂L/∂w_r‖
    spreads: Neurons  #: max_{i,j} |a_i − a_j| of the neuron
    largest: Neurons  #: max |a| of the network
    masses: Neurons  #: Σp(1 − o_y) of the network
    norm_error: Number


def measure_rows(networks: list[tuple[SoftmaxNetwork, Sample]]) -> GradientRows:
    """All rows of all networks."""
    found = []
    for network, sample in networks:
        slope = gradient(network, sample.points, sample.classes, sample.shares)
        mass = float(sample.shares @ wrong_mass(network.logits(sample.points), sample.classes))
        norms = np.linalg.norm(slope, axis=1)
        spread = np.ptp(network.votes, axis=0)
        found.append(np.stack([norms, spread, np.full(len(norms), network.largest_vote), np.full(len(norms), mass)]))
    return GradientRows(*np.concatenate(found, axis=1), norm_error=max(sample.norm_error for _, sample in networks))


def measure_random_rows(sample: Sample, seed: int) -> GradientRows:
    """Three networks."""
    return measure_rows([(network, points) for _, network, points in random_starts(sample, seed, 3)])


@drawn_on_points(measure_random_rows)
def draw_rows(scale: Scale, seed: int) -> GradientRows:
    """Ten networks on toy points, and one whose rows nearly attain the bound."""
    toys = [(network, sample) for _, network, sample in random_starts(TOY.draw(seed), seed, 10)]
    return measure_rows([*toys, steep_network()])


def draw_steep_rows(scale: Scale, seed: int) -> GradientRows:
    """f = (3, −3) at a point of the second class."""
    return measure_rows([steep_network()])


# ── the net of Lemma A.3 ──

Moves = Float[np.ndarray, " move"]


@dataclass(frozen=True, eq=False)
class Nets(Cases):
    """How far ∂̃L/∂w_r moved when p·v moved by at most ε₀, per case."""

    rows = "move"

    moves: Moves
    bounds: Moves  #: 2⌊k/2⌋·kl·max|a|·ε₀
    loose: Moves  #: k²l·max|a|·ε₀
    printed: Moves  #: max|a|·ε₀
    totals: Moves  #: the largest |Σ_i| of a component, over ε₀
    norm_error: Number


def aligned_case(
    n_classes: int, per_class: int, vote: float, change: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """One point repeated, all active, and moves ±ε₀ with the signs of the votes; the odd class out stays."""
    signs = np.resize([1.0, -1.0], n_classes) * (np.arange(n_classes) < n_classes - n_classes % 2)
    count = n_classes * per_class
    return vote * signs, np.tile(change * signs, (count, 1)), np.tile([1.0, 0.0], (count, 1)), per_class


def measure_nets(cases: list[tuple[np.ndarray, np.ndarray, np.ndarray, int]]) -> Nets:
    """Cases (votes of a neuron, changes of p·v per component and class, points, l), all neurons active."""
    rows = []
    for votes, changes, points, per_class in cases:
        moved = np.linalg.norm((changes @ votes) @ points)
        largest, change, k = np.abs(votes).max(), np.abs(changes).max(), len(votes)
        total = np.abs(changes.sum(axis=1)).max() / change
        size = largest * change
        rows.append((moved, net_bound(k, per_class, largest, change), k**2 * per_class * size, size, total))
    norms = np.concatenate([np.linalg.norm(points, axis=1) for _, _, points, _ in cases])
    return Nets(*np.array(rows).T, norm_error=float(np.abs(norms - 1).max()))


def draw_nets(scale: Scale, seed: int) -> Nets:
    """Random moves with Σ_i = 0, and the aligned ones for an even and an odd number of classes."""
    draw, cases = np.random.default_rng([seed, 3]), []
    for _ in range(200):
        k, per_class = int(draw.integers(2, 6)), int(draw.integers(1, 4))
        changes = draw.normal(size=(k * per_class, k))
        changes -= changes.mean(axis=1, keepdims=True)
        points = draw.normal(size=(k * per_class, 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        cases.append((draw.normal(size=k), changes, points, per_class))
    return measure_nets([*cases, aligned_case(4, 2, 1.5, 0.01), aligned_case(5, 2, 1.5, 0.01)])


def draw_aligned_nets(scale: Scale, seed: int) -> Nets:
    """Moves with the signs of the votes, at eight points a hundredth of a radian apart: (A1) keeps classes apart."""
    votes, changes, points, per_class = aligned_case(4, 2, 1.5, 0.01)
    angles = 0.01 * np.arange(len(points))
    return measure_nets([(votes, changes, np.stack([np.cos(angles), np.sin(angles)], axis=1), per_class)])
