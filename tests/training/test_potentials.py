"""The potentials of a network and what a step adds to them, by NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.networks import TwoLayer, relu
from widenet.training import Potentials

ROWS = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]])
BIAS = np.array([3.0, -2.0, 0.5])
VOTES, DIRECTION, SHIFT = np.array([1.0, -1.0, 2.0]), np.array([0.5, -3.0]), 4.0


def network(rows, bias):
    return TwoLayer(jnp.asarray(rows), jnp.ones(3), None if bias is None else jnp.asarray(bias), relu())


def potentials(shift):
    return Potentials(jnp.asarray(VOTES), jnp.asarray(DIRECTION), shift=None if shift is None else jnp.asarray(shift))


def expected(rows, bias, shift):
    """‖W‖² and ⟨W, u w*ᵀ⟩, where a bias is one more coordinate."""
    if bias is not None:
        rows = np.column_stack([rows, bias])
    direction = DIRECTION if bias is None else np.append(DIRECTION, 0.0 if shift is None else shift)
    return (rows**2).sum(), (rows * np.outer(VOTES, direction)).sum()


@pytest.mark.parametrize("bias", [None, BIAS])
@pytest.mark.parametrize("shift", [None, SHIFT])
def test_square_and_alignment(bias, shift):
    np.testing.assert_allclose(potentials(shift).of(network(ROWS, bias)), expected(ROWS, bias, shift), rtol=1e-14)


@pytest.mark.parametrize(("has_bias", "shift"), [(False, None), (True, None), (True, SHIFT), (False, SHIFT)])
def test_what_a_step_adds(has_bias, shift):
    """The step W ← W + Σ_b c_b x_bᵀ, biases with the input 1, against the potentials on both sides."""
    inputs = np.array([[1.0, 2.0], [-0.5, 0.25]])
    coefficients = np.array([[0.5, -1.0, 2.0], [0.25, 3.0, -0.75]])
    bias = BIAS if has_bias else None
    after = ROWS + coefficients.T @ inputs, None if bias is None else bias + coefficients.sum(axis=0)
    before = expected(ROWS, bias, shift)
    gains = [late - early for late, early in zip(expected(*after, shift), before, strict=True)]
    hidden = inputs @ ROWS.T + (0 if bias is None else bias)
    products = inputs @ inputs.T + (0 if bias is None else 1)
    follows = potentials(shift)
    projections = follows.projections(jnp.asarray(inputs), has_bias)
    np.testing.assert_allclose(
        projections, inputs @ DIRECTION + (shift if has_bias and shift is not None else 0), rtol=1e-14
    )
    found = follows.gains(jnp.asarray(coefficients), jnp.asarray(hidden), jnp.asarray(products), projections)
    np.testing.assert_allclose(found, gains, rtol=1e-13)


def test_a_shift_is_given_by_its_name():
    with pytest.raises(TypeError):
        Potentials(jnp.asarray(VOTES), jnp.asarray(DIRECTION), jnp.asarray(SHIFT))  # pyright: ignore
