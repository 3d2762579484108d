"""Angles and counts of active points, against hand-made filters."""

import numpy as np
import pytest

from widenet.data.xord import PATTERNS
from widenet.diagnostics.clustering import (
    active_counts,
    angles,
    angles_to_closest,
    angles_to_own,
    updates_before,
)
from widenet.diagnostics.exploration import cones


def turned(degrees, length=1.0):
    return length * np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=-1)


def test_angles_of_known_directions():
    found = angles(turned(np.array([45.0, 46.0, 225.0, 315.0]), 7.0), PATTERNS)
    assert found[0] == pytest.approx([0, 90, 180, 90], abs=1e-12)
    assert found[1] == pytest.approx([1, 91, 179, 89])
    assert found[:, 0] == pytest.approx([0, 1, 180, 90], abs=1e-12)


def test_small_angles_keep_their_digits():
    """arccos of a cosine would give 0 or 1.2e-6 degrees here."""
    assert angles(turned(np.array([45 + 1e-9])), PATTERNS)[0, 0] == pytest.approx(1e-9, rel=1e-4)


def test_leading_axes_and_own_direction():
    turns = np.random.default_rng(1).uniform(0, 360, (2, 3, 6))
    filters = turned(turns)
    own = angles_to_own(filters, PATTERNS, cones(filters))
    assert own == pytest.approx(np.abs((turns % 90) - 45))
    assert own == pytest.approx(angles_to_closest(filters, PATTERNS))
    assert angles_to_own(filters[0, 0], PATTERNS, cones(filters[1, 1])).max() > 45


def test_control_zero_filters_have_no_angle():
    assert np.isnan(angles(np.zeros((1, 2)), PATTERNS)).all()
    assert np.isnan(angles_to_own(np.ones((1, 2)), PATTERNS, np.zeros((1, 4), bool))).all()
    assert np.isnan(angles_to_own(np.zeros((1, 2)), PATTERNS, np.eye(4, dtype=bool)[:1])).all()


def test_counts_before_and_at_a_time():
    active = np.array([[1, 1], [1, 0], [0, 1], [1, 0]], bool)
    assert np.array_equal(active_counts(active), [[1, 1], [2, 1], [2, 2], [3, 2]])
    assert np.array_equal(updates_before(active), [[0, 0], [1, 1], [2, 1], [2, 2]])
