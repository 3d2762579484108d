"""Facts about single numbers that the proofs of Sections 9 and 12 use: the logistic loss, and a quadratic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.special
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, column
from widenet.claims.implication import Promised, at_least, at_most, equal, hypothesis, less_than, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import BOUND, ROUNDING
from widenet.diagnostics.homogeneous_margins import log_losses, losses
from widenet.papers.sarussi2021.formulas import LARGEST_PUSH, LOG_2, quadratic_root, quadratic_root_bound
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


def push_of_loss(loss: np.ndarray) -> np.ndarray:
    """1 − e^{−ℓ}."""
    return -np.expm1(-loss)


@claim("sarussi2021.equation_16", Kind.IDENTITY, "Eq. 16, Section 9", draws=draw_loss_grid, given=[],
       title="The slope of the logistic loss is a function of the loss")  # fmt: skip
def equation_16(grid: LossGrid, *, threshold: Callable[[np.ndarray], np.ndarray] = push_of_loss) -> Promised:
    """|ℓ'(q)| = 1 − e^{−ℓ(q)} for the logistic loss, so a loss exceeds ε_0 exactly where |ℓ'| exceeds 1 − e^{−ε_0}."""
    both = grid.per("level")
    same = (losses(both.margins) > both.levels) == (both.pushes > threshold(both.levels))
    return {
        "push": equal(grid.pushes, push_of_loss(losses(grid.margins)), within=ROUNDING, text="$|ℓ'| = 1 − e^{−ℓ}$"),
        "levels": Fact(same, text="$ℓ > ε_0$ exactly where $|ℓ'| > 1 − e^{−ε_0}$"),
    }


SCALAR_LIMITS = {"push": 1.0, "best": LARGEST_PUSH, "slope": 1.0, "below": 1.0, "above": 1.0, "lipschitz": 1.0}


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


@claim("sarussi2021.section_9_scalars", Kind.STEP, "Section 9, before Eqs. 13, 15, 19 and 23", draws=draw_scalars,
       given=[], title="Inequalities about the logistic loss and the Leaky ReLU")  # fmt: skip
def section_9_scalars(grid: ScalarGrid, *, limits: Mapping[str, float] = SCALAR_LIMITS) -> Promised:
    """x/(1 + eˣ) ≤ 1, and its maximum is W₀(1/e) = 0.27846…; |ℓ'| ≤ 1; x/(1 + x) < 1 − e^{−x} ≤ x for x > 0; and
    |σ(a) − σ(b)| ≤ |a − b|.
    """
    real, x, pair = grid.per("real"), grid.per("positive"), grid.per("pair")
    return {
        "push": at_most(real.push, limits["push"], text="$x/(1 + eˣ) ≤ 1$"),
        "largest_push": equal(grid.largest_push, limits["best"], within=ROUNDING, text="its maximum is $W₀(1/e)$"),
        "slope_of_loss": at_most(real.slope_of_loss, limits["slope"], text="$|ℓ'| ≤ 1$"),
        "below": less_than(limits["below"] * x.positive / (1 + x.positive), x.share, text="$x/(1 + x) < 1 − e^{−x}$"),
        "above": at_most(x.share, limits["above"] * x.positive, text="$1 − e^{−x} ≤ x$"),
        "lipschitz": at_most(
            pair.moved,
            limits["lipschitz"] * pair.apart,
            within=ROUNDING,
            of=pair.apart,
            text="$|σ(a) − σ(b)| ≤ |a − b|$",
        ),
    }


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


@hypothesis("$a$")
def leading(drawn: Quadratics) -> Sides:
    """a > 0."""
    return more_than(drawn.a, 0)


@claim("sarussi2021.section_9_root", Kind.STEP, "Section 9, before Eq. 19", draws=draw_quadratics, given=[leading],
       title="A bound on the root of a quadratic in $√T$")  # fmt: skip
def section_9_root(drawn: Quadratics, *, bound: Callable[..., np.ndarray] = quadratic_root_bound) -> Promised:
    """aT ≤ b√T + c with a > 0 and b, c ≥ 0 gives T ≤ (b/a)² + (b/a)√(c/a) + c/a; with equality where b = 0 or c = 0."""
    limit = bound(drawn.a, drawn.b, drawn.c)
    how = {"within": BOUND, "of": drawn.root}
    return {
        "root": at_most(
            drawn.root,
            limit,
            where=(drawn.b > 0) & (drawn.c > 0),
            event="b, c > 0",
            text="$T$ is at most the bound",
            **how,
        ),
        "no_c": equal(drawn.root, limit, where=drawn.c == 0, event="c = 0", text="attained where $c = 0$", **how),
        "no_b": equal(drawn.root, limit, where=drawn.b == 0, event="b = 0", text="attained where $b = 0$", **how),
    }


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


@claim("sarussi2021.section_12_logistic", Kind.STEP, "assumption (B3), Section 12", draws=draw_logistic, given=[],
       title="The logistic loss meets the assumptions on its shape")  # fmt: skip
def section_12_logistic(shape: LogisticShape, *, constant: float = 2 * LOG_2, smallest: float = 1.09443) -> Promised:
    """The logistic loss e^{−f(q)} meets (B3) with b_f = 0: f' > 0, f'(q)q does not decrease and is unbounded,
    g(q) = −log(exp(e^{−q}) − 1) is the inverse of f, and f'(y) ≤ K·f'(θy), g'(y) ≤ K·g'(θy) for θ in [1/2, 1) with
    K = 2·log 2; for f the smallest K is 1.09443, for g it is 1.

    That f is continuously differentiable cannot be seen on a grid.
    """
    q, y, step = shape.per("margin"), shape.per("y"), shape.per("step")
    return {
        "positive": more_than(q.slopes, 0.0, text="$f' > 0$"),
        "growth": at_least(step.product_growth, 0.0, within=ROUNDING, text="$f'(q)q$ does not decrease"),
        "unbounded": at_least(q.product, q.margins / 2, room=ROUNDING, text="$f'(q)q ≥ q/2$, so it is unbounded"),
        "inverse": equal(q.back, q.margins, within=1e-10, of=1 + q.margins, text="$g$ is the inverse of $f$"),
        "ratio": at_most(y.ratios, constant, text="$f'(y) ≤ K·f'(θy)$"),
        "smallest": equal(shape.largest_ratio, smallest, within=1e-5, text="the smallest $K$ for $f$ is 1.09443"),
        "inverse_ratio": at_most(y.inverse_ratios, 1.0, within=ROUNDING, text="$g'(y) ≤ g'(θy)$"),
    }
