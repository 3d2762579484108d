import numpy as np
import pytest

from widenet.diagnostics.rays import bend, boundary_rays, disagreement, kinks


def outputs(rows, weights, slope, angles):
    products = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ rows.T
    return np.where(products > 0, products, slope * products) @ weights


def test_two_neurons_have_a_line():
    rays = boundary_rays(np.array([(1.0, 0.0), (0.0, 1.0)]), np.array([1.0, -1.0]), 0.1)
    np.testing.assert_allclose(rays, [45, 225])
    assert bend(rays) == pytest.approx(0, abs=1e-12)


def test_clusters_that_mix_signs():
    rows = np.array([(1.01, 0.0), (0.0, 1.01), (1.0, 0.0), (0.0, 1.0)])
    rays = boundary_rays(rows, np.array([1.0, 1.0, -1.0, -1.0]), 0.1)
    assert rays[1] - rays[0] == pytest.approx(101.421186275)
    assert bend(rays) == pytest.approx(180 - 101.421186275)


@pytest.mark.parametrize("seed", range(6))
def test_against_a_grid(seed):
    draw = np.random.default_rng(seed)
    rows, weights = draw.normal(size=(12, 2)), np.repeat([1.0, -1.0], 6)
    rays = boundary_rays(rows, weights, 0.1)
    grid = np.radians(np.arange(0, 360, 0.01) + 0.005)
    signs = np.sign(outputs(rows, weights, 0.1, grid))
    changes = np.flatnonzero(signs != np.roll(signs, 1)) * 0.01
    assert len(changes) == len(rays)
    np.testing.assert_allclose(np.sort(changes), rays, atol=0.011)
    classifier = rows[:6].mean(axis=0) - rows[6:].mean(axis=0)
    linear = np.sign(np.stack([np.cos(grid), np.sin(grid)], axis=1) @ classifier)
    assert disagreement(rows, weights, 0.1, classifier) == pytest.approx((signs != linear).mean(), abs=1e-3)


def test_a_network_of_one_sign_has_no_boundary():
    assert not len(boundary_rays(np.array([(1.0, 0.0), (-1.0, 0.0)]), np.array([1.0, 1.0]), 0.0))
    assert bend(np.zeros(0)) == np.inf


def test_kinks_are_a_quarter_turn_from_each_row():
    """Rows that are 0 have none, and opposite rows share theirs."""
    found = kinks(np.array([(0.0, 2.0), (0.0, 0.0), (0.0, -1.0), (1.0, 1.0)]))
    np.testing.assert_allclose(np.degrees(found), [0, 135, 180, 315], atol=1e-12)
    assert not len(kinks(np.zeros((2, 2))))
    assert not len(boundary_rays(np.zeros((2, 2)), np.ones(2), 0.5))


def test_a_network_that_only_touches_zero_has_no_boundary():
    """σ(x) + σ(−x) with slope 0 vanishes upwards and downwards, and is positive on both sides."""
    assert not len(boundary_rays(np.array([(1.0, 0.0), (-1.0, 0.0)]), np.ones(2), 0.0))


def test_rays_by_hand():
    """2σ(x) − σ(y): 2x = y at 63.4349°, and the same with both sides halved at 243.4349°."""
    rays = boundary_rays(np.eye(2), np.array([2.0, -1.0]), 0.5)
    np.testing.assert_allclose(rays, [63.4349488229, 243.4349488229])


@pytest.mark.parametrize(("rays", "by"), [((10.0, 190.0), 0), ((10.0, 200.0), 10), ((20.0, 190.0), 10)])
def test_how_far_two_rays_bend(rays, by):
    assert bend(np.array(rays)) == by


def test_three_rays_or_one_are_no_line():
    assert [bend(np.zeros(count)) for count in (1, 3)] == [np.inf, np.inf]


def test_disagreement_with_a_turned_classifier():
    """N = σ(x) − σ(−x) is positive to the right; a classifier at 36° differs on 72° of 360°, one at 180° everywhere."""
    rows, weights = np.array([(1.0, 0.0), (-1.0, 0.0)]), np.array([1.0, -1.0])
    turned = np.array([np.cos(np.pi / 5), np.sin(np.pi / 5)])
    assert disagreement(rows, weights, 0.25, turned) == pytest.approx(0.2)
    assert disagreement(rows, weights, 0.25, np.array([1.0, 0.0])) == pytest.approx(0, abs=1e-12)
    assert disagreement(rows, weights, 0.25, np.array([-1.0, 0.0])) == pytest.approx(1)


def test_a_zero_that_is_only_touched_is_left_out_beside_two_rays():
    """|x| − 2σ(−y) touches 0 upwards, at 90°, and changes its sign where |x| = 2|y| downwards."""
    rays = boundary_rays(np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0)]), np.array([1.0, 1.0, -2.0]), 0.0)
    np.testing.assert_allclose(rays, [206.565051177, 333.434948823])


def test_four_rays_of_two_narrow_wedges():
    """|x| − 20|y| is positive within 2.86° of 0° and of 180°."""
    rows = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    rays = boundary_rays(rows, np.array([1.0, 1.0, -20.0, -20.0]), 0.0)
    np.testing.assert_allclose(rays, [2.86240522611, 177.137594774, 182.862405226, 357.137594774])


def test_a_ray_at_the_seam_of_the_circle_is_found_once():
    rays = boundary_rays(np.array([(0.0, 1.0), (0.0, -1.0)]), np.array([1.0, -1.0]), 0.5)
    np.testing.assert_allclose(np.sort(np.mod(rays + 1, 360)), [1, 181], atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_networks_of_uneven_votes_against_a_grid(seed):
    draw = np.random.default_rng([seed, 1])
    rows, weights, slope = draw.normal(size=(5, 2)), draw.normal(size=5), draw.uniform(0, 0.5)
    grid = np.radians(np.arange(0, 360, 0.02) + 0.01)
    signs = np.sign(outputs(rows, weights, slope, grid))
    changes = np.flatnonzero(signs != np.roll(signs, 1)) * 0.02
    rays = boundary_rays(rows, weights, slope)
    assert len(rays) == len(changes)
    np.testing.assert_allclose(rays, changes, atol=0.021)


@pytest.mark.parametrize(
    ("rows", "weights", "rays"),
    [
        ([(-2, -2), (0, 0), (3, 0)], (1, 3, -2), (90, 135, 284.036243468)),
        ([(0, 2), (-1, -2)], (-1, 2), (0, 161.565051177, 333.434948823)),
    ],
)
def test_arcs_on_which_a_relu_network_is_zero(rows, weights, rays):
    """σ(−2x − 2y) − 2σ(3x) is 0 from 90° to 135°, −σ(2y) + 2σ(−x − 2y) from 333.4° to 360°, and no other side is."""
    found = boundary_rays(np.array(rows, float), np.array(weights, float), 0.0)
    np.testing.assert_allclose(found, rays, atol=1e-9)
