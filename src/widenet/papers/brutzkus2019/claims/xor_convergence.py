"""Theorem 3.3: a wide network on XOR reaches loss 0, and how long that takes.

Every iteration before T has an active point, so T ≤ Σ_i a_i, and Proposition B.5 bounds each a_i. From below: one of
W_0⁺(1) and W_0⁺(3) has at most k/2 filters, each of which answers at most (2t + √2/4)η after t steps, so loss 0 needs
(k/2)(2t + √2/4)η ≥ 1, that is t ≥ 1/(kη) − √2/8. The printed bound, about 16, does not depend on η and cannot hold for
small steps: η ≤ c_η/k with c_η = 0.01 takes 100 iterations at least.

Theorem 3.3 (restated as B.6) is `theorem_3_3`; its number of iterations is `theorem_3_3_iterations`.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Verdict
from widenet.claims.legacy import decide
from widenet.papers.brutzkus2019.claims.xor_growth import active_limit, active_limit_by_width
from widenet.papers.brutzkus2019.claims.xor_verdicts import Judged, allowed_failures, evidence_of, setting_of_section_3
from widenet.papers.brutzkus2019.runs.xor import EVENT_RADIUS, XorStart, draw_start, trace
from widenet.types import Progress, RunStatus, Scale, silent

Limit = Callable[[XorStart], Float[np.ndarray, " run"]]


def check_theorem_3_3(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """How many of all runs do not reach loss 0; none of those in both events may be among them.

    All runs count, so the hypotheses are the paper's own: η may be far below c_η/k, and then few are in the event.
    """
    cases, sure = [], 0
    for number, start in enumerate(starts):
        run = trace(start)
        reached = (run.status == RunStatus.CONVERGED) & (run.final_loss == 0)
        sure += int((~reached & start.in_event & start.explored).sum())
        everyone = np.ones(start.n_runs, bool)
        cases.append(Judged(start, everyone, ~reached, run.final_loss, np.zeros(start.n_runs), run.ended))
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    evidence = evidence_of(
        cases,
        setting_of_section_3(starts, wide=True, as_printed=True),
        "loss at the end",
        allowed=[allowed_failures(start.half_width) for start in starts],
        config={"failed_in_the_events": sure},
    )
    if sure:
        return evidence.model_copy(update={"verdict": decide(evidence.hypotheses, False), "conclusion": False})
    return evidence


def iterations_allowed(start: XorStart) -> Float[np.ndarray, " run"]:
    """The smaller of Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉ and 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉."""
    return np.minimum(np.ceil(active_limit(start)).sum(axis=1), 4 * np.ceil(active_limit_by_width(start)))


def iterations_allowed_as_printed(start: XorStart) -> Float[np.ndarray, " run"]:
    """The larger of the theorem's 16√k/√(k − 2) and the 16√k/(√k − 2) that Proposition B.5 gives."""
    root = math.sqrt(start.half_width)
    return np.full(start.n_runs, max(16 * root / math.sqrt(start.half_width - 2), 16 * root / (root - 2)))


def iterations_needed(start: XorStart) -> Float[np.ndarray, " run"]:
    """1/(kη) − √2/8."""
    return np.full(start.n_runs, start.goal / start.half_width - EVENT_RADIUS / 2)


def check_theorem_3_3_iterations(
    starts: Sequence[XorStart], progress: Progress = silent, *, limit: Limit = iterations_allowed, is_rate: bool = False
) -> Evidence:
    """T, the first t with loss 0, from above. Runs outside the events of Lemmas B.2 and 3.1 are not scored."""
    return _iterations(starts, progress, limit, is_rate=is_rate, is_lower_bound=False)


def check_theorem_3_3_iterations_as_printed(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """The same against the more generous of the two printed numbers, as a statement about probabilities."""
    return check_theorem_3_3_iterations(starts, progress, limit=iterations_allowed_as_printed, is_rate=True)


def check_theorem_3_3_lower_bound(
    starts: Sequence[XorStart], progress: Progress = silent, *, limit: Limit = iterations_needed
) -> Evidence:
    """T from below, in the event of Lemma B.2. A control asks for twice as many."""
    return _iterations(starts, progress, limit, is_rate=False, is_lower_bound=True)


def _iterations(
    starts: Sequence[XorStart], progress: Progress, limit: Limit, *, is_rate: bool, is_lower_bound: bool
) -> Evidence:
    cases, rows = [], []
    for number, start in enumerate(starts):
        run = trace(start)
        reached = run.status == RunStatus.CONVERGED
        # A run that stands still at a positive loss never gets there.
        times = np.where(reached, run.steps.astype(float), np.inf)
        bound = limit(start)
        broken = times < bound if is_lower_bound else ~(times <= bound)
        scored = start.in_event if is_lower_bound else start.in_event & start.explored
        cases.append(Judged(start, scored & reached if is_lower_bound else scored, broken, times, bound, run.ended))
        seen = run.steps[scored & reached]
        rows.append(
            {
                "half_width": start.half_width,
                "step_constant": start.step_constant,
                "fewest": int(seen.min(initial=10**9)),
                "median": float(np.median(seen)) if len(seen) else None,
                "most": int(seen.max(initial=0)),
                "at_least": float(iterations_needed(start)[0]),
                "printed": [
                    16 * math.sqrt(start.half_width / max(start.half_width - 2, 1)),
                    float(iterations_allowed_as_printed(start)[0]) if start.half_width > 4 else None,
                ],
            }
        )
        progress((number + 1) / len(starts), f"k = {start.half_width}, c_η = {start.step_constant}")
    return evidence_of(
        cases,
        setting_of_section_3(starts, wide=True),
        "iterations until loss 0",
        allowed=[allowed_failures(start.half_width) for start in starts] if is_rate else None,
        is_lower_bound=is_lower_bound,
        config={"iterations": rows},
    )


def _wide(scale: Scale, seed: int) -> list[XorStart]:
    """With the largest η, and with a tenth of it beside the same σ_g."""
    n_runs = 1200 if scale is Scale.QUICK else 10_000
    return [draw_start(50, 0.4, n_runs, seed, step_share=share) for share in (1.0, 0.1)]


def _starts(scale: Scale, seed: int) -> list[XorStart]:
    n_runs = 200 if scale is Scale.QUICK else 2000
    return [draw_start(k, c, n_runs, seed) for k, c in ((50, 0.4), (50, 0.1), (50, 0.01), (17, 0.1))]


def _slow(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_start(50, 0.01, 200 if scale is Scale.QUICK else 2000, seed)]


theorem_3_3 = Claim(
    id="brutzkus2019.theorem_3_3",
    kind=Kind.MAIN,
    statement=(
        "XOR: for k > 16, η ≤ c_η/k, c_η < 1/2 and σ_g ≤ c_η/(16k^{3/2}), with probability at least "
        "1 − √(2k/π)e^{−8k} − 8e⁻⁸, gradient descent reaches a global minimum (loss 0, so all four signs are right)."
    ),
    where="Theorem 3.3, Section 3.2; Theorem B.6",
    judge=check_theorem_3_3,
    draws=_wide,
)

theorem_3_3_iterations = Claim(
    id="brutzkus2019.theorem_3_3_iterations",
    kind=Kind.MAIN,
    statement=(
        "XOR, k > 16, in the events of Lemmas B.2 and 3.1: loss 0 after at most "
        "T ≤ Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉ ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉ iterations."
    ),
    where="Theorem 3.3, Section 3.2; Theorem B.6 (with a number of iterations that depends on η)",
    judge=check_theorem_3_3_iterations,
    draws=_starts,
)

theorem_3_3_iterations_as_printed = Claim(
    id="brutzkus2019.theorem_3_3_iterations_as_printed",
    kind=Kind.MAIN,
    statement=(
        "XOR: for k > 16, η ≤ c_η/k and c_η < 1/2, with probability at least 1 − √(2k/π)e^{−8k} − 8e⁻⁸, gradient "
        "descent reaches loss 0 after at most T ≤ 16√k/√(k − 2) iterations (16√k/(√k − 2) by Proposition B.5)."
    ),
    where="Theorem 3.3, Section 3.2; Theorem B.6",
    judge=check_theorem_3_3_iterations_as_printed,
    draws=_slow,
    expected=Verdict.VIOLATED,
)

theorem_3_3_lower_bound = Claim(
    id="brutzkus2019.theorem_3_3_lower_bound",
    kind=Kind.STEP,
    statement="XOR, in the event of Lemma B.2: gradient descent needs T ≥ 1/(kη) − √2/8 iterations to reach loss 0.",
    where="Section 3.2 (derived: why the number of iterations in Theorem 3.3 must depend on η)",
    judge=check_theorem_3_3_lower_bound,
    draws=_starts,
)

CLAIMS = (theorem_3_3, theorem_3_3_iterations, theorem_3_3_iterations_as_printed, theorem_3_3_lower_bound)
