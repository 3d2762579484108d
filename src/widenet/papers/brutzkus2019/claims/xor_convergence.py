"""Theorem 3.3: a wide network on XOR reaches loss 0, and how long that takes.

Every iteration before T has an active point, so T ≤ Σ_i a_i, and Proposition B.5 bounds each a_i. From below: one of
W_0⁺(1) and W_0⁺(3) has at most k/2 filters, each of which answers at most (2t + √2/4)η after t steps, so loss 0 needs
(k/2)(2t + √2/4)η ≥ 1, that is t ≥ 1/(kη) − √2/8. The printed bound, about 16, does not depend on η and cannot hold for
small steps: η ≤ c_η/k with c_η = 0.01 takes 100 iterations at least.

Theorem 3.3 (restated as B.6) is `theorem_3_3`; its number of iterations is `theorem_3_3_iterations`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Conjunct, Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.claims.section_3 import (
    both_events,
    everyone,
    reached_in_event,
    setting_of_section_3,
    together,
    wide,
    with_probability,
)
from widenet.papers.brutzkus2019.runs.xor import XorTrace, xor_traces
from widenet.papers.brutzkus2019.runs.xor_starts import XorSetting, XorStart, placed_start
from widenet.papers.brutzkus2019.xor_formulas import (
    Limits,
    active_limit,
    active_limit_by_width,
    failure_rate,
    iterations_as_printed,
    iterations_needed,
)
from widenet.records import Scale

Limit = Callable[[XorStart], Limits]
"""A number of iterations for each run."""
TIME = "iterations until loss 0"


def _wide_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """A usual width and the smallest, with the largest η and with far less beside the same σ_g."""
    n_runs = 1200 if scale is Scale.QUICK else 2000
    rows = ((50, 0.4, 1.0), (50, 0.4, 0.1), (17, 0.49, 1.0), (17, 0.49, 0.05))
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed, step_share=share) for k, c, share in rows
    ]


def _settings(scale: Scale, seed: int) -> list[XorSetting]:
    n_runs = 200 if scale is Scale.QUICK else 600
    pairs = ((50, 0.4), (50, 0.1), (50, 0.01), (17, 0.1))
    return [XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed) for k, c in pairs]


def _with_nearest(scale: Scale, seed: int) -> list[XorSetting]:
    """And a start with k = 2, c_η = 32/513 that comes nearest to the lower bound: 15.85, and T = 16."""
    return [*_settings(scale, seed), placed_start(16 / 513, (-13, -3), (18, -11), (9, -22), (1, 4))]


def _slow_settings(scale: Scale, seed: int) -> list[XorSetting]:
    return [setting for setting in _settings(scale, seed) if setting.step_constant == 0.01]


@claim(
    "brutzkus2019.theorem_3_3",
    Kind.MAIN,
    "Theorem 3.3, Section 3.2; Theorem B.6",
    reads=xor_traces.at(_wide_settings),
)
def theorem_3_3(traces: Sequence[XorTrace], *, allowed: Callable[[int], float] = failure_rate) -> Evidence:
    """XOR: for k > 16, η ≤ c_η/k, c_η < 1/2 and σ_g ≤ c_η/(16k^{3/2}), with probability at least
    1 − √(2k/π)e^{−8k} − 8e⁻⁸, gradient descent reaches a global minimum (loss 0, so all four signs are right).

    All runs count, so the hypotheses are the paper's own: η may be far below c_η/k, and then few are in the event of
    Lemma B.2. Of the runs in both events none may fail, however few they are.
    """
    starts = [run.start for run in traces]
    inside = np.concatenate([start.in_event & start.explored for start in starts])
    reached = np.concatenate([run.reached for run in traces])
    moving = np.concatenate([~run.ended for run in traces])
    losses = [Sides(run.final_loss, 0.0, quantity="loss at the end") for run in traces]
    parts: dict[str, Conjunct] = {
        "loss 0": with_probability(traces, [~run.reached for run in traces], allowed, losses),
        "all four signs right": with_probability(
            traces, [np.any(run.margins[-1] <= 0, axis=1) for run in traces], allowed
        ),
        "no failure in the events of Lemmas B.2 and 3.1": Fact(reached, undecided=moving, scored=inside),
    }
    hypotheses = (wide(start.half_width for start in starts), *setting_of_section_3(starts, as_printed=True))
    return evidence(parts, hypotheses, runs=everyone(traces).runs)


def by_points(start: XorStart) -> Limits:
    """Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉."""
    return np.ceil(active_limit(start.goal, start.half_width, start.own_counts)).sum(axis=1)


def by_width(start: XorStart) -> Limits:
    """4⌈(1 + 2kη)√k/(kη(√k − 4))⌉."""
    return np.full(start.n_runs, 4 * np.ceil(active_limit_by_width(start.goal, start.half_width)))


def as_printed(start: XorStart) -> Limits:
    """The larger of the two numbers that the paper gives."""
    return np.full(start.n_runs, max(iterations_as_printed(start.half_width)))


def needed(start: XorStart) -> Limits:
    """1/(kη) − √2/8."""
    return np.full(start.n_runs, iterations_needed(start.goal, start.half_width))


@claim(
    "brutzkus2019.theorem_3_3_iterations",
    Kind.MAIN,
    "Theorem 3.3, Section 3.2; Theorem B.6 (with a number of iterations that depends on η)",
    reads=xor_traces.at(_settings),
)
def theorem_3_3_iterations(
    traces: Sequence[XorTrace], *, points: Limit = by_points, width: Limit = by_width, printed: Limit | None = None
) -> Evidence:
    """XOR, k > 16, in the events of Lemmas B.2 and 3.1: loss 0 after at most
    T ≤ Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉ ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉ iterations.

    With `printed` that number is judged instead, with the probability of the theorem, over all runs.
    """
    starts = [run.start for run in traces]
    hypotheses = (wide(start.half_width for start in starts), *setting_of_section_3(starts))
    details = {"iterations": [_times(run) for run in traces]}
    if printed is not None:
        # A run that stands still at a positive loss has no T; it fails, and has no number to show.
        times = [np.where(run.reached, run.steps, np.nan) for run in traces]
        sides = [Sides(each, printed(start), quantity=TIME) for each, start in zip(times, starts, strict=True)]
        late = [~run.reached | (run.steps > printed(run.start)) for run in traces]
        name = "loss 0 in time, with probability at least 1 − √(2k/π)e^{−8k} − 8e⁻⁸"
        parts = {name: with_probability(traces, late, failure_rate, sides)}
        return evidence(parts, hypotheses, runs=everyone(traces).runs, details=details)
    event = both_events(traces)
    # The last part sees a run that stands still.
    views = [(run, scored & run.reached) for run, scored in event]
    reached = np.concatenate([run.reached for run in traces])
    moving = np.concatenate([~run.ended for run in traces])
    parts: dict[str, Conjunct] = {
        "T ≤ Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉": together(
            Sides(run.steps, points(run.start), scored=scored, quantity=TIME) for run, scored in views
        ),
        "T ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉": together(
            Sides(run.steps, width(run.start), scored=scored, quantity=TIME) for run, scored in views
        ),
        "T ≤ Σ_i a_i(T)": together(Sides(run.steps, run.updates.sum(axis=1), scored=scored) for run, scored in views),
        "Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉ ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉": together(
            Sides(points(run.start), width(run.start), scored=scored) for run, scored in event
        ),
        "loss 0 is reached": Fact(reached, undecided=moving, scored=np.concatenate(event.scored)),
    }
    return evidence(parts, (*hypotheses, event.hypothesis), runs=event.runs, details=details)


theorem_3_3_iterations_as_printed = theorem_3_3_iterations.variant(
    "theorem_3_3_iterations_as_printed",
    where="Theorem 3.3, Section 3.2; Theorem B.6",
    statement="XOR: for k > 16, η ≤ c_η/k and c_η < 1/2, with probability at least 1 − √(2k/π)e^{−8k} − 8e⁻⁸, gradient "
    "descent reaches loss 0 after at most T ≤ 16√k/√(k − 2) iterations (16√k/(√k − 2) by Proposition B.5).",
    reads=xor_traces.at(_slow_settings),
    printed=as_printed,
)


@claim(
    "brutzkus2019.theorem_3_3_lower_bound",
    Kind.STEP,
    "Section 3.2 (derived: why the number of iterations in Theorem 3.3 must depend on η)",
    reads=xor_traces.at(_with_nearest),
)
def theorem_3_3_lower_bound(traces: Sequence[XorTrace], *, limit: Limit = needed) -> Evidence:
    """XOR, in the event of Lemma B.2: gradient descent needs T ≥ 1/(kη) − √2/8 iterations to reach loss 0."""
    event = reached_in_event(traces)
    sides = together(
        Sides(
            run.steps,
            limit(run.start),
            Sense.AT_LEAST,
            room=ROUNDING * limit(run.start),
            scored=scored,
            trivial=0.0,
            quantity=TIME,
        )
        for run, scored in event
    )
    hypotheses = (*setting_of_section_3([run.start for run in traces]), event.hypothesis)
    details = {"iterations": [_times(run) for run in traces]}
    return evidence({"T ≥ 1/(kη) − √2/8": sides}, hypotheses, runs=event.runs, details=details)


def _times(run: XorTrace) -> dict[str, Any]:
    """When the runs of one setting reach loss 0, beside what the paper and the lower bound say."""
    start, seen = run.start, run.steps[run.reached]
    return {
        "half_width": start.half_width,
        "step_constant": start.step_constant,
        "fewest": int(seen.min()) if len(seen) else None,
        "median": float(np.median(seen)) if len(seen) else None,
        "most": int(seen.max()) if len(seen) else None,
        "at_least": iterations_needed(start.goal, start.half_width),
        "printed": list(iterations_as_printed(start.half_width)),
    }
