"""What the claims about gradient descent find, and controls: each wrong statement must be noticed."""

import pytest
from descent import Problem, descent, descent_as_printed, likely_radius, longer_steps, run, settings

from widenet.claims import Scale, Verdict

LINE, FULL, WIDE = (run(each, None) for each in settings(Scale.QUICK, 0))


def broken(evidence):
    return [part.key for part in evidence.parts if part.kept is False]


def test_it_holds_for_runs_of_different_lengths():
    assert len(set(FULL.n_steps.tolist())) > 1
    evidence = descent([LINE, FULL, WIDE])
    assert (evidence.verdict, evidence.part("decrease").tightness) == (Verdict.HOLDS, 1.0)
    assert evidence.part("decrease").n_cases == sum(int(cell.n_steps.sum()) for cell in (LINE, FULL, WIDE))


def test_the_factor_is_promised_on_data_of_full_rank_alone():
    evidence = descent([LINE, FULL, WIDE])
    assert evidence.part("factor").n_cases == int(LINE.n_steps.sum() + FULL.n_steps.sum())


def test_control_a_larger_gain_is_violated():
    assert broken(descent([LINE], factor=0.499)) == ["decrease"]


def test_control_a_faster_factor_is_violated():
    assert broken(descent([LINE.replace(convexity=1.001 * LINE.convexity)])) == ["factor"]


def test_control_a_smaller_radius_is_violated():
    assert broken(descent([FULL], radius=lambda dim: 0.1 * likely_radius(dim))) == ["starts"]


def test_control_a_step_that_is_too_long():
    evidence = descent([FULL.replace(smoothness=1.001 / FULL.step_size)])
    assert [each.key for each in evidence.hypotheses if not each.met] == ["at_most_one"]


def test_truncated_runs_leave_the_probability_open():
    evidence = descent([run(Problem(dim=5, n_points=50, max_steps=2), None)])
    assert (evidence.verdict, evidence.part("starts").kept) == (Verdict.INSUFFICIENT_EVIDENCE, None)
    assert evidence.part("decrease").kept


def test_it_is_false_for_longer_steps():
    evidence = descent_as_printed([run(each, None) for each in longer_steps(Scale.QUICK, 0)])
    assert (evidence.verdict, broken(evidence)) == (Verdict.VIOLATED, ["factor"])
    assert evidence.hypotheses[0].slack == pytest.approx(0.1)
