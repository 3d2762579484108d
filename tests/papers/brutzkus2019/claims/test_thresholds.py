"""Widths out of bounds: exact equivalences, and wrong constants that break them."""

import math
from fractions import Fraction

import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.thresholds import (
    CLAIMS,
    NEGATIVE,
    POSITIVE,
    Finish,
    Point,
    check_equation_17,
    check_footnote_12,
    check_footnote_15,
    check_section_e_0_9,
    footnote_12,
    footnote_15,
    sign,
)
from widenet.papers.brutzkus2019.formulas import steps_of_theorem_6_3, steps_to_zero_loss
from widenet.types import Scale


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_holds_on_its_default_setting(claim):
    assert claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("a", "b", "k", "expected"),
    [
        (3, -1, 9, 0),
        (-3, 1, 9, 0),
        (3, -1, 8, 1),
        (3, -1, 10, -1),
        (-3, 1, 10, 1),
        (0, 2, 5, 1),
        (-1, 0, 7, -1),
        (0, 0, 5, 0),
        (Fraction(1, 3), Fraction(-1, 9), 9, 0),
    ],
)
def test_signs_with_a_root(a, b, k, expected):
    assert sign(a, b, k) == expected


@pytest.mark.parametrize(
    ("claim", "check"), [(footnote_12, check_footnote_12), (footnote_15, check_footnote_15)], ids=["12", "15"]
)
@pytest.mark.parametrize("factor", [63, 65])
def test_control_another_factor(claim, check, factor):
    evidence = check(claim.setting(Scale.QUICK, 0), factor=factor)
    assert evidence.verdict is Verdict.VIOLATED


def test_points_on_the_limit_are_among_the_grid():
    for claim, which in ((footnote_12, POSITIVE), (footnote_15, NEGATIVE)):
        points = claim.setting(Scale.QUICK, 0)
        assert sum(sign(*which.bound_helps(point), point.half_width) == 0 for point in points) > 10


def test_control_beta_below_one():
    """γ = 1: the limit on k is met by wide networks, and the bound is still negative."""
    points = [*footnote_12.setting(Scale.QUICK, 0)[::9], Point(10**6, Fraction(1, 41), Fraction(1))]
    evidence = check_footnote_12(points)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_narrow_networks():
    points = [*footnote_15.setting(Scale.QUICK, 0)[::9], Point(49, Fraction(1, 410), Fraction(8))]
    assert check_footnote_15(points).verdict is Verdict.HYPOTHESES_NOT_MET


def test_points_on_one_side_only_decide_nothing():
    assert check_footnote_12([Point(400, Fraction(1, 410), Fraction(8))]).conclusion is None


def test_control_counts_farther_apart():
    assert check_equation_17(range(65, 300), radius=Fraction(21, 10)).verdict is Verdict.VIOLATED
    evidence = check_equation_17(range(60, 300))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert check_equation_17(range(65, 65)).conclusion is None


def test_the_limits_of_section_e_0_9():
    corner = Finish(tuple(range(17, 200)), ((Fraction(1, 410), Fraction(8)),))
    evidence = check_section_e_0_9(corner)
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(evidence.config["largest_limit_of_E_18"], 111.8, abs_tol=0.05)
    assert math.isclose(evidence.config["largest_limit_of_E_22"], 93.2, abs_tol=0.05)


def test_control_a_step_that_is_too_large():
    """c_η = 1/200: Proposition E.22 asks for k above 152.5."""
    large = Finish(tuple(range(17, 200)), ((Fraction(1, 200), Fraction(8)),))
    evidence = check_section_e_0_9(large)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert math.isclose(evidence.config["largest_limit_of_E_22"], 152.5, abs_tol=0.05)
    assert check_section_e_0_9(large, largest_step=Fraction(1, 200)).verdict is Verdict.VIOLATED


def test_control_the_bound_on_T_from_another_width_on():
    corner = Finish(tuple(range(17, 200)), ((Fraction(1, 410), Fraction(8)),))
    evidence = check_section_e_0_9(corner, from_width=63)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["widths_where_T_is_off"] == [63]


def test_control_another_factor_than_28():
    corner = Finish(tuple(range(17, 200)), ((Fraction(1, 410), Fraction(8)),))
    evidence = check_section_e_0_9(corner, factor=27)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["widths_where_T_is_off"] == [64, 65, 66, 67, 68, 69]


def test_the_two_times_as_the_runs_are_compared_with_them():
    for k, enough in ((63, False), (65, True), (120, True)):
        assert (steps_of_theorem_6_3(1 / 410, 8.0) >= steps_to_zero_loss(k, 1 / 410, 8.0)) is enough
    assert math.isclose(steps_of_theorem_6_3(1 / 410, 8.0), steps_to_zero_loss(64, 1 / 410, 8.0))


def test_control_a_small_margin_has_no_width():
    """γ = 1: β is below 1, and no width is enough."""
    evidence = check_section_e_0_9(Finish((120,), ((Fraction(1, 410), Fraction(1)),)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.measured == math.inf
