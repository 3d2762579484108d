"""δ, λ and l: measured where components are known, found where they are not."""

import numpy as np
import pytest

from widenet.data.components import antipodal_polygon
from widenet.diagnostics.components import (
    Structure,
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


def on_a_line(*numbers):
    return np.array(numbers, float)[:, None]


def found_on_a_line(numbers, classes):
    return find_components(on_a_line(*numbers), np.array(classes)).tolist()


def test_a_structure_by_hand():
    found = Structure(3.0, 2.0, 0.5, 2, 2, 3)
    assert (found.distance, found.relative_diameter, found.widest_allowed) == (2, 0.25, 1 / 16)


def test_three_classes_of_several_components():
    """Three components of the first class, of 3, ½ and 0; the nearest of another class is behind the origin."""
    points, classes = on_a_line(0, 1, 3, 10, 10.5, 40, -12, 90), np.array([0, 0, 0, 0, 0, 0, 1, 2])
    found = measure_structure(points, classes, np.array([0, 0, 0, 1, 1, 2, 3, 4]))
    assert (found.n_classes, found.per_class, found.n_components, found.diameter) == (3, 3, 5, 3)
    assert (found.separation, found.opposite_separation) == (12, 1.5)
    assert measure_structure(np.eye(2), np.arange(2), np.arange(2)).diameter == 0


def test_the_distance_behind_the_origin_counts_too():
    """0.05 apart at a distance of 2.25, but of 0.2 to what is mirrored."""
    assert len(set(found_on_a_line((1, 1.05, -1.25), (0, 0, 1))[:2])) == 2


def test_the_widest_component_that_is_allowed():
    """An eighth of the distance, exactly; and in a class of its own, whatever the others hold."""
    assert len(set(found_on_a_line((0, 0.125, 1.125), (0, 0, 1))[:2])) == 1
    assert len(set(found_on_a_line((0, 0.45, 5, 10), (0, 0, 1, 2))[:2])) == 1
    assert len(set(found_on_a_line((0, 5, 20), (0, 0, 1))[:2])) == 2


def test_as_few_components_as_there_can_be():
    """Cuts at 0.05 and 0.01 would do; of 0.07, 0.02 and 0.01 the first is too wide."""
    assert len(set(found_on_a_line((0, 0.01, 0.06, 1.06), (0, 0, 0, 1))[:3])) == 1
    assert len(set(found_on_a_line((0, 0.01, 0.03, 0.1, 0.7), (0, 0, 0, 0, 1))[:4])) == 2


@pytest.mark.parametrize(("numbers", "count"), [((0, 0.5, 1.45), 3), ((0, 0.5, 1.55), 2), ((0, 0.05, 0.11), 3)])
def test_the_widest_gap_may_be_the_first(numbers, count):
    """Heights of 0.5 and 0.95, of 0.5 and 1.05, of 0.05 and 0.06: a gap is counted from 0 on."""
    assert len(np.unique(natural_components(on_a_line(*numbers), np.zeros(3, int)))) == count


def test_an_antipodal_pair_of_one_class_is_no_obstruction():
    assert not is_obstructed(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([0, 0, 1]))


@pytest.mark.parametrize(("apart", "count"), [(3e-10, 1), (3e-9, 2)])
def test_lines_are_told_apart_by_nine_digits(apart, count):
    assert count_lines(np.array([[1.0, 0.0], [1.0, apart]])) == count
