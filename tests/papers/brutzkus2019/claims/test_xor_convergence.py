"""Theorem 3.3: loss 0 for wide networks, and how many iterations it takes."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import xor_convergence
from widenet.papers.brutzkus2019.claims.xor_convergence import (
    CLAIMS,
    check_theorem_3_3,
    check_theorem_3_3_iterations,
    check_theorem_3_3_iterations_as_printed,
    check_theorem_3_3_lower_bound,
    iterations_allowed,
    iterations_allowed_as_printed,
    iterations_needed,
)
from widenet.papers.brutzkus2019.runs.xor import draw_start, trace
from widenet.types import RunStatus, Scale, silent


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_the_printed_numbers():
    assert iterations_allowed_as_printed(draw_start(50, 0.1, 1))[0] == pytest.approx(22.31, abs=0.01)
    assert check_theorem_3_3_iterations([draw_start(50, 0.01, 2)]).config["iterations"][0]["printed"][0] == (
        pytest.approx(16.33, abs=0.01)
    )
    assert iterations_needed(draw_start(50, 0.01, 1))[0] == pytest.approx(99.82, abs=0.01)


def test_the_printed_number_holds_for_large_steps_and_fails_for_small_ones():
    assert check_theorem_3_3_iterations_as_printed([draw_start(50, 0.4, 1200)]).verdict is Verdict.HOLDS
    evidence = check_theorem_3_3_iterations_as_printed([draw_start(50, 0.01, 50)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][0]["broken"] == 50
    assert evidence.config["iterations"][0]["fewest"] >= 100


def test_control_too_few_runs_cannot_confirm_the_printed_number():
    evidence = check_theorem_3_3_iterations_as_printed([draw_start(50, 0.4, 100)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_convergence_at_k_2():
    start = draw_start(2, 0.1, 1200)
    evidence = check_theorem_3_3([start])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["cases"][0]["broken"] / 1200 == pytest.approx(0.75, abs=0.05)


def test_control_convergence_on_too_few_runs():
    assert check_theorem_3_3([draw_start(50, 0.4, 200)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_convergence_is_asked_for_under_the_hypotheses_of_the_paper():
    """η ≤ c_η/k and σ_g ≤ c_η/(16k^{3/2}): a smaller η beside the largest σ_g is inside, a larger σ_g is not."""
    small = draw_start(50, 0.4, 200, step_share=0.1)
    assert small.in_event.mean() < 0.9
    evidence = check_theorem_3_3([small])
    assert all(h.met for h in evidence.hypotheses)
    assert evidence.config["cases"][0]["scored"] == 200
    assert evidence.config["cases"][0]["broken"] == 0
    assert check_theorem_3_3([draw_start(50, 0.4, 200, spread=2.0)]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_one_failure_inside_the_events_refutes_however_few_the_runs(monkeypatch):
    def stalled(start):
        run = trace(start)
        return dataclasses.replace(run, status=np.where(np.arange(20) == 3, RunStatus.STALLED, run.status))

    monkeypatch.setattr(xor_convergence, "trace", stalled)
    assert check_theorem_3_3([draw_start(50, 0.4, 20)]).verdict is Verdict.VIOLATED


def test_control_a_setting_without_a_scored_run_is_not_hidden_by_another():
    starts = [draw_start(50, 0.4, 20), draw_start(50, 0.4, 20, spread=40.0)]
    evidence = check_theorem_3_3_lower_bound([dataclasses.replace(start, deviation=None) for start in starts])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["runs that start in the event, fewest of a setting"]


def test_control_half_the_iterations():
    evidence = check_theorem_3_3_iterations([draw_start(50, 0.01, 50)], limit=lambda s: iterations_allowed(s) / 8)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_twice_the_lower_bound():
    evidence = check_theorem_3_3_lower_bound([draw_start(50, 0.01, 50)], limit=lambda s: 2 * iterations_needed(s))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][0]["broken"] == 50


def test_control_outside_the_setting():
    assert check_theorem_3_3_iterations([draw_start(50, 0.7, 20)]).verdict is Verdict.HYPOTHESES_NOT_MET
