"""δ, λ and l: measured where components are known, found where they are not."""

import numpy as np
import pytest

from widenet.data.components import antipodal_polygon
from widenet.diagnostics.components import (
    count_lines,
    find_components,
    is_obstructed,
    measure_structure,
    natural_components,
    relative,
)

POINTS = np.array([[0.0, 0.0], [0.1, 0.0], [2.0, 0.0], [0.0, 1.0]])
CLASSES = np.array([0, 0, 0, 1])


def test_measured_on_known_components():
    found = measure_structure(POINTS, CLASSES, np.array([0, 0, 1, 2]))
    assert (found.separation, found.diameter) == (1.0, pytest.approx(0.1))
    assert (found.n_classes, found.per_class, found.n_components) == (2, 2, 3)
    assert found.opposite_separation == pytest.approx(1.0)
    assert found.relative_diameter == pytest.approx(0.1)


def test_as_few_components_as_the_assumption_allows():
    """At distance 1 with l = 2 a diameter of up to 1/16 is allowed."""
    near = POINTS.copy()
    near[1, 0] = 0.06
    assert len(set(find_components(near, CLASSES)[:3])) == 2
    near[1, 0] = 0.065
    assert len(set(find_components(near, CLASSES)[:3])) == 3


def test_components_that_stand_apart_whether_they_are_allowed_or_not():
    """Gaps of 0.2 within and 1.8 between: three components, too wide for (A1) at distance 1."""
    wide = POINTS.copy()
    wide[1, 0] = 0.2
    assert natural_components(wide, CLASSES).tolist() == [0, 0, 1, 2]
    assert len(np.unique(find_components(wide, CLASSES))) == 4
    # Equally spaced points stand apart one by one, and equal ones not at all.
    line = np.array([[0.0], [1.0], [2.0], [9.0]])
    assert len(np.unique(natural_components(line, CLASSES))) == 4
    assert natural_components(np.array([[1.0], [1.0], [1.0], [5.0]]), CLASSES).tolist() == [0, 0, 0, 1]
    assert natural_components(np.eye(2), np.arange(2)).tolist() == [0, 1]


def test_equal_points_are_one_component():
    components = find_components(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]), np.array([0, 0, 0, 1]))
    assert components[0] == components[1] != components[2]


def test_one_class_has_no_distance():
    found = measure_structure(np.eye(2), np.zeros(2, int), np.arange(2))
    assert found.separation == found.opposite_separation == np.inf
    assert (relative(0.0, 0.0), relative(1.0, 0.0), relative(1.0, 4.0)) == (0, np.inf, 0.25)


@pytest.mark.parametrize(("corners", "turn", "obstructed"), [(3, 0.0, True), (5, 0.0, True), (3, 0.03, False)])
def test_polygons(corners, turn, obstructed):
    assert is_obstructed(*antipodal_polygon(corners, turn)) is obstructed


def test_one_antipodal_pair_is_no_obstruction():
    assert not is_obstructed(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0, 1]))
    assert not is_obstructed(np.eye(3), np.arange(3))


def test_a_lift_removes_the_obstruction():
    points, classes = antipodal_polygon()
    assert not is_obstructed(np.concatenate([points, np.ones((6, 1))], axis=1), classes)


def test_lines():
    assert count_lines(antipodal_polygon()[0]) == 3
    assert count_lines(np.array([[1.0, 0], [-2.0, 0], [0, 3.0], [1e-3, 1.0]])) == 3
