"""Facts about single numbers that Section 3 uses: the Huberized ReLU, the logistic loss, exponentials, and C₁."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.formulas import (
    LEAST_SHARE,
    alignment_bound,
)
from widenet.papers.chatterji2021.hypotheses import (
    at_most_one,
    bandwidth_positive,
    log_not_negative,
    not_negative,
    positive,
    two_or_more,
)
from widenet.papers.chatterji2021.runs.scalars import (
    Bent,
    ExponentGrid,
    MarginGrid,
    Thresholds,
    UnitGrid,
    draw_bent,
    draw_exponents,
    draw_margins,
    draw_thresholds,
    draw_unit_grid,
)
from widenet.records import Form


@claim("chatterji2021.huberized_sandwich", Kind.STEP, "Proof of Lemma 10, before Eq. 4", draws=draw_bent,
       given=[bandwidth_positive], title="$φ'(z)z$ is $φ(z)$ to within $h/2$")  # fmt: skip
def huberized_sandwich(bent: Bent, *, half: float = 0.5) -> Promised:
    """$φ(z) ≤ φ'(z)z ≤ φ(z) + h/2$ for all $z$, with equality on the left for $z ≤ 0$ and on the right for $z ≥ h$."""
    each = bent.per("z")
    middle, how = each.slope * each.z, {"within": ROUNDING, "of": each.bandwidth}
    return {
        "below": at_most(each.value, middle, text="$φ(z) ≤ φ'(z)z$", **how),
        "above": at_most(middle, each.value + half * each.bandwidth, text="$φ'(z)z ≤ φ(z) + h/2$", **how),
    }


SLOPE_LIMITS = {"slope": 1.0, "curvature": 1.0, "value_change": 1.0, "slope_change": 1.0}


@claim("chatterji2021.huberized_slopes", Kind.STEP, "Proof of Lemma 6, after Eq. 22; φ' is 1/h-Lipschitz",
       draws=draw_bent, given=[bandwidth_positive],
       form=Form.REPAIR, title="The Huberized ReLU and its slope are Lipschitz")  # fmt: skip
def huberized_slopes(bent: Bent, *, limits: Mapping[str, float] = SLOPE_LIMITS) -> Promised:
    """$0 ≤ φ' ≤ 1$ and $0 ≤ γ ≤ 1/h$; $φ$ is 1-Lipschitz and $φ'$ is $(1/h)$-Lipschitz.

    The paper has |φ'| < 1 and |γ| < 1/h; both are attained at z = h.
    """
    each, near = bent.per("z"), bent.per("pair")
    steepest = limits["curvature"] / each.bandwidth
    changes = limits["value_change"] * near.apart, limits["slope_change"] * near.apart / near.bandwidth
    return {
        "slope_positive": at_least(each.slope, 0.0, text="$φ' ≥ 0$"),
        "slope": at_most(each.slope, limits["slope"], text="$φ' ≤ 1$"),
        "curvature_positive": at_least(each.curvature, 0.0, text="$γ ≥ 0$"),
        "curvature": at_most(each.curvature, steepest, within=ROUNDING, of=1 / each.bandwidth, text="$γ ≤ 1/h$"),
        "value_change": at_most(
            near.value_change, changes[0], within=ROUNDING, of=near.size, text="$φ$ is 1-Lipschitz"
        ),
        "slope_change": at_most(
            near.slope_change, changes[1], room=ROUNDING * near.size / near.bandwidth, text="$φ'$ is $(1/h)$-Lipschitz"
        ),
    }


@claim("chatterji2021.lemma_20", Kind.STEP, "Lemma 20, Appendix E", draws=draw_margins, given=[],
       title="The derivative of the logistic loss is at most the loss")  # fmt: skip
def lemma_20(drawn: MarginGrid, *, most: float = 1.0, most_product: float = 1.0) -> Promised:
    """$g = 1/(1 + e^m)$ is at most the loss $log(1 + e^{−m})$, and $e^m/(1 + e^m)² = g(1 − g)$ is at most $g$."""
    return {
        "pull": at_most(drawn.pulls, most * drawn.losses, within=ROUNDING, text="$g ≤ L$"),
        "product": at_most(
            drawn.product, most_product * drawn.pulls, within=ROUNDING, of=drawn.pulls, text="$g(1 − g) ≤ g$"
        ),
    }


@claim("chatterji2021.z_log_squared_bound", Kind.STEP, "Proof of Lemma 12", draws=draw_unit_grid,
       given=[at_most_one, positive], title="$z log²(1/z)$ is at most $4/e²$")  # fmt: skip
def z_log_squared_bound(grid: UnitGrid, *, highest: float = 4 / math.e**2, where: float = math.exp(-2)) -> Promised:
    """$z log²(1/z) ≤ 4/e²$ on $(0, 1]$, with equality at $z = e^{−2}$."""
    return {
        "bound": at_most(grid.per("z").values, highest, within=ROUNDING, text="$z log²(1/z) ≤ 4/e²$"),
        "place": equal(grid.highest_at, where, within=STEP, of=where, text="largest at $e^{−2}$"),
    }


@claim("chatterji2021.exponential_bounds", Kind.STEP, "Proof of Lemma 10, after Eq. 5", draws=draw_exponents,
       given=[at_most_one, not_negative, log_not_negative],
       form=Form.REPAIR, title="$e^z ≤ 1 + 2z$ and $e^{−z} ≤ 1 − z + z²$ on $[0, 1]$")  # fmt: skip
def exponential_bounds(
    drawn: ExponentGrid,
    *,
    linear: float = 2.0,
    quadratic: float = 1.0,
    reached: Callable[..., np.ndarray] = alignment_bound,
) -> Promised:
    """$e^z ≤ 1 + 2z$ and $e^{−z} ≤ 1 − z + z²$ on $[0, 1]$, so $F(nL)/n ≥ (L − nL²) log(1/(2nL))$ where $2nL ≤ 1$.

    The paper does not say that the product of the two needs 2nL ≤ 1, so that the logarithm is not negative.
    """
    z, cases = drawn.per("z").z, drawn.per("case")
    n, loss = cases.n_samples, cases.losses
    product = (loss - n * loss**2) * -np.log(2 * n * loss)
    return {
        "linear": at_most(np.exp(z), 1 + linear * z, room=ROUNDING, text="$e^z ≤ 1 + 2z$"),
        "quadratic": at_most(np.exp(-z), 1 - z + quadratic * z**2, room=ROUNDING, text="$e^{−z} ≤ 1 − z + z²$"),
        "product": at_least(reached(n, loss, 0.0), product, within=STEP, text="$F(nL)/n ≥ (L − nL²) log(1/(2nL))$"),
    }


@claim("chatterji2021.constant_c_1", Kind.STEP, "Proof of Lemma 10, last lines; the number is not in the paper",
       draws=draw_thresholds, given=[two_or_more],
       form=Form.OURS, title="The proof of Lemma 10 works from $C₁ = 19.6564$ on")  # fmt: skip
def constant_c_1(drawn: Thresholds, *, share: float = LEAST_SHARE) -> Promised:
    """The proof of Lemma 10 works for every $C₁ ≥ 19.6564$. For a given $n$ a larger loss is enough: one with $(1 + log
    2n)/log(1/L) + nL ≤ 1/6$, or a still larger one at which (5) itself gives 5/6.
    """
    printed = np.exp(-(1 + drawn.exponent) * np.log(drawn.n_samples))
    return {
        "last_line": equal(drawn.per("cell").last_line, share, within=STEP, text="last line of the proof $= 5/6$"),
        "universal": equal(drawn.universal, printed, within=STEP, text="$n^{−(1+C₁)}$"),
        "lost": equal(drawn.lost, 1 - share, within=STEP, text="the proof loses $1/6$ at its bound"),
        "direct": equal(drawn.direct, share, within=STEP, text="(5) gives $5/6$ at its bound"),
        "universal_below": at_most(
            drawn.universal, drawn.by_proof, within=STEP, text="$n^{−(1+C₁)} ≤$ bound of the proof"
        ),
        "proof_below": at_most(drawn.by_proof, drawn.by_equation_5, text="bound of the proof $≤$ that of (5)"),
    }
