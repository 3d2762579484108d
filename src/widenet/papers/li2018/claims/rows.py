"""How large a row of the gradient is, and how far it moves when the residuals do."""

from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Kind, at_most, claim
from widenet.claims.sides import Sides, evidence
from widenet.claims.specimen import Silence, Specimen
from widenet.claims.tolerances import BOUND, IDENTITY, ROUNDING
from widenet.papers.li2018.claims.network import random_starts, unit_norm
from widenet.papers.li2018.claims.specimens import applies, prepared
from widenet.papers.li2018.formulas import net_bound
from widenet.papers.li2018.settings import TOY, Sample, steep_network
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, gradient, wrong_mass

# ── how large a row is ──


@dataclass(frozen=True, eq=False)
class Rows:
    """Norms of rows of the gradient, max_{i,j} |a_i − a_j| of the neuron, max |a|, Σp(1 − o_y) of the network."""

    norms: np.ndarray
    spreads: np.ndarray
    largest: np.ndarray
    masses: np.ndarray
    norm_error: float


def measure_rows(networks: list[tuple[SoftmaxNetwork, Sample]]) -> Rows:
    """All rows of all networks."""
    found = []
    for network, sample in networks:
        slope = gradient(network, sample.points, sample.classes, sample.shares)
        mass = float(sample.shares @ wrong_mass(network.logits(sample.points), sample.classes))
        norms = np.linalg.norm(slope, axis=1)
        spread = np.ptp(network.votes, axis=0)
        found.append(np.stack([norms, spread, np.full(len(norms), network.largest_vote), np.full(len(norms), mass)]))
    return Rows(*np.concatenate(found, axis=1), norm_error=max(sample.norm_error for _, sample in networks))


def draw_rows(scale: Scale, seed: int) -> Rows:
    """Ten networks on toy points, and one whose rows nearly attain the bound."""
    toys = [(network, sample) for _, network, sample in random_starts(TOY.draw(seed), seed, 10)]
    return measure_rows([*toys, steep_network()])


def draw_steep_rows(scale: Scale, seed: int) -> Rows:
    """f = (3, −3) at a point of the second class."""
    return measure_rows([steep_network()])


@claim("li2018.lemma_a_1_gradient", Kind.STEP, "proof of Lemma A.1", draws=draw_rows)
def lemma_a_1_gradient(found: Rows, *, tight: float = 1.0, twice: float = 2.0) -> Evidence:
    """‖∂L/∂w_r‖ ≤ max_{i,j} |a_{i,r} − a_{j,r}|·Σ p(1 − o_y) < 2·max |a| for every r and t, on points of norm 1; with
    equality on the left for two classes and one active point.
    """
    bound = tight * found.spreads * found.masses
    return evidence(
        {
            "at most max|a_i − a_j|·Σp(1 − o_y)": Sides(found.norms, bound, room=BOUND * bound),
            "less than 2·max|a|": Sides(found.norms, twice * found.largest, strict=True),
        },
        (unit_norm(found.norm_error),),
    )


@applies(lemma_a_1_gradient)
def _(specimen: Specimen) -> Rows | Silence:
    sample = prepared(specimen)
    if isinstance(sample, Silence):
        return sample
    return measure_rows([(network, points) for _, network, points in random_starts(sample, specimen.choices.seed, 3)])


@claim("li2018.lemma_a_1_gradient_as_printed", Kind.STEP, "proof of Lemma A.1", draws=draw_steep_rows)
def lemma_a_1_gradient_as_printed(found: Rows) -> Evidence:
    """‖∂L/∂w_r‖ ≤ L for every r and t, where L bounds every |a_{i,r}|."""
    return evidence({"at most max|a|": Sides(found.norms, found.largest)}, (unit_norm(found.norm_error),))


# ── the net of Lemma A.3 ──


@dataclass(frozen=True, eq=False)
class Nets:
    """How far ∂̃L/∂w_r moved when p·v moved by at most ε₀, per case: with three bounds, max|a|·ε₀ the last."""

    moves: np.ndarray
    bounds: np.ndarray
    loose: np.ndarray
    printed: np.ndarray
    totals: np.ndarray
    norm_error: float


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


@claim("li2018.lemma_a_3_net", Kind.STEP, "proof of Lemma A.3", draws=draw_nets)
def lemma_a_3_net(found: Nets, *, sharp: float = 1.0) -> Evidence:
    """Where all p·v move by at most ε₀ and stay admissible (Σ_i = 0), ∂̃L/∂w_r moves by at most 2⌊k/2⌋·kl·max|a|·ε₀
    ≤ k²l·max|a|·ε₀; the first is approached for every k.

    The proof prints L·ε₀ (`lemma_a_3_net_as_printed`); the factor only enters a logarithm.
    """
    bound = sharp * found.bounds
    return evidence(
        {
            "at most 2⌊k/2⌋·kl·max|a|·ε₀": Sides(found.moves, bound, room=ROUNDING * bound),
            "at most k²l·max|a|·ε₀": Sides(found.moves, found.loose, room=ROUNDING * found.loose),
        },
        (
            unit_norm(found.norm_error),
            at_most("sum_zero", "largest |Σ_i| of the moves, over ε₀", found.totals.max(), 0, tolerance=IDENTITY),
        ),
    )


def draw_aligned_nets(scale: Scale, seed: int) -> Nets:
    """Moves with the signs of the votes, at eight points a hundredth of a radian apart: (A1) keeps classes apart."""
    votes, changes, points, per_class = aligned_case(4, 2, 1.5, 0.01)
    angles = 0.01 * np.arange(len(points))
    return measure_nets([(votes, changes, np.stack([np.cos(angles), np.sin(angles)], axis=1), per_class)])


@claim("li2018.lemma_a_3_net_as_printed", Kind.STEP, "proof of Lemma A.3", draws=draw_aligned_nets)
def lemma_a_3_net_as_printed(found: Nets) -> Evidence:
    """Where all p·v move by at most ε₀, ∂̃L/∂w_r moves by at most Lε₀, where L bounds every |a_{i,r}|."""
    return evidence(
        {"at most max|a|·ε₀": Sides(found.moves, found.printed, room=ROUNDING * found.printed)},
        (
            unit_norm(found.norm_error),
            at_most("sum_zero", "largest |Σ_i| of the moves, over ε₀", found.totals.max(), 0, tolerance=IDENTITY),
        ),
    )
