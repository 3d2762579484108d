"""The network of Huberized ReLUs in NumPy, against pinned values, JAX, and differences."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from widenet.diagnostics.curvature import hessian_norm
from widenet.diagnostics.huberized import (
    HuberNetwork,
    gradient,
    hessian,
    hessian_blocks,
    hessian_product,
    huberized,
    huberized_change,
    huberized_curvature,
    huberized_slope,
    length,
    log_mean_loss,
    pulls,
    relative_loss_change,
)
from widenet.losses import logistic
from widenet.networks import TwoLayer, huberized_relu
from widenet.training.kernels.plain import gradient_of
from widenet.types import Layers

T1 = (
    np.array([(3 / 5, 4 / 5), (4 / 5, 3 / 5), (5 / 13, 12 / 13)]),
    np.array([1.0, -1.0, 1.0]),
    HuberNetwork(np.array([(0.9, -0.3), (-0.5, 1.1), (0.7, -0.4), (0.2, 0.1)]), 0.5),
)
T2 = (
    np.array([(2 / 3, 1 / 3, 2 / 3), (3 / 5, 0, 4 / 5)]),
    np.array([-1.0, 1.0]),
    HuberNetwork(np.array([(0.5, 0.2, -0.1), (0.3, 1.4, 0.6)]), 1.0),
)
"""Two small networks whose numbers were computed apart, with 40 digits."""


def drawn(seed, n=5, dim=3, p=4):
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(n, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, draw.choice([-1.0, 1.0], n), HuberNetwork(draw.normal(size=(2 * p, dim)) / p, 1 / p)


@pytest.mark.parametrize(
    ("toy", "loss", "pull", "rows", "norm", "entries", "size"),
    [
        (
            T1,
            0.594273465281,
            0.442033483247,
            [0.0915483501082, -0.0521598212791, -0.0777838474975, -0.0161444734041],
            0.220730908257,
            {(0, 0): -0.0707235778014, (0, 2): 0.046421016873, (6, 6): -0.0849990340107, (0, 6): -0.0307128881971},
            0.563207018117,
        ),
        (
            T2,
            0.632260791525,
            0.461591241279,
            [0.00547477254222, -0.0164243176266],
            0.0712201408941,
            {(0, 0): -0.00742208335527, (0, 3): -0.0238330270231, (3, 3): 0.170183971497},
            0.440095677274,
        ),
    ],
)
def test_pinned_values(toy, loss, pull, rows, norm, entries, size):
    points, labels, net = toy
    margins = net.margins(points, labels)
    assert np.exp(log_mean_loss(margins)) == pytest.approx(loss, rel=1e-11)
    assert pulls(margins).mean() == pytest.approx(pull, rel=1e-11)
    slope = gradient(net, points, labels)
    np.testing.assert_allclose(slope[:, 0], rows, rtol=1e-10)
    assert np.linalg.norm(slope) == pytest.approx(norm, rel=1e-11)
    whole = hessian(net, points, labels)
    for place, value in entries.items():
        assert whole[place] == pytest.approx(value, rel=1e-11), place
    assert hessian_norm(net, points, labels) == pytest.approx(size, rel=1e-11)


def test_margins_of_the_toys():
    np.testing.assert_allclose(T1[2].margins(*T1[:2]), [0.37, -0.2068, 0.549230769231], rtol=1e-11)
    np.testing.assert_allclose(T2[2].margins(*T2[:2]), [0.511111111111, -0.1936], rtol=1e-11)
    assert [T1[2].norm, T2[2].norm] == pytest.approx([1.74928556845, 1.64620776332], rel=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_network_of_the_engine(seed):
    points, labels, net = drawn(seed)
    twin = TwoLayer(jnp.asarray(net.weights), jnp.asarray(net.signs), None, huberized_relu(net.bandwidth))
    found, outputs, _ = gradient_of(twin, jnp.asarray(points), jnp.asarray(labels), loss=logistic, layers=Layers.HIDDEN)
    np.testing.assert_allclose(net.outputs(points), outputs, atol=1e-14)
    np.testing.assert_allclose(gradient(net, points, labels), found.hidden_weights, atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_the_hessian_is_the_difference_of_gradients(seed):
    points, labels, net = drawn(seed)
    step, whole = 1e-6, hessian(net, points, labels)
    z = net.preactivations(points)
    assert min(np.abs(z).min(), np.abs(z - net.bandwidth).min()) > 1e-5
    for entry in range(net.weights.size):
        push = np.zeros(net.weights.size)
        push[entry] = step
        sides = [
            gradient(HuberNetwork(net.weights + sign * push.reshape(net.weights.shape), net.bandwidth), points, labels)
            for sign in (1, -1)
        ]
        np.testing.assert_allclose((sides[0] - sides[1]).ravel() / (2 * step), whole[:, entry], atol=1e-8)


def test_blocks_of_the_matrix():
    points, labels, net = T1
    blocks = hessian_blocks(net, points, labels)
    assert blocks.shape == (4, 4, 2, 2)
    assert blocks[0, 1, 0, 0] == pytest.approx(0.046421016873, rel=1e-11)
    assert blocks[3, 3, 0, 0] == pytest.approx(-0.0849990340107, rel=1e-11)


def test_products_are_those_of_the_matrix():
    points, labels, net = drawn(3)
    direction = np.random.default_rng(0).normal(size=net.weights.shape)
    expected = hessian(net, points, labels) @ direction.ravel()
    np.testing.assert_allclose(hessian_product(net, points, labels, direction).ravel(), expected, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_both_ways_to_the_norm_agree(seed):
    points, labels, net = drawn(seed, p=6)
    assert hessian_norm(net, points, labels, dense=0) == pytest.approx(hessian_norm(net, points, labels), rel=1e-8)


def test_the_norm_of_nothing():
    points, labels, net = drawn(0)
    dead = HuberNetwork(-np.abs(net.weights), net.bandwidth)
    assert hessian_norm(dead, np.abs(points), labels) == hessian_norm(dead, np.abs(points), labels, dense=0) == 0
    assert np.isnan(hessian_norm(HuberNetwork(net.weights * np.nan, 0.25), points, labels))


def test_both_ends_of_the_curve_count():
    np.testing.assert_array_equal(huberized_curvature(np.array([-1e-12, 0.0, 0.4, 0.4 + 1e-12]), 0.4), [0, 2.5, 2.5, 0])
    np.testing.assert_array_equal(huberized_slope(np.array([-1.0, 0.0, 0.2, 0.4, 9.0]), 0.4), [0, 0, 0.5, 1, 1])
    np.testing.assert_allclose(huberized(np.array([-1.0, 0.0, 0.1, 0.4, 1.3]), 0.4), [0, 0, 0.0125, 0.2, 1.1])


@pytest.mark.parametrize("moved", [1e-20, -1e-20, 1e-12, 1e-9, 0.3, -0.3, 2.0])
def test_small_changes_keep_their_digits(moved):
    h, z = 0.4, np.array([-1.0, -0.1, 0.0, 0.1, 0.25, 0.4, 0.7, 25.0])
    found = huberized_change(z, np.full_like(z, moved), h)
    if abs(moved) > 1e-5:
        np.testing.assert_allclose(found, huberized(z + moved, h) - huberized(z, h), atol=1e-14)
    else:
        away = np.abs(z) > 1e-8
        np.testing.assert_allclose(found[away], moved * huberized_slope(z, h)[away], rtol=1e-7)


@pytest.mark.parametrize("far", [0.0, 5.0, 30.0, 600.0])
def test_small_differences_of_losses_keep_their_digits(far):
    margins, moved = far + np.array([-0.3, 0.2, 1.0]), np.array([1e-17, -2e-17, 3e-17])
    found = relative_loss_change(margins, moved)
    loss = np.exp(log_mean_loss(margins))
    assert found == pytest.approx(-(pulls(margins) / loss * moved).mean(), rel=1e-12)
    large = relative_loss_change(margins, 1e17 * moved)
    before, after = log_mean_loss(margins), log_mean_loss(margins + 1e17 * moved)
    assert large == pytest.approx(np.exp(after - before) - 1, rel=1e-9)


@pytest.mark.parametrize("far", [-800.0, -50.0, 0.0, 5.0, 340.0, 690.0])
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-17, 1e-3, 1.0, -0.2, 60.0, 400.0])
def test_relative_differences_of_losses_against_mpmath(far, size):
    margins, moved = far + np.array([-0.3, 0.2, 1.0]), size * np.array([1.0, -2.0, 3.0])
    with mpmath.workdps(400):
        before, after = (
            sum(mpmath.log1p(mpmath.exp(-mpmath.mpf(m) - mpmath.mpf(d))) for m, d in zip(margins, given, strict=True))
            for given in (np.zeros(3), moved)
        )
        # Some 700 in the exponent: a rounding of the margin is 1e-13 of the loss.
        assert relative_loss_change(margins, moved) == pytest.approx(float(after / before - 1), rel=1e-11)


@pytest.mark.parametrize("power", [-1070, -1000, -540, 0, 540, 1000])
def test_lengths_do_not_underflow(power):
    rows = np.ldexp(np.array([[3.0, 0.0], [0.0, -4.0]]), power)
    assert length(rows) == np.ldexp(5.0, power)
    assert length(0 * rows) == 0
    assert np.isnan(length(np.nan * rows))
    assert length(np.inf * np.ones((1, 2))) == np.inf


def test_a_loss_that_underflows_has_a_logarithm():
    assert log_mean_loss(np.array([1e4, 2e4])) == pytest.approx(-1e4 - np.log(2))


def test_the_engine_differentiates_it_twice():
    """The weak second derivative inside [0, h] is what automatic differentiation gives there too."""
    twice = jax.vmap(jax.grad(jax.grad(huberized_relu(0.4))))(jnp.asarray([0.1, 0.3, -0.1, 0.7]))
    np.testing.assert_allclose(twice, [2.5, 2.5, 0, 0], atol=1e-12)


def test_one_weight_that_is_no_number_is_enough():
    points, labels, net = drawn(0)
    weights = net.weights.copy()
    weights[1, 2] = np.inf
    assert np.isnan(hessian_norm(HuberNetwork(weights, 0.25), points, labels))


def test_the_loss_of_each_of_a_batch():
    margins = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert log_mean_loss(margins) == pytest.approx([float(log_mean_loss(row)) for row in margins], rel=1e-14)
    assert np.exp(log_mean_loss(np.zeros((2, 3)))) == pytest.approx([np.log(2)] * 2)
