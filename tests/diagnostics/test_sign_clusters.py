import numpy as np
import pytest

from widenet.diagnostics.agreement import (
    agree,
    agreement_margin,
    common_signs,
    contested_points,
    in_regime,
    most_disagreements,
    right_share,
)
from widenet.diagnostics.sign_clusters import (
    cluster_radius,
    cluster_ratio,
    mean_difference,
    nonlinear_share,
    region_factors,
    uncovered_directions,
    widest_angle,
)

PLUS = np.array([(3.0, 1.0), (2.0, 2.0), (1.0, 0.6)])
MINUS = np.array([(-1.0, 1.0), (-2.0, 0.5), (-1.5, -0.6)])
POINTS = np.array([(1.0, 0.0), (-1.0, 2.0), (2.0, -5.0), (0.5, 4.0), (-3.0, 1.0)])
LABELS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])


def test_clusters_against_values_computed_apart():
    assert cluster_radius(PLUS) == pytest.approx(1.16619037897)
    assert cluster_radius(MINUS) == pytest.approx(0.9)
    assert cluster_ratio(PLUS, MINUS) == pytest.approx(0.322699182884)
    assert max(widest_angle(PLUS), widest_angle(MINUS)) == pytest.approx(66.8014094864)
    difference, radius = mean_difference(PLUS, MINUS), cluster_radius(PLUS)
    factors = region_factors(difference, radius, POINTS)
    np.testing.assert_allclose(factors, [3.001225, 0.6519202, 0.3980811, 1.13804, 2.603165], rtol=1e-6)
    kappa = 0.9 / 1.1
    assert [nonlinear_share(difference, radius, POINTS, c) for c in (2.0, 1.0, kappa)] == [0.6, 0.4, 0.4]


def test_the_factor_two_at_the_edge_of_the_region():
    plus, minus = np.array([(1.0, 1.0), (1.0, -1.0)]), np.array([(-1.01, 0.0), (-1.01, 0.0)])
    points, difference = np.array([(1.0, 0.0), (1.0, 0.2)]), mean_difference(plus, minus)
    np.testing.assert_allclose(region_factors(difference, 1.0, points), [2.01, 1.97096715814])
    assert [nonlinear_share(difference, 1.0, points, c) for c in (1.97, 2.0, 2.02)] == [0.0, 0.5, 1.0]


def test_signs_against_values_computed_apart():
    # The third minus row is orthogonal to the third point, which rounding does not show; below both are moved a little.
    assert most_disagreements(PLUS, POINTS) == 2
    assert right_share(PLUS, POINTS, LABELS) == pytest.approx(1 / 3)
    assert agreement_margin(np.concatenate([PLUS, MINUS]), POINTS) == pytest.approx(0, abs=1e-15)
    minus, points = MINUS.copy(), POINTS.copy()
    minus[2], points[2] = (-1.5, -0.5), (2.0, -3.0)
    assert cluster_radius(minus) == pytest.approx(0.833333333333)
    assert cluster_ratio(PLUS, minus) == pytest.approx(0.32342919456)
    assert (most_disagreements(PLUS, points), most_disagreements(minus, points)) == (2, 1)
    assert agreement_margin(np.concatenate([PLUS, minus]), points) == pytest.approx(0.171498585143)
    few = points[[0, 2, 4]]
    assert right_share(PLUS, few, LABELS[[0, 2, 4]]) == pytest.approx(2 / 3)
    assert right_share(minus, few, -LABELS[[0, 2, 4]]) == 1


def test_agreement():
    rows = np.array([(1.0, 3.0), (1.0, -3.0)])
    points = np.array([(1.0, 0.0), (-1.0, 0.0)])
    assert agree(rows, points)
    assert common_signs(rows, points).tolist() == [1, -1]
    assert agreement_margin(rows, points) == pytest.approx(0.316227766017)
    assert in_regime(rows, points, np.array([1.0, -1.0]), 0.316)
    assert not in_regime(rows, points, np.array([1.0, -1.0]), 0.317)
    assert not in_regime(rows, points, np.array([1.0, 1.0]), 0.316)
    assert not in_regime(0 * rows, points, np.array([1.0, -1.0]), 0.0)
    assert contested_points(rows, np.array([(0.0, 1.0), (1.0, 0.0)])) == 1
    assert not agree(rows, np.array([(0.0, 1.0)]))


def test_small_and_large_angles():
    assert widest_angle(np.array([(1.0, 0.0), (np.cos(1e-9), np.sin(1e-9))])) == pytest.approx(np.degrees(1e-9))
    assert widest_angle(np.array([(1.0, 0.0), (-1.0, 1e-9)])) == pytest.approx(180, abs=1e-6)
    assert widest_angle(np.array([(0.01, 0.9999**0.5), (0.01, -(0.9999**0.5))])) == pytest.approx(178.85406531)


def test_uncovered_directions():
    assert uncovered_directions(np.array(0.5), 1.0) == pytest.approx(1 / 3)
    assert uncovered_directions(np.array(3.0), 1.0) == 1
