"""Section 5.2: on the basis sequence SGD is forced to update often (Theorems 4 and 10).

Every count and every bound here is a fraction, so equality means equality.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_most, claim, less_than, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.basis_sequences import (
    BasisCounts,
    basis_sequences,
    equation_6_settings,
    gap_settings,
)
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    basis_sequence,
    half_the_sum,
    mistakes_in_closed_form,
    most_mistakes,
    one_pass_step,
    printed_terms,
    sharp_terms,
    third_of_squares,
)
from widenet.records import Scale

Sequences = Sequence[BasisSequence]
Terms = Callable[[BasisSequence], tuple[Fraction, Fraction]]
Promise = Callable[[BasisSequence], Fraction]
ENORMOUS_STEP = 10**9
"""From this η on T/M_k is near its limit α²."""
NEAR_LIMIT = 1e-3
"""How near: at η = 10⁹ and d = 10⁴ the terms of M_k that vanish as η grows are below 1e-4 of it."""


def hypotheses(runs: Sequences) -> tuple[Hypothesis, ...]:
    """The setting of Section 9.1.4, each part at the run nearest to breaking it."""
    slopes = _floats([run.slope for run in runs])
    away = _floats([run.start_distance for run in runs])
    return (
        at_most("start", "start: distance of the entries from ∓R/√d, in units of v", away.max(), 0),
        more_than("output_weight", "smallest kv², v the output weight", _floats([run.gain for run in runs]).min(), 0),
        more_than("slope_positive", "smallest Leaky slope α", slopes.min(), 0),
        less_than("slope_below_one", "largest Leaky slope α", slopes.max(), 1),
        more_than("step_size", "smallest step size η", _floats([run.step_size for run in runs]).min(), 0),
    )


def under_equation_6(runs: Sequences) -> tuple[Hypothesis, ...]:
    """The same with R = v = 1/√(2k), the initialization that Theorem 4 assumes."""
    return (
        *hypotheses(runs),
        at_most("output_scale", "largest |2kv² − 1|", float(max(abs(2 * run.gain - 1) for run in runs)), 0),
        at_most("equal_scale", "largest |R/v − 1|", float(max(abs(run.radius - 1) for run in runs)), 0),
    )


@claim(
    "brutzkus2018.theorem_10",
    Kind.MAIN,
    "Theorem 10, Section 5.2 and Appendix 9.1.4",
    reads=basis_sequences,
)
def theorem_10(cells: Sequence[BasisCounts], *, terms: Terms = printed_terms) -> Evidence:
    """On e_1, …, e_d, all labelled +1 and cycled, from plus rows −(R/√d)·1 and minus rows +(R/√d)·1, SGD makes at least
    max{min{B₁, B₂}, ‖w*‖²} updates, with B₁ = R‖w*‖/(ηvα) + min{‖w*‖²/(2ηkv²) − α‖w*‖, 0} and B₂ = R‖w*‖/(ηv) +
    min{‖w*‖²/(2α²ηkv²) − ‖w*‖/α, 0}.

    As printed B₂ is never above B₁, so no run can test B₁; in the sharp form either may be the smaller one. Controls
    pass wrong terms.
    """
    runs, counts = _runs(cells), _column(cells, "updates")
    smaller = [min(terms(run)) for run in runs]
    open_ = _uncertain(cells)
    more = "non-zero updates in the tightest run with min{B₁, B₂} > ‖w*‖²"
    forced = _beyond_one_pass(_at_least(counts, smaller, open_, more), runs)
    dims = [run.dim for run in runs]
    once = _beyond_one_pass(_at_least(counts, dims, open_, "non-zero updates in the tightest run"), runs)
    return evidence(
        {"at least min{B₁, B₂} updates": forced, "at least ‖w*‖² updates": once},
        hypotheses(runs),
        runs=Runs(tried=len(runs)),
        details={
            "arithmetic": "fractions",
            "runs_with_more_than_d_promised": int((_floats(smaller) > dims).sum()),
            **_describe(runs),
        },
        note=_shortfall(forced.broken | once.broken),
    )


theorem_10_sharp = theorem_10.variant(
    "theorem_10_sharp",
    where="proof of Theorem 10, Section 5.2 and Appendix 9.1.4",
    statement=(
        "The same with max in place of min and ‖w*‖² in place of ‖w*‖, as the argument of the proof gives it: B₁ = "
        "R‖w*‖/(ηvα) + max{‖w*‖²/(2ηkv²) − α‖w*‖², 0} and B₂ = R‖w*‖/(ηv) + max{‖w*‖²/(2α²ηkv²) − ‖w*‖²/α, 0}. "
        "It implies the printed form, which is true and weaker."
    ),
    kind=Kind.STEP,
    terms=sharp_terms,
)


@claim(
    "brutzkus2018.theorem_4",
    Kind.MAIN,
    "Theorem 4, Section 5.2",
    reads=basis_sequences.at(equation_6_settings),
)
def theorem_4(cells: Sequence[BasisCounts], *, count: str = "updates", promise: Promise = half_the_sum) -> Evidence:
    """With R = v = 1/√(2k), for every d = ‖w*‖² there is a separable sequence on which SGD makes Ω(‖w*‖/η + ‖w*‖²)
    updates: at least ½(‖w*‖/η + ‖w*‖²).
    """
    runs, counts = _runs(cells), _column(cells, count)
    limits = [promise(run) for run in runs]
    squares = [n * run.step_size / (run.dim * (1 + run.step_size)) for n, run in zip(counts, runs, strict=True)]
    forced = _at_least(counts, limits, _uncertain(cells), "non-zero updates in the tightest run")
    return evidence(
        {"at least so many updates": forced},
        under_equation_6(runs),
        runs=Runs(tried=len(runs)),
        details={"arithmetic": "fractions", "smallest_count_over_squares": float(min(squares)), **_describe(runs)},
        note=_shortfall(forced.broken)
        or "The paper writes Ω and says mistakes: the constant here is the one Theorem 10 gives, and updates are "
        f"counted; sign errors are in theorem_4_mistakes. {_beyond(forced, runs)}".rstrip(),
    )


theorem_4_sharp = theorem_4.variant(
    "theorem_4_sharp",
    where="derived from the proof of Theorem 10, Section 5.2 and Appendix 9.1.4",
    statement=(
        "With R = v = 1/√(2k) the same sequence forces at least ⅓(‖w*‖²/η + ‖w*‖²) updates: the 1/η term grows with "
        "‖w*‖² as in the upper bound of Corollary 3."
    ),
    kind=Kind.STEP,
    promise=third_of_squares,
)


@claim(
    "brutzkus2018.theorem_4_mistakes",
    Kind.IDENTITY,
    "derived; the word “mistakes” in Theorem 4, Section 5.2",
    reads=basis_sequences.at(equation_6_settings),
)
def theorem_4_mistakes(
    cells: Sequence[BasisCounts],
    *,
    count: str = "mistakes",
    formula: Callable[[BasisSequence], int] = mistakes_in_closed_form,
    fewest: Promise = half_the_sum,
    most: Promise = most_mistakes,
) -> Evidence:
    """Read literally, with mistakes as sign errors (N ≤ 0), SGD makes exactly d·max{m₁, ⌊(2s − m₁η(1−α))/(2ηα)⌋ + 1} of
    them, s = 1/√d, m₁ = ⌊s/η⌋ + 1: between ½(‖w*‖/η + ‖w*‖²) and ‖w*‖/(αη) + ‖w*‖².
    """
    runs, counts = _runs(cells), _column(cells, count)
    formulas = [formula(run) for run in runs]
    limits, ceilings = [fewest(run) for run in runs], [most(run) for run in runs]
    same = [number == value for number, value in zip(counts, formulas, strict=True)]
    under = [number <= ceiling for number, ceiling in zip(counts, ceilings, strict=True)]
    open_ = _uncertain(cells)
    return evidence(
        {
            "at least ½(‖w*‖/η + ‖w*‖²)": _at_least(
                counts,
                limits,
                open_,
                "sign errors in the tightest run, against ½(‖w*‖/η + ‖w*‖²)",
            ),
            "exactly the closed form": Sides(counts, formulas, Sense.EQUAL, undecided=open_),
            "at most ‖w*‖/(αη) + ‖w*‖²": Sides(counts, _floats(ceilings), exact=under, undecided=open_),
        },
        under_equation_6(runs),
        runs=Runs(tried=len(runs)),
        details={
            "arithmetic": "fractions",
            "differ_from_the_closed_form": same.count(False),
            "above_the_upper_bound": under.count(False),
            **_describe(runs),
        },
        note="" if all(same) else f"In {same.count(False)} of {len(runs)} runs the count is not the closed form.",
    )


@dataclass(frozen=True)
class LargeStep:
    """A run with a step near η₁: whether it is at least the threshold, the passes until N ≥ 1, and the entries then."""

    run: BasisSequence
    from_threshold: bool
    passes: int
    plus: Fraction
    minus: Fraction


ABOVE = (Fraction(1), Fraction(10_001, 10_000), Fraction(2), Fraction(10**6))
BELOW = (Fraction(9_999, 10_000), Fraction(1, 2))


def large_steps(runs: Sequences, threshold: Promise = one_pass_step) -> list[LargeStep]:
    """Each run at multiples of the threshold, among them the threshold itself; a control passes another threshold."""
    taken = []
    for run in runs:
        for multiple in (*ABOVE, *BELOW):
            faster = replace(run, step_size=multiple * threshold(run))
            # Very near the threshold a fraction near √d may say nothing about √d.
            if faster.has_one_count:
                taken.append(LargeStep(faster, multiple >= 1, *faster.solved()))
    return taken


def _large_steps(scale: Scale, seed: int) -> list[LargeStep]:
    slopes = [Fraction(percent, 100) for percent in ((10, 50, 90) if scale is Scale.QUICK else (1, 10, 30, 50, 90, 99))]
    return large_steps([basis_sequence(dim, slope, Fraction(1)) for dim in (1, 4, 7, 25, 100) for slope in slopes])


@claim(
    "brutzkus2018.theorem_4_large_steps",
    Kind.TREND,
    "the paragraph after Theorem 4, Section 5.2",
    draws=_large_steps,
)
def theorem_4_large_steps(taken: Sequence[LargeStep]) -> Evidence:
    """With R = v = 1/√(2k) on the same sequence, η ≥ η₁ = (1 + (1+α)/(2√d))/α updates every point exactly once (T =
    ‖w*‖², the least possible) and the network classifies every x as w* does; any η < η₁ takes T ≥ 2‖w*‖².
    """
    runs = [each.run for each in taken]
    above, below = ([each for each in taken if each.from_threshold is side] for side in (True, False))
    agrees = [each.run.agrees_with_separator(each.plus, each.minus) for each in above]
    return evidence(
        {
            "one update per point from η₁ on": Sides(
                [each.passes for each in above], 1, Sense.EQUAL, quantity="updates per point from η₁ on, in any run"
            ),
            "two updates per point below η₁": Sides(
                [each.passes for each in below],
                2,
                Sense.AT_LEAST,
                quantity="updates per point below η₁, the fewest in any run",
            ),
            "classifies every x as w* does": Fact(agrees),
        },
        under_equation_6(runs),
        runs=Runs(tried=len(runs)),
        details={
            "fewest_updates_per_point_below": min(each.passes for each in below),
            "wrong_classifiers": agrees.count(False),
            **_describe(runs),
        },
    )


@claim(
    "brutzkus2018.gap_between_bounds",
    Kind.TREND,
    "derived; “cannot be much improved”, after Theorem 4, Section 5.2",
    reads=basis_sequences.at(gap_settings),
)
def gap_between_bounds(
    cells: Sequence[BasisCounts],
    *,
    bound: Callable[..., np.ndarray] = max_nonzero_updates,
    limit: Callable[[np.ndarray], np.ndarray] = np.square,
) -> Evidence:
    """On the sequence of Theorem 10 the upper bound M_k of Theorem 2 is never exceeded. With R = v = 1/√(2k), T/M_k →
    α² as η → ∞, so no constant below 1 can be put before M_k for all α at once. At a fixed α this sequence leaves a
    factor 1/α² between T and M_k: whether M_k can be improved there, it does not show.
    """
    runs = _runs(cells)
    counts = np.array(_column(cells, "updates"), np.float64)
    columns = zip(
        *((run.separator_norm, run.slope, run.step_size, 1, run.radius, run.gain) for run in runs), strict=True
    )
    limits = bound(*(_floats(column) for column in columns))
    shares = counts / limits
    enormous = [run.step_size >= ENORMOUS_STEP and (run.gain, run.radius) == (Fraction(1, 2), 1) for run in runs]
    within = Sides(
        counts,
        limits,
        room=ROUNDING * limits,
        undecided=_uncertain(cells),
        quantity="non-zero updates in the tightest run, against M_k of Theorem 2",
    )
    over = int(within.broken.sum())
    return evidence(
        {
            "at most M_k updates": within,
            "T/M_k → α² as η → ∞": Sides(
                shares,
                limit(_floats([run.slope for run in runs])),
                Sense.EQUAL,
                room=NEAR_LIMIT,
                scored=enormous,
                quantity="T/M_k at the largest steps",
            ),
        },
        hypotheses(runs),
        runs=Runs(tried=len(runs)),
        details={
            "median_tightness": float(np.median(shares)),
            "with_eta_from_1e9": sum(enormous),
            **_describe(runs),
        },
        note=f"{over} runs made more updates than the bound." if over else _distance(runs, shares, enormous),
    )


def _distance(runs: Sequences, shares: np.ndarray, enormous: Sequence[bool]) -> str:
    """How far apart the two bounds are at the smallest slope and at the largest."""
    at_slope = sorted(
        (float(run.slope), float(share)) for run, share, is_one in zip(runs, shares, enormous, strict=True) if is_one
    )
    if not at_slope:
        return ""
    words = " and ".join(f"{share:.3g} at α = {slope:g}" for slope, share in dict.fromkeys((at_slope[0], at_slope[-1])))
    return f"M_k is nearly attained only as α → 1: at the largest steps T/M_k is {words}."


def _runs(cells: Sequence[BasisCounts]) -> list[BasisSequence]:
    return [run for cell in cells for run in cell.sequences]


def _column(cells: Sequence[BasisCounts], name: str) -> list[int]:
    return [count for cell in cells for count in getattr(cell, name).tolist()]


def _uncertain(cells: Sequence[BasisCounts]) -> np.ndarray:
    """Counts of a fraction near √d that might not be those of √d."""
    return np.concatenate([~cell.certain for cell in cells])


def _floats(values: Sequence[Fraction | int]) -> np.ndarray:
    return np.array([float(value) for value in values])


def _at_least(counts: Sequence[int], limits: Sequence[Fraction | int], undecided: np.ndarray, quantity: str) -> Sides:
    """Counts that are promised to be at least these limits."""
    kept = [count >= limit for count, limit in zip(counts, limits, strict=True)]
    return Sides(counts, _floats(limits), Sense.AT_LEAST, exact=kept, undecided=undecided, quantity=quantity)


def _beyond(sides: Sides, runs: Sequences) -> str:
    """How close the runs come of which more is promised than one update on every point."""
    telling = sides.only(sides.promised > np.array([run.dim for run in runs]))
    if (case := telling.closest) is None:
        return ""
    return f"Where more than d updates are promised, the tightest run is at {telling.closeness[case]:.2g}."


def _beyond_one_pass(sides: Sides, runs: Sequences) -> Sides:
    """Sides of Theorem 10, which has two parts: at least ‖w*‖² = d updates, and the rest.

    For either a limit of d and less says no more than that every point is updated once. Such runs are not scored where
    others say more, unless they break their limit.
    """
    dims = np.array([run.dim for run in runs])
    telling = sides.promised > dims
    scored = telling | sides.broken if telling.any() else None
    return Sides(
        sides.measured,
        sides.promised,
        sides.sense,
        exact=sides.exact,
        undecided=sides.undecided,
        scored=scored,
        trivial=dims,
        quantity=sides.quantity,
    )


def _shortfall(below: np.ndarray) -> str:
    return f"In {int(below.sum())} of {len(below)} runs the count is below the bound." if below.any() else ""


def _describe(runs: Sequences) -> dict[str, Any]:
    slopes, steps = _floats([run.slope for run in runs]), _floats([run.step_size for run in runs])
    return {
        "dims": sorted({run.dim for run in runs}),
        "slopes": [slopes.min(), slopes.max()],
        "step_sizes": [steps.min(), steps.max()],
    }
