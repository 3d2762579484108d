"""Arrows: lengths, directions, and who looks where."""

import numpy as np

from widenet.papers.brutzkus2019.drawings.arrows import log_lengths, looking_at


def test_lengths_are_logarithmic_and_directions_stay() -> None:
    filters = np.array([[3.0, 4.0], [0.03, 0.04], [0.0, 0.0]])
    drawn = log_lengths(filters, 5.0)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), [1.0, 0.5, 0.0])
    np.testing.assert_allclose(drawn[0], [0.6, 0.8])


def test_who_looks_where() -> None:
    """w near p₁ and p₄, u near p₂ and p₁: one patch counts half-planes, several count the best pattern."""
    filters = np.array([[1.0, 0.9], [-1.0, 0.8], [1.0, -0.9], [1.0, 0.8]])
    assert looking_at(filters, one_patch=False) == [1, 2, 0, 0]
    assert looking_at(filters, one_patch=True) == [1, 2, 1, 0]
