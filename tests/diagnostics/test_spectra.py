"""Singular values and ranks of matrices whose answers are known."""

import numpy as np
import pytest

from widenet.diagnostics.spectra import effective_rank, numerical_rank, singular_values


def test_ranks():
    values = np.array([4.0, 2.0, 1.0])
    assert effective_rank(values) == pytest.approx(1.950367504492, rel=1e-11)
    assert numerical_rank(np.array([1.0, 1e-9, 1e-11])) == 2
    assert numerical_rank(np.zeros(2)) == 0
    assert effective_rank(np.array([1.0, 0.0])) == 1


def test_singular_values_fall():
    np.testing.assert_allclose(singular_values(np.array([[0.0, 3.0], [5.0, 0.0]])), [5.0, 3.0])


def test_a_rank_counts_what_exceeds_the_tolerance():
    """A ten-billionth of the largest is not counted; of no values there are none."""
    assert numerical_rank(np.array([4.0, 4.1e-10, 4e-10])) == 2
    assert numerical_rank(np.array([])) == 0
    assert numerical_rank(np.array([1e-300, 0.0])) == 1


def test_singular_values_are_in_float64():
    assert singular_values(np.ones((2, 3), np.float32)).dtype == np.float64
