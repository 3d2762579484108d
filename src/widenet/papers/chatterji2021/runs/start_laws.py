"""Random starts by their laws, and what follows for a first step from them. Nothing is trained here."""

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.special
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases, Count, Number, column
from widenet.papers.chatterji2021.cluster_formulas import (
    bandwidth,
    capture_level,
    captured_and_active,
    captured_share,
    first_step_size,
    initial_deviation,
    norm_unit,
    same_cluster_share,
    step_limit_terms,
    upper_norm_tail,
    whole_cap_share,
    whole_cluster_share,
    window_middle,
    window_probability,
    window_right,
)
from widenet.papers.chatterji2021.formulas import step_scale_terms
from widenet.records import Scale

TAIL = 1 / 32
"""η of both tails of ‖V^(0)‖ in Appendix D.7."""

PerCase = Float[np.ndarray, " case"]
Widths = Float[np.ndarray, " width"]
Clusters = Float[np.ndarray, " cluster"]


@dataclass(frozen=True, eq=False)
class CrossedClusters(Cases):
    """Clusters of 2D points cosθ·μ ± sinθ·e_j."""

    rows: ClassVar = "cluster"

    radius: Clusters  #: r
    log_points: Clusters  #: log D
    shares: Clusters  #: the share of wide networks' units of one sign that capture all points

    @column
    def claimed(self) -> Clusters:
        """(1 − √r)/2."""
        return np.array([same_cluster_share(radius) for radius in self.radius.tolist()])


def crossed(*cases: tuple[float, float]) -> CrossedClusters:
    """Such clusters, by r and log D."""
    radius, log_points = np.array(cases).T
    return CrossedClusters(radius, log_points, np.array([whole_cluster_share(*case) for case in cases]))


def draw_crossed(scale: Scale, seed: int) -> CrossedClusters:
    """Radii down to 0.01: no C_2 is small enough."""
    return crossed((0.5, math.log(500)), (0.2, math.log(200_000)), (0.1, 19.0), (0.05, 36.0), (0.01, 168.0))


@dataclass(frozen=True, eq=False)
class Cap(Cases):
    """Units (v, b) against the cap of radius r around a centre of R^d."""

    rows: ClassVar = "unit"

    dim: Count  #: d
    radius: Number  #: r
    captured: Bool[np.ndarray, " unit"]  #: which of them are active on all of it

    @column
    def bound(self) -> float:
        """1/2 − (r/√2)√(d/(2π))."""
        return whole_cap_share(self.dim, self.radius)

    @column
    def claimed(self) -> float:
        """(1 − √r)/2."""
        return same_cluster_share(self.radius)

    @column
    def spread(self) -> Number:
        """dr."""
        return self.dim * self.radius


def draw_caps(scale: Scale, seed: int) -> list[Cap]:
    """Caps in the plane and in R⁶; a unit is active on all of a cap if it is where v·x is smallest."""
    draw, made = np.random.default_rng([seed, 154]), []
    for dim, radius in ((2, 0.1), (6, 0.5)):
        weights, bias = draw.standard_normal((60_000, dim)), draw.standard_normal(60_000)
        lengths = np.linalg.norm(weights, axis=1)
        farthest = np.arccos(weights[:, 0] / lengths) + 2 * math.asin(radius / 2)
        made.append(Cap(dim, radius, lengths * np.cos(np.minimum(farthest, np.pi)) + bias > 0))
    return made


@dataclass(frozen=True, eq=False)
class Windows(Cases):
    """Both sides of Eq. 27 and what lies between them."""

    rows: ClassVar = "case"

    exact: PerCase  #: the probability
    middle: PerCase  #: width times density
    right: PerCase  #: with the larger width


def draw_windows(scale: Scale, seed: int) -> Windows:
    """Widths from 100 to 10⁸, both scalings, several β, Δ and r, none among them."""
    rows = []
    grid = itertools.product((1e2, 1e4, 1e6, 1e8), (0.1, 0.25, 0.45), ("sec4", "exact"), (0.0, 0.13), (0.0, 0.07))
    for p, beta, scaling, overlap, radius in grid:
        deviation, step = initial_deviation(p, beta, scaling), first_step_size(p, beta, scaling)
        rows.append(
            (
                window_probability(capture_level(p, beta, scaling), step, deviation, overlap, radius),
                window_middle(p, step, deviation, overlap, radius),
                window_right(p, step, deviation, overlap, radius),
            )
        )
    return Windows(*np.array(rows).T)


@dataclass(frozen=True, eq=False)
class ReducedNorms(Cases):
    """Pairs of p and d, with the start of Theorem 2."""

    rows: ClassVar = "case"

    half_width: PerCase  #: p
    dim: PerCase  #: d
    shares: PerCase  #: how often ‖V^(0)‖ is at least 3√(d+1)/(2p^(β/2))

    @column
    def allowed(self) -> PerCase:
        """How often Appendix D.7 allows."""
        cases = zip(self.dim.tolist(), self.half_width.tolist(), strict=True)
        return np.array([upper_norm_tail(*case, TAIL) for case in cases])


def reduced_norms(half_width: PerCase, dim: PerCase) -> ReducedNorms:
    """‖V^(0)‖² = 2σ²χ² with 2(d+1)p degrees of freedom and σ² = p^−(1+β), so β cancels: χ² is at least 9/16 of them."""
    freedom = 2 * (dim + 1) * half_width
    return ReducedNorms(half_width, dim, np.asarray(scipy.special.gammaincc(freedom / 2, 9 / 16 * freedom / 2)))


def draw_reduced_norms(scale: Scale, seed: int) -> ReducedNorms:
    """From p = 1000 on."""
    p, dim = np.meshgrid(10.0 ** np.arange(3, 7), [2.0, 10.0])
    return reduced_norms(p.ravel(), dim.ravel())


@dataclass(frozen=True, eq=False)
class ExpectedSums(Cases):
    """What one step on the centres of XOR is expected to lead to.

    The spread of the sum over starts is far below 1, and α_0p is p^(1/2−β).
    """

    rows: ClassVar = "width"

    half_width: Widths  #: p
    sums: Widths  #: (Σ φ over I_+s − pχ)/(α_0p)
    bounds: Widths  #: what the second display says


def expected_sums(*widths: float, beta: float = 0.25) -> ExpectedSums:
    """With g_0 = 1/2: (ζ − P[Z_1 ≥ a, Z_2 ≥ 0])/8 − hζ/(2α_0) against −1/48 + 2/(α_0p)."""
    sums, bounds = [], []
    for p in widths:
        level, deviation = capture_level(p, beta, "sec4"), initial_deviation(p, beta, "sec4")
        step, share = first_step_size(p, beta, "sec4"), captured_share(level, deviation)
        both = float(captured_and_active(level, deviation, np.array([0.5]))[0])
        sums.append((share - both) / 8 - bandwidth(p) * share / (2 * step))
        bounds.append(-1 / 48 + 2 / (step * p))
    return ExpectedSums(np.array(widths), np.array(sums), np.array(bounds))


def draw_expected(scale: Scale, seed: int) -> ExpectedSums:
    """Widths at which 2 is nothing beside α_0p, and o(1) is small."""
    return expected_sums(1e20, 1e30, 1e40)


@dataclass(frozen=True, eq=False)
class StepLimits(Cases):
    """The terms of Q̃_1 of networks after a first step, beside the lower bounds of Section 4.3."""

    rows: ClassVar = "case"

    terms: Float[np.ndarray, "case 3"]
    bounds: Float[np.ndarray, "case 3"]
    exponents: PerCase  #: C_4 p^(1/2−β)
    over: PerCase  #: L_1 over exp(−C_4 p^(1/2−β))
    under: PerCase  #: ‖V‖ over 3/5·√(d/p^β)


def step_limits(exponent: float, log_loss: float, norm_share: float, p: float, beta: float, dim: int) -> StepLimits:
    """One network with L_1 = exp(−log_loss) and this share of the least norm."""
    rate, norm = exponent / p ** (0.5 - beta), norm_share * 0.6 * norm_unit(dim, p, beta)
    terms = step_scale_terms(norm, math.exp(-log_loss), p)
    return StepLimits(
        np.array([[float(term) for term in terms]]),
        np.array([step_limit_terms(exponent, p, beta, dim, rate)]),
        np.array([exponent]),
        np.array([math.exp(exponent - log_loss)]),
        np.array([norm_share]),
    )


def draw_step_limits(scale: Scale, seed: int) -> list[StepLimits]:
    """Exponents from 2 on, losses at their bound and below, norms at theirs and above."""
    grid = itertools.product((2.0, 4.0, 20.0, 300.0), (0.0, 0.5, 30.0), (1.0, 2.0), (50.0, 1e6), (0.1, 0.3), (2, 7))
    return [step_limits(e, e + more, share, p, beta, dim) for e, more, share, p, beta, dim in grid]
