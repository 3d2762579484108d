"""Patterns before and after training, on a matrix whose answers are known."""

import numpy as np
import pytest

from widenet.diagnostics.patterns import coupled_share, flip_share

START = np.array([[0.5, 0.65, 0.2, -0.7], [-0.37, 0.62, -1.1, 0.27], [-0.25, -1.0, 0.5, 0.5]])
END = np.array([[0.45, 0.85, -0.2, -0.95], [-0.69, 0.71, -1.3, -0.15], [0.0, -1.25, 1.0, 1.0]])


def test_the_kink_is_seen_by_the_gates_and_not_by_the_patterns():
    assert coupled_share(START, END) == 0.25
    assert flip_share(START, END) == pytest.approx(1 / 6)


def test_a_small_number_is_on_its_own_side():
    """0 is off for a pattern and open for a gate; 0.05 and −0.05 are not 0."""
    start, end = np.array([[0.0, 0.0, 0.05, -0.05]]), np.array([[1.0, -1.0, 1.0, -1.0]])
    assert (flip_share(start, end), coupled_share(start, end)) == (0.25, 0.75)
    assert (flip_share(end, start), coupled_share(end, start)) == (0.25, 0.75)


@pytest.mark.parametrize(("end", "flips", "couples"), [(1.0, 1, 1), (-1.0, 0, 0)])
def test_a_start_at_the_kink_is_off_for_patterns_and_open_for_gates(end, flips, couples):
    start, end = np.zeros((1, 1)), np.full((1, 1), end)
    assert (flip_share(start, end), coupled_share(start, end)) == (flips, couples)
