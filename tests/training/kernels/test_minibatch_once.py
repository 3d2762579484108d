"""One sweep over the weights, the program itself: what it leaves behind, against NumPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.kernels.test_fused_scales import SMALL, only_inside
from widenet.training.kernels import minibatch, split_products
from widenet.training.kernels.minibatch import Sweep

ROWS, SAMPLES, WIDTH, DIM, SLOPE, AT_ZERO = 32, 6, 3, 6, 0.25, 3.0


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Two tiles of neurons and of columns, neither full; without optimizations, as in `test_minibatch`."""
    if jax.default_backend() == "gpu":
        pytest.skip("interpreted on a CPU")
    for name, value in {"NEURONS": 2, "COLUMNS": 4}.items():
        monkeypatch.setattr(minibatch, name, value)
    for name in ("loaded", "stored"):
        monkeypatch.setattr(minibatch, name, only_inside(getattr(split_products, name)))
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def derivative(z):
    return np.where(z > 0, 1, np.where(z < 0, SLOPE, AT_ZERO))


@pytest.mark.usefixtures("half_precision")
@pytest.mark.parametrize("softmax", [False, True])
def test_one_sweep(softmax):
    """All rows of the batch push the same way, weights are small beside that, and nobody listens to one neuron."""
    draw, dtype = np.random.default_rng(0), np.float64 if softmax else np.float32
    inputs = (SMALL * (1 + 0.1 * draw.normal(size=(SAMPLES, DIM)))).astype(dtype)
    weights = (2.0**-6 / SMALL * draw.normal(size=(WIDTH, DIM))).astype(dtype)
    before = np.zeros((ROWS, 4), dtype)
    before[:, :WIDTH] = draw.choice([-0.5, 0.0, 0.5], (ROWS, WIDTH), p=[0.1, 0.3, 0.6])
    votes = np.array([[2.0, -0.5, 0.0, 0.0], [0.25, 4.0, 0.0, 0.0]], dtype)
    rows, labels = draw.integers(0, SAMPLES, (3, ROWS)), draw.integers(0, 2, (3, ROWS)).astype(dtype)
    factors = np.where(np.arange(3) == 1, -1 / SMALL**2 / ROWS, 7.0)[:, None] * np.ones(ROWS)
    signal = -(0.5 + draw.random((ROWS, 2))).astype(dtype)
    split, scale = split_products.scaled_pieces(jnp.asarray(inputs), minibatch.COLUMNS)
    numbers = jnp.stack([scale, *(jnp.asarray(each, dtype) for each in (np.abs(inputs).max(), SLOPE, AT_ZERO))])
    largest = np.array([np.abs(weights[:2]).max(), np.abs(weights[2:]).max()])
    now = Sweep(*(jnp.asarray(each) for each in (weights, before, signal, np.full((2, 2), 5, np.int32), largest)))
    program = minibatch._program(weights.shape, 2, ROWS, 2, dtype, softmax)
    given = [jnp.asarray(each) for each in (votes, rows.astype(np.int32), labels, factors.astype(dtype))]
    after, parts = jax.jit(program)(now, *given, numbers, jnp.asarray([1], jnp.int32), split)

    slopes = signal.astype(float)
    if softmax:
        slopes = np.exp(slopes) / np.exp(slopes).sum(axis=1, keepdims=True) - (labels[1][:, None] == [0, 1])
    x, later = (inputs[rows[step]].astype(float) for step in (1, 2))
    coefficients = factors[1][:, None] * (slopes @ votes)[:, :WIDTH] * derivative(before[:, :WIDTH])
    moved = weights + coefficients.T @ x
    z = later @ moved.T
    rtol = 1e-12 if softmax else 1e-6
    close = functools.partial(np.testing.assert_allclose, rtol=0)
    close(after.weights, moved, atol=rtol * np.abs(moved).max())
    close(after.hidden[:, :WIDTH], z, atol=rtol * np.abs(z).max())
    np.testing.assert_array_equal(after.hidden[:, WIDTH:], 0)
    np.testing.assert_array_equal(after.changed, [[5, 5], [1, 0]])  # the last tile has the neuron that stays
    close(after.largest, [np.abs(moved[:2]).max(), np.abs(moved[2:]).max()], atol=rtol * np.abs(moved).max())
    features = z * derivative(z)
    wanted = np.stack([features[:, tile] @ votes[:, :WIDTH][:, tile].T for tile in (slice(0, 2), slice(2, 3))])
    close(parts, wanted.transpose(0, 2, 1), atol=2 * rtol * np.abs(wanted).max())
    np.testing.assert_array_equal(after.signal, signal)
    if not softmax:  # updates are far larger than weights, so that the bound on them must grow
        assert np.abs(moved).max() > 100 * np.abs(weights).max()
