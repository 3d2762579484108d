"""Angles, steps along a direction, and phases, against hand-made filters."""

import numpy as np
import pytest

from widenet.data.xord import PATTERNS
from widenet.diagnostics.clustering import (
    Phase,
    active_counts,
    angles,
    angles_to_closest,
    angles_to_own,
    coefficients,
    longest_stretch,
    phases,
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


def test_coefficients_count_steps():
    start = np.random.default_rng(2).normal(size=(3, 2))
    steps = np.array([[4, -1], [0, 3], [7, 0]])
    moved = start + 0.01 * steps @ PATTERNS[:2]
    assert coefficients(moved, start, PATTERNS[:2], 0.01) == pytest.approx(steps, abs=1e-10)
    path = np.stack([start, moved])
    assert coefficients(path, start, PATTERNS[:2], 0.01)[1] == pytest.approx(steps, abs=1e-10)


def test_counts_before_and_at_a_time():
    active = np.array([[1, 1], [1, 0], [0, 1], [1, 0]], bool)
    assert np.array_equal(active_counts(active), [[1, 1], [2, 1], [2, 2], [3, 2]])
    assert np.array_equal(updates_before(active), [[0, 0], [1, 1], [2, 1], [2, 2]])


def test_phases_are_strict_at_the_margin():
    outputs = np.array([7.9, 8.0, 7.9, 8.0]), np.array([-0.9, -0.9, -1.0, -1.0])
    assert phases(*outputs, 8.0).tolist() == [Phase.BOTH, Phase.ONLY_NEGATIVE, Phase.ONLY_POSITIVE, Phase.NONE]


def test_control_nan_has_no_phase():
    """One among many is enough, on either side."""
    with pytest.raises(ValueError, match=r"N\(x⁺\) is not a number"):
        phases(np.array([np.nan, 1.0]), np.array([0.0, 0.0]), 8.0)
    with pytest.raises(ValueError, match=r"N\(x⁻\) is not a number"):
        phases(np.array([0.0, 1.0]), np.array([0.0, np.nan]), 8.0)


def test_phases_are_numbers_that_add_up():
    assert [phase.value for phase in Phase] == [0, 1, 2, 3]
    assert Phase.BOTH == Phase.ONLY_POSITIVE + Phase.ONLY_NEGATIVE


def test_longest_stretch():
    member = np.array([[1, 1, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1]], bool).T
    assert longest_stretch(member).tolist() == [3, 0, 7]
    assert longest_stretch(member[:0]).tolist() == [0, 0, 0]
