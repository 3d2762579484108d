import numpy as np
import pytest

from widenet.diagnostics.agreement_program import solve_perfect_agreement
from widenet.diagnostics.kkt import kkt_residuals

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


def test_the_solution_of_the_program_is_stationary():
    solved = solve_perfect_agreement(POINTS, LABELS, 1 / 3)
    rows = np.stack([solved.plus, solved.plus, solved.minus, solved.minus])
    found = kkt_residuals(rows, OUTPUTS, 1 / 3, POINTS, LABELS, solved.multipliers)
    assert found == pytest.approx((0, 0), abs=1e-12)


def test_a_wrong_sign_has_no_residual():
    assert np.isnan(kkt_residuals(-ROWS, OUTPUTS, 1 / 3, POINTS, LABELS)).all()
