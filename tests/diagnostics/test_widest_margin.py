"""The widest margin with a bias: two bounds that meet, and neither is believed without its certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widenet.diagnostics import widest_margin
from widenet.diagnostics.widest_margin import find_widest_margin
from widenet.diagnostics.work import Work

SQUARE = np.array([[1.0, 0.0], [1.0, 4.0], [4.0, 0.0], [4.0, 4.0]]) / 8
SIDES = np.array([-1.0, -1.0, 1.0, 1.0])


def assert_certified(found, points, signs):
    """Both bounds, by other sums."""
    assert np.linalg.norm(found.normal) == pytest.approx(1, rel=1e-12)
    assert (signs * (points @ found.normal + found.offset)).min() >= found.margin - 1e-15
    for sign in (-1, 1):
        assert found.weights[signs == sign].sum() == pytest.approx(1, rel=1e-12)
    assert (found.weights >= 0).all()
    gap = np.linalg.norm(found.weights[signs > 0] @ points[signs > 0] - found.weights[signs < 0] @ points[signs < 0])
    assert found.limit >= gap / 2 - 1e-15


def test_a_square_by_hand():
    """Two sides 3/8 apart; the search begins with a boundary that is not the widest."""
    found = find_widest_margin(SQUARE, SIDES, np.array([1.0, 0.1]), Work())
    assert_certified(found, SQUARE, SIDES)
    assert found.margin == pytest.approx(3 / 16, rel=1e-9)
    assert found.limit == pytest.approx(3 / 16, rel=1e-9)
    np.testing.assert_allclose(found.normal, [1, 0], atol=1e-8)
    assert found.offset == pytest.approx(-2.5 / 8, rel=1e-8)


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(2, 40), dim=st.integers(1, 6), gap=st.floats(1e-4, 1.0))
def test_the_bounds_meet(seed, rows, dim, gap):
    draw = np.random.default_rng(seed)
    points, normal = draw.normal(size=(rows, dim)), draw.normal(size=dim)
    normal /= np.linalg.norm(normal)
    signs = np.where(points @ normal > draw.normal(), 1.0, -1.0)
    signs[:2] = [-1.0, 1.0]
    # Each class on its side of 0 by at least the gap, then everything moved away from the origin.
    points += np.outer(signs * gap - points @ normal + signs * np.abs(draw.normal(size=rows)), normal) + 5 * normal
    points /= np.linalg.norm(points, axis=1).max()
    found = find_widest_margin(points, signs, normal, Work())
    assert_certified(found, points, signs)
    assert 0 < found.margin <= found.limit
    assert found.limit - found.margin <= 1e-6 * found.limit


def test_points_that_matter_join_the_working_set(monkeypatch):
    draw = np.random.default_rng(4)
    points = draw.normal(size=(400, 3))
    signs = np.where(points[:, 0] > 0, 1.0, -1.0)
    points[:, 0] += 0.1 * signs
    points /= 10
    at_once = find_widest_margin(points, signs, np.array([1.0, 0.0, 0.0]), Work())
    monkeypatch.setattr(widest_margin, "WORKING_SET", 6)
    in_pieces = find_widest_margin(points, signs, np.array([1.0, 0.0, 0.0]), Work())
    assert in_pieces.margin == pytest.approx(at_once.margin, rel=1e-6)
    assert in_pieces.limit == pytest.approx(at_once.limit, rel=1e-6)


def test_control_a_solver_that_lies_is_not_believed(monkeypatch):
    monkeypatch.setattr(
        widest_margin, "solve_working_set", lambda rows, working, work: np.full(len(rows), 1 / len(rows))
    )
    found = find_widest_margin(SQUARE, SIDES, np.array([1.0, 0.5]), Work())
    assert_certified(found, SQUARE, SIDES)
    assert found.margin <= 3 / 16 <= found.limit


def test_without_a_solver_the_first_boundary_remains(monkeypatch):
    monkeypatch.setattr(widest_margin, "solve_working_set", lambda rows, working, work: None)
    found = find_widest_margin(SQUARE, SIDES, np.array([2.0, 0.0]), Work())
    assert found.margin == pytest.approx(3 / 16, rel=1e-12)
    assert found.limit == np.inf


def test_no_work_leaves_the_first_boundary():
    found = find_widest_margin(SQUARE, SIDES, np.array([1.0, 0.1]), Work(0.0))
    assert 0 < found.margin <= 3 / 16 * (1 + 1e-12)
    assert found.limit == np.inf


def test_work_that_ends_after_a_round_leaves_valid_bounds():
    work = Work(1.0e5)
    found = find_widest_margin(SQUARE, SIDES, np.array([1.0, 0.1]), work)
    assert work.is_spent
    assert_certified(found, SQUARE, SIDES)
    assert found.margin <= 3 / 16 * (1 + 1e-12)
    assert 3 / 16 * (1 - 1e-12) <= found.limit < np.inf
