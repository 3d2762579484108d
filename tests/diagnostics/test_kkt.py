import numpy as np
import pytest

from widenet.diagnostics.agreement_program import solve_perfect_agreement
from widenet.diagnostics.kkt import kkt_residuals, margin_gradients, push_condition

POINTS, LABELS = np.array([(2.0, 1.0), (-1.0, -3.0)]), np.array([1.0, -1.0])
ROWS = np.array([(0.9, 0.2), (0.3, 0.6), (-0.2, -0.8), (-0.5, -0.9)])
OUTPUTS = 0.6 * np.array([1.0, 1.0, -1.0, -1.0])


@pytest.mark.parametrize(
    ("scale", "stationarity", "slack"),
    [(1.0, 0.557657577028, 0.0836058099426), (4.0, 0.735668139128, 0.000621729754481)],
)
def test_residuals_against_values_computed_apart(scale, stationarity, slack):
    found = kkt_residuals(scale * ROWS, OUTPUTS, 1 / 3, POINTS, LABELS)
    assert found == pytest.approx((stationarity, slack), rel=1e-10)


def test_gradients_of_margins_against_differences():
    """y N(x) is linear in W as long as no neuron changes sides."""
    found = margin_gradients(ROWS, OUTPUTS, 1 / 3, POINTS, LABELS)
    assert found.shape == (2, 4, 2)

    def margins(rows):
        products = POINTS @ rows.T
        return LABELS * (np.where(products > 0, products, products / 3) @ OUTPUTS)

    for place in np.ndindex(4, 2):
        moved = ROWS.copy()
        moved[place] += 1e-3
        np.testing.assert_allclose(found[:, *place], (margins(moved) - margins(ROWS)) / 1e-3, rtol=1e-9)


@pytest.mark.parametrize(("second", "expected"), [((0.0, 1.0), 1000 * 2 * 2**0.5), ((-0.6, 0.8), 1000 * 2 * 5**0.5)])
def test_gradients_that_cancel_tell_less(second, expected):
    """Two margins of 1000 with gradients of length 1: 2·1000·2/√2 where they are orthogonal, 2·1000·2/√0.8 here."""
    points = np.array([(1.0, 0.0), second])
    row = np.linalg.solve(points, [1000.0, 1000.0])[None]
    assert push_condition(row, np.ones(1), 0.0, points, np.ones(2)) == pytest.approx(expected)


def test_the_solution_of_the_program_is_stationary():
    solved = solve_perfect_agreement(POINTS, LABELS, 1 / 3)
    rows = np.stack([solved.plus, solved.plus, solved.minus, solved.minus])
    found = kkt_residuals(rows, OUTPUTS, 1 / 3, POINTS, LABELS, solved.multipliers)
    assert found == pytest.approx((0, 0), abs=1e-12)


def test_a_wrong_sign_has_no_residual():
    assert np.isnan(kkt_residuals(-ROWS, OUTPUTS, 1 / 3, POINTS, LABELS)).all()


def one(margin, slope=0.5):
    """One neuron on one point, x = 1, y = 1: every positive margin is a KKT point."""
    return kkt_residuals(np.array([[margin]]), np.ones(1), slope, np.ones((1, 1)), np.ones(1))


@pytest.mark.parametrize("margin", [1e-3, 0.5, 2.0, 2000.0])
def test_one_point_is_stationary_at_every_positive_margin(margin):
    assert one(margin) == pytest.approx((0, 0), abs=1e-12)


@pytest.mark.parametrize("margin", [-0.5, -3.0, 0.0, np.nan])
def test_a_margin_that_is_not_positive_has_no_residual(margin):
    assert np.isnan(one(margin)).all()


def test_margins_of_very_different_size():
    """The far point has no weight left: λ = (√(1 + 2000²), 0), and the residual is what the first row lacks."""
    found = kkt_residuals(np.array([(1.0, 0.0), (0.0, 2000.0)]), np.ones(2), 0.0, np.eye(2), np.ones(2))
    length = np.hypot(1, 2000)
    assert found == pytest.approx((np.hypot(length - 1, 2000) / length, 0), abs=1e-12)


def test_the_slope_of_a_neuron_at_its_kink_is_that_of_the_lower_side():
    """The second neuron is 0 on the point, and is pulled by α = ½: (1, 0) against λ(1, ½) of the same length."""
    rows = np.array([(1.0, 0.0), (0.0, 1.0)])
    found = kkt_residuals(rows, np.ones(2), 0.5, np.array([(1.0, 0.0)]), np.ones(1))
    pulled = 2**0.5 * np.array([1.0, 0.5]) / np.hypot(1, 0.5)
    expected = np.hypot(np.hypot(1 - pulled[0], pulled[1]), 1) / 2**0.5
    assert found[0] == pytest.approx(expected)
