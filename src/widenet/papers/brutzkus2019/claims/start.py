"""Guarantees about the random start of XORD (Section E.0.1): how many filters look where, and how small they are.

Counts of filters have an exact law (see `octants`), so the probabilities of Lemmas 6.1, E.15 and E.19 are computed, not
estimated; draws only confirm that real starts follow that law.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.implication import Promise, at_most
from widenet.claims.sides import Fact
from widenet.claims.statistics import matches_rate
from widenet.claims.tolerances import BY_CHANCE
from widenet.papers.brutzkus2019.formulas import (
    UNEXPLORED,
    c_value,
    large_start_over_c,
    large_start_probability,
    one_large_over_printed,
)
from widenet.papers.brutzkus2019.hypotheses import FromGaussian, deviation, uniform_directions
from widenet.papers.brutzkus2019.runs.explored import LAWS, Explored, explored
from widenet.papers.brutzkus2019.runs.small_starts import SmallStarts, Widths, draw_small_starts, draw_two_filters
from widenet.records import Form

EXACT = "the exact probability at every width"


def _p_values(runs: Explored) -> list[float]:
    """That so many of the drawn starts miss an event of this probability."""
    if not runs.n_starts:
        return [math.nan] * len(LAWS)
    return [
        matches_rate(int(count), int(runs.n_starts), rate)
        for count, rate in zip(runs.missed, runs.expected, strict=True)
    ]


class Misses(Explored):
    """What was computed and drawn, with the p-values of the draws."""

    p_values: Float[np.ndarray, " 3"] = derived(lambda runs: np.array(_p_values(runs)))


@claim("brutzkus2019.lemma_6_1", Kind.STEP, "Lemma 6.1, Section 6.1; with the u filters Lemma E.2", reads=explored,
       given=[uniform_directions], title="About half of the filters look at $p₁$ or $p₃$")  # fmt: skip
def lemma_6_1(runs: Misses, *, allowed: float = 4 * UNEXPLORED) -> Promise:
    """Exploration: with probability at least $1 − 4e⁻⁸$ the number of filters $w$ that $p_1$ or $p_3$ fits best, and
    the same number of filters $u$, differ from $k/2$ by at most $2√k$.
    """
    return _rarely_missed(runs, "axes", allowed)


@claim("brutzkus2019.lemma_e_15", Kind.STEP, "Lemma E.15, Section E.0.7", reads=explored, given=[uniform_directions],
       title="About a quarter of the filters $w$ look at $p₁$, and at $p₃$")  # fmt: skip
def lemma_e_15(runs: Misses, *, allowed: float = 4 * UNEXPLORED) -> Promise:
    """With probability at least $1 − 4e⁻⁸$ both $|W_0⁺(1)|$ and $|W_0⁺(3)|$ differ from $k/4$ by at most $2√k$."""
    return _rarely_missed(runs, "positive_cones", allowed)


@claim("brutzkus2019.lemma_e_19", Kind.STEP, "Lemma E.19, Section E.0.8", reads=explored, given=[uniform_directions],
       title="Each part of the filters $u$ has about a quarter of them")  # fmt: skip
def lemma_e_19(runs: Misses, *, allowed: float = 8 * UNEXPLORED) -> Promise:
    """With probability at least $1 − 8e⁻⁸$ each of $|U_0⁺(2)|$, $|U_0⁺(4)|$, $|(U_0⁺(1) ∪ U_0⁺(3)) ∩ U_0⁻(2)|$ and
    $|(U_0⁺(1) ∪ U_0⁺(3)) ∩ U_0⁻(4)|$ differs from $k/4$ by at most $2√k$.
    """
    return _rarely_missed(runs, "negative_parts", allowed)


def _rarely_missed(runs: Misses, event: str, allowed: float) -> Promise:
    """The exact probability that a count is off, at every width, and draws that must follow it."""
    each, place = runs.per("cell"), list(LAWS).index(event)
    exact, p_values = runs.exact[:, place], each.p_values[:, place]

    def drawn() -> dict[str, Any]:
        (cell,) = runs.cells
        return {
            "half_width": cell.half_width,
            "starts": cell.n_starts,
            "failures": int(cell.missed[place]),
            "exact": float(cell.expected[place]),
            "p": float(p_values[0]),
        }

    def details() -> dict[str, Any]:
        widths = runs.widths
        return {
            "widths": [int(widths.min()), int(widths.max())] if len(widths) else [],
            "n_widths": len(widths),
            "worst_width": int(widths[np.argmax(exact)]) if len(widths) else None,
            "at_120": float(each.at_120[0, place]),
            "drawn": drawn(),
        }

    def note() -> str:
        seen = drawn()
        return (
            f"Computed for {len(runs)} widths by counting octants; {seen['starts']} drawn starts of width k = "
            f"{seen['half_width']} failed {seen['failures']} times, {seen['starts'] * seen['exact']:.2g} expected."
        )

    return Promise(
        {
            "exact": at_most(
                exact,
                allowed,
                trivial=1.0,
                text=EXACT,
                quantity="exact probability that a count is farther than 2√k from its mean, at the worst width",
            ),
            "drawn": Fact(p_values >= BY_CHANCE, undecided=each.n_starts == 0, text="drawn starts follow this law"),
        },
        details=details,
        note=note,
    )


class Small(FromGaussian, SmallStarts):
    """Small starts, with the probability that one is too large, at every width."""

    allowed: Widths = derived(lambda starts: np.array([c_value(int(k)) for k in starts.widths]))  #: c
    ratios: Widths = derived(  #: the exact probability over c
        lambda starts: np.array([_over_c(int(k), starts.relative_deviation) for k in starts.widths])
    )
    expected: Number = derived(lambda starts: large_start_probability(starts.half_width, starts.relative_deviation))
    p_value: Number = derived(
        lambda starts: matches_rate(starts.n_large, starts.n_starts, starts.expected) if starts.n_starts else math.nan
    )


@claim("brutzkus2019.lemma_e_3", Kind.STEP, "Lemma E.3, Section E.0.1", draws=draw_small_starts,
       given=[deviation, uniform_directions],
       title="The start is small with probability $1 − √(2k/π)e^{−8k}$")  # fmt: skip
def lemma_e_3(starts: Small, *, factor: float = 1.0) -> Promise:
    """With probability at least $1 − √(2k/π)e^{−8k}$ every initial $|⟨w_0, p_i⟩|$ and $|⟨u_0, p_i⟩|$ is at most $√2η/4$
    (for $η = c_η/k$, $σ_g ≤ c_η/(16k^{3/2})$).

    The exact Gaussian probability against c.

    In code: A control draws eight times as large a start, or allows `factor` of c.
    """
    each = starts.per("cell")
    with np.errstate(divide="ignore", over="ignore"):
        certain = 1 / starts.allowed  # a probability of 1, in the same units

    def details() -> dict[str, Any]:
        widths, (drawn,) = starts.widths, starts.cells
        return {
            "widths": [int(widths.min()), int(widths.max())] if len(widths) else [0, 0],
            "worst_width": int(widths[np.argmax(starts.ratios)]) if len(widths) else None,
            "c_at_2": c_value(2),
            "exact_at_2": large_start_probability(2),
            "one_product_over_its_printed_bound_at_2": one_large_over_printed(2),
            "drawn": {
                "half_width": drawn.half_width,
                "starts": drawn.n_starts,
                "failures": drawn.n_large,
                "exact": drawn.expected,
                "p": drawn.p_value,
            },
        }

    return Promise(
        {
            "exact": at_most(
                starts.ratios,
                factor,
                trivial=certain,
                text=EXACT,
                quantity="probability of a start above √2η/4, over √(2k/π)e^{−8k}, at the worst width",
            ),
            "drawn": Fact(
                each.p_value >= BY_CHANCE, undecided=each.n_starts == 0, text="drawn starts have this probability"
            ),
        },
        details=details,
        note="The bound is sharp: the ratio tends to 1. On the way the proof prints half of the tail of one product "
        "(√(32πk) for √(8πk)) and counts 8k products of which 4k are different; the two factors cancel.",
    )


appendix_f_small_start = lemma_e_3.variant(
    "appendix_f_small_start",
    form=Form.REPAIR,
    title="For $k = 2$ the start is small but for 1.27e-7",
    where="Appendix F, before Theorem F.1 and in its proof (with Lemma E.3 at k = 2)",
    statement="For $k = 2$ Lemma E.3 holds with probability at least $1 − √(4/π)e^{−16}$, which is 1 − 1.27e-7.",
    draws=draw_two_filters,
)

appendix_f_small_start_as_printed = lemma_e_3.variant(
    "appendix_f_small_start_as_printed",
    title="For $k = 2$ the start is small but for 2e-14: fails",
    where="Appendix F, before Theorem F.1 and in its proof",
    statement=(
        "For $k = 2$ Lemma E.3 holds with probability at least $1 − √(8/π)e^{−32}$. False: its eight independent "
        "products are larger than $√2η/4$ with probability $1 − (1 − erfc(4))⁸$ = 1.23e-7 at the largest $σ_g$, "
        "against 2.0e-14. The formula of the lemma was taken at $k = 4$; at $k = 2$ it gives $√(4/π)e^{−16}$ = "
        "1.27e-7."
    ),
    draws=draw_two_filters,
    factor=c_value(4) / c_value(2),
)


def _over_c(half_width: int, relative_deviation: float) -> float:
    """Both sides underflow from k = 93 on; their ratio does not, and a smaller σ_g only makes it smaller."""
    if relative_deviation <= 1:
        return large_start_over_c(half_width)
    allowed = c_value(half_width)
    return large_start_probability(half_width, relative_deviation) / allowed if allowed else math.inf
