"""Numbers on grids: the logistic loss, and quadratics in √T."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.cases import Cases, column
from widenet.diagnostics.homogeneous_margins import log_losses, losses
from widenet.papers.sarussi2021.formulas import quadratic_root
from widenet.records import Scale


@dataclass(frozen=True, eq=False)
class LossGrid(Cases):
    """Margins, with |ℓ'| at them, and levels ε_0 between two of the losses."""

    rows: ClassVar = "margin"

    margins: Float[np.ndarray, " margin"]  #: q
    pushes: Float[np.ndarray, " margin"]  #: |ℓ'(q)|
    levels: Float[np.ndarray, " level"]  #: ε_0


def draw_loss_grid(scale: Scale, seed: int) -> LossGrid:
    """From −30 to 30."""
    margins = np.linspace(-30, 30, 6001)
    return LossGrid(margins, scipy.special.expit(-margins), losses(np.linspace(-10, 29.3, 40) + 0.0037))


@dataclass(frozen=True, eq=False)
class ScalarGrid(Cases):
    """Real numbers, positive numbers, and pairs of numbers."""

    reals: Float[np.ndarray, " real"]
    positive: Float[np.ndarray, " positive"]
    pairs: Float[np.ndarray, "pair 2"]

    @column
    def push(self) -> Float[np.ndarray, " real"]:
        """x/(1 + eˣ)."""
        return self.reals * scipy.special.expit(-self.reals)

    @column
    def largest_push(self) -> float:
        """Its maximum."""
        return float(self.push.max())

    @column
    def slope_of_loss(self) -> Float[np.ndarray, " real"]:
        """|ℓ'|."""
        return scipy.special.expit(-self.reals)

    @column
    def share(self) -> Float[np.ndarray, " positive"]:
        """1 − e^{−x}."""
        return -np.expm1(-self.positive)

    @column
    def apart(self) -> Float[np.ndarray, " pair"]:
        """|a − b|."""
        return np.abs(self.pairs[:, 0] - self.pairs[:, 1])

    @column
    def moved(self) -> Float[np.ndarray, " pair"]:
        """|σ(a) − σ(b)|, with α = 0.3."""
        activated = np.where(self.pairs > 0, self.pairs, 0.3 * self.pairs)
        return np.abs(activated[:, 0] - activated[:, 1])

    def counts(self) -> dict[str, int]:
        """So many numbers were tried."""
        return {"tried": len(self.per("real"))}


def draw_scalars(scale: Scale, seed: int) -> ScalarGrid:
    """The extreme points among them."""
    draw = np.random.default_rng([seed, 9])
    reals = np.concatenate([np.linspace(-700, 700, 4001), np.linspace(-5, 5, 2001), [1.27846454276107]])
    return ScalarGrid(reals, np.logspace(-4, 2.8, 400), np.concatenate([draw.normal(size=(500, 2)), [[1.0, 2.0]]]))


@dataclass(frozen=True, eq=False)
class Quadratics(Cases):
    """Coefficients of aT ≤ b√T + c."""

    rows: ClassVar = "quadratic"

    a: Float[np.ndarray, " quadratic"]
    b: Float[np.ndarray, " quadratic"]
    c: Float[np.ndarray, " quadratic"]

    @column
    def root(self) -> Float[np.ndarray, " quadratic"]:
        """The largest T."""
        return quadratic_root(self.a, self.b, self.c)


def draw_quadratics(scale: Scale, seed: int) -> Quadratics:
    """ca/b² from 1e-6 to 1e6, and both faces b = 0 and c = 0, where the bound is attained."""
    draw = np.random.default_rng([seed, 19])
    a, b = np.exp(draw.uniform(-3, 3, (2, 3000)))
    c = 10.0 ** draw.uniform(-6, 6, 3000) * b**2 / a
    b[:300], c[300:600] = 0.0, 0.0
    return Quadratics(a, b, c)


@dataclass(frozen=True, eq=False)
class LogisticShape(Cases):
    """f = −log ℓ on a grid of margins, and its inverse g."""

    margins: Float[np.ndarray, " margin"]  #: q
    slopes: Float[np.ndarray, " margin"]  #: f'(q)
    back: Float[np.ndarray, " margin"]  #: g(f(q))
    ratios: Float[np.ndarray, "y theta"]  #: f'(y)/f'(θy) over y > g(b_g) and θ from 1/2 to 1
    inverse_ratios: Float[np.ndarray, "y theta"]  #: the same for g

    @column
    def product(self) -> Float[np.ndarray, " margin"]:
        """f'(q)q."""
        return self.slopes * self.margins

    @column
    def product_growth(self) -> Float[np.ndarray, " step"]:
        """By how much it grows from one margin to the next."""
        return np.diff(self.product)

    @column
    def largest_ratio(self) -> float:
        """The smallest K for f."""
        return float(self.ratios.max())

    def counts(self) -> dict[str, int]:
        """So many margins were tried."""
        return {"tried": len(self.per("margin"))}


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
