"""Your data at the thresholds of this paper, moved by a little: the right hypothesis, sign and size."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thresholds import LITTLE, TOLERANCE, found, hypothesis_of, not_met, require

ID = "li2018.assumption_a1"


def at_angle(angle: float) -> tuple[float, float, float]:
    return math.cos(angle), math.sin(angle), 0.0


@given(little=LITTLE)
def test_points_of_two_classes_that_are_almost_equal(little):
    points = np.array([at_angle(0), at_angle(little), (0, 0, 1)])
    distance = hypothesis_of(found(ID, points, [0, 1, 2]), "distance")
    assert distance.met is True
    assert distance.slack == distance.actual == pytest.approx(2 * math.sin(little / 2), rel=1e-6)
    points[1] = points[0]
    require(found(ID, points, [0, 1, 2]), "distance", met=False, actual=0, slack=0)


@given(little=LITTLE)
def test_points_of_two_classes_that_are_almost_mirror_images(little):
    points = np.array([at_angle(0), at_angle(math.pi + little), (0, 0, 1)])
    opposite = hypothesis_of(found(ID, points, [0, 1, 2]), "opposite_distance")
    assert opposite.met is True
    assert opposite.slack == opposite.actual == pytest.approx(2 * math.sin(little / 2), rel=1e-6)
    points[1] = -points[0]
    require(found(ID, points, [0, 1, 2]), "opposite_distance", met=False, actual=0, slack=0)


def four_pairs(chord: float) -> np.ndarray:
    """Two pairs of points of one class, each `chord` apart, at right angles to each other and to the other class."""
    half = math.asin(chord / 2)
    near, far = math.cos(half), math.sin(half)
    return np.array(
        [(near, far, 0, 0, 0), (near, -far, 0, 0, 0), (0, 0, near, far, 0), (0, 0, near, -far, 0), (0, 0, 0, 0, 1)]
    )


@pytest.mark.parametrize("id", [ID, "li2018.theorem_4_1_margin"])
@given(little=LITTLE, sign=st.sampled_from([1, -1]))
def test_components_that_are_a_little_too_wide(id, little, sign):
    limit = 1 / 16  # 1/(8l) with l = 2; δ is √2
    evidence = found(id, four_pairs(math.sqrt(2) * limit * (1 + sign * little)), [-1, -1, -1, -1, 1])
    # Where the two pairs are too wide, (A1) holds with every point a component of its own, and λ = 0 ≤ 1/32.
    actual, slack = (0.0, 1 / 32) if sign > 0 else (limit * (1 - little), limit * little)
    if id == ID:
        require(evidence, "relative_diameter", met=True, actual=actual, slack=slack + TOLERANCE)
        assert evidence.details["components per class"] == (4 if sign > 0 else 2)
        assert evidence.details["δ"] == pytest.approx(math.sqrt(2))
        said = re.search(r"λ = (\S+) exceeds 1/\(8l\) = 0.0625 by (\S+)\. Not used here", evidence.note)
        assert (said is not None) == (sign > 0)
        if said is not None:
            assert float(said[2]) == pytest.approx(limit * little, rel=0.06)
    else:
        assert not_met(evidence) == set()


@given(factors=st.lists(st.floats(-90, 90).map(lambda exponent: 10.0**exponent), min_size=5, max_size=5))
def test_the_length_of_points_is_no_hypothesis(factors):
    """Every point is divided by its norm first, and the evidence says so: (A2) has no slack then."""
    points = four_pairs(0.01) * np.array([2.0, *factors[1:]])[:, None]
    evidence = found(ID, points, [-1, -1, -1, -1, 1])
    assert not_met(evidence) == set()
    unit_norm = hypothesis_of(evidence, "unit_norm")
    assert (unit_norm.slack, unit_norm.normalization) == (None, "every row was divided by its norm")
    assert "every row divided by its norm" in evidence.note
    assert evidence.details["λ"] == pytest.approx(0.01 / math.sqrt(2), rel=1e-9)
