"""Theorem 5.1 and its proof (Section 10): two balls of neurons make the network a linear classifier outside a cone.

r is the larger of the radii of the two balls, w̄ and ū their centres. Pairs whose signs rounding decides are not scored.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.given import slope_below_one, slope_positive
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, hypothesis, less_than, more_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.papers.sarussi2021.formulas import sharp_factor
from widenet.papers.sarussi2021.runs.clouds import (
    SLOPES,
    Clouds,
    PairInBall,
    Pairs,
    clouds,
    draw_closed_ball,
    drawn_clouds,
)
from widenet.papers.sarussi2021.sources import turning_point
from widenet.records import Form

OPEN = 1.0001
"""By how much the balls are widened where a lemma needs open ones."""


FAR_APART = "pairs with $|(w̄ − ū)·x| ≥ 2r‖x‖$"
LONG = "pairs with $|w̄·x| ≥ r‖x‖$, $|ū·x| ≥ r‖x‖$ and these signs"
ALONE = "pairs with $|(w̄ − ū)·x| ≥ 2r‖x‖$ and one long mean"


def relative(distance: Pairs, radius: Pairs) -> Pairs:
    """How far a row is from its mean, by the radius; 0 where it is not."""
    with np.errstate(divide="ignore"):
        return np.divide(distance, radius, out=np.zeros_like(distance), where=distance > 0)


class RowBalls(Clouds):
    """Pairs of a network and a point, with how far its rows are from their means."""

    farthest: Pairs = derived(lambda pairs: np.maximum(pairs.plus_distance, pairs.minus_distance))  #: of any row
    row_share: Pairs = derived(lambda pairs: relative(pairs.farthest, pairs.radius))  #: of a ball of radius r
    open_share: Pairs = derived(lambda pairs: relative(pairs.farthest, OPEN * pairs.radius))  #: of a wider one
    larger_mean: Pairs = derived(lambda pairs: np.maximum(np.abs(pairs.plus_mean), np.abs(pairs.minus_mean)))


@hypothesis("distance of a row from its mean / $r$")
def balls(pairs: RowBalls) -> Sides:
    """Every row lies in its ball."""
    return at_most(pairs.row_share, 1, within=ROUNDING, normalization="r is the largest distance")


@hypothesis("distance of a row from its mean / $r$")
def open_balls(pairs: RowBalls) -> Sides:
    """Every row lies in its open ball."""
    return less_than(pairs.open_share, 1, normalization="r is 1.0001 times the largest distance")


@hypothesis("$‖w̄ − ū‖$")
def means_apart(pairs: RowBalls) -> Sides:
    """w̄ ≠ ū."""
    return more_than(pairs.differences, 0)


@hypothesis("$‖x‖$")
def not_zero(pairs: RowBalls) -> Sides:
    """x ≠ 0."""
    return more_than(pairs.norms, 0)


BALLS = (balls, slope_positive, slope_below_one)


def pairs_seen(pairs: RowBalls) -> dict[str, Any]:
    """How many."""
    return {"pairs": len(pairs)}


def reach(pairs: Clouds, factor: float = 1.0) -> np.ndarray:
    """factor·r‖x‖, made larger by what rounding could take from it."""
    return factor * pairs.radius * pairs.norms * (1 + ROUNDING)


def signs_agree(pairs: Clouds, where: np.ndarray, text: str, *, event: str) -> Sides:
    """N has the sign of (w̄ − ū)·x; pairs in which rounding could turn either of them are not scored."""
    ties = (pairs.outputs == 0) & (pairs.difference == 0)
    blurred = np.abs(pairs.outputs) <= IDENTITY * pairs.scales
    # ‖w̄‖ + ‖ū‖ is at most Σ(‖w‖ + ‖u‖)/k. Beside rows across x the products are much shorter, and are rounding.
    blurred |= np.abs(pairs.difference) <= ROUNDING * pairs.scales / pairs.half_width
    signs = np.sign(pairs.outputs), np.sign(pairs.difference)
    return equal(*signs, where=where & ~(blurred & ~ties), event=event, text=text, quantity="sign of N")


@claim("sarussi2021.theorem_5_1", Kind.MAIN, "Theorem 5.1, Section 5", reads=clouds, given=BALLS, details=pairs_seen,
       title="Clustered neurons classify like one linear classifier",
       means=Meaning(
           topic=Topic.BOUNDARY,
           promise="If training gathers the neurons into two bundles, one per class, the network decides like a single "
           "linear boundary, except close to it; the tighter the bundles, the closer.",
           seen="here that settles {in_the_region} of the {pairs} points and directions that a trained network was "
           "asked about",
       ))  # fmt: skip
def theorem_5_1(pairs: RowBalls, *, factor: float = 2.0) -> Promise:
    """If the neurons of each sign lie in a ball of radius $r$ around their means $w̄$ and $ū$, then $N(x)$ has the sign
    of $(w̄ − ū)·x$ for every $x$ with $|(w̄ − ū)·x| ≥ 2r‖x‖$.

    Every network is also asked about the worst point that a search found. `closest_disagreement` in the details is the
    largest |(w̄ − ū)·x|/(r‖x‖) at which the two signs differed.
    """
    inside = np.abs(pairs.difference) >= reach(pairs, factor)
    text = "$sign N = sign (w̄ − ū)·x$ where $|(w̄ − ū)·x| ≥ 2r‖x‖$"
    return Promise(
        {"signs": signs_agree(pairs, inside, text, event=FAR_APART)},
        details=lambda: {"in_the_region": int(inside.sum()), **_gap(pairs)},
    )


def _gap(pairs: Clouds) -> dict[str, float]:
    differ = (np.sign(pairs.outputs) != np.sign(pairs.difference)) & (pairs.radius * pairs.norms > 0)
    gaps = np.abs(pairs.difference[differ]) / (pairs.radius * pairs.norms)[differ]
    return {"closest_disagreement": float(gaps.max())} if len(gaps) else {}


@claim("sarussi2021.theorem_5_1_sharp", Kind.STEP, "not in the paper; sharpens Theorem 5.1", reads=drawn_clouds,
       form=Form.SHARPER, given=BALLS, details=pairs_seen,
       title="Clustered neurons classify linearly: the sharp constant")  # fmt: skip
def theorem_5_1_sharp(
    pairs: RowBalls,
    *,
    factor: Callable[..., np.ndarray] = sharp_factor,
    shares: tuple[float, float] = (1.0, 1.0),
    swapped: bool = False,
) -> Promised:
    """Theorem 5.1 holds with $κ = (1 − α)/(1 + α)$ in place of $2$, and for odd $k$ with $κ_k = (k − 1)(1 − α)/(k(1 +
    α) − (1 − α))$. Neither constant can be lowered. Only the spread of the other sign matters: $(w̄ − ū)·x > κr_u‖x‖$
    implies $N(x) > 0$, and $(w̄ − ū)·x < −κr_w‖x‖$ implies $N(x) < 0$.

    That they cannot be lowered is seen on networks whose sign turns at exactly this factor.

    In code: `shares` of it (even and odd k), and `swapped`, which exchanges the two radii, are for controls.
    """
    factors = by_width(factor, pairs)
    even, tall = pairs.half_width % 2 == 0, np.abs(pairs.difference) > factors * reach(pairs)
    own = (pairs.plus_radius, pairs.minus_radius) if swapped else (pairs.minus_radius, pairs.plus_radius)
    above = pairs.difference > factors * own[0] * pairs.norms * (1 + ROUNDING)
    below = -pairs.difference > factors * own[1] * pairs.norms * (1 + ROUNDING)
    return {
        "even_least": _turns((2, 4), shares[0], "$κ$ cannot be lowered (even $k$)"),
        "odd_least": _turns((3, 7), shares[1], "$κ_k$ cannot be lowered (odd $k$)"),
        "even": signs_agree(
            pairs,
            tall & even,
            "beyond $κr‖x‖$ the signs agree (even $k$)",
            event="pairs with $|(w̄ − ū)·x| > κr‖x‖$ and even $k$",
        ),
        "odd": signs_agree(
            pairs,
            tall & ~even,
            "beyond $κ_k r‖x‖$ the signs agree (odd $k$)",
            event="pairs with $|(w̄ − ū)·x| > κ_k r‖x‖$ and odd $k$",
        ),
        "one_radius": signs_agree(
            pairs,
            above | below,
            "each side needs the radius of the other sign only",
            event="pairs with $(w̄ − ū)·x > κr_u‖x‖$ or $(w̄ − ū)·x < −κr_w‖x‖$",
        ),
    }


def by_width(factor: Callable[..., np.ndarray], pairs: Clouds) -> np.ndarray:
    """κ of α and k, which is another function of α for every k."""
    found = np.empty(len(pairs))
    for k in np.unique(pairs.half_width):
        here = pairs.half_width == k
        found[here] = factor(pairs.slope[here], int(k))
    return found


def _turns(half_widths: Sequence[int], share: float, text: str) -> Sides:
    """Where the output of the sharp networks, which grows with (w̄ − ū)·x at r‖x‖ = 1, changes its sign."""
    cases = [(slope, k) for slope in SLOPES for k in half_widths]
    factors = np.array([float(sharp_factor(*each)) for each in cases])
    return equal([turning_point(*each) for each in cases], share * factors, room=ROUNDING, text=text)


@claim("sarussi2021.equation_6", Kind.STEP, "Eq. 6, Section 5", reads=clouds, given=[*BALLS, means_apart],
       details=pairs_seen, title="Clustered neurons classify linearly at wide enough angles")  # fmt: skip
def equation_6(pairs: RowBalls, *, factors: tuple[float, float] = (2.0, 1.0)) -> Promised:
    """$N(x)$ has the sign of $(w̄ − ū)·x$ wherever $|cos∠(x, w̄ − ū)| ≥ 2r/‖w̄ − ū‖$, which is Theorem 5.1 divided by
    $‖w̄ − ū‖·‖x‖$. The printed threshold $r/‖w̄ − ū‖$ is enough too, because $κ < 1$.
    """
    lengths = pairs.differences * pairs.norms
    cosines = np.divide(np.abs(pairs.difference), lengths, out=np.zeros(len(pairs)), where=lengths > 0)
    ratios = np.divide(pairs.radius, pairs.differences, out=np.full(len(pairs), np.inf), where=pairs.differences > 0)
    wide, printed = (cosines >= factor * ratios * (1 + ROUNDING) for factor in factors)
    return {
        "wide": signs_agree(pairs, wide, "$|cos| ≥ 2r/‖w̄ − ū‖$", event="pairs at such angles"),
        "printed": signs_agree(pairs, printed, "$|cos| ≥ r/‖w̄ − ū‖$", event="pairs at such angles"),
    }


@claim("sarussi2021.corollary_10_1", Kind.STEP, "Corollary 10.1, Section 10", reads=clouds, given=[],
       details=pairs_seen, title="Far from the boundary one of the two means is long")  # fmt: skip
def corollary_10_1(pairs: RowBalls, *, factor: float = 2.0) -> Promised:
    """$|(w̄ − ū)·x| ≥ 2r‖x‖$ implies $|w̄·x| ≥ r‖x‖$ or $|ū·x| ≥ r‖x‖$."""
    limit = pairs.radius * pairs.norms
    return {
        "larger_mean": at_least(
            pairs.larger_mean,
            limit,
            within=ROUNDING,
            where=(np.abs(pairs.difference) >= factor * limit) & (limit > 0),
            event=FAR_APART,
            trivial=0.0,
            text="the larger of $|w̄·x|$, $|ū·x|$ is at least $r‖x‖$",
        )
    }


@claim("sarussi2021.lemma_10_1", Kind.STEP, "Lemma 10.1, Section 10, with open balls", reads=clouds,
       given=[open_balls, not_zero], details=pairs_seen,
       form=Form.REPAIR, title="Rows in a ball far from $x$ see it from one side")  # fmt: skip
def lemma_10_1(pairs: RowBalls) -> Promised:
    """If the rows of one sign lie in an open ball of radius $r$ around their mean $w̄$, and $|w̄·x| ≥ r‖x‖$ with $x ≠
    0$, then all $w·x$ have the same strict sign. In a closed ball no two of them have strictly opposite signs.
    """

    def one_sided(name: str, letter: str, mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[Fact, Fact]:
        """With room for what rounding could turn."""
        tiny = np.minimum(np.abs(low), np.abs(high)) <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
        inside, closed = np.abs(mean) >= OPEN * pairs.radius * pairs.norms, np.abs(mean) >= reach(pairs)
        strict, opposite = (low > 0) | (high < 0), (low < 0) & (high > 0)
        far = f"pairs with $|{letter}·x| ≥ r‖x‖$"
        return (
            Fact(strict, where=inside & ~tiny, event=far, text=f"open ball: one strict sign ({name} rows)"),
            Fact(~opposite, where=closed & ~tiny, event=far, text=f"closed ball: no opposite signs ({name} rows)"),
        )

    plus = one_sided("plus", "w̄", pairs.plus_mean, pairs.plus_low, pairs.plus_high)
    minus = one_sided("minus", "ū", pairs.minus_mean, pairs.minus_low, pairs.minus_high)
    return {"open_plus": plus[0], "closed_plus": plus[1], "open_minus": minus[0], "closed_minus": minus[1]}


@claim("sarussi2021.proposition_10_1", Kind.STEP, "Proposition 10.1, Section 10", reads=clouds, given=BALLS,
       details=pairs_seen, title="If both means are long, the signs agree")  # fmt: skip
def proposition_10_1(pairs: RowBalls) -> Promised:
    """If $|w̄·x| ≥ r‖x‖$ and $|ū·x| ≥ r‖x‖$, then $sign N(x) = sign((w̄ − ū)·x)$, whatever the signs of $w̄·x$ and
    $ū·x$.
    """
    edge = reach(pairs)
    both = (np.abs(pairs.plus_mean) >= edge) & (np.abs(pairs.minus_mean) >= edge)
    w, u = pairs.plus_mean, pairs.minus_mean
    return {
        "plus_plus": signs_agree(pairs, both & (w > 0) & (u > 0), "$w̄·x > 0$, $ū·x > 0$", event=LONG),
        "plus_minus": signs_agree(pairs, both & (w > 0) & (u < 0), "$w̄·x > 0$, $ū·x < 0$", event=LONG),
        "minus_plus": signs_agree(pairs, both & (w < 0) & (u > 0), "$w̄·x < 0$, $ū·x > 0$", event=LONG),
        "minus_minus": signs_agree(pairs, both & (w < 0) & (u < 0), "$w̄·x < 0$, $ū·x < 0$", event=LONG),
    }


@claim("sarussi2021.proposition_10_2", Kind.STEP, "Proposition 10.2, Section 10", reads=clouds, given=BALLS,
       details=pairs_seen, title="If one mean is long and they are far apart, the signs agree")  # fmt: skip
def proposition_10_2(pairs: RowBalls, *, factor: float = 2.0) -> Promised:
    """If exactly one of $|w̄·x| ≥ r‖x‖$ and $|ū·x| ≥ r‖x‖$ holds, and $|(w̄ − ū)·x| ≥ 2r‖x‖$, then $sign N(x) =
    sign((w̄ − ū)·x)$.
    """
    edge, wide = reach(pairs), np.abs(pairs.difference) >= reach(pairs, factor)
    only_u, only_w = wide & (np.abs(pairs.plus_mean) < edge), wide & (np.abs(pairs.minus_mean) < edge)
    w, u = pairs.plus_mean, pairs.minus_mean
    return {
        "minus_above": signs_agree(pairs, only_u & (u >= edge), "$ū·x ≥ r‖x‖$ alone", event=ALONE),
        "minus_below": signs_agree(pairs, only_u & (u <= -edge), "$ū·x ≤ −r‖x‖$ alone", event=ALONE),
        "plus_above": signs_agree(pairs, only_w & (w >= edge), "$w̄·x ≥ r‖x‖$ alone", event=ALONE),
        "plus_below": signs_agree(pairs, only_w & (w <= -edge), "$w̄·x ≤ −r‖x‖$ alone", event=ALONE),
    }


@claim("sarussi2021.lemma_10_2", Kind.STEP, "Lemma 10.2, Section 10, in its case of Proposition 10.2", reads=clouds,
       given=BALLS, details=pairs_seen,
       title="If one mean is long and negative, the other sign wins")  # fmt: skip
def lemma_10_2(pairs: RowBalls, *, share: float = 1.0) -> Promised:
    """If $ū·x ≤ −r‖x‖$ and $|w̄·x| < r‖x‖$, then $−Σσ(w·x) < αkr‖x‖$ and $N(x) > 0$. With the signs exchanged,
    $−Σσ(u·x) < αkr‖x‖$ and $N(x) < 0$.

    The paper prints the lemma inside this case, with the first inequality as its hypothesis, and proves it there.
    """
    edge, inner = pairs.radius * pairs.norms, pairs.radius * pairs.norms * (1 - ROUNDING)
    limit = share * pairs.slope * pairs.half_width * edge
    clear = ~(np.abs(pairs.outputs) <= IDENTITY * pairs.scales)
    plus = (pairs.minus_mean <= -edge) & (np.abs(pairs.plus_mean) < inner)
    minus = (pairs.plus_mean <= -edge) & (np.abs(pairs.minus_mean) < inner)
    sign = np.sign(pairs.outputs)
    words = [f"pairs with ${long}·x ≤ −r‖x‖$ and $|{short}·x| < r‖x‖$" for long, short in (("ū", "w̄"), ("w̄", "ū"))]
    return {
        "plus_sum": less_than(-pairs.plus_sum, limit, where=plus, event=words[0], text="$−Σσ(w·x) < αkr‖x‖$"),
        "positive": Fact(sign == 1, where=plus & clear, event=words[0], text="$N(x) > 0$"),
        "minus_sum": less_than(-pairs.minus_sum, limit, where=minus, event=words[1], text="$−Σσ(u·x) < αkr‖x‖$"),
        "negative": Fact(sign == -1, where=minus & clear, event=words[1], text="$N(x) < 0$"),
    }


@hypothesis("distance of a row from its mean / $r$", key="balls")
def printed_balls(pairs: PairInBall) -> Sides:
    """Every row lies in the closed ball of the radius that is given."""
    return at_most(pairs.printed_share, 1)


@claim("sarussi2021.lemma_10_1_as_printed", Kind.STEP, "Lemma 10.1, Section 10, with the balls of Section 5",
       draws=draw_closed_ball, given=[printed_balls],
       title="Rows in a closed ball far from $x$ see it from one side")  # fmt: skip
def lemma_10_1_as_printed(pairs: PairInBall) -> Promise:
    """If all rows of one sign have distance at most $r$ from their mean $w̄$, and $|w̄·x| ≥ r‖x‖$, then all $w·x$ have
    the same strict sign.

    The main text has closed balls; the proof needs open ones.
    """
    far = np.abs(pairs.plus_mean) >= pairs.printed_radius * pairs.norms
    one_sign = (pairs.plus_low > 0) | (pairs.plus_high < 0)
    return Promise(
        {"sign": Fact(one_sign, where=far, event="pairs with $|w̄·x| ≥ r‖x‖$", text="one strict sign")},
        note="w = 0 and 2e₁ at x = e₁: the mean is e₁ and r = 1, so |w̄·x| = r‖x‖, and one row has w·x = 0.",
    )
