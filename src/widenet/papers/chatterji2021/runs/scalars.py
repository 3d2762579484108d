"""Numbers without a network: the Huberized ReLU, margins, losses and norms on grids. Nothing is trained here."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Number, column
from widenet.claims.experiments import drawn_on
from widenet.claims.user_data import UserData
from widenet.diagnostics.homogeneous_margins import losses
from widenet.diagnostics.huberized import huberized, huberized_curvature, huberized_slope, pulls
from widenet.papers.chatterji2021.formulas import (
    LEAST_EXPONENT,
    alignment_bound,
    equation_5_threshold,
    largest_step_scale,
    last_line_share,
    lost_share,
    proof_threshold,
    universal_threshold,
    z_log_squared,
)
from widenet.papers.chatterji2021.runs.networks import looks_on
from widenet.records import Scale

Zs = Float[np.ndarray, " z"]
Numbers = Float[np.ndarray, " case"]
Pairs = Float[np.ndarray, " pair"]
Directions = Float[np.ndarray, " direction"]


@dataclass(frozen=True, eq=False)
class Bent(Cases):
    """Numbers z for one bandwidth h, in order."""

    bandwidth: Number  #: h
    z: Zs
    value: Zs  #: φ
    slope: Zs  #: φ'
    curvature: Zs  #: φ''

    @column
    def apart(self) -> Pairs:
        """How far neighbours are from each other."""
        return np.diff(self.z)

    @column
    def value_change(self) -> Pairs:
        """|Δφ|."""
        return np.abs(np.diff(self.value))

    @column
    def slope_change(self) -> Pairs:
        """|Δφ'|."""
        return np.abs(np.diff(self.slope))

    @column
    def size(self) -> Pairs:
        """What rounding is a share of."""
        return np.abs(self.z[1:]) + self.bandwidth


def draw_bent(scale: Scale, seed: int) -> list[Bent]:
    """From −3h to 10h, with 0 and h themselves."""
    grid = np.sort(np.concatenate([np.linspace(-3, 10, 1301), [-1e-12, 0.0, 1.0, 1 + 1e-12]]))
    shapes = (huberized, huberized_slope, huberized_curvature)
    return [Bent(h, h * grid, *(shape(h * grid, h) for shape in shapes)) for h in (1.0, 1 / 7, 1e-3)]


@dataclass(frozen=True, eq=False)
class MarginGrid(Cases):
    """Some margins."""

    rows: ClassVar = "case"

    margins: Numbers  #: m
    pulls: Numbers  #: g
    losses: Numbers  #: L

    @column
    def product(self) -> Numbers:
        """g(1 − g)."""
        return self.pulls * pulls(-self.margins)


def margins_of(margins: Numbers) -> MarginGrid:
    """With g and L there."""
    return MarginGrid(margins, pulls(margins), losses(margins))


def _margins_on(user_data: UserData) -> "MarginGrid | NotApplicable":
    """The margins of networks on your data."""
    settings = looks_on(user_data)
    if isinstance(settings, NotApplicable):
        return settings
    cases = [case for setting in settings for case in setting.networks.cases()]
    return margins_of(np.concatenate([case.network.margins(case.points, case.labels) for case in cases]))


@drawn_on(_margins_on)
def draw_margins(scale: Scale, seed: int) -> MarginGrid:
    """From −700 to 700."""
    return margins_of(np.concatenate([np.linspace(-700, 700, 20_001), np.linspace(-30, 30, 6001), [21.0]]))


@dataclass(frozen=True, eq=False)
class UnitGrid(Cases):
    """Numbers of (0, 1], in order."""

    z: Zs

    @column
    def values(self) -> Zs:
        """z log²(1/z)."""
        return z_log_squared(self.z)

    @column
    def highest_at(self) -> float:
        """Where it is largest."""
        return float(self.z[self.values.argmax()])


def draw_unit_grid(scale: Scale, seed: int) -> UnitGrid:
    """Dense around e^{−2}."""
    grid = np.concatenate([np.logspace(-300, 0, 3001), math.exp(-2) * np.linspace(0.99, 1.01, 2001)])
    return UnitGrid(np.sort(np.append(grid, math.exp(-2))))


@dataclass(frozen=True, eq=False)
class ExponentGrid(Cases):
    """Numbers of [0, 1]; and n and L for the step in which both bounds are multiplied."""

    z: Zs
    n_samples: Numbers  #: n
    losses: Numbers  #: L

    @column
    def log_argument(self) -> Numbers:
        """2nL."""
        return 2 * self.n_samples * self.losses


def draw_exponents(scale: Scale, seed: int) -> ExponentGrid:
    """A grid, and losses from 1e-12 up to 1/(2n)."""
    counts = np.repeat([2.0, 3.0, 10.0, 100.0], 60)
    shares = np.tile(np.logspace(-12, 0, 60), 4)
    return ExponentGrid(np.concatenate([np.linspace(0, 1, 1001), [0.05]]), counts, shares / (2 * counts))


@dataclass(frozen=True, eq=False)
class Thresholds(Cases):
    """The three bounds on the loss for some n."""

    rows: ClassVar = "case"

    n_samples: Numbers  #: n
    exponent: Number  #: C₁ of the first bound
    universal: Numbers  #: n^{−(1+C₁)}
    by_proof: Numbers  #: where the proof loses 1/6
    by_equation_5: Numbers  #: where (5) gives 5/6

    @column
    def last_line(self) -> Number:
        """The last line of the proof."""
        return last_line_share(self.exponent)

    @column
    def lost(self) -> Numbers:
        """What the proof loses at its bound."""
        return lost_share(self.n_samples, self.by_proof)

    @column
    def direct(self) -> Numbers:
        """What (5) gives at its bound."""
        loss = self.by_equation_5
        return alignment_bound(self.n_samples, loss) / (loss * -np.log(loss))


def draw_thresholds(scale: Scale, seed: int) -> Thresholds:
    """For n from 2 to 1000."""
    counts = (2, 3, 4, 5, 8, 10, 16, 50, 200, 1000)
    solved = [
        np.array([solve(n) for n in counts]) for solve in (universal_threshold, proof_threshold, equation_5_threshold)
    ]
    return Thresholds(np.array(counts, float), LEAST_EXPONENT, *solved)


PerStart = Float[np.ndarray, " start"]


@dataclass(frozen=True, eq=False)
class StartNumbers(Cases):
    """Numbers of some starts."""

    rows: ClassVar = "start"

    norm: PerStart  #: ‖V^(1)‖
    loss: PerStart  #: L₁
    half_width: PerStart  #: p
    step_scale: PerStart  #: Q₁

    @column
    def scale_share(self) -> PerStart:
        """Q₁/Q̃₁."""
        return self.step_scale / largest_step_scale(self.norm, self.loss, self.half_width)


def draw_starts(scale: Scale, seed: int) -> StartNumbers:
    """Numbers of all sizes; each term of (6) is the smallest in some of them, and Q₁ = Q̃₁ in every second one."""
    draw = np.random.default_rng([seed, 7])
    norm, loss = 10 ** draw.uniform(-2, 2, 300), 10 ** draw.uniform(-12, 0.8, 300)
    p = np.round(10 ** draw.uniform(0, 3, 300))
    norm[:3], loss[:3], p[:3] = np.sqrt([5.0, 2.0, 0.01]), [0.02, 3.0, 0.1], [3.0, 11.0, 2.0]
    shares = np.where(np.arange(300) % 2, draw.uniform(0.01, 1, 300), 1.0)
    return StartNumbers(norm, loss, p, shares * largest_step_scale(norm, loss, p))


@dataclass(frozen=True, eq=False)
class RowNorms(Cases):
    """‖a_1‖, …, ‖a_2p‖ of some directions a."""

    rows: ClassVar = "direction"

    norms: Float[np.ndarray, "direction row"]

    @column
    def half_width(self) -> float:
        """p."""
        return self.norms.shape[1] / 2

    @column
    def square_error(self) -> Directions:
        """|Σ‖a_j‖² − 1|."""
        return np.abs((self.norms**2).sum(axis=1) - 1)

    @column
    def mixed(self) -> Directions:
        """Σ_{j≠k}‖a_j‖‖a_k‖."""
        return self.norms.sum(axis=1) ** 2 - (self.norms**2).sum(axis=1)

    @column
    def four_sums(self) -> Directions:
        """‖(∇²L)a‖² at most, with L = 1 and blocks at their bounds: 2pL on the diagonal and L off it."""
        products = (self.norms.shape[1] - 1) * self.norms + self.norms.sum(axis=1, keepdims=True)
        return (products**2).sum(axis=1)

    @column
    def printed_sum(self) -> Directions:
        """Σ_{j≠k}(‖a_j‖² + ‖a_k‖²)/2, pair by pair."""
        pairs = (self.norms[:, :, None] ** 2 + self.norms[:, None, :] ** 2) / 2
        return (pairs * ~np.eye(self.norms.shape[1], dtype=bool)).sum(axis=(1, 2))


def draw_row_norms(scale: Scale, seed: int) -> list[RowNorms]:
    """Equal norms, one row alone, and random ones, for p up to 12."""
    draw, made = np.random.default_rng([seed, 6]), []
    for p in (1, 2, 3, 5, 12):
        rows = np.concatenate([np.ones((1, 2 * p)), np.eye(1, 2 * p), np.abs(draw.normal(size=(20, 2 * p)))])
        made.append(RowNorms(rows / np.linalg.norm(rows, axis=1, keepdims=True)))
    return made
