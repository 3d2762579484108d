"""Intervals of means."""

import numpy as np
import pytest

from widenet.figures.statistics import mean_interval, share_interval, t_reach


def test_the_interval_of_a_known_sample():
    """Mean 3, standard error √0.5, and t(0.975, 4) = 2.776445: from a table."""
    low, high = mean_interval(np.array([1.0, 2.0, 3.0, 4.0, 5.0])) or (0.0, 0.0)
    assert (low + high) / 2 == pytest.approx(3.0)
    assert (high - low) / 2 == pytest.approx(2.776445 * np.sqrt(0.5), rel=1e-6)


def test_runs_that_do_not_exist_are_left_out():
    assert mean_interval(np.array([1.0, np.nan, 2.0])) == mean_interval(np.array([1.0, 2.0]))


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0], [1.0, np.nan]])
def test_no_interval(values: list[float]):
    assert mean_interval(np.array(values)) is None


def test_the_interval_of_a_share_is_two_sided():
    """No failure in 10 runs: 1 − 0.025^(1/10); 3 in 10: from a table of Clopper and Pearson."""
    assert share_interval(0, 10) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert share_interval(3, 10) == pytest.approx((0.0667, 0.6525), abs=5e-5)
    assert t_reach(4) == pytest.approx(2.776445, abs=1e-6)
