"""Passes over weighted samples: step by step what the engine does by automatic differentiation."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import Loss, cross_entropy, hinge, logistic, multiclass_hinge
from widenet.networks import leaky_relu, relu
from widenet.networks.two_layer import TwoLayer
from widenet.training import SGD, Listed, Recipe, ensemble
from widenet.training.epochs import SMALL_BYTES, NetworkWeights, WeightedPasses, rounded_up
from widenet.types import Dataset, Layers

DIM, EPOCHS = 3, 4


def weights(n_runs: int, n_outputs: int, width: int = 6, bias: bool = True, seed: int = 0) -> NetworkWeights:
    draws = np.random.default_rng(seed)
    return NetworkWeights(
        draws.normal(size=(n_runs, width, DIM)),
        draws.choice([-0.4, 0.4], size=(n_runs, n_outputs, width)),
        draws.normal(size=(n_runs, width)) if bias else None,
    )


def points(n_samples: int, n_outputs: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    labels = draws.integers(max(n_outputs, 2), size=n_samples)
    return draws.uniform(-1, 1, size=(n_samples, DIM)), labels if n_outputs > 1 else 2 * labels - 1


def orders(n_runs: int, n_samples: int, seed: int = 2) -> np.ndarray:
    draws = np.random.default_rng(seed)
    return np.stack([[draws.permutation(n_samples) for _ in range(n_runs)] for _ in range(EPOCHS)])


def after(
    passes: WeightedPasses, start: NetworkWeights, data: Any, sample_weights: np.ndarray, given: np.ndarray
) -> list[Any]:
    return list(passes.train(start, data[0], data[1], sample_weights, given))


@pytest.mark.parametrize("layers", Layers)
@pytest.mark.parametrize(("batch", "slope", "bias"), [(1, 0.1, True), (4, 0.0, False)])
@pytest.mark.parametrize("loss", [hinge, logistic, cross_entropy, multiclass_hinge])
def test_a_pass_is_sgd_by_the_plain_kernel(loss: Loss, batch: int, slope: float, bias: bool, layers: Layers) -> None:
    n_runs, n_outputs = 2, 1 if loss in (hinge, logistic) else 3
    start, data, given = weights(n_runs, n_outputs, bias=bias), points(12, n_outputs), orders(n_runs, 12)
    trained, _ = after(WeightedPasses(loss, 0.7, batch, slope, layers), start, data, np.ones(12), given)[-1]

    output = start.output[:, 0] if n_outputs == 1 else start.output
    activation = leaky_relu(slope) if slope else relu()
    b = None if start.bias is None else jnp.asarray(start.bias)
    networks = TwoLayer(jnp.asarray(start.hidden), jnp.asarray(output), b, activation)
    listed = Listed(np.concatenate(given, axis=1))
    recipe = Recipe(loss, SGD(0.7, order=listed, batch_size=batch, kernel="plain"), EPOCHS * 12 // batch, layers=layers)
    dataset = Dataset(jnp.asarray(data[0]), jnp.asarray(data[1], jnp.float64))
    expected: Any = ensemble(networks, dataset, recipe, jax.random.split(jax.random.key(0), n_runs)).network
    np.testing.assert_allclose(trained.hidden, expected.hidden_weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(trained.output.reshape(output.shape), expected.output_weights, rtol=1e-10, atol=1e-12)
    if bias:
        np.testing.assert_allclose(trained.bias, expected.bias, rtol=1e-10, atol=1e-12)
    assert np.abs(trained.hidden - start.hidden).max() > 0.01
    assert np.abs(trained.output - start.output).max() > 0.01 or layers is Layers.HIDDEN


def test_weights_multiply_gradients_and_a_last_batch_may_be_smaller() -> None:
    """Logistic loss of one output in NumPy, from its formula."""
    start, (x, y), given = weights(1, 1), points(10, 1), orders(1, 10)
    sample_weights = np.linspace(0.1, 1, 10)
    results = after(WeightedPasses(logistic, 0.5, 4, 0.1, Layers.BOTH), start, (x, y), sample_weights, given)
    assert start.bias is not None
    W, a, b = start.hidden[0], start.output[0, 0], start.bias[0]
    for (order,), (trained, losses) in zip(given, results, strict=True):
        total = 0.0
        for rows in (order[:4], order[4:8], order[8:]):
            z = x[rows] @ W.T + b
            slopes = np.where(z > 0, 1.0, 0.1)
            margins = y[rows] * ((z * slopes) @ a)
            total += sample_weights[rows] @ np.log1p(np.exp(-margins))
            pulls = sample_weights[rows] * y[rows] / (1 + np.exp(margins)) / len(rows)
            back = pulls[:, None] * slopes * a
            a = a + 0.5 * pulls @ (z * slopes)
            W, b = W + 0.5 * back.T @ x[rows], b + 0.5 * back.sum(axis=0)
        np.testing.assert_allclose(trained.hidden[0], W, rtol=1e-12)
        np.testing.assert_allclose(trained.output[0, 0], a, rtol=1e-12)
        np.testing.assert_allclose(trained.bias[0], b, rtol=1e-12)
        np.testing.assert_allclose(losses, [total], rtol=1e-12)


def test_runs_side_by_side_and_in_threads_are_the_same_runs() -> None:
    """Networks below and above the size from which each has a thread."""
    for width in (6, SMALL_BYTES // 8):
        start, data, given = weights(3, 1, width), points(9, 1), orders(3, 9)
        passes = WeightedPasses(hinge, 0.1, 1, 0.1, Layers.HIDDEN)
        together, losses = after(passes, start, data, np.ones(9), given)[-1]
        for run in range(3):
            own = slice(run, run + 1)
            alone, loss = after(passes, start.of(own), data, np.ones(9), given[:, own])[-1]
            np.testing.assert_allclose(together.hidden[run], alone.hidden[0], rtol=1e-12)
            np.testing.assert_allclose(losses[run], loss[0], rtol=1e-12)


def test_an_order_may_name_a_sample_twice() -> None:
    start, (x, y) = weights(1, 1), points(5, 1)
    twice = np.array([[0, 1, 2, 3, 4, 0, 0]])
    passes = WeightedPasses(logistic, 0.5, 1, 0.1, Layers.HIDDEN)
    trained, _ = next(passes.train(start, x, y, np.ones(5), [twice]))
    rows = twice[0]
    longer, _ = next(passes.train(start, x[rows], y[rows], np.ones(7), [np.arange(7)[None]]))
    np.testing.assert_allclose(trained.hidden, longer.hidden, rtol=1e-12)


def test_the_folds_of_a_cross_validation_share_a_shape() -> None:
    assert {rounded_up(size) for size in (142, 143, 144)} == {144}
    for size in itertools.chain(range(1, 200), (1437, 60_000)):
        assert size <= rounded_up(size) <= 17 / 16 * size
        assert rounded_up(rounded_up(size)) == rounded_up(size)
