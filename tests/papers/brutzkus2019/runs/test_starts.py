"""Random starts: the events at their limits, count by count, and how often a start is too large."""

import math

import numpy as np
import pytest

from widenet.papers.brutzkus2019.formulas import large_start_probability, largest_deviation
from widenet.papers.brutzkus2019.runs.octants import from_octant
from widenet.papers.brutzkus2019.runs.starts import (
    axes_are_explored,
    is_small,
    negative_parts_are_explored,
    positive_cones_are_explored,
)
from widenet.papers.brutzkus2019.sources import draw_filters

CONES = {1: 5, 2: 2, 3: 4, 4: 0}
"""An octant of each cone W⁺(i)."""


def start(plus: dict[int, int], minus: dict[int, int]) -> np.ndarray:
    """One start with so many filters in each octant."""
    rows = [np.repeat(list(counts), list(counts.values())) for counts in (plus, minus)]
    return from_octant(np.concatenate(rows))[None]


def split(across: int, half_width: int = 64) -> dict[int, int]:
    """So many filters that p_1 fits best, the others that p_2 does."""
    return {CONES[1]: across, CONES[2]: half_width - across}


@pytest.mark.parametrize(("count", "inside"), [(15, False), (16, True), (48, True), (49, False)])
def test_each_axis_alone_at_its_limits(count, inside):
    """k = 64: 32 ± 16, in W and in U."""
    even = split(32)
    assert axes_are_explored(start(split(count), even)).tolist() == [inside]
    assert axes_are_explored(start(even, split(count))).tolist() == [inside]


@pytest.mark.parametrize(("count", "inside"), [(11, False), (12, True), (60, True), (61, False)])
@pytest.mark.parametrize("cone", [1, 3])
def test_each_positive_cone_alone_at_its_limits(cone, count, inside):
    """k = 144: 36 ± 24."""
    other = 4 - cone
    plus = {CONES[cone]: count, CONES[other]: 36, CONES[2]: 144 - 36 - count}
    even = {octant: 36 for octant in (0, 2, 4, 5)}
    assert positive_cones_are_explored(start(plus, even)).tolist() == [inside]
    assert positive_cones_are_explored(start(even, plus)).tolist() == [True]  # about w alone


@pytest.mark.parametrize(("count", "inside"), [(11, False), (12, True), (60, True), (61, False)])
@pytest.mark.parametrize("octant", [2, 0, 6, 4])
def test_each_negative_part_alone_at_its_limits(octant, count, inside):
    """k = 144, U⁺(2), U⁺(4), and the parts of U⁺(1) ∪ U⁺(3) on the sides of p_2 and p_4: 36 ± 24."""
    others = [each for each in (2, 0, 6, 4) if each != octant]
    rest = (144 - count) // 3
    minus = {octant: count, **dict.fromkeys(others, rest)}
    minus[others[0]] += 144 - count - 3 * rest
    even: dict[int, int] = dict.fromkeys((2, 0, 6, 4), 36)
    assert negative_parts_are_explored(start(even, minus)).tolist() == [inside]
    assert negative_parts_are_explored(start(minus, even)).tolist() == [True]  # about u alone


@pytest.mark.parametrize(("fit", "inside"), [(22, True), (23, False)])
@pytest.mark.parametrize("place", range(4))
def test_one_large_fit_is_seen(fit, inside, place):
    """√2η/4 is 22.63 of η/64."""
    step = 1 / 16
    filters = from_octant(np.full((1, 4), 5), 1 * step / 64, 1 * step / 64)
    filters[0, place] *= fit
    assert is_small(filters, step).tolist() == [inside]


@pytest.mark.parametrize("octant", range(8))
def test_either_fit_may_be_the_large_one(octant):
    filters = from_octant(np.array([[octant, 5]]), 23 / 64, 1 / 64)
    filters[0, 1] /= 23
    assert is_small(filters, 1.0).tolist() == [False]
    assert is_small(filters * 22 / 23, 1.0).tolist() == [True]


@pytest.mark.parametrize("half_width", [1, 5])
def test_draws_have_the_exact_probability_of_a_large_start(half_width):
    step_constant = 1 / 41
    filters = draw_filters(2, 20_000, half_width, 3 * largest_deviation(step_constant, half_width))
    share = 1 - is_small(filters, step_constant / half_width).mean()
    exact = large_start_probability(half_width, 3.0)
    assert abs(share - exact) < 5 * math.sqrt(exact * (1 - exact) / 20_000)


def test_a_start_that_is_not_a_number_is_not_small():
    filters = draw_filters(0, 1, 2)
    filters[0, 0, 0] = np.nan
    assert not is_small(filters, 1e9)[0]


def test_streams_are_different_draws():
    assert (draw_filters(0, 3, 2) == draw_filters(0, 3, 2)).all()
    assert (draw_filters(0, 3, 2) != draw_filters(0, 3, 2, stream=1)).all()
