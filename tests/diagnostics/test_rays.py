import numpy as np
import pytest

from widenet.diagnostics.rays import bend, boundary_rays, disagreement


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
