"""Guarantees about the random start of XORD (Section E.0.1): how many filters look where, and how small they are.

Counts of filters have an exact law (see `octants`), so the probabilities of Lemmas 6.1, E.15 and E.19 are computed, not
estimated; draws only confirm that real starts follow that law.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import matches_rate
from widenet.data.xord import PATTERNS
from widenet.diagnostics import exploration
from widenet.papers.brutzkus2019.formulas import (
    UNEXPLORED,
    c_value,
    large_start_over_c,
    large_start_probability,
    largest_deviation,
    one_large_over_printed,
    start_limit,
)
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.octants import RADIUS
from widenet.types import Progress, Scale, silent

BY_CHANCE = 1e-6
"""A p-value below this is not chance."""

Filters = Float[np.ndarray, "run filter 2"]
Event = Callable[[Filters, Fraction], Bool[np.ndarray, " run"]]
Law = Callable[[int, Fraction], Fraction]


@dataclass(frozen=True, eq=False)
class Starts:
    """Widths at which a probability is computed, and starts of one width that must follow the same law.

    Attributes:
      widths: k.
      filters: drawn filters, the plus half first.
    """

    widths: tuple[int, ...]
    filters: Filters


def draw_filters(seed: int, n_runs: int, half_width: int, deviation: float = 1.0, stream: int = 0) -> Filters:
    """Independent N(0, σ_g²) entries; another `stream` of the same seed is independent of this one."""
    return np.random.default_rng([seed, half_width, stream]).normal(0, deviation, (n_runs, 2 * half_width, 2))


def axes_are_explored(filters: Filters, radius: Fraction = RADIUS) -> Bool[np.ndarray, " run"]:
    """Lemma 6.1 and E.2: |W⁺(1) ∪ W⁺(3)| and |U⁺(1) ∪ U⁺(3)| within 2√k of k/2."""
    counts = [exploration.on_positive_axis(half).sum(axis=-1) for half in exploration.plus_and_minus(filters)]
    return _all_within(np.stack(counts, axis=-1), filters.shape[-2] // 2, 2, radius)


def positive_cones_are_explored(filters: Filters, radius: Fraction = RADIUS) -> Bool[np.ndarray, " run"]:
    """Lemma E.15: |W⁺(1)| and |W⁺(3)| within 2√k of k/4."""
    plus, _ = exploration.plus_and_minus(filters)
    return _all_within(exploration.sizes(exploration.cones(plus))[..., ::2], plus.shape[-2], 4, radius)


def negative_parts_are_explored(filters: Filters, radius: Fraction = RADIUS) -> Bool[np.ndarray, " run"]:
    """Lemma E.19: |U⁺(2)|, |U⁺(4)| and both |(U⁺(1) ∪ U⁺(3)) ∩ U⁻(l)| within 2√k of k/4."""
    _, minus = exploration.plus_and_minus(filters)
    alone = exploration.sizes(exploration.cones(minus))[..., 1::2]
    parts = exploration.on_positive_axis(minus)[..., None] & exploration.negative_sides(minus)
    return _all_within(np.concatenate([alone, parts.sum(axis=-2)], axis=-1), minus.shape[-2], 4, radius)


def _all_within(counts: np.ndarray, half_width: int, parts: int, radius: Fraction) -> np.ndarray:
    return np.all(octants.within(half_width, parts, radius)[counts], axis=-1)


def is_small(filters: Filters, step_size: float) -> Bool[np.ndarray, " run"]:
    """The event of Lemma E.3: every |⟨w_0, p_i⟩| and |⟨u_0, p_i⟩| is at most √2η/4."""
    return np.abs(filters @ PATTERNS[:2].T).max(axis=(-2, -1)) <= start_limit(step_size)


def check_lemma_6_1(starts: Starts, progress: Progress = silent, *, radius: Fraction = RADIUS) -> Evidence:
    """The exact probability that a count is off, at every width. A control passes a smaller radius."""
    return _judge(starts, progress, octants.both_axes_explored, axes_are_explored, 4 * UNEXPLORED, radius)


def check_lemma_e_15(starts: Starts, progress: Progress = silent, *, radius: Fraction = RADIUS) -> Evidence:
    """The exact probability that |W⁺(1)| or |W⁺(3)| is off, at every width."""
    return _judge(
        starts, progress, octants.positive_cones_explored, positive_cones_are_explored, 4 * UNEXPLORED, radius
    )


def check_lemma_e_19(starts: Starts, progress: Progress = silent, *, radius: Fraction = RADIUS) -> Evidence:
    """The exact probability that one of the four counts is off, at every width."""
    return _judge(
        starts, progress, octants.negative_parts_explored, negative_parts_are_explored, 8 * UNEXPLORED, radius
    )


def _judge(starts: Starts, progress: Progress, law: Law, event: Event, allowed: float, radius: Fraction) -> Evidence:
    rates = {}
    for number, half_width in enumerate(starts.widths):
        rates[half_width] = float(1 - law(half_width, radius))
        progress((number + 1) / len(starts.widths), f"k = {half_width}")
    half_width, n_runs = starts.filters.shape[1] // 2, len(starts.filters)
    failures, expected = int((~event(starts.filters, radius)).sum()), float(1 - law(half_width, radius))
    p_value = matches_rate(failures, n_runs, expected)
    conditions = (_equally_likely(starts.filters),)
    worst = max(rates, key=lambda k: rates[k]) if rates else 0
    conclusion = rates[worst] <= allowed and p_value >= BY_CHANCE if rates and n_runs else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=n_runs),
        conclusion=conclusion,
        quantity="exact probability that a count is farther than 2√k from its mean, at the worst width",
        promised=allowed,
        measured=rates.get(worst),
        tightness=ratio(rates[worst], allowed) if rates else None,
        vacuous=allowed >= 1,
        config={
            "widths": [min(rates, default=0), max(rates, default=0)],
            "n_widths": len(rates),
            "worst_width": worst,
            "at_120": float(1 - law(120, radius)),
            "drawn": {
                "half_width": half_width,
                "starts": n_runs,
                "failures": failures,
                "exact": expected,
                "p": p_value,
            },
        },
        note=f"Computed for {len(rates)} widths by counting octants; {n_runs} drawn starts of width k = {half_width} "
        f"failed {failures} times, {n_runs * expected:.2g} expected.",
    )


def deviation_hypothesis(filters: Filters, step_size: float) -> Hypothesis:
    """σ_g ≤ c_η/(16k^{3/2}), measured on the entries drawn around 0, up to six standard errors."""
    half_width = filters.shape[-2] // 2
    limit = largest_deviation(step_size * half_width, half_width)
    error = 6 / math.sqrt(2 * max(filters.size, 1))
    drawn = math.sqrt(float(np.square(filters).mean()))
    return at_most(
        "deviation_g_as_drawn_over_c", "σ_g as drawn, over c_η/(16k^{3/2})", drawn / limit, 1, tolerance=error
    )


def _equally_likely(filters: Filters) -> Hypothesis:
    return at_least(
        "directions_uniform",
        "directions uniform: p-value that a filter is in each octant equally often",
        octants.equally_likely(filters),
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
    filters: Filters
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


def check_lemma_e_3(setting: SmallStarts, progress: Progress = silent) -> Evidence:
    """The exact Gaussian probability against c. A control draws eight times as large a start."""
    conditions = (deviation_hypothesis(setting.filters, setting.step_size), _equally_likely(setting.filters))
    # Both sides underflow from k = 93 on; their ratio does not, and a smaller σ_g only makes it smaller.
    if setting.relative_deviation <= 1:
        ratios = {k: large_start_over_c(k) for k in setting.widths}
    else:
        ratios = {
            k: large_start_probability(k, setting.relative_deviation) / c if (c := c_value(k)) else math.inf
            for k in setting.widths
        }
    half_width, n_runs = setting.filters.shape[1] // 2, len(setting.filters)
    failures = int((~is_small(setting.filters, setting.step_size)).sum())
    expected = large_start_probability(half_width, setting.relative_deviation)
    p_value = matches_rate(failures, n_runs, expected)
    worst = max(ratios, key=lambda k: ratios[k]) if ratios else 0
    conclusion = ratios[worst] <= 1 and p_value >= BY_CHANCE if ratios and n_runs else None
    progress(1.0, "widths")
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=n_runs),
        conclusion=conclusion,
        quantity="probability of a start above √2η/4, over √(2k/π)e^{−8k}, at the worst width",
        promised=1.0,
        measured=ratios.get(worst),
        tightness=ratios.get(worst),
        config={
            "widths": [min(ratios, default=0), max(ratios, default=0)],
            "worst_width": worst,
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


def _widths(scale: Scale) -> tuple[int, ...]:
    return (*range(1, 131), 200, 300) if scale is Scale.QUICK else (*range(1, 401), 600, 1000, 2000)


def _starts(scale: Scale, seed: int) -> Starts:
    return Starts(_widths(scale), draw_filters(seed, 2300 if scale is Scale.QUICK else 20_000, 120))


def _small_starts(scale: Scale, seed: int) -> SmallStarts:
    """Drawn at k = 1, where the event is rare (2.5e-4) and not yet impossible."""
    return small_starts(seed, (*range(1, 1001), 10**4, 10**5), 1, 40_000 if scale is Scale.QUICK else 1_000_000)


lemma_6_1 = Claim(
    id="brutzkus2019.lemma_6_1",
    kind=Kind.STEP,
    statement=(
        "Exploration: with probability at least 1 − 4e⁻⁸ the number of w filters that p_1 or p_3 fits best, and the "
        "same number of u filters, differ from k/2 by at most 2√k."
    ),
    where="Lemma 6.1, Section 6.1; with the u filters Lemma E.2",
    judge=check_lemma_6_1,
    draws=_starts,
)

lemma_e_3 = Claim(
    id="brutzkus2019.lemma_e_3",
    kind=Kind.STEP,
    statement=(
        "With probability at least 1 − √(2k/π)e^{−8k} every initial |⟨w_0, p_i⟩| and |⟨u_0, p_i⟩| is at most √2η/4 "
        "(η = c_η/k, σ_g ≤ c_η/(16k^{3/2}))."
    ),
    where="Lemma E.3, Section E.0.1",
    judge=check_lemma_e_3,
    draws=_small_starts,
)

lemma_e_15 = Claim(
    id="brutzkus2019.lemma_e_15",
    kind=Kind.STEP,
    statement="With probability at least 1 − 4e⁻⁸ both |W_0⁺(1)| and |W_0⁺(3)| differ from k/4 by at most 2√k.",
    where="Lemma E.15, Section E.0.7",
    judge=check_lemma_e_15,
    draws=_starts,
)

lemma_e_19 = Claim(
    id="brutzkus2019.lemma_e_19",
    kind=Kind.STEP,
    statement=(
        "With probability at least 1 − 8e⁻⁸ each of |U_0⁺(2)|, |U_0⁺(4)|, |(U_0⁺(1) ∪ U_0⁺(3)) ∩ U_0⁻(2)| and "
        "|(U_0⁺(1) ∪ U_0⁺(3)) ∩ U_0⁻(4)| differs from k/4 by at most 2√k."
    ),
    where="Lemma E.19, Section E.0.8",
    judge=check_lemma_e_19,
    draws=_starts,
)

CLAIMS = (lemma_6_1, lemma_e_3, lemma_e_15, lemma_e_19)
