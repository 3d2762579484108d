"""Section 3.2, the motion: each filter of XOR moves along the point it starts near, and ends close to it.

In the half-plane of its own point x_i a filter gains η·x_i whenever x_i is active, and nothing ever takes it away.
Along the other axis the opposing points push it to and fro between two places 2η apart. So w_t = w_0 + n·η·x_i + α·x_2
with α ∈ {0, ±η}, where n counts the active times *before* t. The paper's a_i(t) counts t as well, which is one too many
while x_i is active: at t = 0 it asks for w_0 = η·x_i + v with ⟨v, x_i⟩ > 0, although ⟨w_0, x_i⟩ ≤ √2η/4 < 2η.

Lemma 3.2 (extended as B.3) is `lemma_3_2`; the angle of Theorem 3.3 (restated as B.6) is `theorem_3_3_angle`.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Conjunct, Fact, Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING
from widenet.diagnostics.clustering import active_counts, angles_to_own, updates_before
from widenet.diagnostics.exploration import XOR_POINTS
from widenet.papers.brutzkus2019.claims.section_3 import (
    event_of,
    everyone,
    reached_in_event,
    setting_of_section_3,
    together,
    wide,
    with_probability,
)
from widenet.papers.brutzkus2019.formulas import c_value
from widenet.papers.brutzkus2019.runs.xor import XorTrace, xor_traces
from widenet.papers.brutzkus2019.runs.xor_starts import XorSetting
from widenet.papers.brutzkus2019.xor_formulas import angle_limit, cosine_after, fewest_updates
from widenet.records import Scale

Index = Callable[[Bool[np.ndarray, " time run 4"]], Int[np.ndarray, " time run 4"]]
"""The factor of η·x_i in Lemma 3.2, from which points are active when."""
LEAD = "smallest ⟨v_t, x_i⟩ in units of η, over filters, points and times"


def _wide_settings(scale: Scale, seed: int) -> list[XorSetting]:
    """Section 3.2 assumes k > 16."""
    return [setting for setting in xor_traces.settings(scale, seed) if setting.half_width > 16]


def _angle_settings(scale: Scale, seed: int) -> list[XorSetting]:
    n_runs = 30 if scale is Scale.QUICK else 300
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed)
        for k in (17, 50, 100)
        for c in (0.49, 0.3, 0.1, 0.01)
    ]


@claim(
    "brutzkus2019.lemma_3_2",
    Kind.STEP,
    "Lemma 3.2, Section 3.2; Lemma B.3 (with n_i(t) = a_i(t − 1) in place of a_i(t), and an α for each filter)",
    reads=xor_traces,
)
def lemma_3_2(
    traces: Sequence[XorTrace],
    *,
    index: Index = updates_before,
    across: float = 2.0,
    is_rate: bool = False,
    allowed: Callable[[int], float] = c_value,
) -> Evidence:
    """Clustering dynamics of XOR: in the event of Lemma B.2, for i ∈ {1, 3}, j ∈ W_0⁺(i) and every t,
    w_t = n_i(t)·ηx_i + v_t with ⟨v_t, x_i⟩ > 0 and |⟨v_t, x_2⟩| < 2η, where n_i(t) = a_i(t − 1) is the number of t' < t
    at which x_i is active; also w_t = w_0 + n_i(t)·ηx_i + α_j x_2 with |α_j| ≤ η. The same for u, i ∈ {2, 4}, with x_1
    in place of x_2.

    With `is_rate` the paper's statement is judged: its two inequalities, with a probability, over all runs.
    """
    event = event_of(traces)
    hypotheses = setting_of_section_3([run.start for run in traces])
    if is_rate:
        leads = [_smallest_lead(run, index) for run in traces]
        sides = [Sides(lead, 0.0, Sense.AT_LEAST, strict=True, quantity=LEAD) for lead in leads]
        failed = [(lead <= 0) | _strays(run, across) for run, lead in zip(traces, leads, strict=True)]
        name = "⟨v_t, x_i⟩ > 0 and |⟨v_t, x_2⟩| < 2η, with probability at least 1 − √(2k/π)e^{−8k}"
        hypotheses = (wide(run.start.half_width for run in traces), *hypotheses)
        parts = {name: with_probability(traces, failed, allowed, sides)}
        return evidence(parts, hypotheses, runs=everyone(traces).runs)
    views = [(run, index(run.active), _judged(run) & scored[:, None]) for run, scored in event]
    parts: dict[str, Conjunct] = {
        "⟨v_t, x_i⟩ > 0": together(
            Sides(
                run.fit_low - 2 * factor,
                0.0,
                Sense.AT_LEAST,
                strict=True,
                scored=scored,
                quantity=LEAD,
            )
            for run, factor, scored in views
        ),
        "|⟨v_t, x_2⟩| < 2η (|⟨v_t, x_1⟩| for u)": together(
            Sides(run.across_fit, across, strict=True, scored=scored) for run, _, scored in views
        ),
        "w_t − w_0 is n_i(t)·η along x_i": together(
            Sides(np.stack([run.own_low, run.own_high]), factor, Sense.EQUAL, scored=scored)
            for run, factor, scored in views
        ),
        "|α_j| ≤ η": together(
            Sides(np.maximum(np.abs(run.across_low), np.abs(run.across_high)), 1.0, scored=scored)
            for run, _, scored in views
        ),
        "α_j leads against the start": Fact(
            np.concatenate([(run.across_low >= 0).ravel() for run, _, _ in views]),
            scored=np.concatenate([scored.ravel() for _, _, scored in views]),
        ),
        "every run ends": event.ended,
    }
    return evidence(parts, (*hypotheses, event.hypothesis), runs=event.runs)


def _judged(run: XorTrace) -> Bool[np.ndarray, " time run 4"]:
    """The times t ≤ T, and the points that have filters."""
    return run.seen & (run.start.own_counts > 0)


def _smallest_lead(run: XorTrace, index: Index) -> Float[np.ndarray, " run"]:
    """The smallest ⟨v_t, x_i⟩ of each run."""
    return np.where(_judged(run), run.fit_low - 2 * index(run.active), np.inf).min(axis=(0, 2))


def _strays(run: XorTrace, across: float) -> Bool[np.ndarray, " run"]:
    """The runs in which |⟨v_t, x_2⟩| is too large at some time."""
    return np.any(_judged(run) & (run.across_fit >= across), axis=(0, 2))


lemma_3_2_as_printed = lemma_3_2.variant(
    "lemma_3_2_as_printed",
    where="Lemma 3.2, Section 3.2; Lemma B.3",
    statement="Clustering dynamics of XOR: with probability at least 1 − √(2k/π)e^{−8k}, for i ∈ {1, 3}, all t ≥ 0 and "
    "j ∈ W_0⁺(i), w_t = a_i(t)·ηx_i + v_t with ⟨v_t, x_i⟩ > 0 and |⟨v_t, x_2⟩| < 2η, where a_i(t) is the number of "
    "0 ≤ t' ≤ t at which x_i is active.",
    reads=xor_traces.at(_wide_settings),
    index=active_counts,
    is_rate=True,
)


@claim(
    "brutzkus2019.theorem_3_3_angle",
    Kind.MAIN,
    "Theorem 3.3, Section 3.2; Theorem B.6",
    reads=xor_traces.at(_angle_settings),
)
def theorem_3_3_angle(traces: Sequence[XorTrace], *, fewest: Callable[[float], float] = fewest_updates) -> Evidence:
    """XOR, in the event of Lemma B.2: at the global minimum W_T the angle between w_T^(j), j ∈ W_0⁺(i), i ∈ {1, 3}, and
    x_i is at most arccos((1 − 2c_η)/(1 + c_η)); the same for u_T^(j), j ∈ U_0⁺(i), i ∈ {2, 4}. Both steps of the proof
    are checked too: a_i(T) ≥ 1/(2c_η) − 1, and a cosine of at least 2a_i/(2a_i + 3).
    """
    starts = [run.start for run in traces]
    event = reached_in_event(traces)
    views = [(run, own_points(run), scored) for run, scored in event]
    found = [(run, angles_at_end(run, points), scored) for run, points, scored in views]
    parts: dict[str, Conjunct] = {
        f"angle of {letter} to its point": together(
            Sides(
                angles[:, sign],
                angle_limit(run.start.step_constant),
                room=ROUNDING * angle_limit(run.start.step_constant),
                scored=scored[:, None],
                quantity="largest angle to the own point, in degrees",
            )
            for run, angles, scored in found
        )
        for sign, letter in enumerate("wu")
    }
    parts["a_i(T) ≥ 1/(2c_η) − 1"] = together(
        Sides(
            run.updates,
            fewest(run.start.step_constant),
            Sense.AT_LEAST,
            scored=scored[:, None] & ~run.start.forgotten,
            trivial=0.0,
        )
        for run, _, scored in views
    )
    parts["cosine of the angle ≥ 2a_i/(2a_i + 3)"] = together(
        Sides(
            np.cos(np.radians(angles)).reshape(len(points), -1),
            cosine_after(np.take_along_axis(run.updates, points, axis=1)),
            Sense.AT_LEAST,
            room=ROUNDING,
            scored=scored[:, None],
        )
        for (run, points, scored), (_, angles, _) in zip(views, found, strict=True)
    )
    rows = [
        {
            "half_width": run.start.half_width,
            "limit": angle_limit(run.start.step_constant),
            "largest": float(angles[scored].max(initial=0.0)),
        }
        for run, angles, scored in found
    ]
    hypotheses = (*setting_of_section_3(starts), event.hypothesis)
    return evidence(parts, hypotheses, runs=event.runs, details={"angles": rows})


def own_points(run: XorTrace) -> Int[np.ndarray, "run channel"]:
    """The number of each filter's point: x_1 or x_3 for a w, x_2 or x_4 for a u, by the half-plane it starts in."""
    fits = run.start.fits
    forward = np.stack([fits[:, 0, :, 0] > 0, fits[:, 1, :, 1] > 0], axis=1)
    points = np.where(forward, 0, 2) + np.array([[0], [1]])
    return points.reshape(len(fits), -1)


def angles_at_end(run: XorTrace, points: Int[np.ndarray, "run channel"]) -> Float[np.ndarray, "run 2 filter"]:
    """The angle of each filter to its point, in degrees, the w's before the u's."""
    filters = (run.end @ XOR_POINTS[:2]).reshape(len(points), -1, 2)
    angles = angles_to_own(filters, XOR_POINTS, points[..., None] == np.arange(4))
    return angles.reshape(len(points), 2, -1)
