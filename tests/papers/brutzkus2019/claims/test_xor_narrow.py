"""XOR with k = 2: solvable, and not solved in three runs of four."""

from fractions import Fraction

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.papers.brutzkus2019.claims.xor_narrow import (
    CLAIMS,
    SOLUTION,
    NarrowRuns,
    Networks,
    check_lemma_b_7,
    check_observation_xor_realizable,
    check_theorem_3_4,
    check_theorem_b_8,
    outputs,
)
from widenet.papers.brutzkus2019.runs.xor import draw_start, every_octant, trace
from widenet.types import Scale, silent

OCTANTS = every_octant(0.1)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_the_solution_is_exactly_at_the_margin():
    assert np.array_equal(XOR_LABELS * outputs(*SOLUTION), np.ones(4))


def test_control_a_solution_without_its_fourth_filter():
    singles = np.random.default_rng(0).normal(size=(2, 100, 1, 2))
    broken = Networks(SOLUTION[0], XOR_POINTS[[1, 1]] / 2, *singles)
    evidence = check_observation_xor_realizable(broken)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 1


def test_control_singles_that_do_solve_it_would_be_noticed():
    """With two filters of each sign in place of one, the search finds solutions."""
    pairs = np.stack([SOLUTION[0], SOLUTION[0]]), np.stack([SOLUTION[1], SOLUTION[1]])
    assert check_observation_xor_realizable(Networks(*SOLUTION, *pairs)).verdict is Verdict.VIOLATED


def test_control_lemma_b_7_at_k_3():
    evidence = check_lemma_b_7([draw_start(3, 0.1, 4000)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.interval is not None
    assert evidence.interval[0] < 7 / 16 < evidence.interval[1]


def test_control_lemma_b_7_with_another_number_and_on_few_runs():
    start = draw_start(2, 0.1, 4000)
    assert check_lemma_b_7([start], promised=Fraction(7, 16)).verdict is Verdict.VIOLATED
    assert check_lemma_b_7([draw_start(2, 0.1, 100)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_theorem_3_4_exactly():
    evidence = check_theorem_3_4(NarrowRuns(draw_start(2, 0.1, 1000), OCTANTS))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.measured == 0.75
    assert evidence.config["final_losses"] == ["1/4", "1/2", "1/4"]


def test_control_an_output_of_zero_called_positive_hides_half_of_the_failures():
    def weakly_right(values):
        return np.where(values >= 0, 1.0, -1.0) == XOR_LABELS

    evidence = check_theorem_3_4(NarrowRuns(draw_start(2, 0.1, 1000), OCTANTS), rule=weakly_right)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 0.5


def test_control_wide_networks_do_not_fail():
    evidence = check_theorem_3_4(NarrowRuns(draw_start(50, 0.1, 200), OCTANTS))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["failed"] == 0


def test_control_few_runs_and_another_step():
    assert check_theorem_3_4(NarrowRuns(draw_start(2, 0.1, 50), OCTANTS)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    slow = NarrowRuns(draw_start(2, 0.02, 1000), every_octant(0.02))
    assert check_theorem_3_4(slow).verdict is Verdict.HOLDS


def test_control_large_changes_do_lower_the_loss():
    evidence = check_theorem_b_8(NarrowRuns(draw_start(2, 0.1, 200), OCTANTS), share=400.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured < 0


def test_runs_outside_the_event_are_counted_and_not_scored():
    drawn = draw_start(2, 0.1, 400, spread=4.0)
    evidence = check_theorem_b_8(NarrowRuns(drawn, OCTANTS), draws=1)
    outside = int((~drawn.in_event).sum())
    assert 0 < outside < 400
    assert evidence.runs.outside == outside
    assert evidence.runs.tried <= 400 - outside + 4096
    failed = (trace(drawn).final_loss[drawn.in_event] > 0).sum() + 3072
    assert evidence.runs.tried == failed


def test_control_no_failed_run_no_verdict():
    wide = draw_start(50, 0.1, 20)
    evidence = check_theorem_b_8(NarrowRuns(wide, wide))
    assert evidence.conclusion is None
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
