"""Intervals of means."""

import numpy as np
import pytest

from widenet.figures.statistics import mean_interval


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
