"""Clocks against the logarithms they stand for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import LinearClock, LogClock, LossClock


def test_the_rates_of_the_clocks():
    """dt/du: 1, unit·e^u, and 1/L."""
    loss = jnp.asarray(-3.0)
    assert LinearClock(0.5).log_rate(2.0, loss) == 0
    assert LogClock(0.5, unit=4.0).log_rate(2.0, loss) == pytest.approx(np.log(4) + 2)
    assert LogClock(0.5).log_rate(2.0, loss) == 2
    assert LossClock(0.5).log_rate(2.0, loss) == 3


def test_the_times_of_the_clocks():
    """t = u, unit·(e^u − 1), and what was integrated as log(1 + t)."""
    assert LinearClock(0.5).log_time(2.0, 9.0) == pytest.approx(np.log(2))
    assert LogClock(0.5, unit=4.0).log_time(2.0, 9.0) == pytest.approx(np.log(4 * np.expm1(2)))
    assert LogClock(0.5).log_time(1e-9, 9.0) == pytest.approx(np.log(1e-9), rel=1e-9)
    assert LogClock(0.5).log_time(900.0, 9.0) == 900
    assert LossClock(0.5).log_time(9.0, 2.0) == pytest.approx(np.log(np.expm1(2)))
    for clock in (LinearClock(0.5), LogClock(0.5), LossClock(0.5)):
        assert clock.log_time(0.0, 0.0) == -np.inf


@pytest.mark.parametrize("unit", [0.0, -1.0, np.inf, np.nan])
def test_a_unit_is_positive_and_finite(unit):
    with pytest.raises(ValueError, match="unit must be positive and finite"):
        LogClock(0.5, unit=unit)
    assert LogClock(0.5, unit=0.05).unit == 0.05


def test_a_unit_is_a_number():
    for unit in (True, "1.0"):
        with pytest.raises(Exception, match=r"(?i)unit must be positive and finite|type-check"):
            LogClock(0.5, unit=unit)  # pyright: ignore[reportArgumentType]


def test_only_the_step_of_a_clock_belongs_to_a_run():
    """The unit is known when a program is compiled; it is 1 unless it is given."""
    for clock in (LinearClock(0.5), LogClock(0.5, unit=4.0), LossClock(0.5)):
        assert [float(leaf) for leaf in jax.tree.leaves(clock)] == [0.5]
    assert LogClock(0.5).unit == 1
