"""Lemmas about functions of one number: a kink is no linear function (A.5, B.5), and sums under a smooth one (B.6)."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most
from widenet.claims.tolerances import ROUNDING
from widenet.papers.li2018.formulas import (
    CURVE_AREA,
    CURVE_AREA_SHARP,
    CURVE_LEVEL,
    CURVE_SHARE,
    CURVE_SHARE_SHARP,
    KINK_AREA,
    KINK_AREA_SHARP,
    KINK_LEVEL,
    KINK_SHARE,
    KINK_SHARE_SHARP,
    smooth_bound,
)
from widenet.papers.li2018.hypotheses import both_convex, convex, gap, jump, linear, radius, scale
from widenet.papers.li2018.runs.convex_functions import (
    FunctionPairs,
    Increases,
    draw_curves,
    draw_flat_increase,
    draw_increases,
    draw_kinks,
)
from widenet.records import Form


@claim("li2018.lemma_a_5", Kind.STEP, "Lemma A.5, Appendix A.4", draws=draw_kinks, given=[convex, linear, jump],
       title="A convex function with a kink is far from every linear one",
       form=Form.SHARPER)  # fmt: skip
def lemma_a_5(
    drawn: FunctionPairs,
    *,
    area: float = KINK_AREA,
    sharp_area: float = KINK_AREA_SHARP,
    share: float = KINK_SHARE,
    sharp_share: float = KINK_SHARE_SHARP,
    level: float = KINK_LEVEL,
) -> Promised:
    """A convex $φ$ whose slope jumps by $ρ$ at 0 is no linear function $l$ near 0: $∫|φ − l|$ over $[−τ, τ]$ is at
    least $ρτ²/8$, and $|φ − l| ≥ ρτ/128$ with probability at least 1/16 for $α$ uniform there. The sharp constants are
    $ρτ²/4$ (at $φ = ρ|α|/2$, $l = ρτ/4$) and 31/63.

    Each branch of case 2 of the printed proof gives ρτ²/16; its two sides together give the ρτ²/8.
    """
    scaled = drawn.jump * drawn.reach**2
    likely = drawn.map(lambda pairs: pairs.share_beyond(level * pairs.jump * pairs.reach))
    room = {"within": ROUNDING, "of": scaled}
    return {
        "area": at_least(drawn.area, area * scaled, text="$∫|φ − l| ≥ ρτ²/8$", **room),
        "sharp_area": at_least(drawn.area, sharp_area * scaled, text="$∫|φ − l| ≥ ρτ²/4$", **room),
        "share": at_least(likely, share, text="$Pr[|φ − l| ≥ ρτ/128] ≥ 1/16$"),
        "sharp_share": at_least(likely, sharp_share, within=ROUNDING, text="$Pr[|φ − l| ≥ ρτ/128] ≥ 31/63$"),
    }


@claim("li2018.lemma_b_5", Kind.STEP, "Lemma B.5, Appendix B.4", draws=draw_curves, given=[both_convex, gap],
       title="Convex functions that bend differently are far apart",
       form=Form.SHARPER)  # fmt: skip
def lemma_b_5(
    drawn: FunctionPairs,
    *,
    area: float = CURVE_AREA,
    sharp_area: float = CURVE_AREA_SHARP,
    share: float = CURVE_SHARE,
    sharp_share: float = CURVE_SHARE_SHARP,
    level: float = CURVE_LEVEL,
) -> Promised:
    """Two convex functions $φ$ and $l$, where the slope of $φ$ grows from $−τ/2$ to $τ/2$ by $γ$ more than that of $l$
    from $−τ$ to $τ$, differ: $∫|φ − l|$ over $[−τ, τ]$ is at least $γτ²/32$, and $|φ − l| ≥ γτ/512$ with probability at
    least 1/64. The sharp constants are $γτ²/16$ and 63/254, both approached.
    """
    scaled = drawn.gap * drawn.reach**2
    likely = drawn.map(lambda pairs: pairs.share_beyond(level * pairs.gap * pairs.reach))
    room = {"within": ROUNDING, "of": drawn.size}
    return {
        "area": at_least(drawn.area, area * scaled, text="$∫|φ − l| ≥ γτ²/32$", **room),
        "sharp_area": at_least(drawn.area, sharp_area * scaled, text="$∫|φ − l| ≥ γτ²/16$", **room),
        "share": at_least(likely, share, text="$Pr[|φ − l| ≥ γτ/512] ≥ 1/64$"),
        "sharp_share": at_least(likely, sharp_share, within=ROUNDING, text="$Pr[|φ − l| ≥ γτ/512] ≥ 63/254$"),
    }


@claim("li2018.lemma_b_6", Kind.STEP, "Lemma B.6, Appendix B.4", draws=draw_increases, given=[radius, scale],
       form=Form.REPAIR, title="A smooth function of a sum increases as its linear part does")  # fmt: skip
def lemma_b_6(drawn: Increases, *, quadratic: float = 1.0, rough: float = 1.0) -> Promised:
    """For $f = g(Σ g_i(w_i))$ with $m$ terms, all $L$-Lipschitz, $g$ and the first $m − r$ of them $L$-smooth, $Lm ≥
    1$, and $‖δ_i‖ ≤ p$: $f(w + δ) − f(w) ≤ Σ_{i ≤ m−r} ⟨∂f/∂w_i, δ_i⟩ + L³m²p² + L²rp$. Both terms are approached as $p
    → 0$.

    In code: `quadratic` and `rough` weigh the two terms, for controls.
    """
    squares = smooth_bound(drawn.lipschitz, drawn.n_terms, 0.0, drawn.radius)
    kinks = smooth_bound(drawn.lipschitz, drawn.n_terms, drawn.n_rough, drawn.radius) - squares
    promised = quadratic * squares + rough * kinks
    room = {"within": ROUNDING, "of": 1 + np.abs(drawn.linear) + drawn.lipschitz}
    is_smooth = drawn.n_rough == 0
    return {
        "smooth": at_most(drawn.excess, promised, where=is_smooth, event="sums of smooth terms",
                          text="smooth terms only", **room),
        "rough": at_most(drawn.excess, promised, where=~is_smooth, event="sums with rough terms",
                         text="with rough terms", **room),
    }  # fmt: skip


@claim("li2018.lemma_b_6_as_printed", Kind.STEP, "Lemma B.6, Appendix B.4", draws=draw_flat_increase, given=[],
       title="The increase is bounded even for nearly flat functions")  # fmt: skip
def lemma_b_6_as_printed(drawn: Increases) -> Promised:
    """For $f = g(Σ g_i(w_i))$ with $m$ terms, all $L$-Lipschitz, $g$ and the first $m − r$ of them $L$-smooth, and
    $‖δ_i‖ ≤ p$, for every $L$: $f(w + δ) − f(w) ≤ Σ_{i ≤ m−r} ⟨∂f/∂w_i, δ_i⟩ + L³m²p² + L²rp$.
    """
    bound = smooth_bound(drawn.lipschitz, drawn.n_terms, drawn.n_rough, drawn.radius)
    return {"bound": at_most(drawn.excess, bound, room=ROUNDING, text="at most the bound")}
