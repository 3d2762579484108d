"""Theorem 9: two widths, one law, and a count of updates."""

import math
from fractions import Fraction

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.relu_updates import (
    check_theorem_9b_updates,
    counted,
    counted_exactly,
    theorem_9b_updates,
    theorem_9b_updates_as_printed,
    updates_allowed,
    updates_allowed_as_printed,
)
from widenet.papers.brutzkus2018.claims.relu_width import (
    Exponents,
    check_theorem_9_remark,
    check_theorem_9a,
    check_theorem_9b,
    initializations,
    narrow_width,
    success_probability,
    theorem_9_remark,
    theorem_9a,
    theorem_9b,
    wide_width,
)
from widenet.types import Scale


def cases(width, offset=0, count=6000, **others):
    rounded = math.floor if width is narrow_width else math.ceil
    return [
        initializations(2, dim, delta, rounded(width(dim, delta)) + offset, count, trained=10, **others)
        for dim, delta in ((64, 0.1), (20, 0.05))
    ]


@pytest.mark.parametrize("claim", [theorem_9a, theorem_9b, theorem_9_remark, theorem_9b_updates])
def test_it_holds_on_its_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness is not None
    assert 0.3 < evidence.tightness <= 1


def test_the_exact_law():
    assert success_probability(1, 1) == 0.5
    assert math.isclose(success_probability(3, 2), 27 / 64, rel_tol=1e-15)


def test_control_two_units_more_than_theorem_9a_allows():
    evidence = check_theorem_9a(cases(narrow_width, +2))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.hypotheses[0].slack is not None
    assert evidence.hypotheses[0].slack < 0


def test_control_a_wrong_width_in_theorem_9a():
    generous = lambda dim, delta: narrow_width(dim, delta) + 2  # noqa: E731
    assert check_theorem_9a(cases(narrow_width, +2), width=generous).verdict is Verdict.VIOLATED


def test_control_tied_coordinates_in_theorem_9a():
    """Symmetric rows ξ·(1, …, 1) are stuck with probability 2^{−k} only; independence is what the proof uses."""
    tied = cases(narrow_width, entries=lambda draw, shape: draw.uniform(-1, 1, (*shape[:2], 1)) * np.ones(shape))
    evidence = check_theorem_9a(tied)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert [h.met for h in evidence.hypotheses] == [True, True, False]
    assert [row["failure_rate"] > 0.7 for row in evidence.config["cases"]] == [True, True]


def test_control_three_units_fewer_than_theorem_9b_asks():
    evidence = check_theorem_9b(cases(wide_width, -3))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    fewer = lambda dim, delta: wide_width(dim, delta) - 3  # noqa: E731
    assert check_theorem_9b(cases(wide_width, -3), width=fewer).verdict is Verdict.VIOLATED


def test_too_few_starts_decide_nothing():
    few = [initializations(2, 20, 0.05, 10, 30, trained=10)]
    assert check_theorem_9b(few).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_an_exponent_above_one_half():
    evidence = check_theorem_9_remark(Exponents((0.75,), 200))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.config["broken"] == 200
    assert check_theorem_9_remark(Exponents((0.75,), 200), largest_exponent=0.75).verdict is Verdict.VIOLATED


def test_the_printed_count_is_violated_in_exact_arithmetic():
    evidence = theorem_9b_updates_as_printed.check(
        theorem_9b_updates_as_printed.setting(Scale.QUICK, 1), lambda *_: None
    )
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.promised, evidence.measured) == (1, 2)
    row = evidence.config["cases"][0]
    assert row["runs_over"] == row["runs_with_empty_K_0"] > 0


def test_the_repaired_count_holds_on_the_same_instance():
    assert check_theorem_9b_updates(theorem_9b_updates_as_printed.setting(Scale.QUICK, 1)).verdict is Verdict.HOLDS


def test_the_printed_count_fails_in_ordinary_runs_too():
    """d = 50, C = 1: no run over the printed count at η = 0.3, all of them at η = 2."""
    fine, coarse = (counted(0, 5, 50, 10, 0.1, 1.0, eta) for eta in (0.3, 2.0))
    assert check_theorem_9b_updates([fine], allowed=updates_allowed_as_printed).verdict is Verdict.HOLDS
    evidence = check_theorem_9b_updates([coarse], allowed=updates_allowed_as_printed)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["cases"][0]["runs_over"] == 5


def test_control_per_point_count_rounded_down():
    down = lambda dim, bound, step: dim * math.floor(max(bound, 1) / step)  # noqa: E731
    assert check_theorem_9b_updates([counted(0, 5, 20, 9, 0.1, 1.0, 10.0)], allowed=down).verdict is Verdict.VIOLATED


def test_exact_and_float_counts_agree():
    exact = counted_exactly(3, 30, 4, 7, 0.5, Fraction(1), Fraction(3, 10))
    again = check_theorem_9b_updates([exact])
    assert again.verdict is Verdict.HOLDS
    assert updates_allowed(4, Fraction(1), Fraction(3, 10)) == 16
    assert updates_allowed_as_printed(4, Fraction(1), Fraction(3, 10)) == 14


def test_runs_that_are_all_stuck_decide_nothing():
    stuck = counted_exactly(0, 1, 40, 1, 0.5, Fraction(1), Fraction(1))
    assert check_theorem_9b_updates([stuck]).conclusion is None
