"""Proposition 1.2: gaps between segments and their closed forms, and the example of the paper."""

import dataclasses

import numpy as np
import pytest

from tests.controls import answers_in, lacking_in
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.landscape import proposition_1_2, proposition_1_2_own_example
from widenet.papers.brutzkus2018.runs.landscapes import Certified, OnePair, certified_landscapes, random_pairs
from widenet.papers.brutzkus2018.runs.nonconvexity import find_nonconvex_segment
from widenet.records import Scale


@pytest.mark.parametrize("claim", [proposition_1_2, proposition_1_2_own_example], ids=lambda claim: claim.name)
def test_gaps_hold(claim):
    evidence = claim(claim.draws(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(1)


def test_control_a_linear_network_has_a_convex_loss():
    """α = 1: no certificate anywhere, and what is not found decides nothing."""
    linear = [dataclasses.replace(each.landscape, slope=1.0) for each in certified_landscapes(Scale.QUICK, 0)]
    evidence = proposition_1_2([Certified(scape, find_nonconvex_segment(scape)) for scape in linear])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.details["certificates"] == 0
    assert lacking_in(evidence) == ["slope_below_one"]


def test_a_certificate_that_is_missing_decides_nothing():
    missing = [dataclasses.replace(certified_landscapes(Scale.QUICK, 0)[0], certificate=None)]
    evidence = proposition_1_2(missing)
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "1 of 1" in evidence.note
    assert [part.name for part in evidence.parts] == ["a positive gap"]


def test_control_the_papers_three_points_with_slope_1():
    evidence = proposition_1_2_own_example([OnePair(np.array([0.6, 0.3]), 1.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert answers_in(evidence) == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((1.001, 1.0, 1.0), [True, True, True, False, True]),
        ((1.0, 1.001, 1.0), [True, True, True, True, False]),
        ((1.0, 1.0, 1.001), [False, True, True, True, True]),
    ],
)
def test_control_each_value_of_the_papers_example(factors, expected):
    assert answers_in(proposition_1_2_own_example(random_pairs(Scale.QUICK, 0), factors=factors)) == expected


def test_control_the_papers_three_points_say_nothing_about_the_loss_of_a_positive_sample():
    evidence = proposition_1_2_own_example(random_pairs(Scale.QUICK, 0))
    assert evidence.details["hinge_not_convex_here_for_label_plus"] == 0
    assert evidence.details["hinge_not_convex_here_for_label_minus"] == evidence.details["pairs"]
