"""The algebra that turns bounds into widths (Eq. 17, footnotes 12 and 15, Section E.0.9), in exact arithmetic.

Every comparison has the form a + b√k > 0 with rational a, b, and is decided by comparing squares.
"""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise, at_least, at_most
from widenet.papers.brutzkus2019.hypotheses import (
    beta,
    margin_of_eight,
    step_of_theorem_6_3,
    step_positive,
    width_above_64,
    widths_above_16,
)
from widenet.papers.brutzkus2019.runs.exact_widths import (
    ConeCounts,
    Finish,
    Sided,
    both_sides_12,
    both_sides_15,
    cone_counts,
    width_finish,
)
from widenet.records import Form


@claim("brutzkus2019.equation_17", Kind.STEP, "Eq. 17, proof of Proposition E.18", draws=cone_counts,
       given=[width_above_64], title="The two positive cones hold about equally many filters")  # fmt: skip
def equation_17(runs: ConeCounts) -> Promise:
    """Where $|W⁺(1)|$ and $|W⁺(3)|$ are within $2√k$ of $k/4$ and $k > 64$, their ratio lies between $1/α(k)$ and
    $α(k) = (k/4 + 2√k)/(k/4 − 2√k)$.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        most, least = runs.first[:, 1] / runs.third[:, 0], runs.first[:, 0] / runs.third[:, 1]
        largest, smallest = most / runs.alpha, least * runs.alpha
    upper = at_most(
        largest,
        1.0,
        exact=runs.at_most_alpha,
        text="at most $α(k)$",
        quantity="largest |W⁺(1)|/|W⁺(3)| over α(k), at the worst width",
    )
    lower = at_least(
        smallest,
        1.0,
        exact=runs.at_least_inverse,
        text="at least $1/α(k)$",
        quantity="smallest |W⁺(1)|/|W⁺(3)| times α(k), at the worst width",
    )
    return Promise(
        {"upper": upper, "lower": lower},
        details=lambda: {
            "widths": [int(runs.half_width.min()), int(runs.half_width.max())],
            "worst_width": None if upper.closest is None else int(runs.half_width[upper.closest]),
            "broken": int((upper.broken | lower.broken).sum()),
        },
    )


@claim("brutzkus2019.footnote_12", Kind.IDENTITY, "footnote 12, proof of Proposition E.18", draws=both_sides_12,
       given=[width_above_64, beta, step_positive],
       title="Which widths make the bound on positive points positive")  # fmt: skip
def footnote_12(points: Sided) -> Promise:
    """For $k > 64$ and $β(γ) = (γ − 40¼c_η)/(39c_η + 1) > 1$: $(γ + 1 − 1¼c_η)/(1 + α(k)) − 39c_η − 1 > 0$ if and only
    if $α(k) < β(γ)$, if and only if $k > 64((β(γ) + 1)/(β(γ) − 1))²$.
    """
    return _equivalent(points)


@claim("brutzkus2019.footnote_15", Kind.IDENTITY, "footnote 15, proof of Proposition E.22", draws=both_sides_15,
       given=[width_above_64, beta, step_positive],
       title="Which widths make the bound on negative points negative")  # fmt: skip
def footnote_15(points: Sided) -> Promise:
    """For $k > 64$ and $β = (1 − 36¼c_η)/(35c_η) > 1$: $35c_η − (1 − 1¼c_η)/(1 + α(k)) < 0$ if and only if $α(k) < β$,
    if and only if $k > 64((β + 1)/(β − 1))²$.
    """
    return _equivalent(points)


def _equivalent(points: Sided) -> Promise:
    helping, wide, border = points.form > 0, points.beyond > 0, points.beyond == 0
    n_wide = points.count(wide)
    differ = {
        "form": (helping != points.below, "the bound says something exactly where $α(k) < β$"),
        "limit": (points.below != wide, "$α(k) < β$ exactly where $k$ is above its limit"),
        "border": (border & (points.form != 0), "at the limit itself the bound is $0$"),
        "floats": (points.off, "the bound in floats has the right sign"),
    }
    return Promise(
        {
            key: at_most(
                points.count(wrong),
                0,
                where=(n_wide > 0) & (n_wide < points.count(True)),
                text=words,
                quantity=f"choices of k, c_η and γ for which not: {words.replace('$', '')}",
                event="choices on both sides of the limit",
            )
            for key, (wrong, words) in differ.items()
        },
        details=lambda: {
            "points": len(points),
            "wide_enough": int(wide.sum()),
            "exactly_at_the_limit": int(border.sum()),
            "floats_off": int(points.off.sum()),
        },
        note=f"{int(border.sum())} points lie exactly on the limit, where the bound is 0 and decides nothing: the "
        "condition on k has to be strict.",
    )


@claim("brutzkus2019.section_e_0_9", Kind.STEP, "Section E.0.9", draws=width_finish,
       given=[widths_above_16, step_of_theorem_6_3, margin_of_eight],
       form=Form.REPAIR,
       title="Width 120 is enough for both propositions")  # fmt: skip
def section_e_0_9(finish: Finish, *, from_width: int = 64) -> Promise:
    """$28(γ + 1 + 8c_η)/c_η ≥ 7(γ + 1 + 8c_η)/((k/2 − 2√k)η)$ exactly for $k ≥ 64$. For $γ ≥ 8$ and $c_η ≤ 1/410$ the
    widths that Propositions E.18 and E.22 require, $64((β + 1)/(β − 1))²$ for either $β$, are below 120.
    """
    each = finish.per("cell")
    off = each.covers != (each.widths >= from_width)
    words = "{} asks for less than the promised width"
    quantity = "width that Proposition {} asks for, at the worst c_η and γ"
    return Promise(
        {
            "positive": at_most(
                finish.positive_width,
                finish.half_width,
                exact=finish.positive_enough,
                text=words.format("E.18"),
                quantity=quantity.format("E.18"),
            ),
            "negative": at_most(
                finish.negative_width,
                finish.half_width,
                exact=finish.negative_enough,
                text=words.format("E.22"),
                quantity=quantity.format("E.22"),
            ),
            "time": at_most(
                off.sum(axis=1),
                0,
                where=off.shape[1] > 0,
                text="$T$ of Theorem 6.3 covers that of E.14 exactly from $k = 64$ on",
                quantity="widths at which one is true and not the other",
                event="records with widths",
            ),
        },
        details=lambda: {
            "largest_limit_of_E_18": float(finish.positive_width.max()),
            "largest_limit_of_E_22": float(finish.negative_width.max()),
            "widths_where_T_is_off": each.widths[off],
        },
        note="The section takes the larger of the two β; both propositions need theirs, so it is the smaller that "
        "counts. 120 is enough for both.",
    )
