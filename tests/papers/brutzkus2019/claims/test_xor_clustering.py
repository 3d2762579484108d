"""Lemma 3.2 with both indices, and the angles of Theorem 3.3."""

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.xor_clustering import (
    CLAIMS,
    angle_limit,
    check_lemma_3_2,
    check_lemma_3_2_as_printed,
    check_theorem_3_3_angle,
)
from widenet.papers.brutzkus2019.runs.xor import draw_start, every_octant
from widenet.types import Scale, silent


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_lemma_3_2_from_every_octant():
    assert check_lemma_3_2([every_octant(0.1)]).verdict is Verdict.HOLDS


def test_the_printed_index_fails_in_every_run():
    start = draw_start(50, 0.1, 50)
    evidence = check_lemma_3_2_as_printed([start])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][0]["broken"] == 50
    assert evidence.measured == pytest.approx(-2, abs=1e-3)


def test_the_printed_lemma_is_judged_where_the_paper_states_it():
    """Section 3.2 assumes k > 16, and the print has two inequalities, which the repaired index satisfies."""
    assert check_lemma_3_2_as_printed([draw_start(2, 0.1, 50)]).verdict is Verdict.HYPOTHESES_NOT_MET
    printed = next(claim for claim in CLAIMS if claim.id.endswith("lemma_3_2_as_printed"))
    assert min(start.half_width for start in printed.setting(Scale.QUICK, 1)) == 17


def test_control_lemma_3_2_with_a_step_far_below_its_limit():
    """|α| reaches many η where the start is large beside a step."""
    evidence = check_lemma_3_2([draw_start(50, 0.4, 10, step_share=5e-3)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.runs.outside == 10
    assert evidence.config["cases"][0]["broken"] == 10


def test_runs_outside_the_event_are_counted_and_not_scored():
    evidence = check_lemma_3_2([draw_start(2, 0.1, 400, spread=4.0)])
    assert 0 < evidence.runs.outside < 400
    assert evidence.config["cases"][0]["scored"] == 400 - evidence.runs.outside
    assert evidence.conclusion is True
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(("step_constant", "degrees"), [(0.49, 89.2), (0.3, 72.1), (0.1, 43.3), (0.01, 14.0)])
def test_the_angle_that_is_promised(step_constant, degrees):
    assert angle_limit(step_constant) == pytest.approx(degrees, abs=0.1)


def test_control_angles_after_one_step():
    def after_one_step(run):
        """All four points are active at t = 0: one step along the own axis, one back across."""
        pushes = np.array([[1.0, -1.0], [-1.0, 1.0]])[:, None]
        return run.start.fits + 2 * np.sign(run.start.fits) * pushes

    evidence = check_theorem_3_3_angle([draw_start(50, 0.01, 20)], weights=after_one_step)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(45, abs=2)


def test_control_angles_need_convergence():
    evidence = check_theorem_3_3_angle([draw_start(50, 0.6, 20)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
