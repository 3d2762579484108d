"""Section 5.2: on the basis sequence SGD is forced to update often (Theorems 4 and 10).

Every count and every bound here is a fraction, so equality means equality.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.given import slope_below_one, slope_positive, step_size
from widenet.claims.implication import Promise, at_least, at_most, equal, hypothesis, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.basis_sequences import (
    BasisCounts,
    LargeSteps,
    OnBasis,
    basis_sequences,
    equation_6_settings,
    gap_settings,
    large_step_runs,
)
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    half_the_sum,
    mistakes_in_closed_form,
    most_mistakes,
    printed_terms,
    sharp_terms,
    third_of_squares,
)
from widenet.records import Form

Terms = Callable[[BasisSequence], tuple[Fraction, Fraction]]
Bound = Callable[[BasisSequence], Fraction | int]
ENORMOUS_STEP = 10**9
"""From this η on T/M_k is near its limit α²."""
NEAR_LIMIT = 1e-3
"""How near: at η = 10⁹ and d = 10⁴ the terms of M_k that vanish as η grows are below 1e-4 of it."""


class Forced(OnBasis, BasisCounts):
    """Runs and their counts."""

    #: counts of a fraction near √d that might not be those of √d
    uncertain: Bool[np.ndarray, " run"] = derived(lambda runs: ~runs.certain)
    #: whether the step is enormous, under R = v = 1/√(2k)
    is_enormous: Bool[np.ndarray, " run"] = derived(
        lambda runs: np.array(
            [run.step_size >= ENORMOUS_STEP and (2 * run.gain, run.radius) == (1, 1) for run in runs.sequences], bool
        )
    )


@hypothesis("start: distance of the entries from $∓R/√d$, in units of $v$", extreme=False)
def start(runs: OnBasis) -> Sides:
    """W_0 is that of Section 9.1.4."""
    return at_most(runs.start_distance, 0)


@hypothesis("$kv²$, $v$ the output weight")
def output_weight(runs: OnBasis) -> Sides:
    """v > 0."""
    return more_than(runs.gain, 0)


@hypothesis("$|2kv² − 1|$")
def output_scale(runs: OnBasis) -> Sides:
    """v = 1/√(2k)."""
    return at_most(runs.gain_error, 0)


@hypothesis("$|R/v − 1|$")
def equal_scale(runs: OnBasis) -> Sides:
    """R = v."""
    return at_most(runs.radius_error, 0)


SEQUENCE = (start, output_weight, slope_positive, slope_below_one, step_size)
"""The setting of Section 9.1.4."""
UNDER_EQUATION_6 = (*SEQUENCE, output_scale, equal_scale)
"""The same with R = v = 1/√(2k), the initialization that Theorem 4 assumes."""


@claim(
    "brutzkus2018.theorem_10",
    Kind.MAIN,
    "Theorem 10, Section 5.2 and Appendix 9.1.4",
    reads=basis_sequences,
    given=SEQUENCE,
    title="A cycled basis forces many updates",
)
def theorem_10(runs: Forced, *, terms: Terms = printed_terms) -> Promise:
    """On $e_1, …, e_d$, all labelled $+1$ and cycled, from plus rows $−(R/√d)·1$ and minus rows $+(R/√d)·1$, SGD makes
    at least $max{min{B₁, B₂}, ‖w*‖²}$ updates, with $B₁ = R‖w*‖/(ηvα) + min{‖w*‖²/(2ηkv²) − α‖w*‖, 0}$ and $B₂ =
    R‖w*‖/(ηv) + min{‖w*‖²/(2α²ηkv²) − ‖w*‖/α, 0}$.

    As printed B₂ is never above B₁, so no run can test B₁; in the sharp form either may be the smaller one.
    """
    smaller = _each(lambda run: min(terms(run)), runs)
    more = "non-zero updates in the tightest run with min{B₁, B₂} > ‖w*‖²"
    forced = _beyond_one_pass(runs, smaller, "at least $min{B₁, B₂}$ updates", more)
    once = _beyond_one_pass(runs, runs.dim, "at least $‖w*‖²$ updates", "non-zero updates in the tightest run")
    return Promise(
        {"forced": forced, "once": once},
        details=lambda: {
            "arithmetic": "fractions",
            "runs_with_more_than_d_promised": (forced.promised > runs.dim).sum(),
            **_describe(runs),
        },
        note=_shortfall(forced.broken | once.broken),
    )


theorem_10_sharp = theorem_10.variant(
    "theorem_10_sharp",
    form=Form.SHARPER,
    title="A cycled basis forces many updates, sharp constants",
    where="proof of Theorem 10, Section 5.2 and Appendix 9.1.4",
    statement=(
        "The same with max in place of min and $‖w*‖²$ in place of $‖w*‖$, as the argument of the proof gives it: $B₁ "
        "= R‖w*‖/(ηvα) + max{‖w*‖²/(2ηkv²) − α‖w*‖², 0}$ and $B₂ = R‖w*‖/(ηv) + max{‖w*‖²/(2α²ηkv²) − ‖w*‖²/α, 0}$. "
        "It implies the printed form, which is true and weaker."
    ),
    kind=Kind.STEP,
    terms=sharp_terms,
)


IN_WORDS: dict[Bound, str] = {half_the_sum: "½(‖w*‖/η + ‖w*‖²)", third_of_squares: "⅓(‖w*‖²/η + ‖w*‖²)"}


@claim(
    "brutzkus2018.theorem_4",
    Kind.MAIN,
    "Theorem 4, Section 5.2",
    reads=basis_sequences.at(equation_6_settings),
    given=UNDER_EQUATION_6,
    title="Some separable data forces $½(‖w*‖/η + ‖w*‖²)$ updates",
)
def theorem_4(runs: Forced, *, count: str = "updates", promise: Bound = half_the_sum) -> Promise:
    """With $R = v = 1/√(2k)$, for every $d = ‖w*‖²$ there is a separable sequence on which SGD makes $Ω(‖w*‖/η +
    ‖w*‖²)$ updates: at least $½(‖w*‖/η + ‖w*‖²)$.
    """
    counts = getattr(runs, count)
    squares = counts * runs.step_size / (runs.dim * (1 + runs.step_size))
    text, closest = f"at least ${IN_WORDS.get(promise, 'T')}$ updates", "non-zero updates in the tightest run"
    # Every point is updated once at least, whatever the theorem says.
    forced = _at_least(counts, _each(promise, runs), runs, trivial=runs.dim, text=text, quantity=closest)
    return Promise(
        {"forced": forced},
        details=lambda: {"arithmetic": "fractions", "smallest_count_over_squares": squares.min(), **_describe(runs)},
        note=_shortfall(forced.broken)
        or "The paper writes Ω and says mistakes: the constant here is the one Theorem 10 gives, and updates are "
        "counted; sign errors are in theorem_4_mistakes.",
    )


theorem_4_sharp = theorem_4.variant(
    "theorem_4_sharp",
    form=Form.SHARPER,
    title="Some separable data forces $⅓(‖w*‖²/η + ‖w*‖²)$ updates",
    where="derived from the proof of Theorem 10, Section 5.2 and Appendix 9.1.4",
    statement=(
        "With $R = v = 1/√(2k)$ the same sequence forces at least $⅓(‖w*‖²/η + ‖w*‖²)$ updates: the $1/η$ term grows "
        "with $‖w*‖²$, as in the upper bound of Corollary 3."
    ),
    kind=Kind.STEP,
    promise=third_of_squares,
)


@claim(
    "brutzkus2018.theorem_4_mistakes",
    Kind.IDENTITY,
    "derived; the word “mistakes” in Theorem 4, Section 5.2",
    reads=basis_sequences.at(equation_6_settings),
    given=UNDER_EQUATION_6,
    form=Form.OURS,
    title="How many sign errors SGD makes on the basis, exactly",
)
def theorem_4_mistakes(
    runs: Forced,
    *,
    count: str = "mistakes",
    formula: Bound = mistakes_in_closed_form,
    fewest: Bound = half_the_sum,
    most: Bound = most_mistakes,
) -> Promise:
    """Read literally, with mistakes as sign errors ($N ≤ 0$), SGD makes exactly $d·max{m₁, ⌊(2s − m₁η(1 − α))/(2ηα)⌋ +
    1}$ of them, with $s = 1/√d$ and $m₁ = ⌊s/η⌋ + 1$: between $½(‖w*‖/η + ‖w*‖²)$ and $‖w*‖/(αη) + ‖w*‖²$.
    """
    counts = getattr(runs, count)
    closed, ceilings = _each(formula, runs), _each(most, runs)
    differs, under = counts != closed.astype(np.int64), counts.astype(object) <= ceilings
    closest = "sign errors in the tightest run, against ½(‖w*‖/η + ‖w*‖²)"
    at_most_text = "at most $‖w*‖/(αη) + ‖w*‖²$"
    return Promise(
        {
            "fewest": _at_least(
                counts, _each(fewest, runs), runs, text="at least $½(‖w*‖/η + ‖w*‖²)$", quantity=closest
            ),
            "closed_form": equal(counts, closed, undecided=runs.uncertain, text="exactly the closed form"),
            "most": at_most(counts, ceilings, exact=under, undecided=runs.uncertain, text=at_most_text),
        },
        details=lambda: {
            "arithmetic": "fractions",
            "differ_from_the_closed_form": differs.sum(),
            "above_the_upper_bound": (~under).sum(),
            **_describe(runs),
        },
        note=f"In {differs.sum()} of {len(runs)} runs the count is not the closed form." if differs.any() else "",
    )


@claim(
    "brutzkus2018.theorem_4_large_steps",
    Kind.TREND,
    "the paragraph after Theorem 4, Section 5.2",
    draws=large_step_runs,
    given=UNDER_EQUATION_6,
    title="From $η₁$ on, one update per point is enough",
)
def theorem_4_large_steps(taken: LargeSteps) -> Promise:
    """With $R = v = 1/√(2k)$ on the same sequence, $η ≥ η₁ = (1 + (1 + α)/(2√d))/α$ updates every point exactly once
    ($T = ‖w*‖²$, the least possible), and the network classifies every $x$ as $w*$ does. Any $η < η₁$ takes $T ≥
    2‖w*‖²$.
    """
    above, below = taken.where(taken.from_threshold), taken.where(~taken.from_threshold)
    many, few = "updates per point from η₁ on, in any run", "updates per point below η₁, the fewest in any run"
    return Promise(
        {
            "once": equal(above.passes, 1, text="one update per point from $η₁$ on", quantity=many),
            "twice": at_least(below.passes, 2, text="two updates per point below $η₁$", quantity=few),
            "classifies": Fact(above.agrees, text="classifies every $x$ as $w*$ does"),
        },
        details=lambda: {
            "fewest_updates_per_point_below": below.passes.min(),
            "wrong_classifiers": (~above.agrees).sum(),
            **_describe(taken),
        },
    )


@claim(
    "brutzkus2018.gap_between_bounds",
    Kind.TREND,
    "derived; “cannot be much improved”, after Theorem 4, Section 5.2",
    reads=basis_sequences.at(gap_settings),
    given=SEQUENCE,
    form=Form.OURS,
    title="The basis comes close to $M_k$ only as $α → 1$",
)
def gap_between_bounds(
    runs: Forced,
    *,
    bound: Callable[..., np.ndarray] = max_nonzero_updates,
    limit: Callable[[np.ndarray], np.ndarray] = np.square,
) -> Promise:
    """On the sequence of Theorem 10 the upper bound $M_k$ of Theorem 2 is never exceeded. With $R = v = 1/√(2k)$,
    $T/M_k → α²$ as $η → ∞$, so no constant below $1$ can be put before $M_k$ for all $α$ at once. At a fixed $α$ this
    sequence leaves a factor $1/α²$ between $T$ and $M_k$ and does not show whether $M_k$ can be improved.
    """
    ones = np.ones(len(runs))
    limits = bound(runs.separator_norm, runs.slope, runs.step_size, ones, runs.radius, runs.gain)
    shares = runs.updates / limits
    within = at_most(
        runs.updates,
        limits,
        within=ROUNDING,
        undecided=runs.uncertain,
        text="at most $M_k$ updates",
        quantity="non-zero updates in the tightest run, against M_k of Theorem 2",
    )
    tends = equal(
        shares,
        limit(runs.slope),
        room=NEAR_LIMIT,
        where=runs.is_enormous,
        event="runs with enormous steps",
        text="$T/M_k → α²$ as $η → ∞$",
        quantity="T/M_k at the largest steps",
    )
    over = int(within.broken.sum())
    return Promise(
        {"updates": within, "limit": tends},
        details=lambda: {
            "median_tightness": np.median(shares),
            "with_eta_from_1e9": runs.is_enormous.sum(),
            **_describe(runs),
        },
        note=f"{over} runs made more updates than the bound." if over else _distance(runs, shares),
    )


def _distance(runs: Forced, shares: np.ndarray) -> str:
    """How far apart the two bounds are at the smallest slope and at the largest."""
    at_slope = sorted(zip(runs.slope[runs.is_enormous].tolist(), shares[runs.is_enormous].tolist(), strict=True))
    if not at_slope:
        return ""
    words = " and ".join(f"{share:.3g} at α = {slope:g}" for slope, share in dict.fromkeys((at_slope[0], at_slope[-1])))
    return f"M_k is nearly attained only as α → 1: at the largest steps T/M_k is {words}."


def _each(function: Bound, runs: Forced) -> np.ndarray:
    """A number of every run, as an exact one."""
    values = np.empty(len(runs), object)
    values[:] = [function(run) for run in runs.sequences]
    return values


def _at_least(counts: np.ndarray, limits: np.ndarray, runs: Forced, **how: Any) -> Sides:
    """Counts that are promised to be at least these limits."""
    kept = counts.astype(object) >= limits
    return at_least(counts, limits, exact=kept, undecided=runs.uncertain, **how)


def _beyond_one_pass(runs: Forced, limits: np.ndarray, text: str, quantity: str) -> Sides:
    """One of the two parts of Theorem 10: at least ‖w*‖² = d updates, and the rest.

    For either a limit of d and less says no more than that every point is updated once. Such runs are not scored where
    others say more, unless they break their limit.
    """
    broken = _at_least(runs.updates, limits, runs).broken
    telling = limits > runs.dim
    how = {"where": telling | broken | ~telling.any(), "event": "runs of which more than $d$ is promised, if any"}
    return _at_least(runs.updates, limits, runs, trivial=runs.dim, text=text, quantity=quantity, **how)


def _shortfall(below: np.ndarray) -> str:
    return f"In {int(below.sum())} of {len(below)} runs the count is below the bound." if below.any() else ""


def _describe(runs: Forced | LargeSteps) -> dict[str, Any]:
    return {
        "dims": np.unique(runs.dim),
        "slopes": [runs.slope.min(), runs.slope.max()],
        "step_sizes": [runs.step_size.min(), runs.step_size.max()],
    }
