"""Guarantees about the random start of XORD (Section E.0.1): how many filters look where, and how small they are.

Counts of filters have an exact law (see `octants`), so the probabilities of Lemmas 6.1, E.15 and E.19 are computed, not
estimated; draws only confirm that real starts follow that law.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_least, at_most, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.statistics import matches_rate
from widenet.claims.tolerances import BY_CHANCE
from widenet.papers.brutzkus2019.formulas import (
    UNEXPLORED,
    c_value,
    large_start_over_c,
    large_start_probability,
    largest_deviation,
    one_large_over_printed,
)
from widenet.papers.brutzkus2019.runs.explored import Explored, Misses, explored
from widenet.papers.brutzkus2019.runs.octants import equally_likely
from widenet.papers.brutzkus2019.runs.starts import Filters, draw_filters, is_small
from widenet.records import Scale


@claim(
    "brutzkus2019.lemma_6_1",
    Kind.STEP,
    "Lemma 6.1, Section 6.1; with the u filters Lemma E.2",
    reads=explored,
)
def lemma_6_1(runs: Sequence[Explored], *, allowed: float = 4 * UNEXPLORED) -> Evidence:
    """Exploration: with probability at least 1 − 4e⁻⁸ the number of w filters that p_1 or p_3 fits best, and the
    same number of u filters, differ from k/2 by at most 2√k.
    """
    return _rarely_missed(runs, [each.axes for each in runs], allowed)


@claim("brutzkus2019.lemma_e_15", Kind.STEP, "Lemma E.15, Section E.0.7", reads=explored)
def lemma_e_15(runs: Sequence[Explored], *, allowed: float = 4 * UNEXPLORED) -> Evidence:
    """With probability at least 1 − 4e⁻⁸ both |W_0⁺(1)| and |W_0⁺(3)| differ from k/4 by at most 2√k."""
    return _rarely_missed(runs, [each.positive_cones for each in runs], allowed)


@claim("brutzkus2019.lemma_e_19", Kind.STEP, "Lemma E.19, Section E.0.8", reads=explored)
def lemma_e_19(runs: Sequence[Explored], *, allowed: float = 8 * UNEXPLORED) -> Evidence:
    """With probability at least 1 − 8e⁻⁸ each of |U_0⁺(2)|, |U_0⁺(4)|, |(U_0⁺(1) ∪ U_0⁺(3)) ∩ U_0⁻(2)| and
    |(U_0⁺(1) ∪ U_0⁺(3)) ∩ U_0⁻(4)| differs from k/4 by at most 2√k.
    """
    return _rarely_missed(runs, [each.negative_parts for each in runs], allowed)


def _rarely_missed(runs: Sequence[Explored], misses: Sequence[Misses], allowed: float) -> Evidence:
    """The exact probability that a count is off, at every width, and draws that must follow it."""
    (run,), (missed,) = runs, misses
    p_value = matches_rate(missed.drawn, run.n_starts, missed.expected) if run.n_starts else math.nan
    return evidence(
        {
            "the exact probability at every width": Sides(
                missed.exact,
                allowed,
                Sense.AT_MOST,
                trivial=1.0,
                quantity="exact probability that a count is farther than 2√k from its mean, at the worst width",
            ),
            "drawn starts follow this law": Fact(p_value >= BY_CHANCE, undecided=not run.n_starts),
        },
        [_uniform_directions(run.uniform)],
        runs=Runs(tried=run.n_starts),
        details={
            "widths": [int(run.widths.min()), int(run.widths.max())] if len(run.widths) else [],
            "n_widths": len(run.widths),
            "worst_width": int(run.widths[np.argmax(missed.exact)]) if len(run.widths) else None,
            "at_120": missed.at_120,
            "drawn": {
                "half_width": run.half_width,
                "starts": run.n_starts,
                "failures": missed.drawn,
                "exact": missed.expected,
                "p": p_value,
            },
        },
        note=f"Computed for {len(run.widths)} widths by counting octants; {run.n_starts} drawn starts of width k = "
        f"{run.half_width} failed {missed.drawn} times, {run.n_starts * missed.expected:.2g} expected.",
    )


def deviation_hypothesis(filters: Filters, step_size: float) -> Hypothesis:
    """σ_g ≤ c_η/(16k^{3/2}), measured on the entries drawn around 0, up to six standard errors."""
    half_width = filters.shape[-2] // 2
    limit = largest_deviation(step_size * half_width, half_width)
    error = 6 / math.sqrt(2 * max(filters.size, 1))
    drawn = math.sqrt(float(np.square(filters).mean())) if filters.size else math.nan
    return at_most("deviation", "σ_g as drawn, over c_η/(16k^{3/2})", drawn / limit, 1, tolerance=error)


def _uniform_directions(p_value: float) -> Hypothesis:
    return at_least(
        "uniform_directions",
        "directions uniform: p-value that a filter is in each octant equally often",
        p_value,
        BY_CHANCE,
    )


@dataclass(frozen=True, eq=False)
class SmallStarts:
    """Widths at which Lemma E.3 is computed, σ_g over its largest value, and drawn starts.

    Attributes:
      widths: k.
      relative_deviation: σ_g over c_η/(16k^{3/2}).
      filters: starts of one width, drawn with this σ_g.
      step_size: η = c_η/k of those starts.
    """

    widths: tuple[int, ...]
    relative_deviation: float
    filters: Float[np.ndarray, "run filter 2"]
    step_size: float


def small_starts(
    seed: int,
    widths: tuple[int, ...],
    half_width: int,
    n_runs: int,
    relative_deviation: float = 1.0,
    step_constant: float = 1 / 41,
) -> SmallStarts:
    """Starts of width `half_width` beside the widths at which the probability is computed."""
    deviation = relative_deviation * largest_deviation(step_constant, half_width)
    filters = draw_filters(seed, n_runs, half_width, deviation)
    return SmallStarts(widths, relative_deviation, filters, step_constant / half_width)


def draw_small_starts(scale: Scale, seed: int) -> SmallStarts:
    """Drawn at k = 1, where the event is rare (2.5e-4) and not yet impossible."""
    return small_starts(seed, (*range(1, 1001), 10**4, 10**5), 1, 40_000 if scale is Scale.QUICK else 400_000)


def draw_two_filters(scale: Scale, seed: int) -> SmallStarts:
    """Starts of width 2, the width of Theorem 6.4."""
    return small_starts(seed, (2,), 2, 10_000)


@claim("brutzkus2019.lemma_e_3", Kind.STEP, "Lemma E.3, Section E.0.1", draws=draw_small_starts)
def lemma_e_3(starts: SmallStarts, *, factor: float = 1.0) -> Evidence:
    """With probability at least 1 − √(2k/π)e^{−8k} every initial |⟨w_0, p_i⟩| and |⟨u_0, p_i⟩| is at most √2η/4
    (η = c_η/k, σ_g ≤ c_η/(16k^{3/2})).

    The exact Gaussian probability against c. A control draws eight times as large a start, or allows `factor` of c.
    """
    allowed = np.array([c_value(k) for k in starts.widths])
    ratios = np.array([_over_c(k, starts.relative_deviation) for k in starts.widths])
    half_width, n_runs = starts.filters.shape[1] // 2, len(starts.filters)
    failures = int((~is_small(starts.filters, starts.step_size)).sum())
    expected = large_start_probability(half_width, starts.relative_deviation)
    p_value = matches_rate(failures, n_runs, expected) if n_runs else math.nan
    with np.errstate(divide="ignore", over="ignore"):
        certain = 1 / allowed  # a probability of 1, in the same units
    return evidence(
        {
            "the exact probability at every width": Sides(
                ratios,
                factor,
                Sense.AT_MOST,
                trivial=certain,
                quantity="probability of a start above √2η/4, over √(2k/π)e^{−8k}, at the worst width",
            ),
            "drawn starts have this probability": Fact(p_value >= BY_CHANCE, undecided=not n_runs),
        },
        [
            deviation_hypothesis(starts.filters, starts.step_size),
            _uniform_directions(equally_likely(starts.filters)),
        ],
        runs=Runs(tried=n_runs),
        details={
            "widths": [min(starts.widths, default=0), max(starts.widths, default=0)],
            "worst_width": starts.widths[int(np.argmax(ratios))] if len(ratios) else None,
            "c_at_2": c_value(2),
            "exact_at_2": large_start_probability(2),
            "one_product_over_its_printed_bound_at_2": one_large_over_printed(2),
            "drawn": {
                "half_width": half_width,
                "starts": n_runs,
                "failures": failures,
                "exact": expected,
                "p": p_value,
            },
        },
        note="The bound is sharp: the ratio tends to 1. On the way the proof prints half of the tail of one product "
        "(√(32πk) for √(8πk)) and counts 8k products of which 4k are different; the two factors cancel.",
    )


appendix_f_small_start = lemma_e_3.variant(
    "appendix_f_small_start",
    where="Appendix F, before Theorem F.1 and in its proof (with Lemma E.3 at k = 2)",
    statement="For k = 2 Lemma E.3 holds with probability at least 1 − √(4/π)e^{−16}, which is 1 − 1.27e-7.",
    draws=draw_two_filters,
)

appendix_f_small_start_as_printed = lemma_e_3.variant(
    "appendix_f_small_start_as_printed",
    where="Appendix F, before Theorem F.1 and in its proof",
    statement="For k = 2 Lemma E.3 holds with probability at least 1 − √(8/π)e^{−32}. False: its eight independent "
    "products are larger than √2η/4 with probability 1 − (1 − erfc(4))⁸ = 1.23e-7 at the largest σ_g, against 2.0e-14. "
    "The formula of the lemma was taken at k = 4; at k = 2 it gives √(4/π)e^{−16} = 1.27e-7.",
    draws=draw_two_filters,
    factor=c_value(4) / c_value(2),
)


def _over_c(half_width: int, relative_deviation: float) -> float:
    """Both sides underflow from k = 93 on; their ratio does not, and a smaller σ_g only makes it smaller."""
    if relative_deviation <= 1:
        return large_start_over_c(half_width)
    allowed = c_value(half_width)
    return large_start_probability(half_width, relative_deviation) / allowed if allowed else math.inf
