"""Appendix A: a network with biases, and one without on inputs with one more coordinate, are the same network."""

import jax
import jax.numpy as jnp
import numpy as np

from widenet.diagnostics.huberized import HuberNetwork, log_mean_loss
from widenet.losses import logistic
from widenet.networks import TwoLayer, huberized_relu, plus_minus
from widenet.papers.chatterji2021.sources import (
    STEP_FACTOR,
    Axes,
    Sphere,
    reduced_points,
    reduced_weights,
    restored_weights,
)
from widenet.training import GradientDescent, LogSquared, Recipe, train
from widenet.types import Dataset

P = 4


def problem(n=6, dim=3):
    draw = np.random.default_rng(5)
    points = draw.normal(size=(n, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    weights, biases = draw.normal(size=(2 * P, dim)) / 2, draw.normal(size=2 * P) / 2
    return points, np.where(np.arange(n) % 2, -1.0, 1.0), weights, biases


def trained(inputs, labels, weights, biases, scale):
    """Thirty steps of the engine."""
    net = TwoLayer(jnp.asarray(weights), plus_minus(2 * P, 1.0), biases, huberized_relu(1 / P))
    recipe = Recipe(logistic, method=GradientDescent(LogSquared(scale)), max_steps=30)
    run = train(net, Dataset(jnp.asarray(inputs), jnp.asarray(labels)), recipe, jax.random.key(0))
    return run.network, run.loss


def test_both_take_the_same_path_in_the_engine():
    points, labels, weights, biases = problem()
    with_biases, loss = trained(points, labels, weights, jnp.asarray(biases), 1.5)
    without, same_loss = trained(
        reduced_points(points), labels, reduced_weights(weights, biases), None, STEP_FACTOR * 1.5
    )
    expected = reduced_weights(np.asarray(with_biases.hidden_weights), np.asarray(with_biases.bias))
    np.testing.assert_allclose(without.hidden_weights, expected, atol=1e-13)
    np.testing.assert_allclose(same_loss, loss, rtol=1e-13)
    start = HuberNetwork(reduced_weights(weights, biases), 1 / P)
    assert loss < 0.95 * np.exp(log_mean_loss(start.margins(reduced_points(points), labels)))


def test_control_without_the_factor_the_paths_part():
    points, labels, weights, biases = problem()
    _, loss = trained(points, labels, weights, jnp.asarray(biases), 1.5)
    _, other = trained(reduced_points(points), labels, reduced_weights(weights, biases), None, 1.5)
    assert abs(loss - other) > 1e-3


def test_there_and_back():
    _, _, weights, biases = problem()
    rows, offsets = restored_weights(reduced_weights(weights, biases))
    np.testing.assert_allclose(rows, weights, atol=1e-15)
    np.testing.assert_allclose(offsets, biases, atol=1e-15)


def test_reduced_inputs_are_unit_vectors_with_no_obtuse_angle():
    for source in (Sphere(n_samples=9, dim=4), Axes(n_samples=3)):
        points, labels = source.draw(1)
        np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-15)
        assert (points @ points.T).min() > -1e-15
        assert set(labels) <= {-1.0, 1.0}
