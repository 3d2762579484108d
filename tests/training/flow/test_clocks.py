"""Clocks against the logarithms they stand for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import LinearClock, LossClock


def test_the_rates_of_the_clocks():
    """dt/du: 1, unit·e^u, and 1/L."""
    loss = jnp.asarray(-3.0)
    assert LinearClock(0.5).log_rate(2.0, loss) == 0
    assert LossClock(0.5).log_rate(2.0, loss) == 3


def test_the_times_of_the_clocks():
    """t = u, unit·(e^u − 1), and what was integrated as log(1 + t)."""
    assert LinearClock(0.5).log_time(2.0, 9.0) == pytest.approx(np.log(2))
    assert LossClock(0.5).log_time(9.0, 2.0) == pytest.approx(np.log(np.expm1(2)))
    for clock in (LinearClock(0.5), LossClock(0.5)):
        assert clock.log_time(0.0, 0.0) == -np.inf


def test_only_the_step_of_a_clock_belongs_to_a_run():
    for clock in (LinearClock(0.5), LossClock(0.5)):
        assert [float(leaf) for leaf in jax.tree.leaves(clock)] == [0.5]
