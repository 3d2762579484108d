"""Lemma B.4 and Proposition B.5: the two sums whose difference is y N(x), and how long a point stays active.

For x_1 the own filters are the w's and the opposing ones the u's. A step at which x_1 is active adds η‖x_1‖² = 2η to
the fit of every own filter in its half-plane, so the own sum grows by exactly 2η·|W_0⁺(1)|. An opposing filter goes to
and fro between two places 2η apart: it answers at most √2η/4 if it starts in the half-plane, and at most 2η if not. The
paper has η in place of 2η in both. In the first that is only generous. In the second it makes the bound kη false:
at t = 1 every u of U_0⁺(3) has arrived in the half-plane of x_1, at 2η − |⟨u_0, x_1⟩|.

Lemma B.4, item 1, is `lemma_b_4_1`, item 2 `lemma_b_4_2`; Proposition B.5 is `proposition_b_5`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, by_value, derived
from widenet.claims.implication import Promise, at_most, equal
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.claims.setting_rows import largest, rows
from widenet.papers.brutzkus2019.claims.xor_events import (
    EACH,
    XorRuns,
    both_events,
    event_of,
    everyone,
    with_probability,
)
from widenet.papers.brutzkus2019.formulas import c_value
from widenet.papers.brutzkus2019.hypotheses import SECTION_3, runs_in_both_events, runs_in_event, width_above_16
from widenet.papers.brutzkus2019.runs.xor import Series, xor_traces
from widenet.papers.brutzkus2019.runs.xor_settings import (
    growth_settings,
    nearest_growth_settings,
    satisfaction_settings,
    slow_growth_settings,
)
from widenet.papers.brutzkus2019.xor_formulas import (
    active_limit,
    active_limit_as_printed,
    active_limit_by_width,
    failure_rate,
    opposing_limit,
    sure_to_exceed,
)
from widenet.records import Form

PerPoint = Float[np.ndarray, "run 4"]
SUM, ACTIVE = "largest opposing sum, in units of η", "iterations at which one point is active"
NOTE = "Printed for x_1; the other three points have it by symmetry and are judged too."


class Growth(XorRuns):
    """Runs on XOR, with the bounds on their sums and on how often a point is active, and what a step adds."""

    #: 2·(opposing filters that start outside the half-plane) + √2/4·(those inside), in units of η
    by_half_planes: PerPoint = derived(
        lambda runs: opposing_limit(runs.opposing_counts, runs.half_width - runs.opposing_counts)
    )
    by_counts: PerPoint = derived(  #: (1 + 2kη)/(2ηn_i)
        lambda runs: active_limit(runs.goal, runs.half_width, runs.own_counts)
    )
    by_width: Number = derived(  #: (1 + 2kη)√k/(kη(√k − 4)), for every point
        lambda runs: active_limit_by_width(runs.goal, runs.half_width)
    )
    count_as_printed: Number = derived(  #: 4√k/(√k − 2), for every point
        lambda runs: active_limit_as_printed(runs.half_width)
    )
    own_gain: Series = derived(lambda runs: np.diff(runs.own_sums, axis=0, append=runs.own_sums[-1:]))  #: of a step
    stepping: Bool[np.ndarray, " time run 1"] = derived(lambda runs: _stepping(runs))  #: t < T

    @property
    def by_all_filters(self) -> np.ndarray:
        """2k, in units of η."""
        return 2.0 * self.half_width


def _stepping(runs: Growth) -> Bool[np.ndarray, " time run 1"]:
    return (np.arange(len(runs.margins))[:, None] < runs.steps)[..., None]


Limit = Callable[[Growth], Any]
"""A number for each run and point, or for each run."""


def _of_points(limit: np.ndarray) -> np.ndarray:
    return limit if np.ndim(limit) == 2 else limit[:, None]


def sums(runs: Growth) -> dict[str, Any]:
    """The largest sum of each setting, and how often the print fails there at least."""
    half_width = runs.per("cell").half_width
    sums = rows(
        half_width=half_width,
        largest_over_k_eta=largest(runs, runs.largest_opposing.max(axis=1), np.ones(len(runs), bool)) / half_width,
        exact_lower_bound_on_printed_failures=by_value(sure_to_exceed, half_width),
    )
    return {"sums": sums}


@claim("brutzkus2019.lemma_b_4_1", Kind.STEP,
       "Lemma B.4, item 1, Section B.1 (with 2η in place of η for each filter)",
       reads=xor_traces.at(nearest_growth_settings), given=(*SECTION_3, runs_in_event), details=sums,
       form=Form.REPAIR, title="XOR: the opposing sum of a point stays below $2kη$")  # fmt: skip
def lemma_b_4_1(
    runs: Growth, *, sharp: Limit = lambda runs: runs.by_half_planes, coarse: Limit = lambda runs: runs.by_all_filters
) -> Promise:
    """XOR, in the event of Lemma B.2: $Σ_j σ(⟨u_t, x_1⟩) ≤ 2η|U_0⁺(3)| + (√2/4)η|U_0⁺(1)| ≤ 2kη$ for all $t$. The same
    holds for $x_3$, and with $w$ and $u$ exchanged for $x_2$ and $x_4$.
    """
    event = event_of(runs)
    largest, by_half_planes, by_all = runs.largest_opposing, _of_points(sharp(runs)), _of_points(coarse(runs))
    how = {"within": ROUNDING, "quantity": SUM, **event.where(also=EACH)}
    words = "sum over ${0}$ at most $2η$ for each ${0}$ outside the half-plane, $√2η/4$ for each inside"
    odd, even = slice(0, None, 2), slice(1, None, 2)
    return event.promise(
        {
            "odd": at_most(largest[:, odd], by_half_planes[:, odd], text=f"$x_1$, $x_3$: {words.format('u')}", **how),
            "even": at_most(
                largest[:, even], by_half_planes[:, even], text=f"$x_2$, $x_4$: {words.format('w')}", **how
            ),
            "all": at_most(largest, by_all, text="all four sums $≤ 2kη$", **how),
            "ends": event.ended,
        },
        note=NOTE,
    )


@claim("brutzkus2019.lemma_b_4_1_as_printed", Kind.STEP, "Lemma B.4, item 1, Section B.1",
       reads=xor_traces.at(growth_settings), given=SECTION_3, details=sums,
       title="XOR: the opposing sum of a point stays below $kη$: fails")  # fmt: skip
def lemma_b_4_1_as_printed(runs: Growth, *, printed: Limit = lambda runs: 1.0 * runs.half_width) -> Promise:
    """XOR: with probability at least $1 − √(2k/π)e^{−8k}$, $R_t⁺(1) + R_t⁻(1) = Σ_j σ(⟨u_t, x_1⟩) ≤ kη$ for all $t$,
    and by symmetry for the other points.
    """
    limit = _of_points(printed(runs))
    rate = with_probability(
        runs,
        np.any(runs.largest_opposing > limit, axis=1),
        c_value,
        text="opposing sums of all four points, with probability at least $1 − √(2k/π)e^{−8k}$",
        sides=at_most(runs.largest_opposing.max(axis=1), limit.max(axis=1), quantity=SUM),
    )
    return everyone(runs).promise({"rate": rate}, note=NOTE)


@claim("brutzkus2019.lemma_b_4_2", Kind.STEP, "Lemma B.4, item 2, Section B.1 (−yN is printed where yN is meant)",
       reads=xor_traces.at(growth_settings), given=(*SECTION_3, runs_in_event),
       form=Form.SHARPER,
       title="XOR: each step adds exactly $2η$ per own filter")  # fmt: skip
def lemma_b_4_2(runs: Growth, *, gain: float = 2.0, compared: Callable[..., Sides] = equal) -> Promise:
    """XOR, in the event of Lemma B.2: $Σ_j σ(⟨w_t, x_1⟩)$ grows by exactly $2η|W_0⁺(1)|$ at a step with
    $y_1 N_t(x_1) < 1$, and does not change at any other. The same holds for the other points. (The paper has: by at
    least $η|W_0⁺(1)|$.)

    The paper's S⁻, the sum over filters behind the point, is 0 as σ is.
    """
    t, event = runs.per("time"), event_of(runs)
    return event.promise(
        {
            "gain": compared(
                t.own_gain,
                gain * t.own_counts,
                text="gain of $2η·n_i$ while the point is active",
                quantity="gain of an own sum at a step, in units of η",
                **event.where(t, t.stepping & t.active),
            ),
            "rest": equal(
                t.own_gain, 0.0, text="no change at any other step", **event.where(t, t.stepping & ~t.active)
            ),
            "ends": event.ended,
        }
    )


def points(runs: Growth) -> dict[str, Any]:
    """The most active iterations of a point, beside its limits, for each setting."""
    each = runs.per("cell")
    points = rows(
        half_width=each.half_width,
        step_constant=each.step_constant,
        most_active=largest(runs, runs.updates.max(axis=1), np.ones(len(runs), bool)).astype(int),
        limit_by_width=each.by_width,
        limit_as_printed=each.count_as_printed,
    )
    return {"points": points}


@claim("brutzkus2019.proposition_b_5", Kind.STEP, "Proposition B.5, Section B.1 (with a count that depends on η)",
       reads=xor_traces.at(satisfaction_settings), given=(width_above_16, *SECTION_3, runs_in_both_events),
       details=points, form=Form.REPAIR,
       title="XOR: how often a point can be active before it is satisfied")  # fmt: skip
def proposition_b_5(
    runs: Growth, *, counts: Limit = lambda runs: runs.by_counts, width: Limit = lambda runs: runs.by_width
) -> Promise:
    """XOR, $k > 16$, in the events of Lemmas B.2 and 3.1: once $x_i$ was active at $l ≥ (1 + 2kη)/(2ηn_i)$ iterations,
    $n_i = |W_0⁺(i)|$ or $|U_0⁺(i)|$, it stays satisfied. For all points $l ≥ (1 + 2kη)√k/(kη(√k − 4))$ is enough.

    Satisfied for good after ⌈l⌉ active iterations is the same as at most ⌈l⌉ of them in the whole run, and that is
    counted.
    """
    event = both_events(runs)
    by_counts, by_width = (np.ceil(_of_points(limit(runs))) for limit in (counts, width))
    how = {"quantity": ACTIVE, **event.where(also=EACH)}
    return event.promise(
        {
            "counts": at_most(runs.updates, by_counts, text="at most $⌈(1 + 2kη)/(2ηn_i)⌉$ active iterations", **how),
            "by_width": at_most(
                runs.updates, by_width, text="at most $⌈(1 + 2kη)√k/(kη(√k − 4))⌉$ active iterations", **how
            ),
            "ends": event.ended,
        }
    )


@claim("brutzkus2019.proposition_b_5_as_printed", Kind.STEP, "Proposition B.5, Section B.1",
       reads=xor_traces.at(slow_growth_settings), given=(width_above_16, *SECTION_3), details=points,
       title="XOR: a point is active about 4 times: fails for small steps")  # fmt: skip
def proposition_b_5_as_printed(runs: Growth, *, printed: Limit = lambda runs: runs.count_as_printed) -> Promise:
    """XOR, $k > 16$: with probability at least $1 − √(2k/π)e^{−8k} − 8e⁻⁸$, for all $i$, once there were
    $l ≥ 4√k/(√k − 2)$ iterations with $y_i N(x_i) < 1$, $y_i N(x_i) ≥ 1$ in all later ones.
    """
    limit = np.ceil(_of_points(printed(runs)))
    rate = with_probability(
        runs,
        np.any(runs.updates > limit, axis=1),
        failure_rate,
        text="satisfied for good, with probability at least $1 − √(2k/π)e^{−8k} − 8e⁻⁸$",
        sides=at_most(runs.updates.max(axis=1), limit.max(axis=1), quantity=ACTIVE),
    )
    return everyone(runs).promise({"rate": rate})
