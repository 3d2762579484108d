"""Lemma B.4 and Proposition B.5: the two sums whose difference is y N(x), and how long a point stays active.

For x_1 the own filters are the w's and the opposing ones the u's. A step at which x_1 is active adds η‖x_1‖² = 2η to
the fit of every own filter in its half-plane, so the own sum grows by exactly 2η·|W_0⁺(1)|. An opposing filter goes to
and fro between two places 2η apart: it answers at most √2η/4 if it starts in the half-plane, and at most 2η if not. The
paper has η in place of 2η in both. In the first that is only generous. In the second it makes the bound kη false:
at t = 1 every u of U_0⁺(3) has arrived in the half-plane of x_1, at 2η − |⟨u_0, x_1⟩|.

Lemma B.4, item 1, is `lemma_b_4_1`, item 2 `lemma_b_4_2`; Proposition B.5 is `proposition_b_5`.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Verdict
from widenet.papers.brutzkus2019.claims.xor_verdicts import Judged, allowed_failures, evidence_of, setting_of_section_3
from widenet.papers.brutzkus2019.formulas import c_value
from widenet.papers.brutzkus2019.runs.xor import EVENT_RADIUS, XorStart, draw_start, trace
from widenet.types import Progress, Scale, silent

PerPoint = Float[np.ndarray, "run 4"]
Limit = Callable[[XorStart], PerPoint]


def opposing_limit(start: XorStart) -> PerPoint:
    """2·(opposing filters that start outside the half-plane) + √2/4·(those inside), in units of η."""
    inside = start.opposing_counts
    return 2.0 * (start.half_width - inside) + EVENT_RADIUS * inside


def opposing_limit_as_printed(start: XorStart) -> PerPoint:
    """k, in units of η."""
    return np.full((start.n_runs, 4), float(start.half_width))


def sure_to_exceed(half_width: int) -> float:
    """A lower bound on how often the printed bound fails in the event.

    It fails where some |U_0⁺(i)| (i odd) or |W_0⁺(i)| (i even) is above k/(2 − √2/4): then the opposing sum of −x_i at
    t = 1 is above (2 − √2/4)η·k/(2 − √2/4) = kη. Opposite half-planes exclude each other; the two axes are independent.
    """
    tail = float(scipy.stats.binom.sf(math.floor(half_width / (2 - EVENT_RADIUS)), half_width, 0.5))
    return 1 - (1 - 2 * tail) ** 2


def check_lemma_b_4_1(
    starts: Sequence[XorStart], progress: Progress = silent, *, limit: Limit = opposing_limit, is_rate: bool = False
) -> Evidence:
    """The opposing sum of every point at every t. `is_rate` judges a statement of the form "with probability"."""
    cases, rows = [], []
    for number, start in enumerate(starts):
        run = trace(start)
        largest, bound = np.where(run.seen, run.opposing_sums, 0.0).max(axis=0), limit(start)
        over = largest > bound
        place = np.argmax(largest / bound, axis=1)[:, None]
        worst, promised = (np.take_along_axis(values, place, axis=1)[:, 0] for values in (largest, bound))
        cases.append(Judged(start, start.in_event, over.any(axis=1), worst, promised, run.ended))
        rows.append(
            {
                "half_width": start.half_width,
                "largest_over_k_eta": float(largest[start.in_event].max(initial=0.0)) / start.half_width,
                "broken_for_x_1_alone": int(over[start.in_event, 0].sum()),
                "exact_lower_bound_on_printed_failures": sure_to_exceed(start.half_width),
            }
        )
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    allowed = [max(c_value(start.half_width), np.finfo(float).tiny) for start in starts] if is_rate else None
    return evidence_of(
        cases,
        setting_of_section_3(starts),
        "largest opposing sum, in units of η",
        allowed=allowed,
        config={"sums": rows},
        note="Printed for x_1; the other three points have it by symmetry and are judged too.",
    )


def check_lemma_b_4_1_as_printed(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """The same against kη, as a statement about probabilities."""
    return check_lemma_b_4_1(starts, progress, limit=opposing_limit_as_printed, is_rate=True)


def check_lemma_b_4_2(
    starts: Sequence[XorStart], progress: Progress = silent, *, gain: float = 2.0, is_exact: bool = True
) -> Evidence:
    """The own sum grows by gain·η·n_i at a step at which x_i is active, and not at all at any other.

    The paper's gain is 1 with "at least" (is_exact=False); its sum S⁻ over filters behind the point is 0 as σ is.
    """
    cases = []
    for number, start in enumerate(starts):
        run = trace(start)
        steps = np.diff(run.own_sums, axis=0)
        stepping = run.seen[1:]
        active = run.active[:-1]
        promised = gain * np.broadcast_to(start.own_counts, steps.shape)
        fine = np.where(active, steps == promised if is_exact else steps >= promised, steps == 0)
        broken = np.asarray((stepping & ~fine).any(axis=(0, 2)))
        first = steps[0].astype(float)
        place = np.argmax(start.own_counts, axis=1)[:, None]
        measured = np.take_along_axis(first, place, axis=1)[:, 0]
        wanted = gain * start.own_counts.max(axis=1)
        cases.append(Judged(start, start.in_event, broken, measured, wanted, run.ended))
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    return evidence_of(cases, setting_of_section_3(starts), "gain of the largest own sum at t = 0, in units of η")


def active_limit(start: XorStart) -> PerPoint:
    """(1 + 2kη)/(2ηn_i): so many active iterations satisfy a point for good; infinite where n_i = 0."""
    with np.errstate(divide="ignore"):
        return (start.goal + 2 * start.half_width) / (2 * start.own_counts)


def active_limit_by_width(start: XorStart) -> float:
    """(1 + 2kη)√k/(kη(√k − 4)): the same for every point, where Lemma 3.1 holds and k > 16."""
    root = math.sqrt(start.half_width)
    return (start.goal + 2 * start.half_width) / (root * (root - 4)) if root > 4 else math.inf


def active_limit_as_printed(start: XorStart) -> PerPoint:
    """4√k/(√k − 2)."""
    root = math.sqrt(start.half_width)
    return np.full((start.n_runs, 4), 4 * root / (root - 2))


def check_proposition_b_5(
    starts: Sequence[XorStart], progress: Progress = silent, *, limit: Limit = active_limit, is_rate: bool = False
) -> Evidence:
    """How often each point is active in a whole run, against ⌈l⌉: after l active iterations there are no more."""
    cases, rows = [], []
    for number, start in enumerate(starts):
        run = trace(start)
        counts = (run.active & run.seen).sum(axis=0)
        bounds = limit(start)
        over = counts > np.ceil(bounds)
        if not is_rate:
            over |= counts > np.ceil(active_limit_by_width(start))
        scored = start.in_event & start.explored
        place = np.argmax(counts / bounds, axis=1)[:, None]
        measured, promised = (np.take_along_axis(values, place, axis=1)[:, 0] for values in (counts, np.ceil(bounds)))
        cases.append(Judged(start, scored, over.any(axis=1), measured.astype(float), promised, run.ended))
        rows.append(
            {
                "half_width": start.half_width,
                "step_constant": start.step_constant,
                "most_active": int(counts[scored].max(initial=0)),
                "limit_by_width": active_limit_by_width(start),
                "limit_as_printed": float(active_limit_as_printed(start)[0, 0]),
            }
        )
        progress((number + 1) / len(starts), f"k = {start.half_width}, c_η = {start.step_constant}")
    return evidence_of(
        cases,
        setting_of_section_3(starts, wide=True),
        "iterations at which one point is active",
        allowed=[allowed_failures(start.half_width) for start in starts] if is_rate else None,
        config={"points": rows},
    )


def check_proposition_b_5_as_printed(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """The same against ⌈4√k/(√k − 2)⌉, as a statement about probabilities."""
    return check_proposition_b_5(starts, progress, limit=active_limit_as_printed, is_rate=True)


def _starts(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_start(k, 0.1, 60 if scale is Scale.QUICK else 1000, seed) for k in (17, 50, 200)]


def _satisfaction_starts(scale: Scale, seed: int) -> list[XorStart]:
    n_runs = 40 if scale is Scale.QUICK else 500
    return [draw_start(k, c, n_runs, seed) for k in (25, 50, 100) for c in (0.4, 0.1, 0.01)]


def _slow_starts(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_start(50, 0.01, 100 if scale is Scale.QUICK else 1000, seed)]


lemma_b_4_1 = Claim(
    id="brutzkus2019.lemma_b_4_1",
    kind=Kind.STEP,
    statement=(
        "XOR, in the event of Lemma B.2: Σ_j σ(⟨u_t, x_1⟩) ≤ 2η|U_0⁺(3)| + (√2/4)η|U_0⁺(1)| ≤ 2kη for all t; the same "
        "for x_3, and with w and u exchanged for x_2 and x_4."
    ),
    where="Lemma B.4, item 1, Section B.1 (with 2η in place of η for each filter)",
    judge=check_lemma_b_4_1,
    draws=_starts,
)

lemma_b_4_1_as_printed = Claim(
    id="brutzkus2019.lemma_b_4_1_as_printed",
    kind=Kind.STEP,
    statement=(
        "XOR: with probability at least 1 − √(2k/π)e^{−8k}, R_t⁺(1) + R_t⁻(1) = Σ_j σ(⟨u_t, x_1⟩) ≤ kη for all t, and "
        "by symmetry for the other points."
    ),
    where="Lemma B.4, item 1, Section B.1",
    judge=check_lemma_b_4_1_as_printed,
    draws=_starts,
    expected=Verdict.VIOLATED,
)

lemma_b_4_2 = Claim(
    id="brutzkus2019.lemma_b_4_2",
    kind=Kind.STEP,
    statement=(
        "XOR, in the event of Lemma B.2: Σ_j σ(⟨w_t, x_1⟩) grows by exactly 2η|W_0⁺(1)| at a step with "
        "y_1 N_t(x_1) < 1, and does not change at any other; the same for the other points. (The paper has: by at "
        "least η|W_0⁺(1)|.)"
    ),
    where="Lemma B.4, item 2, Section B.1 (−yN is printed where yN is meant)",
    judge=check_lemma_b_4_2,
    draws=_starts,
)

proposition_b_5 = Claim(
    id="brutzkus2019.proposition_b_5",
    kind=Kind.STEP,
    statement=(
        "XOR, k > 16, in the events of Lemmas B.2 and 3.1: once x_i was active at l ≥ (1 + 2kη)/(2ηn_i) iterations, "
        "n_i = |W_0⁺(i)| or |U_0⁺(i)|, it is satisfied for good; l ≥ (1 + 2kη)√k/(kη(√k − 4)) is enough for all points."
    ),
    where="Proposition B.5, Section B.1 (with a count that depends on η)",
    judge=check_proposition_b_5,
    draws=_satisfaction_starts,
)

proposition_b_5_as_printed = Claim(
    id="brutzkus2019.proposition_b_5_as_printed",
    kind=Kind.STEP,
    statement=(
        "XOR, k > 16: with probability at least 1 − √(2k/π)e^{−8k} − 8e⁻⁸, for all i, once there were "
        "l ≥ 4√k/(√k − 2) iterations with y_i N(x_i) < 1, y_i N(x_i) ≥ 1 for good."
    ),
    where="Proposition B.5, Section B.1",
    judge=check_proposition_b_5_as_printed,
    draws=_slow_starts,
    expected=Verdict.VIOLATED,
)

CLAIMS = (
    lemma_b_4_1,
    lemma_b_4_1_as_printed,
    lemma_b_4_2,
    proposition_b_5,
    proposition_b_5_as_printed,
)
