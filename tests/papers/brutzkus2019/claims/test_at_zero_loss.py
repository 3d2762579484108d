"""What is read off the weights at zero loss, and the ways in which each check must fail."""

import dataclasses
import functools

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.settings import FAST, SMALL, TINY, altered, broken, part_of, plus, toy, traced
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.at_zero_loss import equation_15, equation_19, equation_21, footnote_14

LARGE, CONES = "S⁺_T ≥ γ + 1", "X_T(1) + X_T(3) = S⁺_T"
MOST, ON_PLUS = "at most that on x⁺, on all 15 sets (by construction)", "the sum on x⁺ is P⁺_T + Y_T(2) + Y_T(4)"
SUMS = {side: f"Σσ(⟨u, p_{side}⟩) = Y({side}) + Z({side})" for side in (2, 4)}
OUTPUTS = {side: f"N({{{side}}}) ≤ S⁻ + X − Y({side}) − Z({side})" for side in (2, 4)}
ENOUGH = "Y(2) + Y(4) + Z(2) + Z(4) ≥ 1"


@pytest.mark.parametrize("claim", [equation_15, equation_19, footnote_14, equation_21])
def test_it_holds_in_every_run(claim):
    evidence = claim([traced(FAST), traced(SMALL)])
    assert evidence.verdict is Verdict.HOLDS
    assert all(part.cases >= 100 for part in evidence.parts)


@pytest.mark.parametrize(
    ("control", "fails", "least"),
    [
        (functools.partial(equation_15, over=1.0), [LARGE], 10),
        (functools.partial(equation_19, against=(2,)), [MOST, ON_PLUS], 100),
        (functools.partial(footnote_14, swapped=True), [SUMS[2], OUTPUTS[2], SUMS[4], OUTPUTS[4]], 95),
        (functools.partial(equation_21, over=8.0), [ENOUGH], 100),
    ],
    ids=["one c_η more", "x⁺ without p₄", "l exchanged", "eight c_η more"],
)
def test_control_a_wrong_form_fails(control, fails, least):
    evidence = control([traced(FAST)])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == fails
    # Exchanged sides are wrong both ways, but only the smaller of them is no bound on N.
    assert all(part_of(evidence, name).broken >= least for name in fails if name not in OUTPUTS.values())


def test_runs_that_stall_are_counted_and_not_scored():
    """Without a filter in W13 no run reaches zero loss."""
    evidence = equation_15([traced(SMALL.model_copy(update={"n_positive": 0}))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.details["runs_stalled"] == 6
    assert np.isfinite(evidence.measured or 0.0)


@pytest.mark.parametrize(("claim", "part"), [(equation_15, LARGE), (equation_21, ENOUGH)])
def test_control_just_beyond_what_is_attained(claim, part):
    """J2 leaves c_η/64 of both."""
    assert broken(claim([toy("J2")], over=0.015)) == []
    assert broken(claim([toy("J2")], over=0.016)) == [part]


def test_what_is_promised():
    assert part_of(equation_15([toy("J2")]), LARGE).promised == pytest.approx(1 + 659 / 512)
    assert part_of(equation_21([toy("J2")]), ENOUGH).promised == pytest.approx(1)


def at_end(name: str, more: float):
    trace = toy("D4")
    return altered(trace, name, int(trace.steps[0]), plus(more))


def test_control_equation_15_compares_both_cones():
    assert broken(equation_15([at_end("s_plus_1", TINY)])) == [CONES]


def test_control_equation_19_compares_the_sum_on_the_positive_point():
    assert broken(equation_19([at_end("y", TINY)])) == [ON_PLUS]
    assert broken(equation_19([at_end("p_plus", TINY)])) == [ON_PLUS]


@pytest.mark.parametrize("pattern", [2, 4])
def test_control_footnote_14_part_by_part(pattern):
    """A larger Y(l) breaks the equality, and the bound on N, which D4 attains on {4}; a w on p_l raises N alone."""
    evidence = footnote_14([at_end(f"y_{pattern}", TINY)])
    assert SUMS[pattern] in broken(evidence)
    assert not {SUMS[6 - pattern], OUTPUTS[6 - pattern]} & set(broken(evidence))
    trace = toy("D4")
    end = trace.end.copy()
    end[0, :2, 1] = 50.0 if pattern == 2 else -50.0
    assert broken(footnote_14([dataclasses.replace(trace, end=end)])) == [OUTPUTS[pattern]]
