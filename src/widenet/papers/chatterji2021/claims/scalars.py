"""Facts about single numbers that Section 3 uses: the Huberized ReLU, the logistic loss, exponentials, and C₁."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Kind, Silence, at_least, at_most, claim, more_than
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.diagnostics.homogeneous_margins import losses
from widenet.diagnostics.huberized import huberized, huberized_curvature, huberized_slope, pulls
from widenet.papers.chatterji2021.claims.specimens import looks_on
from widenet.papers.chatterji2021.formulas import (
    LEAST_EXPONENT,
    LEAST_SHARE,
    alignment_bound,
    equation_5_threshold,
    last_line_share,
    lost_share,
    proof_threshold,
    universal_threshold,
    z_log_squared,
)
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class Bent:
    """Numbers z per bandwidth h (rows), with φ, φ' and φ'' there."""

    bandwidth: np.ndarray
    z: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray


def draw_bent(scale: Scale, seed: int) -> Bent:
    """From −3h to 10h, with 0 and h themselves."""
    grid = np.sort(np.concatenate([np.linspace(-3, 10, 1301), [-1e-12, 0.0, 1.0, 1 + 1e-12]]))
    widths = np.array([1.0, 1 / 7, 1e-3])
    z = widths[:, None] * grid
    made = [np.stack([function(row, h) for row, h in zip(z, widths, strict=True)]) for function in _SHAPES]
    return Bent(widths[:, None], z, *made)


_SHAPES = (huberized, huberized_slope, huberized_curvature)


@claim("chatterji2021.huberized_sandwich", Kind.STEP, "Proof of Lemma 10, before Eq. 4", draws=draw_bent)
def huberized_sandwich(bent: Bent, *, half: float = 0.5) -> Evidence:
    """φ(z) ≤ φ'(z)z ≤ φ(z) + h/2 for all z, with equality on the left for z ≤ 0 and on the right for z ≥ h."""
    middle, room = bent.slope * bent.z, ROUNDING * bent.bandwidth
    return evidence(
        {
            "φ(z) ≤ φ'(z)z": Sides(bent.value, middle, room=room),
            "φ'(z)z ≤ φ(z) + h/2": Sides(middle, bent.value + half * bent.bandwidth, room=room),
        },
        (more_than("bandwidth_positive", "smallest h", bent.bandwidth.min(), 0),),
    )


SLOPE_LIMITS = {"slope": 1.0, "curvature": 1.0, "value_change": 1.0, "slope_change": 1.0}


@claim(
    "chatterji2021.huberized_slopes", Kind.STEP, "Proof of Lemma 6, after Eq. 22; φ' is 1/h-Lipschitz", draws=draw_bent
)
def huberized_slopes(bent: Bent, *, limits: Mapping[str, float] = SLOPE_LIMITS) -> Evidence:
    """0 ≤ φ' ≤ 1 and 0 ≤ γ ≤ 1/h; φ is 1-Lipschitz and φ' is (1/h)-Lipschitz.

    The paper has |φ'| < 1 and |γ| < 1/h; both are attained at z = h.
    """
    h, apart = bent.bandwidth, np.diff(bent.z, axis=1)
    bumps, turns = np.abs(np.diff(bent.value, axis=1)), np.abs(np.diff(bent.slope, axis=1))
    size = np.abs(bent.z[:, 1:])
    return evidence(
        {
            "φ' ≥ 0": Sides(bent.slope, 0.0, Sense.AT_LEAST),
            "φ' ≤ 1": Sides(bent.slope, limits["slope"]),
            "γ ≥ 0": Sides(bent.curvature, 0.0, Sense.AT_LEAST),
            "γ ≤ 1/h": Sides(bent.curvature, limits["curvature"] / h, room=ROUNDING / h),
            "φ is 1-Lipschitz": Sides(bumps, limits["value_change"] * apart, room=ROUNDING * (size + h)),
            "φ' is (1/h)-Lipschitz": Sides(turns, limits["slope_change"] * apart / h, room=ROUNDING * (size + h) / h),
        },
        (more_than("bandwidth_positive", "smallest h", h.min(), 0),),
    )


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins, with g and L there."""

    margins: np.ndarray
    pulls: np.ndarray
    losses: np.ndarray


def draw_margins(scale: Scale, seed: int) -> Margins:
    """From −700 to 700."""
    margins = np.concatenate([np.linspace(-700, 700, 20_001), np.linspace(-30, 30, 6001), [21.0]])
    return Margins(margins, pulls(margins), losses(margins))


@claim("chatterji2021.lemma_20", Kind.STEP, "Lemma 20, Appendix E", draws=draw_margins)
def lemma_20(drawn: Margins, *, most: float = 1.0, most_product: float = 1.0) -> Evidence:
    """g = 1/(1 + e^m) is at most the loss log(1 + e^{−m}), and e^m/(1 + e^m)² = g(1 − g) is at most g."""
    g, limits = drawn.pulls, most * drawn.losses
    product = g * pulls(-drawn.margins)
    return evidence(
        {
            "g ≤ L": Sides(g, limits, room=ROUNDING * limits),
            "g(1 − g) ≤ g": Sides(product, most_product * g, room=ROUNDING * g),
        },
    )


@lemma_20.speaks
def margins_on(specimen: Specimen) -> Margins | Silence:
    """The margins of networks on the reader's data."""
    settings = looks_on(specimen)
    if isinstance(settings, Silence):
        return settings
    cases = [case for setting in settings for case in setting.networks.cases()]
    margins = np.concatenate([case.network.margins(case.points, case.labels) for case in cases])
    return Margins(margins, pulls(margins), losses(margins))


@dataclass(frozen=True, eq=False)
class UnitGrid:
    """Numbers of (0, 1]."""

    z: np.ndarray


def draw_unit_grid(scale: Scale, seed: int) -> UnitGrid:
    """Dense around e^{−2}."""
    grid = np.concatenate([np.logspace(-300, 0, 3001), math.exp(-2) * np.linspace(0.99, 1.01, 2001)])
    return UnitGrid(np.sort(np.append(grid, math.exp(-2))))


@claim("chatterji2021.z_log_squared_bound", Kind.STEP, "Proof of Lemma 12", draws=draw_unit_grid)
def z_log_squared_bound(grid: UnitGrid, *, highest: float = 4 / math.e**2, where: float = math.exp(-2)) -> Evidence:
    """z log²(1/z) ≤ 4/e² on (0, 1], with equality at z = e^{−2}."""
    values = z_log_squared(grid.z)
    return evidence(
        {
            "z log²(1/z) ≤ 4/e²": Sides(values, highest, room=ROUNDING),
            "largest at e^{−2}": Sides(grid.z[values.argmax()], where, Sense.EQUAL, room=STEP * where),
        },
        (
            at_most("at_most_one", "largest z", grid.z.max(), 1),
            more_than("positive", "smallest z", grid.z.min(), 0),
        ),
    )


@dataclass(frozen=True, eq=False)
class Exponents:
    """Numbers of [0, 1]; and n and L for the step in which both bounds are multiplied."""

    z: np.ndarray
    n_samples: np.ndarray
    losses: np.ndarray


def draw_exponents(scale: Scale, seed: int) -> Exponents:
    """A grid, and losses from 1e-12 up to 1/(2n)."""
    counts = np.repeat([2.0, 3.0, 10.0, 100.0], 60)
    shares = np.tile(np.logspace(-12, 0, 60), 4)
    return Exponents(np.concatenate([np.linspace(0, 1, 1001), [0.05]]), counts, shares / (2 * counts))


@claim("chatterji2021.exponential_bounds", Kind.STEP, "Proof of Lemma 10, after Eq. 5", draws=draw_exponents)
def exponential_bounds(
    drawn: Exponents,
    *,
    linear: float = 2.0,
    quadratic: float = 1.0,
    reached: Callable[..., np.ndarray] = alignment_bound,
) -> Evidence:
    """e^z ≤ 1 + 2z and e^{−z} ≤ 1 − z + z² on [0, 1]; so F(nL)/n ≥ (L − nL²) log(1/(2nL)) where 2nL ≤ 1.

    The paper does not say that the product of the two needs 2nL ≤ 1, so that the logarithm is not negative.
    """
    z, n, loss = drawn.z, drawn.n_samples, drawn.losses
    product = (loss - n * loss**2) * -np.log(2 * n * loss)
    return evidence(
        {
            "e^z ≤ 1 + 2z": Sides(np.exp(z), 1 + linear * z, room=ROUNDING),
            "e^{−z} ≤ 1 − z + z²": Sides(np.exp(-z), 1 - z + quadratic * z**2, room=ROUNDING),
            "F(nL)/n ≥ (L − nL²) log(1/(2nL))": Sides(
                reached(n, loss, 0.0), product, Sense.AT_LEAST, room=STEP * product
            ),
        },
        (
            at_most("at_most_one", "largest z", z.max(), 1),
            at_least("not_negative", "smallest z", z.min(), 0),
            at_most("log_not_negative", "largest 2nL", (2 * n * loss).max(), 1, tolerance=ROUNDING),
        ),
    )


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The three bounds on the loss for some n, and the constant that the first is made with."""

    n_samples: np.ndarray
    exponent: float
    universal: np.ndarray
    by_proof: np.ndarray
    by_equation_5: np.ndarray


def draw_thresholds(scale: Scale, seed: int) -> Thresholds:
    """For n from 2 to 1000."""
    counts = (2, 3, 4, 5, 8, 10, 16, 50, 200, 1000)
    solved = [
        np.array([solve(n) for n in counts]) for solve in (universal_threshold, proof_threshold, equation_5_threshold)
    ]
    return Thresholds(np.array(counts, float), LEAST_EXPONENT, *solved)


@claim("chatterji2021.constant_c_1", Kind.STEP, "Proof of Lemma 10, last lines; the number is not in the paper",
       draws=draw_thresholds)  # fmt: skip
def constant_c_1(drawn: Thresholds, *, share: float = LEAST_SHARE) -> Evidence:
    """The proof of Lemma 10 goes through from C₁ = 19.6564 on. For a given n a larger loss is enough: one with
    (1 + log 2n)/log(1/L) + nL ≤ 1/6, or a still larger one at which (5) itself gives 5/6.
    """
    n = drawn.n_samples
    lost = lost_share(n, drawn.by_proof)
    direct = alignment_bound(n, drawn.by_equation_5) / (drawn.by_equation_5 * -np.log(drawn.by_equation_5))
    printed = np.exp(-(1 + drawn.exponent) * np.log(n))
    return evidence(
        {
            "last line of the proof = 5/6": Sides(last_line_share(drawn.exponent), share, Sense.EQUAL, room=STEP),
            "n^{−(1+C₁)}": Sides(drawn.universal, printed, Sense.EQUAL, room=STEP * printed),
            "the proof loses 1/6 at its bound": Sides(lost, 1 - share, Sense.EQUAL, room=STEP),
            "(5) gives 5/6 at its bound": Sides(direct, share, Sense.EQUAL, room=STEP),
            "n^{−(1+C₁)} ≤ bound of the proof": Sides(drawn.universal, drawn.by_proof, room=STEP * drawn.by_proof),
            "bound of the proof ≤ that of (5)": Sides(drawn.by_proof, drawn.by_equation_5),
        },
        (at_least("two_points", "smallest n", n.min(), 2),),
    )
