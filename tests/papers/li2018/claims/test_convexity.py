"""Kinks are not linear; the extreme instances have their closed forms."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import unmet_in
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import convexity
from widenet.papers.li2018.claims.convexity import lemma_a_5, lemma_b_5, lemma_b_6, lemma_b_6_as_printed
from widenet.papers.li2018.formulas import KINK_LEVEL
from widenet.papers.li2018.runs.convex_functions import (
    FLATTEST,
    MARKS,
    FunctionPairs,
    area_family,
    draw_curves,
    draw_kinks,
    joined,
    kinked,
    make_curves,
    share_family,
)
from widenet.records import Scale


@functools.cache
def kinks():
    return joined(kinked(0.5, 0.5, 0.25), kinked(*FLATTEST))


@functools.cache
def curves():
    return joined(area_family(0.01), share_family(0.001))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_they_hold_on_random_curves(seed):
    for claim, draw in ((lemma_a_5, draw_kinks), (lemma_b_5, draw_curves)):
        found = claim(draw(Scale.QUICK, seed))
        assert found.verdict is Verdict.HOLDS, claim.id
        assert found.parts[0].n_cases > 30


def test_the_extreme_kinks_attain_both_sharp_constants():
    found = lemma_a_5(kinks())
    assert found.parts[1].tightness == pytest.approx(1, abs=1e-12)
    assert found.parts[3].tightness == pytest.approx(1, abs=1e-12)
    assert found.parts[0].tightness == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("low", "high", "offset", "reach", "area", "share"),
    [(1.0, 2.0, 0.5, 1.0, 0.875, 0.96484375), (0.25, 3.0, 0.3, 2.0, 5.69, 0.8899739583333)],
)
def test_areas_and_shares_computed_apart(low, high, offset, reach, area, share):
    curve = kinked(low, high, offset, reach)
    assert curve.area[0] == pytest.approx(area, rel=1e-10)
    assert curve.share_beyond(np.array([KINK_LEVEL * (low + high) * reach]))[0] == pytest.approx(share, rel=1e-10)


@pytest.mark.parametrize(("width", "pinned"), [(0.1, 0.075), (0.01, 0.06375)])
def test_the_family_of_least_area(width, pinned):
    for reach, jump in ((1.0, 1.0), (2.0, 3.0)):
        curve = area_family(width * reach, reach, jump)
        assert curve.gap[0] == pytest.approx(jump)
        assert curve.area[0] / (jump * reach**2) == pytest.approx(pinned, rel=1e-10)


@pytest.mark.parametrize(("width", "pinned"), [(0.01, 0.253031496063), (0.001, 0.248531496063)])
def test_the_family_of_least_probability(width, pinned):
    curve = share_family(width)
    assert curve.share_beyond(np.array([1 / 512]))[0] == pytest.approx(pinned, rel=1e-7)
    assert curve.gap[0] == pytest.approx(1, abs=1e-8)


def test_control_another_level():
    """At 1/126.7 the least probability is below 31/63."""
    assert lemma_a_5(kinks(), level=1 / 126.7).parts[3].kept is False
    assert lemma_b_5(curves(), level=1 / 380).parts[3].kept is False


def test_rounding_is_no_excuse():
    """A value off by a billionth is off."""
    tight = kinked(0.5, 0.5, 0.25)
    assert lemma_a_5(tight, sharp_area=0.25 * (1 + 5e-12)).parts[1].kept is False
    assert lemma_a_5(kinks(), sharp_share=31 / 63 + 5e-12).parts[3].kept is False


def bent(at, size):
    """Slopes −1/2 and 1/2 around 0, and `size` less from `at` on."""
    pair = kinked(0.5, 0.5, 0.25)
    return altered(pair, curve=pair.curve - size * np.maximum(pair.knots - at, 0))


def test_how_much_a_curve_may_bend_down():
    """1e-9 of 1 + its steepest slope, which is 1.5 here."""
    for size, met in ((1.45e-9, True), (1.55e-9, False)):
        assert lemma_a_5(bent(0.5, size)).hypotheses[0].met is met
        assert lemma_b_5(bent(0.5, size)).hypotheses[0].met is met
        line = -size / 1.5 * np.maximum(MARKS - 0.5, 0)[None]
        assert lemma_b_5(altered(kinked(0.5, 0.5, 0.25), line=line)).hypotheses[0].met is met


def test_a_steep_curve_may_bend_down_by_more():
    """1e-9 of 1 + its steepest slope, which is 2."""
    for size, met in ((2.9e-9, True), (3.1e-9, False)):
        pair = kinked(0.5, 2.0, 0.25)
        pair = altered(pair, curve=pair.curve - size * np.maximum(pair.knots - 0.5, 0))
        assert lemma_a_5(pair).hypotheses[0].met is met


def test_numbers_scale_with_the_reach():
    """φ = 3|α|/2 and l = 3τ/4 on [−2, 2]: ρ = 3, ρτ²/4 = 3; and γτ²/16 = 3/4 for γ = 3."""
    found = lemma_a_5(kinked(1.5, 1.5, 1.5, reach=2.0))
    assert [part.promised for part in found.parts[:2]] == pytest.approx([1.5, 3.0])
    assert found.parts[1].measured == pytest.approx(3.0)
    found = lemma_b_5(area_family(0.2, reach=2.0, jump=3.0))
    assert [part.promised for part in found.parts[:2]] == pytest.approx([0.375, 0.75])
    assert found.parts[1].measured == pytest.approx(0.75 + 3 * 4 * 0.1 / 8)


def test_how_much_a_line_may_bend():
    """1e-9 of 1 + its slope."""
    for slope in (0.0, 3.0):
        pair = kinked(0.5, 0.5, 0.25)
        for share, met in ((0.97e-9, True), (1.03e-9, False)):
            bend = share * (1 + slope) / 2
            line = slope * pair.knots + bend * np.abs(pair.knots)
            assert lemma_a_5(altered(pair, curve=pair.curve + slope * pair.knots, line=line)).hypotheses[1].met is met


def test_shorter_rows_keep_their_slopes():
    """Rows are made equally long by knots without a length, which have no slope."""
    knots = np.sort(np.concatenate([MARKS, [0.25]]))
    long = make_curves(knots, np.abs(knots) + 3 * knots, 3 * knots + 0.25, np.ones(1))
    short = kinked(1.0, 1.0, 0.25)
    short = altered(short, curve=short.curve + 3 * short.knots, line=short.line + 3 * short.knots)
    for pair in (joined(long, short), joined(short, long)):
        found = lemma_a_5(pair)
        assert found.verdict is Verdict.HOLDS
        assert pair.line_bend.max() == pytest.approx(0, abs=1e-12)
        assert pair.least_bend.min() == pytest.approx(0, abs=1e-12)


def test_a_flat_piece_lies_beyond_as_a_whole():
    """φ = α₊ and l = 1/4: |φ − l| is 1/4 left of 0, and at least 1/4 from 1/2 on."""
    pair = kinked(0.0, 1.0, 0.25)
    for level, share in ((0.25, 0.75), (0.2, 0.5 + (0.05 + 0.55) / 2), (0.26, 0.49 / 2)):
        assert pair.share_beyond(np.array([level]))[0] == pytest.approx(share)


def test_only_the_pieces_inside_count():
    """|α| over [−1, 1] has area 1 and exceeds 1/2 on half of it, wherever the further knots are."""
    knots = np.sort(np.concatenate([MARKS, [-1.05, -0.95, 0.95, 1.05]]))
    pair = make_curves(knots, np.abs(knots), 0 * knots, np.ones(1))
    assert pair.area[0] == pytest.approx(1)
    assert pair.share_beyond(np.array([0.5]))[0] == pytest.approx(0.5)


def test_slopes_are_taken_at_the_marks():
    """Convex functions with kinks of size 2^j at −1.1, …, 1.1: the sums of kinks tell which were counted."""
    kinks = np.array([-1.1, -1.0, -0.9, -0.55, -0.5, -0.45, 0.45, 0.5, 0.55, 0.9, 1.0, 1.1])
    knots = np.sort(np.concatenate([kinks, [-1.5, 0.0, 1.5]]))
    sizes = 2.0 ** np.arange(12)
    values = (sizes * np.maximum(knots[:, None] - kinks, 0)).sum(axis=1)
    inner, outer = sizes[4:8].sum(), sizes[1:11].sum()
    for factor in (1.0, 2.0):
        pair = make_curves(factor * knots, factor * values, 0 * values, np.array([factor]))
        assert pair.gap[0] == pytest.approx(inner)
        assert altered(pair, curve=pair.line, line=pair.curve).gap[0] == pytest.approx(-outer)
        # At 0 there is no kink.
        assert lemma_a_5(pair).hypotheses[2].actual == pytest.approx(0, abs=1e-9)


def test_the_jump_is_at_zero():
    knots = np.sort(np.concatenate([MARKS, [-0.1, 0.1]]))
    values = 3 * np.maximum(knots + 0.1, 0) + 5 * np.maximum(knots, 0) + 7 * np.maximum(knots - 0.1, 0)
    assert lemma_a_5(make_curves(knots, values, 0 * knots, np.ones(1))).hypotheses[2].actual == pytest.approx(5)


@pytest.mark.parametrize("width", [0.01, 0.1])
def test_the_family_of_least_probability_is_the_one_that_was_derived(width):
    """φ − l is ε at −1, −ε from −1/2 to 1/2 − h, −127/512 at 1/2, and has the slope 127/128 from there to 1."""
    curve, small = share_family(width), (1 - 1e-9) / 512
    at = dict(zip(curve.knots[0].round(6), curve.difference[0], strict=True))
    expected = {-1.0: small, -0.5: -small, 0.5 - width: -small, 0.5: -127 / 512, 1.0: -127 / 512 + 127 / 256}
    for knot, value in expected.items():
        assert at[round(knot, 6)] == pytest.approx(value, rel=1e-11, abs=0)
    outside = (at[1.5] - at[1.0], at[-1.5] - at[-1.0])
    assert outside == pytest.approx((127 / 256, 2 * small))
    # The kink of l is at 1/2 − h alone.
    np.testing.assert_allclose(curve.line[0][curve.knots[0] < 0.5 - width / 2], 0, atol=0)
    assert curve.least_bend.min() >= 0
    assert curve.least_line_bend.min() >= 0


def test_the_family_of_least_area_is_the_one_that_was_derived():
    """φ − l is 0 up to ±(τ/2 − h), −γτ/8 at ±τ/2 and γτ/8 at ±τ; γ = 3, τ = 2, h = 0.1."""
    curve = area_family(0.1, reach=2.0, jump=3.0)
    np.testing.assert_allclose(curve.knots[0], [-3, -2, -1, -0.9, 0.9, 1, 2, 3])
    np.testing.assert_allclose(
        curve.difference[0], [2.25, 0.75, -0.75, 0, 0, -0.75, 0.75, 2.25], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(curve.line[0][3:6], [0, 0, 0.75], atol=1e-12)


def test_rooms_of_areas_and_shares():
    tight = kinked(0.5, 0.5, 0.25)
    for factor, kept in ((0.9e-12, True), (1.1e-12, False)):
        assert lemma_a_5(tight, area=0.25 + factor).parts[0].kept is kept
        assert lemma_a_5(tight, sharp_area=0.25 + factor).parts[1].kept is kept
    one = area_family(0.01)
    # The largest |φ − l| is that at ±1.5: γτ/8 + γτ/4.
    room = 1e-12 * 0.375
    for factor, kept in ((0.8, True), (1.2, False)):
        bound = 0.06375 + factor * room
        assert lemma_b_5(one, area=bound).parts[0].kept is kept
        assert lemma_b_5(one, sharp_area=bound).parts[1].kept is kept
    likely = share_family(0.01).share_beyond(np.array([1 / 512 * share_family(0.01).gap[0]]))[0]
    for factor, kept in ((0.9e-12, True), (1.1e-12, False)):
        assert lemma_b_5(share_family(0.01), sharp_share=likely + factor).parts[3].kept is kept
        # 31/63 and 127/256 are the shares of the two extreme kinks.
        assert lemma_a_5(kinks(), sharp_share=31 / 63 + factor).parts[3].kept is kept


def test_jumps_and_gaps_of_nothing_are_too_small():
    flat = kinked(0.5, -0.5 + 1e-6, 0.25)
    assert lemma_a_5(flat).hypotheses[2].met is True
    assert lemma_a_5(kinked(0.5, -0.5, 0.25)).hypotheses[2].met is False
    flat = kinked(0.0, 0.0, 1.0)
    assert lemma_b_5(flat).hypotheses[1].met is False
    assert lemma_b_5(kinked(0.0, 0.05, 1.0)).hypotheses[1].met is True


def test_drawn_curves_have_knots_where_slopes_are_taken():
    for drawn in (draw_kinks(Scale.QUICK, 0), draw_curves(Scale.QUICK, 0)):
        for knots, reach in zip(drawn.knots[:50], drawn.reach[:50], strict=True):
            for mark in (-1, -0.5, 0, 0.5, 1):
                assert np.abs(knots - mark * reach).min() < 1e-12
            assert knots[0] < -reach
            assert knots[-1] > reach
    assert area_family(0.01).gap[0] == pytest.approx(1)


def test_curves_outside_the_lemmas():
    knots = np.sort(np.concatenate([MARKS, [-0.01, 0.01]]))
    found = lemma_a_5(make_curves(knots, np.minimum(np.abs(knots) / 2, 1 / 200), 0 * knots, np.ones(1)))
    assert found.conclusion is False
    assert unmet_in(found) == ["convex"]
    same = altered(curves(), line=curves().curve)
    assert unmet_in(lemma_b_5(same)) == ["gap"]


# 31/63 and 127/256 are the shares of the two extreme kinks.
LIKELY = share_family(0.001).share_beyond(np.array([share_family(0.001).gap[0] / 512]))[0]


def least_share():
    """Of the two kinks."""
    return kinks().share_beyond(KINK_LEVEL * kinks().jump * kinks().reach).min()


test_control = controls(
    convexity,
    {FunctionPairs: kinks, lemma_b_5: curves},
    (lemma_a_5, "sharp_area"),
    (lemma_b_5, "sharp_area"),
    (lemma_a_5, "area", {"area": 0.25}, {"area": 0.26}),
    (lemma_a_5, "share", {"share": 0.492}, {"share": 0.4929}),
    (lemma_a_5, "share", at(kinks, share=least_share()), at(kinks, share=least_share() + 1e-9)),
    (lemma_a_5, "sharp_share", {"sharp_share": 31 / 63 + 5e-13}, {"sharp_share": 31 / 63 + 2e-12}),
    (lemma_b_5, "area", {}, {"area": 0.0638}),
    (lemma_b_5, "share", {"share": LIKELY - 1e-9}, {"share": LIKELY + 1e-9}),
    (lemma_b_5, "sharp_share", {"sharp_share": LIKELY + 5e-13}, {"sharp_share": LIKELY + 2e-12}),
    (lemma_b_5, "convex", {"least_bend": -5e-10}, {"least_bend": -2e-9}),
    (lemma_b_5, "convex", {"least_line_bend": -5e-10}, {"least_line_bend": -2e-9}),
    but=(lemma_b_6, lemma_b_6_as_printed),
)
