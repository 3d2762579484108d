"""The radius in which the loss is constant, and that it is no larger."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.relu_sources import PointSet
from widenet.papers.brutzkus2018.runs import flat_balls
from widenet.papers.brutzkus2018.runs.bad_minima import as_start, bad_minimum
from widenet.papers.brutzkus2018.runs.flat_balls import flat_radius, try_ball
from widenet.papers.brutzkus2018.runs.online import OnlineStart

THREE = PointSet(np.array([[0.8, 0.0], [0.0, 0.6], [-0.5, -0.5]]), np.array([1.0, 1.0, -1.0]), np.array([5 / 4, 5 / 3]))
PAIR = PointSet(np.array([[0.5, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]), np.array([2.0, 0.0]))
BEHIND = PointSet(np.eye(2), np.ones(2), np.ones(2))


@pytest.mark.parametrize(
    ("points", "direction", "half", "level", "radius"),
    [
        (THREE, [-1, -1], 1, 2 / 3, 1.91666666667),
        (THREE, [-1, -1], 3, 2 / 3, 4.47446458622),
        (PAIR, [1, 3], 2, 0.5, 3.0),
        (BEHIND, [-1, -1], 1, 1.0, 1.85671139599),
    ],
)
def test_the_radius_of_theorem_8(points, direction, half, level, radius):
    weights = bad_minimum(points, half, np.array(direction, float))
    start = as_start(points, half)
    assert flat_radius(start, weights)[0] == pytest.approx(radius, rel=1e-11)
    assert start.loss(weights[None])[0] == pytest.approx(level, rel=1e-12)


def test_the_radius_of_a_given_network():
    weights = np.array([[-0.1, 1.0], [-3.0, 2.0], [-0.2, -1.0], [-2.0, 0.1]])
    start = OnlineStart(np.eye(2), np.ones((1, 2)), weights[None], 1.0)
    np.testing.assert_allclose(start.outputs(weights[None]), [[0, 2.9]], rtol=1e-12)
    assert flat_radius(start, weights)[0] == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("half", [1, 3])
def test_control_beyond_the_radius_the_loss_changes(half):
    weights, start = bad_minimum(THREE, half, np.array([-1.0, -1.0])), as_start(THREE, half)
    draw = np.random.default_rng(0)
    assert try_ball(start, weights, draw, perturbations=50).changed == 0
    assert try_ball(start, weights, draw, perturbations=0, radius_factor=1.001).changed == 1


@pytest.mark.parametrize(
    ("weights", "radius", "gain"),
    [
        ([[1.6, -5], [0.5, -5]], 0.1 / 2**0.5, 1),  # N(e_1) = 1.1 falls below 1, and the loss rises
        ([[-0.1, -5], [-7, -5]], 0.1, -1),  # a neuron for the label turns on at e_1, and the loss falls
        ([[-7, -5], [-0.1, -5]], 0.1, 1),  # one against it turns on
    ],
)
def test_control_either_direction_finds_the_edge(weights, radius, gain):
    weights = np.array(weights, float)
    start = OnlineStart(np.eye(2), np.ones((1, 2)), weights[None], 1.0)
    found, directions = flat_radius(start, weights)
    assert found == pytest.approx(radius, rel=1e-12)
    draw = np.random.default_rng(0)
    assert try_ball(start, weights, draw, perturbations=20).changed == 0
    assert try_ball(start, weights, draw, perturbations=0, radius_factor=1.01).changed == 1
    directions /= np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    losses = [start.loss((weights + 1.01 * found * each)[None])[0] for each in directions]
    assert np.sign(np.array(losses) - start.loss(weights[None])[0]).sum() == gain


def test_pieces_give_what_the_whole_gives(monkeypatch):
    weights, start = bad_minimum(THREE, 2, np.array([-1.0, -1.0])), as_start(THREE, 2)
    whole = try_ball(start, weights, np.random.default_rng(0), perturbations=30, radius_factor=3.0)
    monkeypatch.setattr(flat_balls, "ENTRIES", 50)
    assert try_ball(start, weights, np.random.default_rng(0), perturbations=30, radius_factor=3.0) == whole
