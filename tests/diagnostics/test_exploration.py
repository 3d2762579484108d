"""Half-planes of XOR and cones of XORD, against their definitions."""

import numpy as np
import pytest

from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import (
    XOR_LABELS,
    XOR_POINTS,
    cones,
    explored,
    half_planes,
    negative_sides,
    on_negative_axis,
    on_positive_axis,
    plus_and_minus,
    sizes,
)

FILTERS = np.random.default_rng(0).normal(size=(3, 5, 40, 2))


def test_half_planes_by_their_definition():
    found = half_planes(FILTERS)
    for i, x in enumerate(XOR_POINTS):
        assert np.array_equal(found[..., i], (FILTERS * x).sum(-1) > 0)
    assert np.array_equal(sizes(found)[..., 0] + sizes(found)[..., 2], np.full((3, 5), 40))
    assert np.array_equal(half_planes(-FILTERS), ~found)


def test_labels_and_order_of_the_two_problems():
    assert (XOR_POINTS.prod(axis=1) == XOR_LABELS).all()
    assert (XOR_POINTS[[0, 3, 2, 1]] == PATTERNS).all()


def test_cones_by_their_definition():
    fits = FILTERS @ PATTERNS.T
    assert np.array_equal(cones(FILTERS).argmax(-1), fits.argmax(-1))
    assert (cones(FILTERS).sum(-1) == 1).all()
    sides = negative_sides(FILTERS)
    assert np.array_equal(sides.argmax(-1), fits[..., 1::2].argmax(-1))
    assert (sides.sum(-1) == 1).all()
    assert sizes(sides).shape == (3, 5, 2)


def test_axes_are_unions_of_opposite_cones():
    s, r = FILTERS @ PATTERNS[0], FILTERS @ PATTERNS[1]
    assert np.array_equal(on_positive_axis(FILTERS), np.abs(s) > np.abs(r))
    assert np.array_equal(on_negative_axis(FILTERS), np.abs(s) < np.abs(r))


def test_control_half_planes_are_not_cones():
    """Pitfall: the same symbol in the paper, two different sets."""
    assert not np.array_equal(half_planes(FILTERS), cones(FILTERS))
    assert (half_planes(FILTERS).sum(-1) == 2).all()


@pytest.mark.parametrize("filters", [np.zeros((1, 2)), np.full((1, 2), np.nan), np.array([[1.0, 0.0]])])
def test_control_borders_and_nan_are_in_no_cone(filters):
    assert not cones(filters).any()
    assert not (on_positive_axis(filters) | on_negative_axis(filters)).any()


def test_plus_and_minus():
    plus, minus = plus_and_minus(FILTERS)
    assert np.array_equal(np.concatenate([plus, minus], axis=-2), FILTERS)
    assert plus.shape == minus.shape
    with pytest.raises(ValueError, match="got 39"):
        plus_and_minus(FILTERS[..., :39, :])


def test_counts_against_their_limits():
    counts = np.array([29, 30, 70, 71])
    assert np.array_equal(explored(counts, 100), [False, True, True, False])
    assert np.array_equal(explored(counts, 100, radius=2.1), [True] * 4)


def test_control_a_filter_on_a_border_is_in_no_half_plane():
    assert half_planes(np.array([[1.0, -1.0]])).tolist() == [[False, False, False, True]]
    assert negative_sides(np.array([[1.0, 1.0]])).tolist() == [[False, False]]


def test_halves_of_a_single_network():
    plus, minus = plus_and_minus(FILTERS[0, 0])
    assert np.array_equal(plus, FILTERS[0, 0, :20])
    assert np.array_equal(minus, FILTERS[0, 0, 20:])
