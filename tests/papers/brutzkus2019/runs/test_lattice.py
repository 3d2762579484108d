"""One step of Eq. 7 and 8, and a walk that is cut short."""

import numpy as np

from tests.papers.brutzkus2019.claims.settings import toy
from widenet.papers.brutzkus2019.runs.lattice import COUNTS, SUMS, in_13, moves, walk
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


def test_a_negative_point_that_nobody_can_move_for_stalls_a_run_too():
    """One w with fits (9, 0), u = 0: N(x⁺) = 9 is enough, N(x⁻) = 0 is not, and a fit of 0 has no gradient."""
    stalled = walk(np.array([[[9.0, 0.0], [0.0, 0.0]]]), (4.0, 4.0), max_steps=5)
    assert (stalled.steps.tolist(), stalled.status.tolist()) == ([0], [RunStatus.STALLED])


def test_groups_and_signs_are_those_of_the_start():
    """By hand: w = (1, ½), which leaves W13 in the first step, u = (0.1, 0.05); N(x⁺) has to be ½ and −N(x⁻) 2.

    t = 0: N(x⁺) = 0.9, −N(x⁻) = −0.45: x⁻ alone pushes, r of w by −2 and that of u by +2.
    t = 1: w = (1, −1.5), u = (0.1, 2.05): N(x⁺) = N(x⁻) = −0.55: both push, against each other, and nothing moves.
    """
    seen = walk(np.array([[[1.0, 0.5], [0.1, 0.05]]]), (0.5, 2.0), max_steps=5)
    assert (seen.steps.tolist(), seen.status.tolist()) == ([1], [RunStatus.STALLED])
    np.testing.assert_allclose(seen.sums[SUMS.index("largest_r"), 0], [0.5, 1.5], rtol=1e-12)
    assert seen.counts[COUNTS.index("w_moved"), 0].tolist() == [0, 1]
    assert seen.counts[COUNTS.index("w13"), 0].tolist() == [1, 0]


def test_a_u_that_changes_its_side_and_comes_back():
    """By hand: w = (3, 5), u = (0.1, 0.5); N(x⁺) has to be 9, and −N(x⁻) = −4.5 is enough from −20 on.

    x⁺ alone pushes: r of w is 5, 7, 9, …, that of u 0.5, −1.5, 0.5, …, so N(x⁺) is 4.5, 5.5, 8.5, 9.5.
    """
    seen = walk(np.array([[[3.0, 5.0], [0.1, 0.5]]]), (9.0, -20.0), max_steps=9)
    assert (seen.steps.tolist(), seen.status.tolist()) == ([3], [RunStatus.CONVERGED])
    assert seen.counts[COUNTS.index("u_flipped"), 0].tolist() == [0, 1, 0, 1]


def test_progress_never_falls_and_ends_at_most_at_one():
    told = []
    trace = toy("J7")
    walk(trace.start, trace.goals, 1000, lambda fraction, words: told.append(fraction))
    assert told
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
