"""Starts of networks: how many neurons lie near a kink, and what the first step of descent does to their patterns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.papers.li2018.formulas import LEAST_SCALED, SIGMAS, E
from widenet.papers.li2018.runs.single_neurons import weights_in_span
from widenet.papers.li2018.sources import TOY, Basis, OnData, Sample, structure_numbers
from widenet.papers.li2018.user_data import drawn_on_points
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, gradient

THETAS = (0.05, 0.2, 0.5)
"""θ = eτkl/σ: the share of neurons that may be lost."""

Thetas = Float[np.ndarray, " theta"]


@dataclass(frozen=True, eq=False)
class ClearShares(Cases):
    """|H|/m of starts, one row per θ."""

    rows = "theta"

    shares: Float[np.ndarray, "start theta"]  #: on some points
    orthonormal: Float[np.ndarray, "other theta"]  #: on orthonormal ones
    thetas: Thetas  #: eτkl/σ
    n_components: Count  #: kl of the points
    n_orthonormal: Count  #: kl of the orthonormal ones
    width: Count  #: m
    norm_error: Number

    @column
    def mean_share(self) -> Thetas:
        """The mean over starts."""
        return self.shares.mean(axis=0)

    @column
    def mean_room(self) -> Thetas:
        """What chance may do to it."""
        return _chance(self.shares)

    @column
    def mean_orthonormal(self) -> Thetas:
        """The mean on orthonormal points."""
        return self.orthonormal.mean(axis=0)

    @column
    def orthonormal_room(self) -> Thetas:
        """What chance may do to it."""
        return _chance(self.orthonormal)

    def counts(self) -> dict[str, int]:
        """A start is what was tried."""
        return {"tried": sum(cell.sizes["start"] for cell in self.cells)}


def _chance(shares: Float[np.ndarray, "start theta"]) -> Thetas:
    return SIGMAS * shares.std(axis=0, ddof=1) / np.sqrt(len(shares))


def clear_shares(points: np.ndarray, thetas: Sequence[float], width: int, starts: int, seed: int) -> np.ndarray:
    """|H|/m of each start at each τ = θσ/(ekl)."""
    levels = np.array(thetas) / (E * len(points))
    least = least_products(np.random.default_rng([seed, 51]), points, width, starts)
    return (least[:, :, None] >= levels).mean(axis=1)


def least_products(
    draw: np.random.Generator, points: np.ndarray, width: int, starts: int
) -> Float[np.ndarray, "start neuron"]:
    """min |⟨w_r, x⟩| over the points."""
    return np.abs(weights_in_span(draw, starts * width, points) @ points.T).min(axis=1).reshape(starts, width)


def measure_sizes(sample: Sample, seed: int, *, width: int = 600) -> ClearShares:
    """320 starts can show a failure rate of at most 0.01."""
    basis = Basis().draw(seed).points
    return ClearShares(
        shares=clear_shares(sample.points, THETAS, width, 320, seed),
        orthonormal=clear_shares(basis, THETAS, width, 60, seed + 1),
        thetas=np.array(THETAS),
        n_components=len(sample.points),
        n_orthonormal=len(basis),
        width=width,
        norm_error=sample.norm_error,
    )


def measure_own_sizes(sample: Sample, seed: int) -> ClearShares | NotApplicable:
    """400 neurons on your points."""
    if sample.points.shape[1] > 100:
        return NotApplicable("Hundreds of starts are drawn here, in at most 100 dimensions.")
    return measure_sizes(sample, seed, width=400)


@drawn_on_points(measure_own_sizes, most=200)
def draw_sizes(scale: Scale, seed: int) -> ClearShares:
    """Toy points."""
    return measure_sizes(TOY.draw(seed), seed)


@dataclass(frozen=True, eq=False)
class ThresholdBreaks(Cases):
    """Whether some τ breaks |H| ≥ (1 − cτkl/σ)m, per start."""

    rows = "start"

    broken: Bool[np.ndarray, " start"]  #: any τ
    broken_above: Bool[np.ndarray, " start"]  #: one with eτklm/σ ≥ 20
    n_lines: Count
    n_components: Count
    constant: Number

    @column
    def broken_share(self) -> Number:
        """How often."""
        return self.broken.mean()

    @column
    def n_starts(self) -> Count:
        """How many."""
        return len(self.broken)


def measure_uniform(sample: Sample, seed: int, *, constant: float = E, lowest: float = LEAST_SCALED) -> ThresholdBreaks:
    """The worst τ are those just above an order statistic of min |⟨w_r, x⟩|."""
    width, n = 200, len(sample.points)
    least = np.sort(least_products(np.random.default_rng([seed, 54]), sample.points, width, 1500), axis=1)
    lost = (np.arange(width) + 1) / width > constant * least * n
    above = lost & (E * least * n * width >= lowest)
    return ThresholdBreaks(np.any(lost, axis=1), np.any(above, axis=1), sample.n_lines, n, constant)


def draw_uniform(scale: Scale, seed: int) -> ThresholdBreaks:
    """Four orthonormal points."""
    return measure_uniform(Basis(n_classes=2).draw(seed), seed)


def draw_uniform_at_a_point(scale: Scale, seed: int) -> ThresholdBreaks:
    """One unit vector, and 10 in place of ekl."""
    point = Sample(np.ones((1, 1)), np.zeros(1, int), np.zeros(1, int), np.ones(1))
    return measure_uniform(point, seed, constant=10.0)


@dataclass(frozen=True, eq=False)
class FirstStepLosses(OnData):
    """Starts, and the first step of gradient descent from each, at one τ."""

    rows = "start"

    lost: Float[np.ndarray, " start"]  #: the neurons whose gradient after the step is not the pseudo gradient
    allowed: Number  #: how many may be lost: eτklm/σ
    steps: Number  #: τ/(2·max|a|·η): how many steps are promised
    width: Count
    sample: Sample | None = None  #: the points


def measure_first_steps(
    sample: Sample, seed: int, *, width: int = 1000, starts: int = 20_000, allowed: float = 0.999
) -> FirstStepLosses:
    """At τ = σ·`allowed`/(eklm), with η = 0.999·τ/(2·max|a|).

    No row of the gradient is longer than 2·max|a|, so a neuron with all |⟨w_r⁰, x⟩| > τ keeps its patterns, and with
    its patterns it has the pseudo gradient. Starts without any other neuron are not trained.
    """
    draw, lost, points = np.random.default_rng([seed, 55]), np.zeros(starts), sample.points
    deviation = width**-0.5
    tau = deviation * allowed / (E * len(points) * width)
    for number in range(starts):
        hidden = deviation * draw.normal(size=(width, points.shape[1]))
        if np.abs(hidden @ points.T).min() > tau:
            continue
        start = SoftmaxNetwork(hidden, draw.normal(size=(sample.n_classes, width)))
        step = 0.999 * tau / (2 * start.largest_vote)
        moved = start.moved(-step * gradient(start, points, sample.classes, sample.shares))
        both = moved.gates(points), start.gates(points)
        if (both[0] == both[1]).all():
            continue
        true, pseudo = (gradient(moved, points, sample.classes, sample.shares, gates=gates) for gates in both)
        lost[number] = (np.abs(true - pseudo) > 1e-15).any(axis=1).sum()
    numbers = structure_numbers(sample.measured())
    return FirstStepLosses(lost, allowed, 1 / 0.999, width, sample, norm_error=sample.norm_error, **numbers)


def draw_first_steps(scale: Scale, seed: int) -> FirstStepLosses:
    """Two classes of one point each, at a right angle."""
    return measure_first_steps(Basis(n_classes=2, per_class=1).draw(seed), seed)
