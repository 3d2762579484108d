"""Section E.0.9: the widths and times that the propositions ask for, put together."""

import math
from fractions import Fraction

import pytest

from tests.control_table import at, broken_in, controls
from tests.controls import unmet_in
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import thresholds
from widenet.papers.brutzkus2019.claims.thresholds import equation_17, footnote_12, footnote_15, section_e_0_9
from widenet.papers.brutzkus2019.runs.exact_widths import finish_of

CORNER = finish_of(range(17, 200), [(Fraction(1, 410), Fraction(8))])
SMALL = Fraction(1, 10**9)


def finish(widths=(17, 63, 64, 65), step=Fraction(1, 410), margin=Fraction(8), **more):
    return finish_of(widths, [(step, margin)], **more)


test_control = controls(
    thresholds,
    finish,
    (section_e_0_9, "time", {}, at(finish(factor=28 - SMALL))),
    (section_e_0_9, "positive", at(finish(half_width=112)), at(finish(half_width=111))),
    (
        section_e_0_9,
        "negative",
        at(finish(half_width=94, margin=Fraction(100))),
        at(finish(half_width=93, margin=Fraction(100))),
    ),
    but=(equation_17, footnote_12, footnote_15),
)


def test_a_record_without_widths_says_nothing_about_them():
    assert [part.kept for part in section_e_0_9(finish(())).parts] == [True, True, None]


def test_the_limits_of_section_e_0_9():
    evidence = section_e_0_9(CORNER)
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(evidence.details["largest_limit_of_E_18"], 111.814094772, rel_tol=1e-11)
    assert math.isclose(evidence.details["largest_limit_of_E_22"], 93.1830448932, rel_tol=1e-11)
    assert evidence.promised == 120


def test_control_a_step_that_is_too_large():
    """c_η = 1/200: Proposition E.22 asks for k above 152.5."""
    large = finish_of(range(17, 200), [(Fraction(1, 200), Fraction(8))])
    evidence = section_e_0_9(large)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert math.isclose(evidence.details["largest_limit_of_E_22"], 152.510509944, rel_tol=1e-11)
    assert unmet_in(evidence) == ["step_constant"]
    assert broken_in(evidence) == ["negative"]


@pytest.mark.parametrize(
    ("step", "margin", "unmet"),
    [(Fraction(1, 409), Fraction(8), "step_constant"), (Fraction(1, 410), Fraction(799, 100), "margin")],
)
def test_just_outside_the_hypotheses(step, margin, unmet):
    assert unmet_in(section_e_0_9(finish((17,), step, margin))) == [unmet]


def test_control_the_bound_on_T_from_another_width_on():
    for width, off in ((63, [63]), (65, [64])):
        evidence = section_e_0_9(CORNER, from_width=width)
        assert evidence.verdict is Verdict.VIOLATED
        assert evidence.details["widths_where_T_is_off"] == off
        assert broken_in(evidence) == ["time"]


def test_control_another_factor_than_28():
    evidence = section_e_0_9(finish(range(17, 200), factor=27))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["widths_where_T_is_off"] == [64, 65, 66, 67, 68, 69]
    assert section_e_0_9(finish(range(17, 200), factor=Fraction(279, 10))).verdict is Verdict.VIOLATED


def test_control_a_small_margin_has_no_width():
    """γ = 1: β is below 1, and no width is enough."""
    evidence = section_e_0_9(finish((120,), margin=Fraction(1)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.details["largest_limit_of_E_18"] == math.inf


def at_beta(beta, half_width=256):
    """c_η = 1/410 and the γ with this β of Proposition E.18."""
    step = Fraction(1, 410)
    margin = beta * (39 * step + 1) + Fraction(161, 4) * step
    return section_e_0_9(finish((17,), step, margin, half_width=half_width))


def test_a_width_that_is_just_attained_is_not_enough():
    """β = 3: 64·4 = 256."""
    assert broken_in(at_beta(Fraction(3))) == ["positive"]
    assert broken_in(at_beta(Fraction(3), 257)) == []


@pytest.mark.parametrize(
    ("beta", "limit"), [("0.95", math.inf), ("1", math.inf), ("1.05", 64 * 41**2), ("2", 64 * 9), ("3", 256)]
)
def test_the_width_of_a_beta(beta, limit):
    assert at_beta(Fraction(beta)).details["largest_limit_of_E_18"] == pytest.approx(limit, rel=1e-12)
