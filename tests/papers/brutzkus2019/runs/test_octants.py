"""Exact counting against brute force over all octants, and against independent formulas."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.starts import (
    axes_are_explored,
    negative_parts_are_explored,
    positive_cones_are_explored,
)
from widenet.papers.brutzkus2019.sources import draw_filters

EVENTS = {
    octants.both_axes_explored: lambda f, r: axes_are_explored(f, r),
    octants.positive_cones_explored: lambda f, r: positive_cones_are_explored(f, r),
    octants.negative_parts_explored: lambda f, r: negative_parts_are_explored(f, r),
    octants.explored_for_positive: lambda f, r: axes_are_explored(f, r) & positive_cones_are_explored(f, r),
    octants.explored_for_negative: lambda f, r: axes_are_explored(f, r) & negative_parts_are_explored(f, r),
    octants.explored_for_all: lambda f, r: (
        axes_are_explored(f, r) & positive_cones_are_explored(f, r) & negative_parts_are_explored(f, r)
    ),
}


@pytest.mark.parametrize("law", EVENTS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("radius", [Fraction(1, 4), Fraction(1, 2), Fraction(7, 10), Fraction(2)])
@pytest.mark.parametrize("half_width", [1, 2])
def test_the_laws_are_shares_of_all_octants(law, radius, half_width):
    assert octants.share_of(lambda filters: EVENTS[law](filters, radius), 2 * half_width) == law(half_width, radius)


@pytest.mark.parametrize("law", EVENTS, ids=lambda law: law.__name__)
def test_the_laws_are_those_of_drawn_starts(law):
    filters, radius = draw_filters(3, 40_000, 6), Fraction(3, 4)
    happened = int(EVENTS[law](filters, radius).sum())
    assert stats.binomtest(happened, 40_000, float(law(6, radius))).pvalue > 1e-3


@pytest.mark.parametrize("half_width", [17, 120])
def test_the_law_of_one_axis_is_binomial(half_width):
    half, root = half_width / 2, 2 * math.sqrt(half_width)
    low, high = math.ceil(half - root), math.floor(half + root)
    expected = stats.binom.cdf(high, half_width, 0.5) - stats.binom.cdf(low - 1, half_width, 0.5)
    assert math.isclose(octants.axis_explored(half_width), expected, rel_tol=1e-12)


def test_the_union_bound_of_one_count_is_above_the_joint_probability():
    """k = 120: twice, and four times, the tail of one Binomial(120, 1/4)."""
    root = 2 * math.sqrt(120)
    tail = stats.binom.sf(math.floor(30 + root), 120, 0.25) + stats.binom.cdf(math.ceil(30 - root) - 1, 120, 0.25)
    for law, times in ((octants.positive_cones_explored, 2), (octants.negative_parts_explored, 4)):
        exact = float(1 - law(120))
        assert exact <= times * tail
        assert exact > 0.99 * times * tail


def test_octants_are_told_apart():
    every = np.arange(8)
    assert (octants.octant(octants.from_octant(every)) == every).all()
    assert len(np.unique(octants.all_octants(2), axis=0)) == 64


def test_directions_that_are_not_uniform_are_seen():
    filters = draw_filters(0, 2000, 5)
    assert octants.equally_likely(filters) > 1e-3
    assert octants.equally_likely(filters * np.array([1.0, 2.0])) < 1e-6
    assert octants.equally_likely(np.full((1, 2, 2), np.nan)) == 0


def test_limits_are_decided_in_whole_numbers():
    """k = 16: k/2 + 2√k is exactly 16, and a count on the limit is inside."""
    assert octants.within(16, 2).all()
    assert octants.within(16, 2, Fraction(19, 10)).tolist() == [False, *[True] * 15, False]
