"""Facts about single numbers that the proofs of Sections 9 and 12 use: the logistic loss, and a quadratic."""

from collections.abc import Callable, Mapping

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most, equal, hypothesis, less_than, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import BOUND, ROUNDING
from widenet.diagnostics.homogeneous_margins import losses
from widenet.papers.sarussi2021.formulas import LARGEST_PUSH, LOG_2, quadratic_root_bound
from widenet.papers.sarussi2021.runs.scalars import (
    LogisticShape,
    LossGrid,
    Quadratics,
    ScalarGrid,
    draw_logistic,
    draw_loss_grid,
    draw_quadratics,
    draw_scalars,
)


def push_of_loss(loss: np.ndarray) -> np.ndarray:
    """1 − e^{−ℓ}."""
    return -np.expm1(-loss)


@claim("sarussi2021.equation_16", Kind.IDENTITY, "Eq. 16, Section 9", draws=draw_loss_grid, given=[],
       title="The slope of the logistic loss is a function of the loss")  # fmt: skip
def equation_16(grid: LossGrid, *, threshold: Callable[[np.ndarray], np.ndarray] = push_of_loss) -> Promised:
    """$|ℓ'(q)| = 1 − e^{−ℓ(q)}$ for the logistic loss, so a loss exceeds $ε_0$ exactly where $|ℓ'|$ exceeds $1 −
    e^{−ε_0}$.
    """
    both = grid.per("level")
    same = (losses(both.margins) > both.levels) == (both.pushes > threshold(both.levels))
    return {
        "push": equal(grid.pushes, push_of_loss(losses(grid.margins)), within=ROUNDING, text="$|ℓ'| = 1 − e^{−ℓ}$"),
        "levels": Fact(same, text="$ℓ > ε_0$ exactly where $|ℓ'| > 1 − e^{−ε_0}$"),
    }


SCALAR_LIMITS = {"push": 1.0, "best": LARGEST_PUSH, "slope": 1.0, "below": 1.0, "above": 1.0, "lipschitz": 1.0}


@claim("sarussi2021.section_9_scalars", Kind.STEP, "Section 9, before Eqs. 13, 15, 19 and 23", draws=draw_scalars,
       given=[], title="Inequalities about the logistic loss and the Leaky ReLU")  # fmt: skip
def section_9_scalars(grid: ScalarGrid, *, limits: Mapping[str, float] = SCALAR_LIMITS) -> Promised:
    """$x/(1 + e^x) ≤ 1$, and its maximum is $Λ(1/e) = 0.27846…$; $|ℓ'| ≤ 1$; $x/(1 + x) < 1 − e^{−x} ≤ x$ for $x > 0$;
    and $|σ(a) − σ(b)| ≤ |a − b|$.
    """
    real, x, pair = grid.per("real"), grid.per("positive"), grid.per("pair")
    return {
        "push": at_most(real.push, limits["push"], text="$x/(1 + eˣ) ≤ 1$"),
        "largest_push": equal(grid.largest_push, limits["best"], within=ROUNDING, text="its maximum is $Λ(1/e)$"),
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


@hypothesis("$a$")
def leading(drawn: Quadratics) -> Sides:
    """a > 0."""
    return more_than(drawn.a, 0)


@claim("sarussi2021.section_9_root", Kind.STEP, "Section 9, before Eq. 19", draws=draw_quadratics, given=[leading],
       title="A bound on the root of a quadratic in $√T$")  # fmt: skip
def section_9_root(drawn: Quadratics, *, bound: Callable[..., np.ndarray] = quadratic_root_bound) -> Promised:
    """$aT ≤ b√T + c$ with $a > 0$ and $b, c ≥ 0$ implies $T ≤ (b/a)² + (b/a)√(c/a) + c/a$, with equality where $b = 0$
    or $c = 0$.
    """
    limit = bound(drawn.a, drawn.b, drawn.c)
    how = {"within": BOUND, "of": drawn.root}
    return {
        "root": at_most(
            drawn.root,
            limit,
            where=(drawn.b > 0) & (drawn.c > 0),
            event="$b, c > 0$",
            text="$T$ is at most the bound",
            **how,
        ),
        "no_c": equal(drawn.root, limit, where=drawn.c == 0, event="$c = 0$", text="attained where $c = 0$", **how),
        "no_b": equal(drawn.root, limit, where=drawn.b == 0, event="$b = 0$", text="attained where $b = 0$", **how),
    }


@claim("sarussi2021.section_12_logistic", Kind.STEP, "assumption (B3), Section 12", draws=draw_logistic, given=[],
       title="The logistic loss meets the assumptions on its shape")  # fmt: skip
def section_12_logistic(shape: LogisticShape, *, constant: float = 2 * LOG_2, smallest: float = 1.09443) -> Promised:
    """The logistic loss $e^{−f(q)}$ satisfies (B3) with $b_f = 0$: $f' > 0$, $f'(q)q$ does not decrease and is
    unbounded, $g(q) = −log(exp(e^{−q}) − 1)$ is the inverse of $f$, and $f'(y) ≤ K·f'(θy)$, $g'(y) ≤ K·g'(θy)$ for $θ$
    in $[1/2, 1)$ with $K = 2·log 2$. The smallest $K$ is $1.09443$ for $f$ and $1$ for $g$.

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
