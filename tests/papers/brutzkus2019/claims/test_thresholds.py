"""Widths out of bounds: exact equivalences, and wrong constants that break them."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, every_part_of
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import thresholds
from widenet.papers.brutzkus2019.claims.thresholds import (
    NEGATIVE,
    POSITIVE,
    Choice,
    ConeCounts,
    counts_near_a_quarter,
    equation_17,
    footnote_12,
    footnote_15,
    section_e_0_9,
    sign,
)
from widenet.papers.brutzkus2019.formulas import steps_of_theorem_6_3, steps_to_zero_loss
from widenet.records import Scale

CLAIMS = (equation_17, footnote_12, footnote_15, section_e_0_9)
SAME, WIDE, BORDER, FLOATS = (
    "the bound says something exactly where α(k) < β",
    "α(k) < β exactly where k is above its limit",
    "at the limit itself the bound is 0",
    "the bound in floats has the right sign",
)


def material(claim):
    return claim.draws(Scale.QUICK, 0)


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
    evidence = claim(material(claim), factor=factor)
    assert evidence.verdict is Verdict.VIOLATED
    assert WIDE in broken_in(evidence)
    assert SAME not in broken_in(evidence)


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

    evidence = claim(material(claim), which=replace(which, helps=form))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [SAME, BORDER, FLOATS]


def equivalence_controls(claim, which, on_limit):
    """What breaks each part and hypothesis of a footnote; `on_limit` lies at its limit for k = 144."""
    here = [Choice((143, 144, 145), *on_limit)]

    def moved(by, choices=here, **more):
        """The exact bound, as a form a + b√k, lowered."""

        def form(step, margin):
            rational, root = which.helps(step, margin)
            return rational - by, root

        return claim(choices, which=replace(which, helps=form, **more))

    @breaks_part(claim, BORDER)
    def border():
        """A bound that is a little below 0 at its limit, and still says something from the next width on."""
        return moved(Fraction(0)), moved(SMALL)

    @breaks_part(claim, SAME, also=(FLOATS,))
    def same():
        """On either side of the limit and not on it; the exact bound never says anything."""
        return moved(Fraction(10**6), [Choice((143, 145), *on_limit)])

    @breaks_part(claim, WIDE)
    def wide():
        """64·(145/144) lies between; at k = 200 both say yes."""
        around = [Choice((143, 145, 200), *on_limit)]
        return claim(around), claim(around, factor=65)

    @breaks_part(claim, FLOATS)
    def floats():
        off = replace(which, bound=lambda *at: which.bound(*at) - 0.01)
        return claim(here), claim(here, which=off)

    @breaks_part(claim, FLOATS)
    def not_a_number():
        return claim(here, which=replace(which, bound=lambda *at: math.nan))

    @breaks_hypothesis(claim, "width")
    def width():
        return claim([*here, Choice((65,), *on_limit)]), claim([*here, Choice((64,), *on_limit)])

    @breaks_hypothesis(claim, "step_constant", also=() if claim is footnote_12 else ("beta",))
    def step():
        """In footnote 15 β is infinite at c_η = 0; a negative c_η makes it negative."""
        least = Fraction(0) if claim is footnote_12 else Fraction(-1, 10**6)
        return claim([*here, Choice((145,), least, on_limit[1])])

    @breaks_hypothesis(claim, "beta")
    def beta():
        return claim([*here, at_beta(claim, 1 + SMALL)]), claim([*here, at_beta(claim, Fraction(1))])

    return {each.__name__: each for each in (border, same, wide, floats, not_a_number, width, step, beta)}


SMALL = Fraction(1, 10**9)


def at_beta(claim, beta):
    """c_η and γ with this β; no width is above the limit at β = 1."""
    if claim is footnote_12:
        step = Fraction(1, 1000)
        return Choice((65, 1000), step, beta * (39 * step + 1) + Fraction(161, 4) * step)
    return Choice((65, 1000), 1 / (35 * beta + Fraction(145, 4)), Fraction(8))


FOOTNOTES = {
    "12": equivalence_controls(footnote_12, POSITIVE, (Fraction(1, 410), Fraction(9141, 1640))),
    "15": equivalence_controls(footnote_15, NEGATIVE, (Fraction(4, 845), Fraction(8))),
}


@pytest.mark.parametrize("what", ["border", "same", "wide", "floats", "not_a_number", "width", "step", "beta"])
@pytest.mark.parametrize("number", ["12", "15"])
def test_control_footnotes_part_by_part(number, what):
    FOOTNOTES[number][what]()


@pytest.mark.parametrize("claim", [footnote_12, footnote_15], ids=["12", "15"])
def test_control_the_bound_in_floats(claim):
    which = POSITIVE if claim is footnote_12 else NEGATIVE
    off = replace(which, bound=lambda *at: which.bound(*at) - 0.01)
    assert broken_in(claim(material(claim), which=off)) == [FLOATS]


def test_points_on_the_limit_are_among_the_grid():
    for claim, which in ((footnote_12, POSITIVE), (footnote_15, NEGATIVE)):
        on_limit = [
            sign(*which.helps(choice.step_constant, choice.required_margin), k) == 0
            for choice in material(claim)
            for k in choice.half_widths
        ]
        assert sum(on_limit) > 10


@pytest.mark.parametrize(
    ("claim", "step", "margin"),
    [(footnote_12, Fraction(1, 410), Fraction(9141, 1640)), (footnote_15, Fraction(4, 845), Fraction(8))],
    ids=["12", "15"],
)
def test_at_the_limit_the_bound_is_exactly_zero(claim, step, margin):
    """k = 144: a condition "k ≥" would claim it."""
    evidence = claim([Choice((143, 144, 145), step, margin)])
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.details["exactly_at_the_limit"], evidence.details["wide_enough"]) == (1, 1)


def test_control_beta_below_one():
    """γ = 1: the limit on k is met by wide networks, and the bound is still negative."""
    choices = [*material(footnote_12)[::9], Choice((10**6,), Fraction(1, 41), Fraction(1))]
    evidence = footnote_12(choices)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert [h.key for h in evidence.hypotheses if not h.met] == ["beta"]


@pytest.mark.parametrize(("margin", "met"), [(Fraction(101, 100), True), (Fraction(99, 100), False)])
def test_beta_just_on_either_side_of_one(margin, met):
    """β(γ) = margin at c_η = 1/1000."""
    step = Fraction(1, 1000)
    at = Choice((65, 10**6), step, margin * (39 * step + 1) + Fraction(161, 4) * step)
    (beta,) = [h for h in footnote_12([at]).hypotheses if h.key == "beta"]
    assert (beta.actual, beta.met) == (float(margin), met)


def test_control_narrow_networks():
    choices = [*material(footnote_15)[::9], Choice((49,), Fraction(1, 410), Fraction(8))]
    assert footnote_15(choices).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize("half_width", [65, 400])
def test_points_on_one_side_only_decide_nothing(half_width):
    assert footnote_12([Choice((half_width,), Fraction(1, 410), Fraction(8))]).conclusion is None


@pytest.mark.parametrize(
    ("claim", "on_limit"),
    [(footnote_12, (Fraction(1, 410), Fraction(9141, 1640))), (footnote_15, (Fraction(4, 845), Fraction(8)))],
    ids=["12", "15"],
)
def test_without_a_beta_beyond_one_no_width_is_above_its_limit(claim, on_limit):
    evidence = claim([Choice((143, 144, 145), *on_limit), at_beta(claim, Fraction(1))])
    assert broken_in(evidence) == []
    assert evidence.details["wide_enough"] == 1


@pytest.mark.parametrize("claim", [footnote_12, footnote_15], ids=["12", "15"])
def test_without_a_choice_nothing_is_met(claim):
    evidence = claim([])
    assert evidence.conclusion is None
    assert [h.met for h in evidence.hypotheses] == [False] * 3


def test_control_counts_farther_apart():
    assert equation_17(counts_near_a_quarter(range(65, 300), Fraction(21, 10))).verdict is Verdict.VIOLATED
    evidence = equation_17(counts_near_a_quarter(range(60, 300)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.details["widths"] == [60, 299]
    assert equation_17(counts_near_a_quarter(range(65, 65))).conclusion is None


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


@pytest.mark.parametrize(
    ("cone", "end", "part"), [("first", (0, 1), "at most α(k)"), ("third", (0, 1), "at least 1/α(k)")]
)
def test_control_one_count_more_on_one_side(cone, end, part):
    counts = counts_near_a_quarter([144])
    altered = replace(counts, **{cone: getattr(counts, cone) + np.array(end)})
    assert broken_in(equation_17(altered)) == [part]


def one_more(cone):
    """k = 144: 12 to 60 filters in each cone, α = 5; one more in one of them."""
    counts = counts_near_a_quarter([144])
    return equation_17(counts), equation_17(replace(counts, **{cone: getattr(counts, cone) + np.array([0, 1])}))


@breaks_part(equation_17, "at most α(k)")
def test_control_one_filter_more_in_the_first_cone():
    return one_more("first")


@breaks_part(equation_17, "at least 1/α(k)")
def test_control_one_filter_more_in_the_third_cone():
    return one_more("third")


def test_ratios_are_compared_exactly():
    """k = 145: α is irrational, and a ratio of numbers beyond 10¹⁷ that floats take for α is above it."""
    low, least, most = 10**17, 10**17, 8 * 10**17
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if sign(8 * (low + middle), low - middle, 145) >= 0 else (least, middle)
    for large, parts in ((least, []), (most, ["at most α(k)", "at least 1/α(k)"])):
        ends = np.array([[low, large]])
        assert broken_in(equation_17(ConeCounts(np.array([145]), ends, ends))) == parts
    assert most / low == pytest.approx((math.sqrt(145) + 8) / (math.sqrt(145) - 8), rel=1e-15)


def test_at_a_width_of_64_no_ratio_is_allowed():
    ends = np.array([[4, 6]])
    assert broken_in(equation_17(ConeCounts(np.array([64]), ends, ends))) == ["at most α(k)"]
    assert broken_in(equation_17(ConeCounts(np.array([65]), ends, ends))) == []


@breaks_hypothesis(equation_17, "width")
def test_control_a_width_of_64():
    """No count is between 16 − 16 and 16 + 16 but those: the ratio has no limit there."""
    return equation_17(counts_near_a_quarter([65, 144])), equation_17(counts_near_a_quarter([64, 144]))


def test_the_two_times_as_the_runs_are_compared_with_them():
    for k, enough in ((63, False), (65, True), (120, True)):
        assert (steps_of_theorem_6_3(1 / 410, 8.0) >= steps_to_zero_loss(k, 1 / 410, 8.0)) is enough
    assert math.isclose(steps_of_theorem_6_3(1 / 410, 8.0), steps_to_zero_loss(64, 1 / 410, 8.0))


test_every_part_has_a_control = every_part_of(thresholds, elsewhere=(section_e_0_9,))
