"""Wide networks on diverse data: convergence (Proposition E.14), Lemma E.17, and Theorem 6.3 with its angle.

A probability statement is judged twice. Over all runs the failures must be as rare as promised (exact binomial limits);
and inside the events of its proof, whose probability `octants` computes exactly, no run may fail at all.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import clopper_pearson, fails_at_most, runs_needed
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones, on_negative_axis, on_positive_axis, plus_and_minus
from widenet.papers.brutzkus2019.formulas import (
    LARGEST_STEP,
    SMALLEST_MARGIN,
    SMALLEST_WIDTH,
    UNEXPLORED,
    c_value,
    cosine_limit,
    large_start_probability,
    recovery_failure,
    steps_of_theorem_6_3,
    steps_to_zero_loss,
)
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.trained import Trained, train_networks
from widenet.papers.brutzkus2019.runs.training_set import TrainingSet, of_each_class
from widenet.types import Dataset, Progress, RunStatus, Scale, silent

Mask = Bool[np.ndarray, " run"]


def nearest(every: Sequence[Sequence[Hypothesis]]) -> list[Hypothesis]:
    """Of the same hypotheses measured in many settings, those nearest to breaking."""
    first = lambda hypothesis: (hypothesis.met, hypothesis.slack or 0.0)  # noqa: E731
    return [min(column, key=first) for column in zip(*every, strict=True)]


def shared_hypotheses(networks: Sequence[Trained]) -> list[Hypothesis]:
    """The assumptions on the training set and on the initial deviation."""
    return nearest([[*trained.points.hypotheses(), trained.small_deviation()] for trained in networks])


@dataclass(frozen=True, eq=False)
class Judged:
    """A probability statement on one set of runs.

    Attributes:
      networks: the runs.
      good: which of them ended as promised, in time.
      event: which of them are in the event of the proof.
      allowed: the promised failure rate.
      exact_event: the exact probability that a start is outside the event.
      allowed_steps: the steps that the statement grants.
    """

    networks: Trained
    good: Mask
    event: Mask
    allowed: float
    exact_event: float
    allowed_steps: float

    @property
    def cut(self) -> Mask:
        """Runs that were stopped before the statement said they would be done: no failures, no successes."""
        return self.networks.unfinished & (self.networks.max_steps + 1 <= self.allowed_steps)


def event_failure(half_width: int, explored: Callable[[int], Fraction]) -> float:
    """P(outside an event of counts, or outside that of Lemma E.3): the two are independent of each other."""
    counted = explored(half_width)
    return float(1 - counted * (1 - Fraction(large_start_probability(half_width))))


def judge_rate(
    cases: Sequence[Judged], conditions: Sequence[Hypothesis], quantity: str, progress: Progress = silent
) -> Evidence:
    """All runs together against the promised rate, every case alone for a refutation, events for the implication.

    A case with fewer runs than its rate needs rests on the implication: some run of it must be in the event, and the
    event must be as likely as promised.
    """
    rows, verdicts, counted = [], [], []
    for number, case in enumerate(cases):
        decided = ~case.cut
        failures, total = int((~case.good & decided).sum()), int(decided.sum())
        verdicts.append(fails_at_most(failures, total, case.allowed))
        rows.append(
            {
                **case.networks.summary(),
                "failures": failures,
                "failures_inside_the_event": int((~case.good & decided & case.event).sum()),
                "outside_the_event": int((~case.event).sum()),
                "exact_probability_outside_the_event": case.exact_event,
                "allowed": case.allowed,
            }
        )
        counted.append((failures, total))
        progress((number + 1) / len(cases), f"k = {case.networks.half_width}")
    failures, total = (sum(column) for column in zip(*counted, strict=True)) if counted else (0, 0)
    allowed = min((case.allowed for case in cases), default=1.0)
    pooled = fails_at_most(failures, total, allowed)
    broken = sum(row["failures_inside_the_event"] for row in rows)
    alone = [verdict or _rests_on_its_event(case) for verdict, case in zip(verdicts, cases, strict=True)]
    conclusion = False if broken or False in (*verdicts, pooled) else pooled if all(alone) else None
    rate = failures / total if total else math.nan
    needed = runs_needed(allowed) if 0 < allowed < 1 else 0
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(
            tried=sum(case.networks.n_runs for case in cases),
            diverged=sum(int((case.networks.status == RunStatus.DIVERGED).sum()) for case in cases),
            unfinished=sum(int(case.networks.unfinished.sum()) for case in cases),
        ),
        conclusion=conclusion,
        quantity=quantity,
        promised=allowed,
        measured=rate,
        tightness=ratio(rate, allowed),
        vacuous=allowed >= 1,
        interval=clopper_pearson(failures, total),
        config={"cases": rows, "runs_needed": needed},
        note=f"{failures} of {total} runs failed; {needed} without a failure are needed. Inside the events of the "
        f"proof, which a start misses with probability {max((c.exact_event for c in cases), default=1):.2g} (exact), "
        f"{broken} failed.",
    )


def _rests_on_its_event(case: Judged) -> bool:
    return bool((case.event & ~case.cut).any()) and case.exact_event <= case.allowed


Steps = Callable[[int, float, float], float]


def check_proposition_e_14(
    networks: Sequence[Trained], progress: Progress = silent, *, steps: Steps = steps_to_zero_loss
) -> Evidence:
    """Zero loss after at most T steps. A control passes a smaller T."""
    conditions = [
        more_than("smallest_width_k", "smallest width k", min(trained.half_width for trained in networks), 16),
        at_least(
            "smallest_margin_margin", "smallest margin γ", min(trained.required_margin for trained in networks), 1
        ),
        at_most(
            "largest_step_constant_c_step_size",
            "largest step constant c_η = ηk",
            max(trained.step_constant for trained in networks),
            1 / 8,
        ),
        *shared_hypotheses(networks),
    ]
    cases = []
    for trained in networks:
        k = trained.half_width
        allowed = steps(k, trained.step_constant, trained.required_margin) if k > 16 else math.inf
        cases.append(
            Judged(
                trained,
                trained.converged & (trained.steps <= allowed),
                trained.axes_explored,
                c_value(k) + 4 * UNEXPLORED,
                event_failure(k, octants.both_axes_explored),
                allowed,
            )
        )
    return judge_rate(cases, conditions, "share of runs without zero loss after T steps", progress)


def check_lemma_e_17(
    networks: Sequence[Trained], progress: Progress = silent, *, plus_limit: float = 34, minus_limit: float = 38
) -> Evidence:
    """X_T ≤ 34c_η and Y_T ≤ 1 + 38c_η at zero loss. A control passes smaller numbers."""
    conditions = [
        at_least("smallest_width_k", "smallest width k", min(trained.half_width for trained in networks), 64),
        at_most(
            "largest_step_constant_c_step_size",
            "largest step constant c_η = ηk",
            max(trained.step_constant for trained in networks),
            1 / 8,
        ),
        *shared_hypotheses(networks),
    ]
    rows, outside, over = [], 0, 0
    for number, trained in enumerate(networks):
        scored = trained.converged & trained.axes_explored
        outside += int((~scored).sum())
        plus, minus = plus_and_minus(trained.final[scored])
        # The largest fit of a filter of W⁺(2) ∪ W⁺(4) is |⟨w, p_2⟩|, and x⁺ holds that pattern.
        sums = [
            np.where(on_negative_axis(half), np.abs(half @ PATTERNS[1]), 0).sum(axis=1) / trained.step_constant
            for half in (plus, minus)
        ]
        excess = sums[1] - 1 / trained.step_constant
        over += int((~((sums[0] <= plus_limit + 1e-9) & (excess <= minus_limit + 1e-9))).sum())
        rows.append(
            {
                **trained.summary(),
                "scored": int(scored.sum()),
                "largest_X_over_c": float(sums[0].max(initial=-math.inf)),
                "largest_Y_minus_1_over_c": float(excess.max(initial=-math.inf)),
            }
        )
        progress((number + 1) / len(networks), f"k = {trained.half_width}")
    scored = sum(row["scored"] for row in rows)
    used = [
        (max(row["largest_X_over_c"] for row in rows), plus_limit),
        (max(row["largest_Y_minus_1_over_c"] for row in rows), minus_limit),
    ]
    measured, promised = max(used, key=lambda pair: pair[0] / pair[1])
    conclusion = over == 0 if scored else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(
            tried=sum(trained.n_runs for trained in networks),
            unfinished=sum(int(trained.unfinished.sum()) for trained in networks),
            outside=outside,
        ),
        conclusion=conclusion,
        quantity="X_T or Y_T − 1 in units of c_η, whichever is nearer to its limit, in the worst run",
        promised=promised,
        measured=measured if scored else None,
        tightness=ratio(measured, promised) if scored else None,
        config={"cases": rows, "runs_over": over},
    )


def regime_of_theorem_6_3(networks: Trained) -> list[Hypothesis]:
    """k ≥ 120, c_η ≤ 1/410, σ_g ≤ c_η/(16k^{3/2}), γ ≥ 8, and a diverse training set."""
    return [
        at_least("width_k", "width k", networks.half_width, SMALLEST_WIDTH),
        at_most("step_constant_c_step_size_step", "step constant c_η = ηk", networks.step_constant, LARGEST_STEP),
        at_least("margin_margin", "margin γ", networks.required_margin, SMALLEST_MARGIN),
        *shared_hypotheses([networks]),
    ]


def check_theorem_6_3(networks: Trained, progress: Progress = silent) -> Evidence:
    """Zero loss in time, and the right sign on all 15 pattern sets. Controls: γ = 1, and k = 8."""
    allowed_steps = steps_of_theorem_6_3(networks.step_constant, networks.required_margin)
    case = Judged(
        networks,
        networks.recovers & (networks.steps <= allowed_steps),
        networks.explored_for_positive & networks.explored_for_negative,
        min(recovery_failure(networks.half_width), 1.0),
        event_failure(networks.half_width, octants.explored_for_all),
        allowed_steps,
    )
    return judge_rate(
        [case], regime_of_theorem_6_3(networks), "share of runs that do not recover f* at zero loss", progress
    )


def check_theorem_6_3_angle(networks: Trained, progress: Progress = silent) -> Evidence:
    """The angle of w_T to its pattern, and the number of updates behind it, in every converged run."""
    gamma, step = networks.required_margin, networks.step_constant
    conditions = [
        *regime_of_theorem_6_3(networks),
        more_than("margin_1_2c_step_size", "γ − 1 − 2c_η", gamma - 1 - 2 * step, 0),
    ]
    scored = networks.converged & networks.small_start
    first, last = (plus_and_minus(part[scored])[0] for part in (networks.start, networks.final))
    member = cones(first)[..., ::2]  # W⁺(1), W⁺(3) at the start
    along, across = last @ PATTERNS[:3:2].T, np.abs(last @ PATTERNS[1])
    angles = np.where(member, np.arctan2(across[..., None], along), -math.inf)
    # w_T = w_0 + a⁺ηp_i + αp_2, so the fit to p_i has grown by 2η a⁺.
    updates = np.where(member, (along - first @ PATTERNS[:3:2].T) / (2 * networks.step_size), math.inf)
    # In a run whose best patterns are negative alone the statement is about no filter.
    bound = math.acos(max(-1.0, min(1.0, cosine_limit(gamma, step)))) if gamma > 1 else math.pi
    fewest = (gamma - 1) / (2 * step) - 1
    largest, smallest = float(angles.max(initial=-math.inf)), float(updates.min(initial=math.inf))
    seen = bool(on_positive_axis(first).any())
    conclusion = largest <= bound and smallest >= fewest - 1e-6 if seen else None
    progress(1.0, "angles")
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=networks.n_runs, unfinished=int(networks.unfinished.sum()), outside=int((~scored).sum())),
        conclusion=conclusion,
        quantity="largest angle between w_T and its pattern, in degrees",
        promised=math.degrees(bound),
        measured=math.degrees(largest) if seen else None,
        tightness=ratio(largest, bound) if seen else None,
        config={
            **networks.summary(),
            "fewest_updates_a_plus": smallest,
            "promised_updates": fewest,
            "sharp_updates": (gamma + 1) / (2 * step) - math.sqrt(2) / 8,
        },
    )


def theorem_6_3_runs(seed: int, n_runs: int) -> Trained:
    """k = 120, c_η = 1/410, γ = 8: the corner of the theorem's regime."""
    steps = math.floor(steps_of_theorem_6_3(LARGEST_STEP, SMALLEST_MARGIN))
    return train_networks(seed, n_runs, SMALLEST_WIDTH, LARGEST_STEP, SMALLEST_MARGIN, max_steps=steps)


def theorem_6_3_on(
    data: Dataset | TrainingSet, n_runs: int, required_margin: float = SMALLEST_MARGIN, seed: int = 0
) -> Trained:
    """Networks of Theorem 6.3 on a reader's own training set, for every check of this module.

    Points that are not XORD's are left out and counted. A set with points that are not diverse may need the whole
    budget of steps.
    """
    points = of_each_class(data)
    steps = math.floor(steps_of_theorem_6_3(LARGEST_STEP, required_margin))
    return train_networks(seed, n_runs, SMALLEST_WIDTH, LARGEST_STEP, required_margin, max_steps=steps, points=points)


def run_count(scale: Scale) -> int:
    """How many runs of Theorem 6.3 are trained: the fewest that can confirm it, or more."""
    return runs_needed(recovery_failure(SMALLEST_WIDTH)) if scale is Scale.QUICK else 2300


def _corner(scale: Scale, seed: int) -> Trained:
    return theorem_6_3_runs(seed, run_count(scale))


def faster_runs(scale: Scale, seed: int) -> Trained:
    """k = 120, γ = 8 with ten times the step, c_η = 1/41: same lemmas, a tenth of the time."""
    return train_networks(seed, run_count(scale), SMALLEST_WIDTH, 1 / 41, 8.0, max_steps=12_000)


def _convergent(scale: Scale, seed: int) -> list[Trained]:
    """Where the statement is nearest to failing (narrow networks, large steps), and the other settings."""
    count = 840 if scale is Scale.QUICK else 2300
    narrow = [train_networks(seed, count, 20, 1 / 8, gamma, max_steps=20_000) for gamma in (1.0, 8.0)]
    return [*narrow, faster_runs(scale, seed), _corner(scale, seed)]


def _converged(scale: Scale, seed: int) -> list[Trained]:
    """At paper scale also the smallest width with the largest step."""
    edge = [] if scale is Scale.QUICK else [train_networks(seed, 1000, 64, 1 / 8, 8.0, max_steps=20_000)]
    return [*edge, faster_runs(scale, seed), _corner(scale, seed)]


proposition_e_14 = Claim(
    id="brutzkus2019.proposition_e_14",
    kind=Kind.STEP,
    statement=(
        "For k > 16, γ ≥ 1 and diverse data, with probability at least 1 − √(2k/π)e^{−8k} − 4e⁻⁸ gradient descent is "
        "at zero loss after T = 7(γ + 1 + 8c_η)/((k/2 − 2√k)η) iterations."
    ),
    where="Proposition E.14, Section E.0.6",
    judge=check_proposition_e_14,
    draws=_convergent,
)

lemma_e_17 = Claim(
    id="brutzkus2019.lemma_e_17",
    kind=Kind.STEP,
    statement=(
        "At zero loss, for k ≥ 64: the w filters whose best pattern is p_2 or p_4 have X_T ≤ 34c_η together, and such "
        "u filters Y_T ≤ 1 + 38c_η."
    ),
    where="Lemma E.17, Section E.0.7",
    judge=check_lemma_e_17,
    draws=_converged,
)

theorem_6_3 = Claim(
    id="brutzkus2019.theorem_6_3",
    kind=Kind.MAIN,
    statement=(
        "Wide networks learn XORD from diverse points: for k ≥ 120, η = c_η/k, c_η ≤ 1/410, σ_g ≤ c_η/(16k^{3/2}) and "
        "γ ≥ 8, with probability at least 1 − c − 16e⁻⁸ gradient descent is, after 28(γ + 1 + 8c_η)/c_η iterations, at "
        "a global minimum with sign N(x) = f*(x) for every x."
    ),
    where="Theorem 6.3, Section 6.1; restated as Theorem E.1",
    judge=check_theorem_6_3,
    draws=_corner,
)

theorem_6_3_angle = Claim(
    id="brutzkus2019.theorem_6_3_angle",
    kind=Kind.MAIN,
    statement=(
        "Clustering at that global minimum: a w filter that started nearest to p_i, i = 1 or 3, ends at an angle of at "
        "most arccos((γ − 1 − 2c_η)/(γ − 1 + c_η)) to p_i, after a⁺(T) ≥ (γ − 1)/(2c_η) − 1 updates on positive points."
    ),
    where="Theorem 6.3, second part; Section E.0.9",
    judge=check_theorem_6_3_angle,
    draws=_corner,
)

CLAIMS = (proposition_e_14, lemma_e_17, theorem_6_3, theorem_6_3_angle)
