"""One step of Eq. 7 and 8, and a walk that is cut short."""

import numpy as np

from tests.papers.brutzkus2019.claims.settings import toy
from widenet.papers.brutzkus2019.runs.lattice import in_13, moves, walk
from widenet.types import RunStatus


def test_a_tie_goes_to_the_larger_first_coordinate():
    """As in `ConvMaxPool`: of p₁ = (1, 1) and p₂ = (1, −1) the first, of p₃ and p₄ = (−1, 1) the fourth, and so on."""
    s, r = np.array([1.0, 1.0, -1.0, -1.0, 0.0]), np.array([1.0, -1.0, 1.0, -1.0, 0.0])
    assert in_13(s, r).tolist() == [True, True, False, False, False]


def test_a_step_of_each_phase():
    """A w of W13 and one of W24, with fits (3, 1) and (1, −3)."""
    s, r = np.array([3.0, 1.0]), np.array([1.0, -3.0])
    for plus, minus, ds, dr in (
        (True, True, [2, 0], [-2, 0]),
        (True, False, [2, 0], [0, -2]),
        (False, True, [0, 0], [-2, 2]),
        (False, False, [0, 0], [0, 0]),
    ):
        moved = moves(s, r, 1.0, plus, minus)
        assert np.array_equal(moved, [ds, dr])
        assert np.array_equal(moves(s, r, -1.0, plus, minus), [-np.array(ds), -np.array(dr)])


def test_a_fit_of_zero_does_not_move():
    moved = moves(np.array([3.0]), np.array([0.0]), 1.0, plus=True, minus=True)
    assert np.array_equal(moved, [[2.0], [0.0]])


def test_a_walk_that_spends_its_budget_says_so():
    trace = toy("D4")
    short = walk(trace.start, trace.goals, max_steps=7)
    assert short.steps.tolist() == [7]
    assert short.status.tolist() == [RunStatus.BUDGET_SPENT]
    assert np.array_equal(short.sums[0], trace.s_plus[:, :8])
    assert walk(trace.start, trace.goals, max_steps=20).status.tolist() == [RunStatus.CONVERGED]


def test_progress_never_falls_and_ends_at_most_at_one():
    told = []
    trace = toy("J7")
    walk(trace.start, trace.goals, 1000, lambda fraction, words: told.append(fraction))
    assert told
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
