"""Facts about single numbers that the proofs of Sections 9 and 12 use: the logistic loss, and a quadratic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.special

from widenet.claims.base import Evidence, Kind, claim, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import BOUND, ROUNDING
from widenet.diagnostics.homogeneous_margins import log_losses, losses
from widenet.papers.sarussi2021.formulas import LARGEST_PUSH, LOG_2, quadratic_root, quadratic_root_bound
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class LossGrid:
    """Margins, |ℓ'| at them, and levels ε_0 between two of the losses."""

    margins: np.ndarray
    pushes: np.ndarray
    levels: np.ndarray


def draw_loss_grid(scale: Scale, seed: int) -> LossGrid:
    """From −30 to 30."""
    margins = np.linspace(-30, 30, 6001)
    return LossGrid(margins, scipy.special.expit(-margins), losses(np.linspace(-10, 29.3, 40) + 0.0037))


def push_of_loss(loss: np.ndarray) -> np.ndarray:
    """1 − e^{−ℓ}."""
    return -np.expm1(-loss)


@claim("sarussi2021.equation_16", Kind.IDENTITY, "Eq. 16, Section 9", draws=draw_loss_grid)
def equation_16(
    grid: LossGrid,
    *,
    threshold: Callable[[np.ndarray], np.ndarray] = push_of_loss,
) -> Evidence:
    """|ℓ'(q)| = 1 − e^{−ℓ(q)} for the logistic loss, so a loss exceeds ε_0 exactly where |ℓ'| exceeds 1 − e^{−ε_0}."""
    found = losses(grid.margins)
    promised = push_of_loss(found)
    above = found[:, None] > grid.levels
    return evidence(
        {
            "|ℓ'| = 1 − e^{−ℓ}": Sides(grid.pushes, promised, Sense.EQUAL, room=ROUNDING * promised),
            "ℓ > ε_0 exactly where |ℓ'| > 1 − e^{−ε_0}": Fact(above == (grid.pushes[:, None] > threshold(grid.levels))),
        }
    )


SCALAR_LIMITS = {"push": 1.0, "best": LARGEST_PUSH, "slope": 1.0, "below": 1.0, "above": 1.0, "lipschitz": 1.0}


@dataclass(frozen=True, eq=False)
class ScalarGrid:
    """Real numbers, positive numbers, and pairs of numbers."""

    reals: np.ndarray
    positive: np.ndarray
    pairs: np.ndarray


def draw_scalars(scale: Scale, seed: int) -> ScalarGrid:
    """The extreme points among them."""
    draw = np.random.default_rng([seed, 9])
    reals = np.concatenate([np.linspace(-700, 700, 4001), np.linspace(-5, 5, 2001), [1.27846454276107]])
    return ScalarGrid(reals, np.logspace(-4, 2.8, 400), np.concatenate([draw.normal(size=(500, 2)), [[1.0, 2.0]]]))


@claim("sarussi2021.section_9_scalars", Kind.STEP, "Section 9, before Eqs. 13, 15, 19 and 23", draws=draw_scalars)
def section_9_scalars(grid: ScalarGrid, *, limits: Mapping[str, float] = SCALAR_LIMITS) -> Evidence:
    """x/(1 + eˣ) ≤ 1, and its maximum is W₀(1/e) = 0.27846…; |ℓ'| ≤ 1; x/(1 + x) < 1 − e^{−x} ≤ x for x > 0; and
    |σ(a) − σ(b)| ≤ |a − b|.
    """
    pushes = grid.reals * scipy.special.expit(-grid.reals)
    x, apart = grid.positive, np.abs(grid.pairs[:, 0] - grid.pairs[:, 1])
    activated = np.where(grid.pairs > 0, grid.pairs, 0.3 * grid.pairs)
    moved = np.abs(activated[:, 0] - activated[:, 1])
    share = -np.expm1(-x)
    return evidence(
        {
            "x/(1 + eˣ) ≤ 1": Sides(pushes, limits["push"]),
            "its maximum is W₀(1/e)": Sides(pushes.max(), limits["best"], Sense.EQUAL, room=ROUNDING),
            "|ℓ'| ≤ 1": Sides(scipy.special.expit(-grid.reals), limits["slope"]),
            "x/(1 + x) < 1 − e^{−x}": Sides(limits["below"] * x / (1 + x), share, strict=True),
            "1 − e^{−x} ≤ x": Sides(share, limits["above"] * x),
            "|σ(a) − σ(b)| ≤ |a − b|": Sides(moved, limits["lipschitz"] * apart, room=ROUNDING * apart),
        }
    )


@dataclass(frozen=True, eq=False)
class Quadratics:
    """Coefficients of aT ≤ b√T + c."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


def draw_quadratics(scale: Scale, seed: int) -> Quadratics:
    """ca/b² from 1e-6 to 1e6, and both faces b = 0 and c = 0, where the bound is attained."""
    draw = np.random.default_rng([seed, 19])
    a, b = np.exp(draw.uniform(-3, 3, (2, 3000)))
    c = 10.0 ** draw.uniform(-6, 6, 3000) * b**2 / a
    b[:300], c[300:600] = 0.0, 0.0
    return Quadratics(a, b, c)


@claim("sarussi2021.section_9_root", Kind.STEP, "Section 9, before Eq. 19", draws=draw_quadratics)
def section_9_root(drawn: Quadratics, *, bound: Callable[..., np.ndarray] = quadratic_root_bound) -> Evidence:
    """aT ≤ b√T + c with a > 0 and b, c ≥ 0 gives T ≤ (b/a)² + (b/a)√(c/a) + c/a; with equality where b = 0 or c = 0."""
    roots, limits = quadratic_root(drawn.a, drawn.b, drawn.c), bound(drawn.a, drawn.b, drawn.c)
    room = BOUND * roots
    return evidence(
        {
            "T is at most the bound": Sides(roots, limits, room=room, scored=(drawn.b > 0) & (drawn.c > 0)),
            "attained where c = 0": Sides(roots, limits, Sense.EQUAL, room=room, scored=drawn.c == 0),
            "attained where b = 0": Sides(roots, limits, Sense.EQUAL, room=room, scored=drawn.b == 0),
        },
        (more_than("leading", "smallest a", drawn.a.min(), 0),),
    )


@dataclass(frozen=True, eq=False)
class LogisticShape:
    """f = −log ℓ on a grid of margins, and its inverse g.

    Attributes:
      slopes: f'(q) on the grid `margins`; back: g(f(q)).
      ratios: f'(y)/f'(θy) over y > g(b_g) and θ from 1/2 to 1; inverse_ratios: the same for g.
    """

    margins: np.ndarray
    slopes: np.ndarray
    back: np.ndarray
    ratios: np.ndarray
    inverse_ratios: np.ndarray


def slope_of_log(q: np.ndarray) -> np.ndarray:
    """f'(q) = |ℓ'(q)|/ℓ(q)."""
    return np.exp(-np.logaddexp(0, q) - log_losses(q))


def inverse(y: np.ndarray) -> np.ndarray:
    """g(y) = −log(exp(e^{−y}) − 1)."""
    return np.asarray(-np.log(np.expm1(np.exp(-y))))


def slope_of_inverse(y: np.ndarray) -> np.ndarray:
    """g'(y)."""
    small = np.exp(-y)
    return np.asarray(small / -np.expm1(-small))


def draw_logistic(scale: Scale, seed: int) -> LogisticShape:
    """Margins from 0 to 40."""
    margins = np.linspace(0, 40, 4001)
    y, theta = np.linspace(0.4832, 20, 4000)[:, None], np.linspace(0.5, 1, 21)[:-1]
    return LogisticShape(
        margins=margins,
        slopes=slope_of_log(margins),
        back=inverse(-log_losses(margins)),
        ratios=slope_of_log(y) / slope_of_log(theta * y),
        inverse_ratios=slope_of_inverse(y) / slope_of_inverse(theta * y),
    )


@claim("sarussi2021.section_12_logistic", Kind.STEP, "assumption (B3), Section 12", draws=draw_logistic)
def section_12_logistic(shape: LogisticShape, *, constant: float = 2 * LOG_2, smallest: float = 1.09443) -> Evidence:
    """The logistic loss e^{−f(q)} meets (B3) with b_f = 0: f' > 0, f'(q)q does not decrease and is unbounded,
    g(q) = −log(exp(e^{−q}) − 1) is the inverse of f, and f'(y) ≤ K·f'(θy), g'(y) ≤ K·g'(θy) for θ in [1/2, 1) with
    K = 2·log 2; for f the smallest K is 1.09443, for g it is 1.

    That f is continuously differentiable cannot be seen on a grid.
    """
    products = shape.slopes * shape.margins
    return evidence(
        {
            "f' > 0": Sides(shape.slopes, 0.0, Sense.AT_LEAST, strict=True),
            "f'(q)q does not decrease": Sides(np.diff(products), 0.0, Sense.AT_LEAST, room=ROUNDING),
            "f'(q)q ≥ q/2, so it is unbounded": Sides(products, shape.margins / 2, Sense.AT_LEAST, room=ROUNDING),
            "g is the inverse of f": Sides(shape.back, shape.margins, Sense.EQUAL, room=1e-10 * (1 + shape.margins)),
            "f'(y) ≤ K·f'(θy)": Sides(shape.ratios, constant),
            "the smallest K for f is 1.09443": Sides(shape.ratios.max(), smallest, Sense.EQUAL, room=1e-5),
            "g'(y) ≤ g'(θy)": Sides(shape.inverse_ratios, 1.0, room=ROUNDING),
        }
    )
