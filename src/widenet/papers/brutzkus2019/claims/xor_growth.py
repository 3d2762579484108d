"""Lemma B.4 and Proposition B.5: the two sums whose difference is y N(x), and how long a point stays active.

For x_1 the own filters are the w's and the opposing ones the u's. A step at which x_1 is active adds η‖x_1‖² = 2η to
the fit of every own filter in its half-plane, so the own sum grows by exactly 2η·|W_0⁺(1)|. An opposing filter goes to
and fro between two places 2η apart: it answers at most √2η/4 if it starts in the half-plane, and at most 2η if not. The
paper has η in place of 2η in both. In the first that is only generous. In the second it makes the bound kη false:
at t = 1 every u of U_0⁺(3) has arrived in the half-plane of x_1, at 2η − |⟨u_0, x_1⟩|.

Lemma B.4, item 1, is `lemma_b_4_1`, item 2 `lemma_b_4_2`; Proposition B.5 is `proposition_b_5`.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Conjunct, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.claims.section_3 import (
    both_events,
    event_of,
    everyone,
    setting_of_section_3,
    together,
    wide,
    with_probability,
)
from widenet.papers.brutzkus2019.formulas import c_value
from widenet.papers.brutzkus2019.runs.xor import XorTrace, xor_traces
from widenet.papers.brutzkus2019.runs.xor_starts import XorSetting, XorStart, placed_start
from widenet.papers.brutzkus2019.xor_formulas import (
    active_limit,
    active_limit_as_printed,
    active_limit_by_width,
    failure_rate,
    opposing_limit,
    sure_to_exceed,
)
from widenet.records import Scale

PerPoint = Float[np.ndarray, "run 4"]
Limit = Callable[[XorStart], PerPoint]
SUM, ACTIVE = "largest opposing sum, in units of η", "iterations at which one point is active"


def _settings(scale: Scale, seed: int) -> list[XorSetting]:
    n_runs = 60 if scale is Scale.QUICK else 1000
    return [XorSetting(half_width=k, step_constant=0.1, n_runs=n_runs, seed=seed) for k in (17, 50, 200)]


def _with_nearest(scale: Scale, seed: int) -> list[XorSetting]:
    """And a start with k = 2 in which the opposing sum of x_4 comes to 127/128 of its limit."""
    return [*_settings(scale, seed), placed_start(64 / 603, (14, 1), (-10, 1), (-7, 19), (-18, -12))]


def _satisfaction_settings(scale: Scale, seed: int) -> list[XorSetting]:
    n_runs = 40 if scale is Scale.QUICK else 500
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed)
        for k in (17, 25, 50, 100)
        for c in (0.4, 0.1, 0.01)
    ]


def _slow_settings(scale: Scale, seed: int) -> list[XorSetting]:
    return [XorSetting(half_width=50, step_constant=0.01, n_runs=100 if scale is Scale.QUICK else 600, seed=seed)]


def by_half_planes(start: XorStart) -> PerPoint:
    """2·(opposing filters that start outside the half-plane) + √2/4·(those inside), in units of η."""
    return opposing_limit(start.opposing_counts, start.half_width - start.opposing_counts)


def by_all_filters(start: XorStart) -> PerPoint:
    """2k, in units of η."""
    return np.full((start.n_runs, 4), 2.0 * start.half_width)


def as_printed(start: XorStart) -> PerPoint:
    """k, in units of η."""
    return np.full((start.n_runs, 4), float(start.half_width))


@claim(
    "brutzkus2019.lemma_b_4_1",
    Kind.STEP,
    "Lemma B.4, item 1, Section B.1 (with 2η in place of η for each filter)",
    reads=xor_traces.at(_with_nearest),
)
def lemma_b_4_1(
    traces: Sequence[XorTrace],
    *,
    sharp: Limit = by_half_planes,
    coarse: Limit = by_all_filters,
    printed: Limit | None = None,
) -> Evidence:
    """XOR, in the event of Lemma B.2: Σ_j σ(⟨u_t, x_1⟩) ≤ 2η|U_0⁺(3)| + (√2/4)η|U_0⁺(1)| ≤ 2kη for all t; the same for
    x_3, and with w and u exchanged for x_2 and x_4.

    With `printed` that bound is judged instead, with the probability of the lemma, over all runs.
    """
    hypotheses = setting_of_section_3([run.start for run in traces])
    details = {
        "sums": [
            {
                "half_width": run.start.half_width,
                "largest_over_k_eta": float(run.largest_opposing.max()) / run.start.half_width,
                "exact_lower_bound_on_printed_failures": sure_to_exceed(run.start.half_width),
            }
            for run in traces
        ]
    }
    note = "Printed for x_1; the other three points have it by symmetry and are judged too."
    if printed is not None:
        sides = [
            Sides(run.largest_opposing.max(axis=1), printed(run.start).max(axis=1), quantity=SUM) for run in traces
        ]
        failed = [np.any(run.largest_opposing > printed(run.start), axis=1) for run in traces]
        name = "opposing sums of all four points, with probability at least 1 − √(2k/π)e^{−8k}"
        parts = {name: with_probability(traces, failed, c_value, sides)}
        return evidence(parts, hypotheses, runs=everyone(traces).runs, details=details, note=note)
    event = event_of(traces)

    def below(limit: Limit, points: slice) -> Sides:
        return together(
            Sides(
                run.largest_opposing[:, points],
                limit(run.start)[:, points],
                room=ROUNDING * limit(run.start)[:, points],
                scored=scored[:, None],
                quantity=SUM,
            )
            for run, scored in event
        )

    parts: dict[str, Conjunct] = {
        "x_1, x_3: sum over u ≤ 2η for each u outside the half-plane, √2η/4 for each inside": below(
            sharp, slice(0, None, 2)
        ),
        "x_2, x_4: sum over w ≤ 2η for each w outside the half-plane, √2η/4 for each inside": below(
            sharp, slice(1, None, 2)
        ),
        "all four sums ≤ 2kη": below(coarse, slice(None)),
        "every run ends": event.ended,
    }
    return evidence(parts, (*hypotheses, event.hypothesis), runs=event.runs, details=details, note=note)


lemma_b_4_1_as_printed = lemma_b_4_1.variant(
    "lemma_b_4_1_as_printed",
    where="Lemma B.4, item 1, Section B.1",
    statement="XOR: with probability at least 1 − √(2k/π)e^{−8k}, R_t⁺(1) + R_t⁻(1) = Σ_j σ(⟨u_t, x_1⟩) ≤ kη for all "
    "t, and by symmetry for the other points.",
    reads=xor_traces.at(_settings),
    printed=as_printed,
)


@claim(
    "brutzkus2019.lemma_b_4_2",
    Kind.STEP,
    "Lemma B.4, item 2, Section B.1 (−yN is printed where yN is meant)",
    reads=xor_traces.at(_settings),
)
def lemma_b_4_2(traces: Sequence[XorTrace], *, gain: float = 2.0, sense: Sense = Sense.EQUAL) -> Evidence:
    """XOR, in the event of Lemma B.2: Σ_j σ(⟨w_t, x_1⟩) grows by exactly 2η|W_0⁺(1)| at a step with y_1 N_t(x_1) < 1,
    and does not change at any other; the same for the other points. (The paper has: by at least η|W_0⁺(1)|.)

    The paper's S⁻, the sum over filters behind the point, is 0 as σ is.
    """
    event = event_of(traces)
    views = [
        (run, np.diff(run.own_sums, axis=0), run.active[:-1], run.seen[1:] & scored[:, None]) for run, scored in event
    ]
    parts: dict[str, Conjunct] = {
        "gain of 2η·n_i while the point is active": together(
            Sides(
                gains,
                gain * run.start.own_counts,
                sense,
                scored=stepping & active,
                quantity="gain of an own sum at a step, in units of η",
            )
            for run, gains, active, stepping in views
        ),
        "no change at any other step": together(
            Sides(gains, 0.0, Sense.EQUAL, scored=stepping & ~active) for _, gains, active, stepping in views
        ),
        "every run ends": event.ended,
    }
    hypotheses = (*setting_of_section_3([run.start for run in traces]), event.hypothesis)
    return evidence(parts, hypotheses, runs=event.runs)


def by_counts(start: XorStart) -> PerPoint:
    """(1 + 2kη)/(2ηn_i)."""
    return active_limit(start.goal, start.half_width, start.own_counts)


def by_width(start: XorStart) -> PerPoint:
    """(1 + 2kη)√k/(kη(√k − 4)) for every point."""
    return np.full((start.n_runs, 4), active_limit_by_width(start.goal, start.half_width))


def count_as_printed(start: XorStart) -> PerPoint:
    """4√k/(√k − 2) for every point."""
    return np.full((start.n_runs, 4), active_limit_as_printed(start.half_width))


@claim(
    "brutzkus2019.proposition_b_5",
    Kind.STEP,
    "Proposition B.5, Section B.1 (with a count that depends on η)",
    reads=xor_traces.at(_satisfaction_settings),
)
def proposition_b_5(
    traces: Sequence[XorTrace], *, counts: Limit = by_counts, width: Limit = by_width, printed: Limit | None = None
) -> Evidence:
    """XOR, k > 16, in the events of Lemmas B.2 and 3.1: once x_i was active at l ≥ (1 + 2kη)/(2ηn_i) iterations,
    n_i = |W_0⁺(i)| or |U_0⁺(i)|, it is satisfied for good; l ≥ (1 + 2kη)√k/(kη(√k − 4)) is enough for all points.

    Satisfied for good after ⌈l⌉ active iterations is the same as at most ⌈l⌉ of them in the whole run, and that is
    counted. With `printed` that number is judged instead, with the probability of the proposition, over all runs.
    """
    starts = [run.start for run in traces]
    hypotheses = (wide(start.half_width for start in starts), *setting_of_section_3(starts))
    details = {
        "points": [
            {
                "half_width": run.start.half_width,
                "step_constant": run.start.step_constant,
                "most_active": int(run.updates.max()),
                "limit_by_width": active_limit_by_width(run.start.goal, run.start.half_width),
                "limit_as_printed": active_limit_as_printed(run.start.half_width),
            }
            for run in traces
        ]
    }
    if printed is not None:
        limits = [np.ceil(printed(start)) for start in starts]
        sides = [
            Sides(run.updates.max(axis=1), limit.max(axis=1), quantity=ACTIVE)
            for run, limit in zip(traces, limits, strict=True)
        ]
        failed = [np.any(run.updates > limit, axis=1) for run, limit in zip(traces, limits, strict=True)]
        name = "satisfied for good, with probability at least 1 − √(2k/π)e^{−8k} − 8e⁻⁸"
        parts = {name: with_probability(traces, failed, failure_rate, sides)}
        return evidence(parts, hypotheses, runs=everyone(traces).runs, details=details)
    event = both_events(traces)

    def at_most(limit: Limit) -> Sides:
        return together(
            Sides(
                run.updates,
                np.ceil(limit(run.start)),
                scored=scored[:, None],
                quantity=ACTIVE,
            )
            for run, scored in event
        )

    parts: dict[str, Conjunct] = {
        "at most ⌈(1 + 2kη)/(2ηn_i)⌉ active iterations": at_most(counts),
        "at most ⌈(1 + 2kη)√k/(kη(√k − 4))⌉ active iterations": at_most(width),
        "every run ends": event.ended,
    }
    return evidence(parts, (*hypotheses, event.hypothesis), runs=event.runs, details=details)


proposition_b_5_as_printed = proposition_b_5.variant(
    "proposition_b_5_as_printed",
    where="Proposition B.5, Section B.1",
    statement="XOR, k > 16: with probability at least 1 − √(2k/π)e^{−8k} − 8e⁻⁸, for all i, once there were "
    "l ≥ 4√k/(√k − 2) iterations with y_i N(x_i) < 1, y_i N(x_i) ≥ 1 for good.",
    reads=xor_traces.at(_slow_settings),
    printed=count_as_printed,
)
