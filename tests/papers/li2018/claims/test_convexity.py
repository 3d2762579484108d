"""Kinks are not linear, and sums under a smooth function; the extreme instances have their closed forms."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, every_part_of, part_edges, spares
from tests.papers.li2018.toys import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import convexity
from widenet.papers.li2018.claims.convexity import (
    FLATTEST,
    MARKS,
    area_family,
    bend_gap,
    draw_curves,
    draw_flat_increase,
    draw_increases,
    draw_kinks,
    flat_instance,
    joined,
    kinked,
    lemma_a_5,
    lemma_b_5,
    lemma_b_6,
    lemma_b_6_as_printed,
    listed_increases,
    make_curves,
    rough_instance,
    share_family,
    smooth_instance,
)
from widenet.papers.li2018.formulas import KINK_LEVEL
from widenet.records import Scale


@functools.cache
def kinks():
    return joined(kinked(0.5, 0.5, 0.25), kinked(*FLATTEST))


@functools.cache
def curves():
    return joined(area_family(0.01), share_family(0.001))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_they_hold_on_random_curves(seed):
    for claim, draw in ((lemma_a_5, draw_kinks), (lemma_b_5, draw_curves), (lemma_b_6, draw_increases)):
        found = claim(draw(Scale.QUICK, seed))
        assert found.verdict is Verdict.HOLDS, claim.id
        assert found.parts[0].cases > 30


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
    assert curve.area()[0] == pytest.approx(area, rel=1e-10)
    assert curve.share_beyond(np.array([KINK_LEVEL * (low + high) * reach]))[0] == pytest.approx(share, rel=1e-10)


@pytest.mark.parametrize(("width", "pinned"), [(0.1, 0.075), (0.01, 0.06375)])
def test_the_family_of_least_area(width, pinned):
    for reach, jump in ((1.0, 1.0), (2.0, 3.0)):
        curve = area_family(width * reach, reach, jump)
        assert bend_gap(curve)[0] == pytest.approx(jump)
        assert curve.area()[0] / (jump * reach**2) == pytest.approx(pinned, rel=1e-10)


@pytest.mark.parametrize(("width", "pinned"), [(0.01, 0.253031496063), (0.001, 0.248531496063)])
def test_the_family_of_least_probability(width, pinned):
    curve = share_family(width)
    assert curve.share_beyond(np.array([1 / 512]))[0] == pytest.approx(pinned, rel=1e-7)
    assert bend_gap(curve)[0] == pytest.approx(1, abs=1e-8)


test_control_each_constant_of_a_5 = part_edges(
    lemma_a_5,
    lambda **constants: lemma_a_5(kinks(), **constants),
    {
        "∫|φ − l| ≥ ρτ²/8": ({}, {"area": 0.26}),
        "∫|φ − l| ≥ ρτ²/4": ({}, {"sharp_area": 0.2501}),
        "Pr[|φ − l| ≥ ρτ/128] ≥ 1/16": ({}, {"share": 0.5}),
        "Pr[|φ − l| ≥ ρτ/128] ≥ 31/63": ({}, {"sharp_share": 0.4922}),
    },
)


def test_control_another_level():
    """At 1/126.7 the least probability is below 31/63."""
    assert lemma_a_5(kinks(), level=1 / 126.7).parts[3].kept is False
    assert lemma_b_5(curves(), level=1 / 380).parts[3].kept is False


@breaks_hypothesis(lemma_a_5, "convex")
def test_control_a_curve_that_bends_down():
    knots = np.sort(np.concatenate([MARKS, [-0.01, 0.01]]))
    found = lemma_a_5(make_curves(knots, np.minimum(np.abs(knots) / 2, 1 / 200), 0 * knots, np.ones(1)))
    assert found.conclusion is False
    return found


@breaks_hypothesis(lemma_a_5, "linear")
def test_control_a_bent_line():
    return lemma_a_5(kinks()), lemma_a_5(altered(kinks(), line=lambda line: line + 1e-6 * np.abs(kinks().knots)))


@breaks_hypothesis(lemma_a_5, "jump")
def test_control_no_kink():
    return lemma_a_5(kinked(0.5, -0.5, 0.25))


test_control_each_constant_of_b_5 = part_edges(
    lemma_b_5,
    lambda **constants: lemma_b_5(curves(), **constants),
    {
        "∫|φ − l| ≥ γτ²/32": ({}, {"area": 0.0638}),
        "∫|φ − l| ≥ γτ²/16": ({"sharp_area": 0.0637}, {"sharp_area": 0.0638}),
        "Pr[|φ − l| ≥ γτ/512] ≥ 1/64": ({}, {"share": 0.249}),
        "Pr[|φ − l| ≥ γτ/512] ≥ 63/254": ({"sharp_share": 0.2485}, {"sharp_share": 0.249}),
    },
)


@breaks_hypothesis(lemma_b_5, "convex")
def test_control_a_pair_that_bends_down():
    return lemma_b_5(
        altered(curves(), curve=lambda c: c - 5 * np.abs(curves().knots), line=lambda c: c - 6 * np.abs(curves().knots))
    )


@breaks_hypothesis(lemma_b_5, "gap")
def test_control_a_line_that_bends_as_much():
    return lemma_b_5(altered(curves(), line=curves().curve))


@pytest.mark.parametrize(("radius", "share"), [(0.1, 0.90375), (0.01, 0.9900375)])
def test_the_smooth_instance(radius, share):
    increase, linear, *_ = smooth_instance(radius)
    assert (increase - linear) / radius**2 == pytest.approx(share, rel=1e-10)


@functools.cache
def attained():
    return listed_increases(smooth_instance(0.01), rough_instance(0.001))


test_control_each_term_of_b_6 = part_edges(
    lemma_b_6,
    lambda **constants: lemma_b_6(attained(), **constants),
    {
        "smooth terms only": ({"quadratic": 0.991}, {"quadratic": 0.98}),
        "with rough terms": ({}, {"rough": 0.99}),
    },
)


@breaks_hypothesis(lemma_b_6, "radius")
def test_control_a_longer_step():
    return lemma_b_6(attained()), lemma_b_6(altered(attained(), largest=lambda size: 1.01 * size))


@breaks_hypothesis(lemma_b_6, "scale")
def test_control_small_functions():
    found = lemma_b_6(listed_increases(flat_instance(0.99), rough_instance(0.001)))
    assert lemma_b_6(listed_increases(flat_instance(), rough_instance(0.001))).conclusion is False
    return found


def test_the_printed_lemma_fails_for_small_functions():
    found = lemma_b_6_as_printed(draw_flat_increase(Scale.QUICK, 0))
    assert found.verdict is Verdict.VIOLATED
    assert (found.measured, found.promised) == (pytest.approx(0.005), pytest.approx(0.001))


@spares(lemma_b_6_as_printed)
def test_larger_functions_spare_it():
    return lemma_b_6_as_printed(attained())


def test_one_pair_without_a_kink_among_others():
    found = lemma_a_5(joined(kinked(0.5, 0.5, 0.25), kinked(0.5, -0.5, 0.25)))
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert (
        lemma_b_5(joined(curves(), altered(area_family(0.01), line=area_family(0.01).curve))).hypotheses[1].met is False
    )


def test_a_curve_bent_down_among_others():
    bent = altered(area_family(0.01), curve=-area_family(0.01).curve)
    assert lemma_b_5(joined(bent, curves())).hypotheses[0].met is False
    bent = altered(area_family(0.01), line=-area_family(0.01).line)
    assert lemma_b_5(joined(curves(), bent)).hypotheses[0].met is False


def test_rounding_is_no_excuse():
    """A value off by a billionth is off."""
    tight = kinked(0.5, 0.5, 0.25)
    assert lemma_a_5(tight, sharp_area=0.25 * (1 + 5e-12)).parts[1].kept is False
    assert lemma_a_5(kinks(), sharp_share=31 / 63 + 5e-12).parts[3].kept is False
    assert lemma_b_6(altered(attained(), largest=lambda size: size * (1 + 5e-12))).hypotheses[0].met is False
    assert lemma_b_6(altered(attained(), lipschitz=lambda size: size * (1 - 5e-12))).hypotheses[1].met is False


def test_values_of_the_rough_instance():
    assert rough_instance(0.3)[:1] == (0.3,)
    assert flat_instance(0.2) == pytest.approx((0.02, 0.0, 0.2, 1.0, 0.0, 1.0, 1.0))


test_every_part_has_a_control = every_part_of(convexity)
