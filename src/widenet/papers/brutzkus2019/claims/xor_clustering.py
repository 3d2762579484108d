"""Section 3.2, the motion: each filter of XOR moves along the point it starts near, and ends close to it.

In the half-plane of its own point x_i a filter gains η·x_i whenever x_i is active, and nothing ever takes it away.
Along the other axis the opposing points push it to and fro between two places 2η apart. So w_t = w_0 + n·η·x_i + α·x_2
with α ∈ {0, ±η}, where n counts the active times *before* t. The paper's a_i(t) counts t as well, which is one too many
while x_i is active: at t = 0 it asks for w_0 = η·x_i + v with ⟨v, x_i⟩ > 0, although ⟨w_0, x_i⟩ ≤ √2η/4 < 2η.

Lemma 3.2 (extended as B.3) is `lemma_3_2`; the angle of Theorem 3.3 (restated as B.6) is `theorem_3_3_angle`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, by_value, derived
from widenet.claims.implication import Promise, at_least, at_most, equal, less_than, more_than
from widenet.claims.sides import Fact
from widenet.claims.tolerances import ROUNDING
from widenet.diagnostics.clustering import active_counts, angles_to_own, updates_before
from widenet.diagnostics.exploration import XOR_POINTS
from widenet.papers.brutzkus2019.claims.setting_rows import largest, rows
from widenet.papers.brutzkus2019.claims.xor_events import (
    EACH,
    XorRuns,
    event_of,
    everyone,
    reached_in_event,
    with_probability,
)
from widenet.papers.brutzkus2019.formulas import c_value
from widenet.papers.brutzkus2019.hypotheses import SECTION_3, runs_at_zero_loss, runs_in_event, width_above_16
from widenet.papers.brutzkus2019.runs.xor import XorTrace, xor_traces
from widenet.papers.brutzkus2019.runs.xor_settings import angle_settings, wide_settings
from widenet.papers.brutzkus2019.xor_formulas import angle_limit, cosine_after, fewest_updates
from widenet.records import Form

Index = Callable[[Bool[np.ndarray, " time run 4"]], Int[np.ndarray, " time run 4"]]
"""The factor of η·x_i in Lemma 3.2, from which points are active when."""
Angles = Float[np.ndarray, "run 2 filter"]
LEAD = "smallest ⟨v_t, x_i⟩ in units of η, over filters, points and times"


class XorClusters(XorRuns):
    """Runs on XOR, with how often each point was active before t, and the angles of all filters at the end."""

    factor: Int[np.ndarray, " time run 4"] = derived(lambda runs: updates_before(runs.active))  #: n_i(t) = a_i(t − 1)
    judged: Bool[np.ndarray, " time run 4"] = derived(lambda runs: _judged(runs))  #: t ≤ T, of points with filters
    angles: Angles = derived(lambda runs: angles_at_end(runs, own_points(runs)))
    largest_angle: Float[np.ndarray, " run"] = derived(lambda runs: runs.angles.max(axis=(1, 2)))
    own_updates: Int[np.ndarray, "run 2 filter"] = derived(lambda runs: _own_updates(runs))  #: a_i(T) of its point
    angle_limit: Number = derived(lambda runs: angle_limit(runs.step_constant))


@claim("brutzkus2019.lemma_3_2", Kind.STEP,
       "Lemma 3.2, Section 3.2; Lemma B.3 (with n_i(t) = a_i(t − 1) in place of a_i(t), and an α for each filter)",
       reads=xor_traces, given=(*SECTION_3, runs_in_event),
       form=Form.REPAIR, title="XOR: each filter moves along its point, and little across")  # fmt: skip
def lemma_3_2(runs: XorClusters, *, across: float = 2.0) -> Promise:
    """Clustering dynamics of XOR: in the event of Lemma B.2, for $i ∈ {1, 3}$, $j ∈ W_0⁺(i)$ and every $t$,
    $w_t = n_i(t)·ηx_i + v_t$ with $⟨v_t, x_i⟩ > 0$ and $|⟨v_t, x_2⟩| < 2η$, where $n_i(t) = a_i(t − 1)$ is the number
    of $t' < t$ at which $x_i$ is active. Moreover $w_t = w_0 + n_i(t)·ηx_i + α_j x_2$ with $|α_j| ≤ η$. The same holds
    for $u$ and $i ∈ {2, 4}$, with $x_1$ in place of $x_2$.
    """
    t, event = runs.per("time"), event_of(runs)
    where = event.where(t, t.judged)
    largest_alpha = np.maximum(np.abs(t.across_low), np.abs(t.across_high))
    return event.promise(
        {
            "lead": more_than(t.fit_low - 2 * t.factor, 0.0, text="$⟨v_t, x_i⟩ > 0$", quantity=LEAD, **where),
            "across": less_than(t.across_fit, across, text="$|⟨v_t, x_2⟩| < 2η$ ($|⟨v_t, x_1⟩|$ for u)", **where),
            "along": equal(
                np.stack([t.own_low, t.own_high]), t.factor, text="$w_t − w_0$ is $n_i(t)·η$ along $x_i$", **where
            ),
            "alpha": at_most(largest_alpha, 1.0, text="$|α_j| ≤ η$", **where),
            "against": Fact(t.across_low >= 0, text="$α_j$ leads against the start", **where),
            "ends": event.ended,
        }
    )


def _judged(run: XorTrace) -> Bool[np.ndarray, " time run 4"]:
    return run.seen & (run.own_counts > 0)


def _smallest_lead(run: XorTrace, index: Index) -> Float[np.ndarray, " run"]:
    """The smallest ⟨v_t, x_i⟩ of each run."""
    return np.where(_judged(run), run.fit_low - 2 * index(run.active), np.inf).min(axis=(0, 2))


def _strays(run: XorTrace, across: float) -> Bool[np.ndarray, " run"]:
    """The runs in which |⟨v_t, x_2⟩| is too large at some time."""
    return np.any(_judged(run) & (run.across_fit >= across), axis=(0, 2))


@claim("brutzkus2019.lemma_3_2_as_printed", Kind.STEP, "Lemma 3.2, Section 3.2; Lemma B.3",
       reads=xor_traces.at(wide_settings), given=(width_above_16, *SECTION_3),
       title="Lemma 3.2 with a count that includes $t$: fails at $t = 0$")  # fmt: skip
def lemma_3_2_as_printed(
    runs: XorClusters,
    *,
    index: Index = active_counts,
    across: float = 2.0,
    allowed: Callable[[int], float] = c_value,
) -> Promise:
    """Clustering dynamics of XOR: with probability at least $1 − √(2k/π)e^{−8k}$, for $i ∈ {1, 3}$, all $t ≥ 0$ and
    $j ∈ W_0⁺(i)$, $w_t = a_i(t)·ηx_i + v_t$ with $⟨v_t, x_i⟩ > 0$ and $|⟨v_t, x_2⟩| < 2η$, where $a_i(t)$ is the number
    of $0 ≤ t' ≤ t$ at which $x_i$ is active.
    """
    lead = runs.map(lambda cell: _smallest_lead(cell, index))
    strays = runs.map(lambda cell: _strays(cell, across), bool)
    rate = with_probability(
        runs,
        (lead <= 0) | strays,
        allowed,
        text="$⟨v_t, x_i⟩ > 0$ and $|⟨v_t, x_2⟩| < 2η$, with probability at least $1 − √(2k/π)e^{−8k}$",
        sides=more_than(lead, 0.0, quantity=LEAD),
    )
    return everyone(runs).promise({"rate": rate})


@claim("brutzkus2019.theorem_3_3_angle", Kind.MAIN, "Theorem 3.3, Section 3.2; Theorem B.6",
       reads=xor_traces.at(angle_settings), given=(*SECTION_3, runs_at_zero_loss),
       title="XOR: at loss 0 each filter is close to its point")  # fmt: skip
def theorem_3_3_angle(runs: XorClusters, *, fewest: Callable[[float], float] = fewest_updates) -> Promise:
    """XOR, in the event of Lemma B.2: at the global minimum $W_T$ the angle between $w_T^(j)$, $j ∈ W_0⁺(i)$,
    $i ∈ {1, 3}$, and $x_i$ is at most $arccos((1 − 2c_η)/(1 + c_η))$. The same holds for $u_T^(j)$, $j ∈ U_0⁺(i)$,
    $i ∈ {2, 4}$. Both steps of the proof are checked too: $a_i(T) ≥ 1/(2c_η) − 1$, and a cosine of at least
    $2a_i/(2a_i + 3)$.
    """
    f, event = runs.per("filter"), reached_in_event(runs)
    cosine, words = np.cos(np.radians(f.angles)), "largest angle to the own point, in degrees"

    def close(sign: int) -> dict[str, Any]:
        return {
            "within": ROUNDING,
            "text": f"${'wu'[sign]}$ at an angle of at most $arccos((1 − 2c_η)/(1 + c_η))$",
            "quantity": words,
            **event.where(f),
        }

    return event.promise(
        {
            "angle_w": at_most(f.angles[:, 0], f.angle_limit, **close(0)),
            "angle_u": at_most(f.angles[:, 1], f.angle_limit, **close(1)),
            "updates": at_least(
                runs.updates,
                by_value(fewest, np.asarray(runs.step_constant))[:, None],
                trivial=0.0,
                text="$a_i(T) ≥ 1/(2c_η) − 1$",
                **event.where(also=~runs.forgotten),
            ),
            "cosine": at_least(
                cosine,
                cosine_after(f.own_updates),
                room=ROUNDING,
                text="cosine of the angle $≥ 2a_i/(2a_i + 3)$",
                **event.where(f, also=EACH),
            ),
        },
        details=lambda: {"angles": _largest_angles(runs, event.scored)},
    )


def _largest_angles(runs: XorClusters, scored: Bool[np.ndarray, " run"]) -> list[dict[str, Any]]:
    """The largest angle of each setting, beside its limit."""
    each = runs.per("cell")
    of_runs = largest(runs, runs.largest_angle, scored, initial=0.0)
    return rows(half_width=each.half_width, limit=each.angle_limit, largest=of_runs)


def own_points(run: XorTrace) -> Int[np.ndarray, "run channel"]:
    """The number of each filter's point: x_1 or x_3 for a w, x_2 or x_4 for a u, by the half-plane it starts in."""
    fits = run.fits
    forward = np.stack([fits[:, 0, :, 0] > 0, fits[:, 1, :, 1] > 0], axis=1)
    points = np.where(forward, 0, 2) + np.array([[0], [1]])
    return points.reshape(len(fits), -1)


def angles_at_end(run: XorTrace, points: Int[np.ndarray, "run channel"]) -> Angles:
    """The angle of each filter to its point, in degrees, the w's before the u's."""
    filters = (run.end @ XOR_POINTS[:2]).reshape(len(points), -1, 2)
    angles = angles_to_own(filters, XOR_POINTS, points[..., None] == np.arange(4))
    return angles.reshape(len(points), 2, -1)


def _own_updates(run: XorTrace) -> Int[np.ndarray, "run 2 filter"]:
    return np.take_along_axis(run.updates, own_points(run), axis=1).reshape(len(run), 2, -1)
