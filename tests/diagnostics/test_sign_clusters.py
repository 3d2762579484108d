import numpy as np
import pytest

from widenet.diagnostics.agreement import (
    agree,
    agreement_margin,
    common_signs,
    in_regime,
    most_disagreements,
    right_share,
)
from widenet.diagnostics.sign_clusters import (
    cluster_radius,
    cluster_ratio,
    mean_difference,
    nonlinear_share,
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
    kappa = 0.9 / 1.1
    assert [nonlinear_share(difference, radius, POINTS, c) for c in (2.0, 1.0, kappa)] == [0.6, 0.4, 0.4]


def test_the_factor_two_at_the_edge_of_the_region():
    plus, minus = np.array([(1.0, 1.0), (1.0, -1.0)]), np.array([(-1.01, 0.0), (-1.01, 0.0)])
    points, difference = np.array([(1.0, 0.0), (1.0, 0.2)]), mean_difference(plus, minus)
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
    assert not agree(rows, np.array([(0.0, 1.0)]))


def test_small_and_large_angles():
    assert widest_angle(np.array([(1.0, 0.0), (np.cos(1e-9), np.sin(1e-9))])) == pytest.approx(np.degrees(1e-9))
    assert widest_angle(np.array([(1.0, 0.0), (-1.0, 1e-9)])) == pytest.approx(180, abs=1e-6)
    assert widest_angle(np.array([(0.01, 0.9999**0.5), (0.01, -(0.9999**0.5))])) == pytest.approx(178.85406531)


def test_uncovered_directions():
    assert uncovered_directions(np.array(0.5), 1.0) == pytest.approx(1 / 3)
    assert uncovered_directions(np.array(3.0), 1.0) == 1


def test_a_row_orthogonal_to_a_point_is_on_its_negative_side():
    """As σ'(0) = α: it is no positive sign, no right one, and it agrees with negative signs alone."""
    along, across, against = np.array([[(1.0, 0.0)], [(0.0, 1.0)], [(-1.0, 0.0)]])
    point, plus = np.array([(2.0, 0.0)]), np.ones(1)
    assert [common_signs(rows, point).tolist() for rows in (along, across, against)] == [[1], [-1], [-1]]
    both = np.concatenate([along, across]), np.concatenate([across, against])
    assert [bool(agree(rows, point)) for rows in both] == [False, True]
    assert [common_signs(rows, point).tolist() for rows in both] == [[0], [-1]]
    assert [float(right_share(rows, point, plus)) for rows in both] == [0.5, 0]
    assert [float(right_share(rows, point, -plus)) for rows in both] == [0, 0.5]


def test_the_edge_of_a_regime_belongs_to_it():
    """⟨w, x⟩ = β‖w‖ exactly, and one row of two that is short of it, or 0."""
    rows, point, signs = np.array([(3.0, 4.0), (4.0, 3.0)]), np.array([(5.0, 0.0)]), np.ones(1)
    assert agreement_margin(rows, point) == 3
    assert [bool(in_regime(rows, point, signs, margin)) for margin in (3.0, np.nextafter(3.0, 4.0))] == [True, False]
    rows[1] = 0
    assert agreement_margin(rows, point) == 0
    assert not in_regime(rows, point, signs, 0.0)


def test_disagreements_are_counted_in_pairs_and_over_leading_axes():
    """Three rows with the signs ++−−, +−+− and ++−+: two differ on 2, 1 and 3 points."""
    signs = np.array([(1, 1, -1, -1), (1, -1, 1, -1), (1, 1, -1, 1)], float)
    assert int(most_disagreements(signs, np.eye(4))) == 3
    two = np.stack([signs[:2], signs[[0, 2]]])
    assert most_disagreements(two, np.eye(4)).tolist() == [2, 1]
    assert agree(np.stack([signs[:2], signs[[0, 0]]]), np.eye(4)).tolist() == [False, True]


def test_the_widest_angle_in_many_dimensions_and_of_many_rows():
    """The third row is 120° from the first; more than 200 rows go by their cosines alone."""
    rows = np.zeros((3, 40))
    rows[0, 0], rows[1, 7], rows[2, 0], rows[2, 9] = 2.0, 5.0, -0.5, 0.75**0.5
    assert widest_angle(rows) == pytest.approx(120)
    assert widest_angle(rows[:2]) == pytest.approx(90)
    around = np.radians(np.linspace(0, 50, 201))
    fan = np.stack([np.cos(around), np.sin(around)], axis=1)
    assert widest_angle(fan) == pytest.approx(50, rel=1e-9)
    assert widest_angle(fan[:200]) == pytest.approx(49.75, rel=1e-9)
    assert np.isnan(widest_angle(np.array([(1.0, 0.0), (0.0, 0.0)])))


def test_the_edge_of_the_region_is_linear():
    points = np.array([(1.0, 0.0), (0.0, 1.0)])
    # 2 = 2·1·‖x‖ at the edge, which the theorem still speaks about; r is taken for each of a batch.
    assert nonlinear_share(np.array([2.0, 0.0]), 1.0, points[:1]) == 0
    assert nonlinear_share(np.array([[2.0, 0.0]] * 2), np.array([1.0, 1.01]), points[:1]).tolist() == [0, 1]


def test_uncovered_directions_at_a_ratio_below_one():
    """|cos| ≤ ½ on a third of the directions, |cos| ≤ 0.6 on 4·36.8699° of 360°."""
    assert uncovered_directions(np.array([0.25, 0.3, 0.0]), 2.0) == pytest.approx([1 / 3, 0.409665529398, 0])


def test_short_rows_have_margins_too():
    """Lengths of a half: ⟨w, x⟩/‖w‖ is 2."""
    rows, point = np.array([(0.5, 0.0)]), np.array([(2.0, 0.0)])
    assert agreement_margin(rows, point) == 2
    assert [bool(in_regime(rows, point, np.ones(1), margin)) for margin in (2.0, 2.1)] == [True, False]


@pytest.mark.parametrize("shape", [(4, 3, 2), (2, 3, 40), (3, 2, 5)])
def test_the_widest_angle_of_each_of_a_batch(shape):
    rows = np.random.default_rng(0).normal(size=shape)
    assert widest_angle(rows) == pytest.approx([float(widest_angle(one)) for one in rows], rel=1e-9)
    cosines = [(one @ one.T) / np.outer(*[np.linalg.norm(one, axis=1)] * 2) for one in rows]
    assert widest_angle(rows) == pytest.approx([np.degrees(np.arccos(each.min())) for each in cosines], rel=1e-9)
