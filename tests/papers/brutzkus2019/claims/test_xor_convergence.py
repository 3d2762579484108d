"""Theorem 3.3: loss 0 for wide networks, and how many iterations it takes."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.xor_toys import (
    J12,
    altered,
    at_quick_scale,
    broken,
    drawn,
    not_met,
    undecided,
)
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.xor_convergence import (
    as_printed,
    by_points,
    by_width,
    needed,
    theorem_3_3,
    theorem_3_3_iterations,
    theorem_3_3_iterations_as_printed,
    theorem_3_3_lower_bound,
)
from widenet.papers.brutzkus2019.runs.xor import trace_xor
from widenet.types import RunStatus

CLAIMS = [theorem_3_3, theorem_3_3_iterations, theorem_3_3_iterations_as_printed, theorem_3_3_lower_bound]
FEW = drawn(50, 0.1, 20)
LOSS, SIGNS, EVENTS = (part.name for part in theorem_3_3([FEW]).parts)
POINTS, WIDTH, STEPS, ORDER, REACHED = (part.name for part in theorem_3_3_iterations([FEW]).parts)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = at_quick_scale(claim)
    assert evidence.verdict is claim.expected
    assert not not_met(evidence)


def test_the_printed_numbers():
    assert as_printed(FEW.start)[0] == pytest.approx(22.31, abs=0.01)
    rows = theorem_3_3_iterations([drawn(50, 0.01, 50)]).details["iterations"]
    assert rows[0]["printed"][0] == pytest.approx(16.33, abs=0.01)
    assert needed(drawn(50, 0.01, 50).start)[0] == pytest.approx(99.82, abs=0.01)


def test_the_printed_number_holds_for_large_steps_and_fails_for_small_ones():
    assert theorem_3_3_iterations_as_printed([drawn(50, 0.4, 1200)]).verdict is Verdict.HOLDS
    evidence = theorem_3_3_iterations_as_printed([drawn(50, 0.01, 50)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.parts[0].broken == 50
    assert evidence.details["iterations"][0]["fewest"] >= 100


def test_control_the_printed_number_is_22():
    run = drawn(50, 0.4, 1200)
    in_time, late = (dataclasses.replace(run, steps=np.full(1200, steps)) for steps in (22, 23))
    assert theorem_3_3_iterations_as_printed([in_time]).verdict is Verdict.HOLDS
    assert theorem_3_3_iterations_as_printed([late]).verdict is Verdict.VIOLATED


def test_control_the_printed_number_asks_for_loss_0():
    stalled = altered(drawn(50, 0.4, 1200), status=(slice(12), RunStatus.STALLED))
    assert theorem_3_3_iterations_as_printed([stalled]).verdict is Verdict.VIOLATED


def test_control_too_few_runs_cannot_confirm_the_printed_number():
    evidence = theorem_3_3_iterations_as_printed([drawn(50, 0.4, 100)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_convergence_at_k_2():
    evidence = theorem_3_3([drawn(2, 0.1, 1200)])
    assert not_met(evidence) == ["width"]
    assert evidence.conclusion is False
    assert evidence.parts[0].broken / 1200 == pytest.approx(0.75, abs=0.05)


def test_control_convergence_on_too_few_runs():
    assert theorem_3_3([drawn(50, 0.4, 200)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_convergence_is_asked_for_under_the_hypotheses_of_the_paper():
    """η ≤ c_η/k and σ_g ≤ c_η/(16k^{3/2}): a smaller η beside the largest σ_g is inside, a larger σ_g is not."""
    small = drawn(50, 0.4, 200, step_share=0.1)
    assert small.start.in_event.mean() < 0.9
    evidence = theorem_3_3([small])
    assert not not_met(evidence)
    assert (evidence.parts[0].cases, evidence.parts[0].broken) == (200, 0)
    assert not_met(theorem_3_3([drawn(50, 0.4, 200, spread=2.0)])) == ["deviation"]
    assert not_met(theorem_3_3([drawn(16, 0.4, 200)])) == ["width"]


def test_control_one_failure_inside_the_events_refutes_however_few_the_runs():
    evidence = theorem_3_3([altered(FEW, status=(3, RunStatus.STALLED))])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == [EVENTS]
    # The same run outside the events is one of twenty that fails, which decides nothing.
    fits = FEW.start.fits.copy()
    fits[3, 0, 0, 0] = 0.36
    outside = dataclasses.replace(FEW, start=dataclasses.replace(FEW.start, fits=fits, deviation=None))
    assert theorem_3_3([altered(outside, status=(3, RunStatus.STALLED))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_loss_of_a_trillionth_is_not_0():
    last = FEW.opposing_sums[-1, 3, 0] + FEW.start.goal * (1 - 1e-12)
    assert broken(theorem_3_3([altered(FEW, own_sums=((-1, 3, 0), last))])) == [EVENTS]


def test_control_twelve_failures_of_1200():
    run = drawn(50, 0.4, 1200)
    assert LOSS in broken(theorem_3_3([altered(run, status=(slice(12), RunStatus.STALLED))]))
    one = theorem_3_3([altered(run, status=(0, RunStatus.STALLED))])
    assert undecided(one) == [LOSS]
    # A sign that is wrong at loss 0 cannot be; the part looks by itself.
    wrong = altered(run, own_sums=((-1, slice(12), 2), 0.0))
    assert SIGNS in broken(theorem_3_3([wrong]))


def test_control_runs_that_still_move_decide_nothing():
    moving = altered(drawn(50, 0.4, 1200), status=(slice(12), RunStatus.BUDGET_SPENT))
    assert theorem_3_3([moving]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert theorem_3_3_iterations([moving]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert theorem_3_3_iterations_as_printed([moving]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_setting_without_a_scored_run_is_not_hidden_by_another():
    starts = [drawn(50, 0.4, 20).start, drawn(50, 0.4, 20, spread=40.0).start]
    evidence = theorem_3_3_lower_bound([trace_xor(dataclasses.replace(start, deviation=None)) for start in starts])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert not_met(evidence) == ["in_event"]


def test_control_each_number_of_iterations():
    """The last run of a setting later by one than it may be, and in time at the number itself."""
    updates, points, width = FEW.updates.sum(axis=1), by_points(FEW.start), by_width(FEW.start)
    assert (updates < points).any()
    assert (points < width).all()
    run = int(np.argmax(points - updates))

    def ending_at(steps):
        return broken(theorem_3_3_iterations([altered(FEW, steps=(run, steps))]))

    assert ending_at(updates[run]) == []
    assert ending_at(updates[run] + 1) == [STEPS]
    assert ending_at(points[run]) == [STEPS]
    assert ending_at(points[run] + 1) == [POINTS, STEPS]
    assert ending_at(width[run]) == [POINTS, STEPS]
    assert ending_at(width[run] + 1) == [POINTS, WIDTH, STEPS]


def test_the_numbers_of_iterations_that_are_promised():
    """1/η = 500 and k = 50: Σ_i ⌈600/(2n_i)⌉, and 4⌈600/(√50(√50 − 4))⌉."""
    assert np.array_equal(by_points(FEW.start), np.ceil(300 / FEW.start.own_counts).sum(axis=1))
    assert set(by_width(FEW.start)) == {4 * 28}
    promised = {part.name: part.promised for part in theorem_3_3_iterations([FEW]).parts}
    assert promised[POINTS] in by_points(FEW.start)
    assert promised[WIDTH] == 112


def test_control_the_order_of_the_two_numbers():
    evidence = theorem_3_3_iterations([FEW], points=lambda start: 2 * by_points(start) + by_width(start))
    assert broken(evidence) == [ORDER]


def test_control_a_run_that_stalls_has_no_number_of_iterations():
    evidence = theorem_3_3_iterations([altered(FEW, status=(3, RunStatus.STALLED))])
    assert broken(evidence) == [REACHED]


def test_control_half_the_iterations():
    evidence = theorem_3_3_iterations([drawn(50, 0.01, 50)], points=lambda start: by_points(start) / 8)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_twice_the_lower_bound():
    evidence = theorem_3_3_lower_bound([drawn(50, 0.01, 50)], limit=lambda start: 2 * needed(start))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.parts[0].broken == 50


def test_control_the_lower_bound_where_it_is_nearly_attained():
    def more(extra):
        return theorem_3_3_lower_bound([J12], limit=lambda start: needed(start) + extra)

    evidence = more(0.0)
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.measured, evidence.promised) == (16, pytest.approx(15.8544733047, rel=1e-11))
    assert more(0.14).verdict is Verdict.HOLDS
    assert more(0.15).verdict is Verdict.VIOLATED


def test_control_outside_the_setting():
    assert not_met(theorem_3_3_iterations([drawn(50, 0.7, 20)])) == ["step_constant"]
    assert not_met(theorem_3_3_iterations([drawn(16, 0.1, 20)])) == ["width"]
