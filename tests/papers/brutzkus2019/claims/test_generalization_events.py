"""Eq. 18 and Proposition E.18 rest on counts of w's, Proposition E.22 on counts of u's: each has its own event."""

import numpy as np
import pytest

from tests.control_table import broken_in
from tests.papers.brutzkus2019.claims.networks import altered, in_the_corner, some
from widenet.data.xord import PATTERNS, set_index
from widenet.papers.brutzkus2019.claims.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.papers.brutzkus2019.runs.trained import TrainedXord

BOUND, RIGHT = "bound", "right"


def turned(half: int, pattern: int) -> TrainedXord:
    """Two runs; in the first one all w's (half 0) or all u's (half 1) that fit this pattern below 0 start negated.

    The counts of W13 and U13, and the sizes of all fits, stay as they are.
    """
    runs = some(in_the_corner(), slice(2))
    below = (runs.start[0] @ PATTERNS[pattern - 1] < 0) & (np.arange(240) // 120 == half)
    return altered(runs, start=(0, np.where(below[:, None], -1.0, 1.0) * runs.start[0]))


def test_all_w_of_one_cone_are_outside_lemma_e_15_alone():
    runs = turned(0, 1)
    assert runs.axes_explored.tolist() == runs.explored_for_negative.tolist() == [True, True]
    assert runs.explored_for_positive.tolist() == [False, True]


def test_all_u_on_one_side_are_outside_lemma_e_19_alone():
    runs = turned(1, 2)
    assert runs.axes_explored.tolist() == runs.explored_for_positive.tolist() == [True, True]
    assert runs.explored_for_negative.tolist() == [False, True]


@pytest.mark.parametrize(("half", "pattern", "asked"), [(0, 1, True), (1, 2, False)])
def test_proposition_e_22_needs_no_cones_of_w(half, pattern, asked):
    broken = broken_in(proposition_e_22([altered(turned(half, pattern), outputs=((0, set_index(2)), 9.0))]))
    assert [key for key in (BOUND, RIGHT) if key in broken] == ([BOUND, RIGHT] if asked else [])


@pytest.mark.parametrize(("half", "pattern", "asked"), [(1, 2, True), (0, 1, False)])
def test_proposition_e_18_needs_no_sides_of_u(half, pattern, asked):
    runs = altered(turned(half, pattern), outputs=((0, set_index(1)), -9.0))
    assert ("output" in broken_in(equation_18([runs]))) is asked
    assert (RIGHT in broken_in(proposition_e_18([runs]))) is asked
