"""Lines through 0 and their rays."""

import numpy as np
import pytest

from widenet.data import from_arrays
from widenet.errors import DataError
from widenet.papers.brutzkus2018.relu_sources import (
    PointSet,
    antipodal_pair,
    antipodal_set,
    lines_of,
    nearly_antipodal_pair,
    points_on,
    separable_set,
)


def test_lines_and_their_rays():
    points = np.array([[0.5, 0.0], [-1.0, 0.0], [0.0, 0.3], [0.25, 0.0]])
    assert lines_of(points).rays.tolist() == [[2, 1], [1, 0]]
    assert antipodal_set(np.random.default_rng(0), 5, 3).imbalance == 0
    assert separable_set(np.random.default_rng(0), 6, 3).imbalance == 6


def test_lines_by_comparing_all_pairs():
    """The sorted search finds what comparing everything with everything finds."""
    draw = np.random.default_rng(1)
    base = draw.normal(size=(7, 3))
    chosen, factors = draw.integers(0, 7, 60), draw.choice([-2.0, -0.5, 1.0, 3.0], 60)
    lines = lines_of(factors[:, None] * base[chosen])
    for first in range(60):
        for second in range(60):
            assert (lines.line[first] == lines.line[second]) == (chosen[first] == chosen[second])
            if chosen[first] == chosen[second]:
                assert lines.side[first] * lines.side[second] == np.sign(factors[first] * factors[second])


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e150])
def test_the_size_of_the_points_does_not_matter(factor):
    points = factor * np.array([[0.5, 0.0], [-1.0, 0.0], [0.0, 0.3]])
    assert lines_of(points).rays.tolist() == [[1, 1], [1, 0]]


def test_many_points_take_a_moment():
    draw = np.random.default_rng(0)
    assert len(lines_of(draw.normal(size=(20_000, 20))).rays) == 20_000
    assert lines_of(np.ones((20_000, 20))).rays.tolist() == [[20_000, 0]]


def test_a_nearly_antipodal_pair_is_none():
    assert nearly_antipodal_pair(1e-7).imbalance == 2
    assert antipodal_pair().imbalance == 0


def test_words():
    assert antipodal_pair().words == "S = {((1, 0), +1), ((-1, 0), -1)}"
    assert separable_set(np.random.default_rng(0), 9, 3).words == "9 points in dimension 3"


def test_the_readers_own_data():
    points = separable_set(np.random.default_rng(4), 12, 4)
    own = points_on(from_arrays(points.inputs, points.labels))
    assert own.smallest_margin >= 1 - 1e-12
    twice = np.concatenate([points.inputs, points.inputs[:1]]), np.append(points.labels, -points.labels[0])
    assert not points_on(from_arrays(*twice)).separator.any()
    with pytest.raises(DataError, match="point 1 is 0"):
        points_on(from_arrays(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, -1.0])))


def test_margins_and_norms():
    points = PointSet(np.array([[0.6, 0.8], [-0.5, 0.0]]), np.array([1.0, -1.0]), np.array([2.0, 0.0]))
    assert points.smallest_margin == pytest.approx(1.0)
    assert points.largest_norm == pytest.approx(1.0)
    assert points.most_behind == 2
