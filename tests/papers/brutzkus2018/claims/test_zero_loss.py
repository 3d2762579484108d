"""Multiples of W* have loss 0, W* itself not always: the judges tell the difference."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.zero_loss import (
    ExactPoint,
    Separated,
    exact_points,
    reaching_cases,
    section_2_zero_minimum,
    separated_cases,
    separator_is_global_minimum,
    separator_is_global_minimum_as_printed,
)
from widenet.records import Scale


def one_point(half_width, output_weight, slope):
    return Separated(np.ones((1, 1)), np.ones(1), np.ones(1), half_width, output_weight, slope)


def both(half_width, output_weight, slope):
    return [one_point(half_width, output_weight, slope), one_point(half_width, output_weight, 0.0)]


def test_the_verdicts_are_the_expected_ones():
    assert section_2_zero_minimum(separated_cases(Scale.QUICK, 0)).verdict is Verdict.HOLDS
    assert separator_is_global_minimum(reaching_cases(Scale.QUICK, 0)).verdict is Verdict.HOLDS
    assert separator_is_global_minimum_as_printed(exact_points(Scale.QUICK, 0)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("slope", "broken"), [(0.0, 1), (0.3, 0)])
def test_control_section_2_with_a_smaller_multiple(slope, broken):
    """One point at y⟨w*, x⟩ = 1: nine tenths of the smallest admissible s leave loss .1."""
    assert section_2_zero_minimum(both(3, 0.7, 0.3)).verdict is Verdict.HOLDS
    alone = section_2_zero_minimum([one_point(3, 0.7, slope)], shrink=0.9)
    assert alone.conclusion is False
    assert alone.measured == pytest.approx(0.1)
    assert [part.kept for part in alone.parts].index(False) == broken


def test_control_section_2_without_a_separator():
    reversed_label = dataclasses.replace(one_point(3, 0.7, 0.3), labels=-np.ones(1))
    evidence = section_2_zero_minimum([reversed_label])
    assert [h.key for h in evidence.hypotheses if not h.met] == ["separable"]
    assert evidence.conclusion is False


def test_one_activation_alone_does_not_decide_both():
    assert section_2_zero_minimum([one_point(3, 0.7, 0.3)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_the_separator_is_no_global_minimum_of_a_narrow_network():
    """Eq. 6 with α = .1: k = 1 gives N = .778 and loss .222, k = 2 gives loss 0."""
    evidence = separator_is_global_minimum([one_point(1, 0.5**0.5, 0.1)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["reach"]
    assert evidence.conclusion is False
    assert evidence.measured == pytest.approx(1 - 1.1 / 2**0.5)
    assert separator_is_global_minimum([one_point(2, 0.5, 0.1)]).verdict is Verdict.HOLDS


def test_the_printed_statement_fails_exactly_where_the_condition_does():
    """In fractions: kv(1 + α) = 11/20 fails, 11/10 does not; two derivations of the same loss."""
    failing, holding = ExactPoint(1, Fraction(1, 2), Fraction(1, 10)), ExactPoint(2, Fraction(1, 2), Fraction(1, 10))
    evidence = separator_is_global_minimum_as_printed([failing])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == float(Fraction(9, 20))
    assert one_point(1, 0.5, 0.1).mean_hinge(1.0) == pytest.approx(0.45)
    assert separator_is_global_minimum_as_printed([holding]).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("key", "point"),
    [
        ("output_weight", ExactPoint(1, Fraction(-1, 2), Fraction(1, 10))),
        ("slope_positive", ExactPoint(1, Fraction(1, 2), Fraction(0))),
        ("slope_below_one", ExactPoint(1, Fraction(1, 4), Fraction(1))),
    ],
)
def test_control_each_hypothesis_of_the_printed_statement(key, point):
    evidence = separator_is_global_minimum_as_printed([point])
    assert [h.key for h in evidence.hypotheses if not h.met] == [key]
