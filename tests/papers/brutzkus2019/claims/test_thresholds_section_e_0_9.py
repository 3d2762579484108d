"""Section E.0.9: the widths and times that the propositions ask for, put together."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.controls import breaks_part, broken_in, every_part_of, hypothesis_edges
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import thresholds
from widenet.papers.brutzkus2019.claims.thresholds import Finish, equation_17, footnote_12, footnote_15, section_e_0_9

CORNER = Finish(tuple(range(17, 200)), ((Fraction(1, 410), Fraction(8)),))


SMALL = Fraction(1, 10**9)


def finishing(widths=(17, 63, 64, 65), step=Fraction(1, 410), margin=Fraction(8), half_width=120, **constants):
    return section_e_0_9(Finish(tuple(widths), ((step, margin),), half_width), **constants)


COVERS = "T of Theorem 6.3 covers that of E.14 exactly from k = 64 on"


@breaks_part(section_e_0_9, COVERS)
def test_control_a_factor_just_below_28():
    return finishing(), finishing(factor=Fraction(28) - SMALL)


@breaks_part(section_e_0_9, "E.18 asks for less than the promised width")
def test_control_a_width_that_proposition_e_18_does_not_grant():
    return finishing(half_width=112), finishing(half_width=111)


@breaks_part(section_e_0_9, "E.22 asks for less than the promised width")
def test_control_a_width_that_proposition_e_22_does_not_grant():
    return finishing(half_width=94, margin=Fraction(100)), finishing(half_width=93, margin=Fraction(100))


test_control_section_e_0_9_at_its_edges = hypothesis_edges(
    section_e_0_9,
    finishing,
    width=({"widths": (17, 64)}, {"widths": (16, 64)}),
    step_constant=({}, {"step": Fraction(1, 410) + SMALL}),
    margin=({}, {"margin": 8 - SMALL}),
)


def test_the_limits_of_section_e_0_9():
    evidence = section_e_0_9(CORNER)
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(evidence.details["largest_limit_of_E_18"], 111.814094772, rel_tol=1e-11)
    assert math.isclose(evidence.details["largest_limit_of_E_22"], 93.1830448932, rel_tol=1e-11)
    assert evidence.promised == 120


@pytest.mark.parametrize(
    ("half_width", "margin", "name"), [(111, 8, "E.18"), (93, 100, "E.22")], ids=["E.18 alone", "E.22 alone"]
)
def test_control_a_width_that_one_proposition_does_not_grant(half_width, margin, name):
    finish = Finish((17,), ((Fraction(1, 410), Fraction(margin)),), half_width)
    assert broken_in(section_e_0_9(finish)) == [f"{name} asks for less than the promised width"]
    assert section_e_0_9(replace(finish, half_width=half_width + 1)).verdict is Verdict.HOLDS


def test_control_a_step_that_is_too_large():
    """c_η = 1/200: Proposition E.22 asks for k above 152.5."""
    large = Finish(tuple(range(17, 200)), ((Fraction(1, 200), Fraction(8)),))
    evidence = section_e_0_9(large)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert math.isclose(evidence.details["largest_limit_of_E_22"], 152.510509944, rel_tol=1e-11)
    assert section_e_0_9(large, largest_step=1 / 200).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("step", "margin", "unmet"),
    [(Fraction(1, 409), Fraction(8), "step_constant"), (Fraction(1, 410), Fraction(799, 100), "margin")],
)
def test_just_outside_the_hypotheses(step, margin, unmet):
    evidence = section_e_0_9(Finish((17,), ((step, margin),)))
    assert [h.key for h in evidence.hypotheses if not h.met] == [unmet]


def test_control_the_bound_on_T_from_another_width_on():
    for width, off in ((63, [63]), (65, [64])):
        evidence = section_e_0_9(CORNER, from_width=width)
        assert evidence.verdict is Verdict.VIOLATED
        assert evidence.details["widths_where_T_is_off"] == off
        assert broken_in(evidence) == ["T of Theorem 6.3 covers that of E.14 exactly from k = 64 on"]


def test_control_another_factor_than_28():
    evidence = section_e_0_9(CORNER, factor=27)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["widths_where_T_is_off"] == [64, 65, 66, 67, 68, 69]
    assert section_e_0_9(CORNER, factor=Fraction(279, 10)).verdict is Verdict.VIOLATED


def test_control_a_small_margin_has_no_width():
    """γ = 1: β is below 1, and no width is enough."""
    evidence = section_e_0_9(Finish((120,), ((Fraction(1, 410), Fraction(1)),)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.details["largest_limit_of_E_18"] == math.inf


def at_beta(beta, half_width=256):
    """c_η = 1/410 and the γ with this β of Proposition E.18."""
    step = Fraction(1, 410)
    return section_e_0_9(Finish((17,), ((step, beta * (39 * step + 1) + Fraction(161, 4) * step),), half_width))


def test_a_width_that_is_just_attained_is_not_enough():
    """β = 3: 64·4 = 256."""
    name = "E.18 asks for less than the promised width"
    assert broken_in(at_beta(Fraction(3))) == [name]
    assert broken_in(at_beta(Fraction(3), 257)) == []


@pytest.mark.parametrize(
    ("beta", "limit"), [("0.95", math.inf), ("1", math.inf), ("1.05", 64 * 41**2), ("2", 64 * 9), ("3", 256)]
)
def test_the_width_of_a_beta(beta, limit):
    assert at_beta(Fraction(beta)).details["largest_limit_of_E_18"] == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize(
    ("outside", "key"),
    [((Fraction(1, 409), Fraction(8)), "step_constant"), ((Fraction(1, 410), Fraction(799, 100)), "margin")],
)
def test_one_choice_outside_beside_another(outside, key):
    choices = ((Fraction(1, 410), Fraction(8)), outside)
    for order in (choices, choices[::-1]):
        assert [h.key for h in section_e_0_9(Finish((17, 64), order)).hypotheses if not h.met] == [key]


def test_without_a_choice_the_margin_is_not_met():
    evidence = section_e_0_9(Finish((17, 64), ()))
    assert {h.key: h.met for h in evidence.hypotheses} == {"width": True, "step_constant": True, "margin": False}
    assert evidence.conclusion is None
    assert section_e_0_9(replace(CORNER, widths=())).conclusion is None


test_every_part_has_a_control = every_part_of(thresholds, elsewhere=(equation_17, footnote_12, footnote_15))
