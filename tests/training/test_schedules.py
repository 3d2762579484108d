"""Rules for step sizes, by hand."""

import jax.numpy as jnp
import numpy as np

from widenet.training import LogSquared


def test_the_step_is_the_square_of_the_logarithm():
    """Q log²(1/L): 2 · 3² at L = e⁻³, whatever was taken."""
    for taken in (0, 1, 2):
        assert float(LogSquared(2.0)(jnp.asarray(-3.0), jnp.asarray(taken))) == 18
    assert float(LogSquared(2.0)(jnp.asarray(0.0), jnp.asarray(1))) == 0
    np.testing.assert_allclose(LogSquared(0.5)(jnp.asarray(-0.1), jnp.asarray(0)), 0.005, rtol=1e-12)


def test_the_first_step_may_have_a_size_of_its_own():
    rule = LogSquared(2.0, 0.25)
    assert [float(rule(jnp.asarray(-3.0), jnp.asarray(taken))) for taken in (0, 1, 2)] == [0.25, 18, 18]


def test_steps_have_the_dtype_of_the_loss():
    for first in (None, 0.25):
        assert LogSquared(2.0, first)(jnp.asarray(-3.0, jnp.float32), jnp.asarray(0)).dtype == jnp.float32
