"""Widths out of bounds: exact equivalences, and wrong constants that break them."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.controls import unmet_in
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import thresholds
from widenet.papers.brutzkus2019.claims.thresholds import equation_17, footnote_12, footnote_15, section_e_0_9
from widenet.papers.brutzkus2019.formulas import steps_of_theorem_6_3, steps_to_zero_loss
from widenet.papers.brutzkus2019.runs.exact_widths import (
    NEGATIVE,
    POSITIVE,
    ConeCounts,
    WidthChoice,
    counts_near_a_quarter,
    grid_12,
    grid_15,
    on_both_sides,
    sign,
)
from widenet.records import Scale

CLAIMS = (equation_17, footnote_12, footnote_15, section_e_0_9)
SMALL = Fraction(1, 10**9)
FOOTNOTES = {footnote_12: POSITIVE, footnote_15: NEGATIVE}
ON_LIMIT = {footnote_12: (Fraction(1, 410), Fraction(9141, 1640)), footnote_15: (Fraction(4, 845), Fraction(8))}
"""c_η and γ at the limit for k = 144."""
GRIDS = {footnote_12: grid_12(Scale.QUICK), footnote_15: grid_15(Scale.QUICK)}


def material(claim):
    return claim.draws(Scale.QUICK, 0)


def sided(claim, choices=None, factor=64, **changes):
    """Choices as a footnote sees them, or these changes of it."""
    return on_both_sides(GRIDS[claim] if choices is None else choices, replace(FOOTNOTES[claim], **changes), factor)


def around(claim, *half_widths, **changes):
    """These widths at the limit for k = 144."""
    return sided(claim, [WidthChoice(half_widths or (143, 144, 145), *ON_LIMIT[claim])], **changes)


def lowered(claim, by):
    """The exact bound, as a form a + b√k, lowered."""

    def form(step, margin):
        rational, root = FOOTNOTES[claim].helps(step, margin)
        return rational - by, root

    return form


def one_more(cells):
    """One filter more in a cone, at most."""
    return cells + np.array([0, 1])


def rows_of(claim):
    """What breaks each part of a footnote."""
    return (
        # A bound that is a little below 0 at its limit, and still says something from the next width on.
        (claim, "border", {}, at(lambda: around(claim, helps=lowered(claim, SMALL)))),
        # On either side of the limit and not on it; the exact bound never says anything.
        (claim, "form", {}, at(lambda: around(claim, 143, 145, helps=lowered(claim, Fraction(10**6)))), "floats"),
        # 64·(145/144) lies between; at k = 200 both say yes.
        (claim, "limit", at(lambda: around(claim, 143, 145, 200)), at(lambda: around(claim, 143, 145, 200, factor=65))),
        (claim, "floats", {}, at(lambda: around(claim, bound=lambda *at: FOOTNOTES[claim].bound(*at) - 0.01))),
        (claim, "floats", {}, at(lambda: around(claim, bound=lambda *at: math.nan))),
    )


test_control = controls(
    thresholds,
    {
        ConeCounts: lambda: counts_near_a_quarter([144]),
        footnote_12: lambda: around(footnote_12),
        footnote_15: lambda: around(footnote_15),
    },
    # k = 144: 12 to 60 filters in each cone, α = 5.
    (equation_17, "upper", {}, {"first": one_more}),
    (equation_17, "lower", {}, {"third": one_more}),
    *rows_of(footnote_12),
    *rows_of(footnote_15),
    but=(section_e_0_9,),
)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_holds_on_its_default_material(claim):
    evidence = claim(material(claim))
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous


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
        (Fraction(1, 100), 0, 5, 1),
        (Fraction(-1, 100), 0, 5, -1),
    ],
)
def test_signs_with_a_root(a, b, k, expected):
    assert sign(a, b, k) == expected


@pytest.mark.parametrize("claim", [footnote_12, footnote_15], ids=["12", "15"])
@pytest.mark.parametrize("factor", [63, 65])
def test_control_another_factor(claim, factor):
    evidence = claim(sided(claim, factor=factor))
    assert evidence.verdict is Verdict.VIOLATED
    assert "limit" in broken_in(evidence)
    assert "form" not in broken_in(evidence)


@pytest.mark.parametrize(
    ("claim", "which", "constant", "larger"),
    [(footnote_12, POSITIVE, 39, Fraction(394, 10)), (footnote_15, NEGATIVE, 35, Fraction(353, 10))],
    ids=["12", "15"],
)
def test_control_another_constant_in_the_bound(claim, which, constant, larger):
    """39 → 39.4 and 35 → 35.3, in the exact bound alone."""

    def form(step, margin):
        rational, root = which.helps(step, margin)
        return rational, root - 2 * (larger - constant) * step

    evidence = claim(sided(claim, helps=form))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["form", "border", "floats"]


def at_beta(claim, beta):
    """c_η and γ with this β; no width is above the limit at β = 1."""
    if claim is footnote_12:
        step = Fraction(1, 1000)
        return WidthChoice((65, 1000), step, beta * (39 * step + 1) + Fraction(161, 4) * step)
    return WidthChoice((65, 1000), 1 / (35 * beta + Fraction(145, 4)), Fraction(8))


@pytest.mark.parametrize("claim", [footnote_12, footnote_15], ids=["12", "15"])
def test_control_the_bound_in_floats(claim):
    off = sided(claim, bound=lambda *at: FOOTNOTES[claim].bound(*at) - 0.01)
    assert broken_in(claim(off)) == ["floats"]


def test_points_on_the_limit_are_among_the_grid():
    for claim in FOOTNOTES:
        assert (material(claim).form == 0).sum() > 10


@pytest.mark.parametrize("claim", FOOTNOTES, ids=["12", "15"])
def test_at_the_limit_the_bound_is_exactly_zero(claim):
    """k = 144: a condition "k ≥" would claim it."""
    evidence = claim(around(claim))
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.details["exactly_at_the_limit"], evidence.details["wide_enough"]) == (1, 1)


def test_control_beta_below_one():
    """γ = 1: the limit on k is met by wide networks, and the bound is still negative."""
    choices = [*GRIDS[footnote_12][::9], WidthChoice((10**6,), Fraction(1, 41), Fraction(1))]
    evidence = footnote_12(sided(footnote_12, choices))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet_in(evidence) == ["beta"]


@pytest.mark.parametrize(("margin", "met"), [(Fraction(101, 100), True), (Fraction(99, 100), False)])
def test_beta_just_on_either_side_of_one(margin, met):
    """β(γ) = margin at c_η = 1/1000."""
    step = Fraction(1, 1000)
    choice = WidthChoice((65, 10**6), step, margin * (39 * step + 1) + Fraction(161, 4) * step)
    (beta,) = [h for h in footnote_12(sided(footnote_12, [choice])).hypotheses if h.key == "beta"]
    assert (beta.actual, beta.met) == (float(margin), met)


def test_control_narrow_networks():
    choices = [*GRIDS[footnote_15][::9], WidthChoice((49,), Fraction(1, 410), Fraction(8))]
    assert footnote_15(sided(footnote_15, choices)).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize("half_width", [65, 400])
def test_points_on_one_side_only_decide_nothing(half_width):
    choices = [WidthChoice((half_width,), Fraction(1, 410), Fraction(8))]
    assert footnote_12(sided(footnote_12, choices)).conclusion is None


@pytest.mark.parametrize("claim", FOOTNOTES, ids=["12", "15"])
def test_without_a_beta_beyond_one_no_width_is_above_its_limit(claim):
    evidence = claim(sided(claim, [WidthChoice((143, 144, 145), *ON_LIMIT[claim]), at_beta(claim, Fraction(1))]))
    assert broken_in(evidence) == []
    assert evidence.details["wide_enough"] == 1


def test_control_counts_farther_apart():
    assert equation_17(counts_near_a_quarter(range(65, 300), Fraction(21, 10))).verdict is Verdict.VIOLATED
    evidence = equation_17(counts_near_a_quarter(range(60, 300)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.details["widths"] == [60, 299]


@pytest.mark.parametrize(("half_width", "ends"), [(144, (12, 60)), (256, (32, 96))])
def test_the_ratio_of_counts_is_attained(half_width, ends):
    """k = 144: 60/12 = 5 = α. k = 256: 96/32 = 3 = α."""
    counts = counts_near_a_quarter([half_width])
    assert counts.first.tolist() == [list(ends)]
    evidence = equation_17(counts)
    assert evidence.verdict is Verdict.HOLDS
    assert [(part.tightness, part.measured, part.promised) for part in evidence.parts] == [(1.0, 1.0, 1.0)] * 2
    assert equation_17(counts_near_a_quarter([half_width], Fraction(201, 100))).verdict is Verdict.HOLDS
    assert equation_17(counts_near_a_quarter([half_width], Fraction(21, 10))).verdict is Verdict.VIOLATED


def test_ratios_are_compared_exactly():
    """k = 145: α is irrational, and a ratio of numbers beyond 10¹⁷ that floats take for α is above it."""
    low, least, most = 10**17, 10**17, 8 * 10**17
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if sign(8 * (low + middle), low - middle, 145) >= 0 else (least, middle)
    for large, parts in ((least, []), (most, ["upper", "lower"])):
        ends = np.array([[low, large]])
        assert broken_in(equation_17(ConeCounts(np.array([145]), ends, ends))) == parts
    assert most / low == pytest.approx((math.sqrt(145) + 8) / (math.sqrt(145) - 8), rel=1e-15)


def test_at_a_width_of_64_no_ratio_is_allowed():
    ends = np.array([[4, 6]])
    assert broken_in(equation_17(ConeCounts(np.array([64]), ends, ends))) == ["upper"]
    assert broken_in(equation_17(ConeCounts(np.array([65]), ends, ends))) == []


def test_the_two_times_as_the_runs_are_compared_with_them():
    for k, enough in ((63, False), (65, True), (120, True)):
        assert (steps_of_theorem_6_3(1 / 410, 8.0) >= steps_to_zero_loss(k, 1 / 410, 8.0)) is enough
    assert math.isclose(steps_of_theorem_6_3(1 / 410, 8.0), steps_to_zero_loss(64, 1 / 410, 8.0))
