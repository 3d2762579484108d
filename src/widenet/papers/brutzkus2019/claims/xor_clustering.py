"""Section 3.2, the motion: each filter of XOR moves along the point it starts near, and ends close to it.

In the half-plane of its own point x_i a filter gains η·x_i whenever x_i is active, and nothing ever takes it away.
Along the other axis the opposing points push it to and fro between two places 2η apart. So w_t = w_0 + n·η·x_i + α·x_2
with α ∈ {0, ±η}, where n counts the active times *before* t. The paper's a_i(t) counts t as well, which is one too many
while x_i is active: at t = 0 it asks for w_0 = η·x_i + v with ⟨v, x_i⟩ > 0, although ⟨w_0, x_i⟩ ≤ √2η/4 < 2η.

Lemma 3.2 (extended as B.3) is `lemma_3_2`; the angle of Theorem 3.3 (restated as B.6) is `theorem_3_3_angle`.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.base import Claim, Evidence, Kind, Verdict
from widenet.diagnostics.clustering import active_counts, angles_to_own, updates_before
from widenet.diagnostics.exploration import XOR_POINTS
from widenet.papers.brutzkus2019.claims.xor_verdicts import Judged, evidence_of, setting_of_section_3
from widenet.papers.brutzkus2019.formulas import c_value
from widenet.papers.brutzkus2019.runs.xor import XorStart, XorTrace, draw_start, trace
from widenet.types import Progress, RunStatus, Scale, silent

ROUNDING = 1e-9
"""Degrees, and cosines: what rounding may add."""
Index = Callable[[np.ndarray], Int[np.ndarray, " time run 4"]]
"""The factor of η·x_i in Lemma 3.2, from which points are active when."""
Weights = Callable[[XorTrace], Float[np.ndarray, "run 2 filter 2"]]


def check_lemma_3_2(
    starts: Sequence[XorStart], progress: Progress = silent, *, index: Index = updates_before, is_rate: bool = False
) -> Evidence:
    """At every t ≤ T, for every filter in the half-plane of its own point: v_t = w_t − n·η·x_i is as the lemma says.

    Whole numbers decide: w_t − w_0 is n·η along x_i, and 0 or η along the other axis, towards 0. With `is_rate` the
    statement of the paper is judged, by its two inequalities alone.
    """
    cases, largest = [], 0.0
    for number, start in enumerate(starts):
        run = trace(start)
        factor = index(run.active)
        judged = run.seen & (start.own_counts > 0)
        ahead = np.where(judged, run.fit_low - 2 * factor, np.inf)
        across = np.where(judged, run.across_fit, 0.0)
        exact = (run.own_low == factor) & (run.own_high == factor) & (run.across_low >= 0) & (run.across_high <= 1)
        fine = (ahead > 0) & (across < 2) & (exact | is_rate)
        broken = (judged & ~fine).any(axis=(0, 2))
        largest = max(largest, float(across[:, start.in_event].max(initial=0.0)))
        smallest = ahead.min(axis=(0, 2))
        cases.append(Judged(start, start.in_event, broken, smallest, np.zeros(start.n_runs), run.ended))
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    allowed = [max(c_value(start.half_width), np.finfo(float).tiny) for start in starts] if is_rate else None
    return evidence_of(
        cases,
        setting_of_section_3(starts, wide=is_rate),
        "smallest ⟨v_t, x_i⟩ in units of η, over filters, points and times",
        allowed=allowed,
        is_lower_bound=True,
        config={"largest_across": largest},
        note=f"The largest |⟨v_t, x_2⟩| (|⟨v_t, x_1⟩| for u) is {largest:.4g}η; the lemma says less than 2η.",
    )


def check_lemma_3_2_as_printed(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """The same with the factor a_i(t), which counts the time t itself."""
    return check_lemma_3_2(starts, progress, index=active_counts, is_rate=True)


def angle_limit(step_constant: float) -> float:
    """arccos((1 − 2c_η)/(1 + c_η)), in degrees."""
    return math.degrees(math.acos((1 - 2 * step_constant) / (1 + step_constant)))


def check_theorem_3_3_angle(
    starts: Sequence[XorStart], progress: Progress = silent, *, weights: Weights = lambda run: run.end
) -> Evidence:
    """At zero loss every filter is within the angle of its point, and both steps of the proof hold.

    The steps: a_i(T) ≥ 1/(2c_η) − 1, and the cosine is at least 2a_i/(2a_i + 3). A control judges other weights.
    """
    cases, rows = [], []
    for number, start in enumerate(starts):
        run = trace(start)
        found, fewest, cosines = _angles(run, weights(run))
        limit = angle_limit(start.step_constant)
        cosine_room = np.cos(np.radians(found)) - cosines
        broken = (found > limit + ROUNDING).any(axis=1) | (cosine_room < -ROUNDING).any(axis=1)
        broken |= fewest < 1 / (2 * start.step_constant) - 1
        broken |= ~np.isfinite(found).all(axis=1)
        scored = start.in_event & (run.status == RunStatus.CONVERGED)
        largest = found.max(axis=1)
        cases.append(Judged(start, scored, broken, largest, np.full(start.n_runs, limit), run.ended))
        rows.append({"half_width": start.half_width, "limit": limit, "largest": float(largest[scored].max(initial=0))})
        progress((number + 1) / len(starts), f"k = {start.half_width}, c_η = {start.step_constant}")
    return evidence_of(
        cases, setting_of_section_3(starts), "largest angle to the own point, in degrees", config={"angles": rows}
    )


def _angles(
    run: XorTrace, fits: Float[np.ndarray, "run 2 filter 2"]
) -> tuple[Float[np.ndarray, "run channel"], Int[np.ndarray, " run"], Float[np.ndarray, "run channel"]]:
    """The angle of each filter to its own point, the smallest a_i(T), and 2a_i/(2a_i + 3) of its point."""
    start = run.start
    filters = (fits @ XOR_POINTS[:2]).reshape(start.n_runs, -1, 2)
    forward = np.stack([start.fits[:, 0, :, 0] > 0, start.fits[:, 1, :, 1] > 0], axis=1)
    points = np.where(forward, 0, 2) + np.array([[0], [1]])  # x_1 or x_3 for a w, x_2 or x_4 for a u
    points = points.reshape(start.n_runs, -1)
    member = points[..., None] == np.arange(4)
    updates = (run.active & run.seen).sum(axis=0)
    own = np.take_along_axis(updates, points, axis=1)
    fewest = np.where(start.own_counts > 0, updates, np.iinfo(int).max).min(axis=1)
    return angles_to_own(filters, XOR_POINTS, member), fewest, 2 * own / (2 * own + 3)


def _starts(scale: Scale, seed: int) -> list[XorStart]:
    n_runs = 50 if scale is Scale.QUICK else 1000
    return [draw_start(k, c, n_runs, seed) for k in (2, 17, 50) for c in (0.1, 0.4)]


def _wide_starts(scale: Scale, seed: int) -> list[XorStart]:
    """Section 3.2 assumes k > 16."""
    return [start for start in _starts(scale, seed) if start.half_width > 16]


def _angle_starts(scale: Scale, seed: int) -> list[XorStart]:
    n_runs = 30 if scale is Scale.QUICK else 1000
    return [draw_start(k, c, n_runs, seed) for k in (17, 50, 100) for c in (0.49, 0.3, 0.1, 0.01)]


lemma_3_2 = Claim(
    id="brutzkus2019.lemma_3_2",
    kind=Kind.STEP,
    statement=(
        "Clustering dynamics of XOR: in the event of Lemma B.2, for i ∈ {1, 3}, j ∈ W_0⁺(i) and every t, "
        "w_t = n_i(t)·ηx_i + v_t with ⟨v_t, x_i⟩ > 0 and |⟨v_t, x_2⟩| < 2η, where n_i(t) = a_i(t − 1) is the number of "
        "t' < t at which x_i is active; also w_t = w_0 + n_i(t)·ηx_i + α_j x_2 with |α_j| ≤ η. The same for u, "
        "i ∈ {2, 4}, with x_1 in place of x_2."
    ),
    where="Lemma 3.2, Section 3.2; Lemma B.3 (with n_i(t) = a_i(t − 1) in place of a_i(t), and an α for each filter)",
    judge=check_lemma_3_2,
    draws=_starts,
)

lemma_3_2_as_printed = Claim(
    id="brutzkus2019.lemma_3_2_as_printed",
    kind=Kind.STEP,
    statement=(
        "Clustering dynamics of XOR: with probability at least 1 − √(2k/π)e^{−8k}, for i ∈ {1, 3}, all t ≥ 0 and "
        "j ∈ W_0⁺(i), w_t = a_i(t)·ηx_i + v_t with ⟨v_t, x_i⟩ > 0 and |⟨v_t, x_2⟩| < 2η, where a_i(t) is the number of "
        "0 ≤ t' ≤ t at which x_i is active."
    ),
    where="Lemma 3.2, Section 3.2; Lemma B.3",
    judge=check_lemma_3_2_as_printed,
    draws=_wide_starts,
    expected=Verdict.VIOLATED,
)

theorem_3_3_angle = Claim(
    id="brutzkus2019.theorem_3_3_angle",
    kind=Kind.MAIN,
    statement=(
        "XOR, in the event of Lemma B.2: at the global minimum W_T the angle between w_T^(j), j ∈ W_0⁺(i), "
        "i ∈ {1, 3}, and x_i is at most arccos((1 − 2c_η)/(1 + c_η)); the same for u_T^(j), j ∈ U_0⁺(i), i ∈ {2, 4}. "
        "Both steps of the proof are checked too: a_i(T) ≥ 1/(2c_η) − 1, and a cosine of at least 2a_i/(2a_i + 3)."
    ),
    where="Theorem 3.3, Section 3.2; Theorem B.6",
    judge=check_theorem_3_3_angle,
    draws=_angle_starts,
)

CLAIMS = (lemma_3_2, lemma_3_2_as_printed, theorem_3_3_angle)
