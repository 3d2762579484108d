"""Your data at the thresholds of this paper, moved by a little: the right hypothesis, sign and size."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thresholds import LITTLE, asked, found, hypothesis_of, not_met, require
from widenet.claims import NotApplicable
from widenet.diagnostics.four_clusters import find_clusters, measure_clusters

UNITS = np.array([(0.6, 0.8), (0.8, 0.6), (1.0, 0.0), (-0.6, -0.8), (-1.0, 0.0), (0.0, -1.0)])
LABELS = [1, 1, 1, -1, -1, -1]
HARDLY = st.floats(-9.0, -6.1).map(lambda exponent: 10.0**exponent)
"""Norms that are farther from 1 than 1e-6 were not meant to be 1."""


@given(little=HARDLY, sign=st.sampled_from([1, -1]), place=st.integers(0, 5))
def test_a_point_that_is_not_quite_a_unit_vector(little, sign, place):
    points = UNITS.copy()
    points[place] *= 1 + sign * little
    evidence = found("chatterji2021.theorem_1_start", points, LABELS)
    # In coordinates with the bias, (x, 1)/√2, a length that is off by ε is off by ε/2.
    require(evidence, "unit_inputs", met=False, actual=little / 2, slack=-little / 2)
    assert not_met(found("chatterji2021.theorem_1_start", UNITS, LABELS)) == set()


@given(little=LITTLE.filter(lambda little: little > 2e-6), sign=st.sampled_from([1, -1]))
def test_points_that_are_no_unit_vectors_are_said_to_be(little, sign):
    for id in ("chatterji2021.theorem_1", "chatterji2021.theorem_2a", "chatterji2021.lemma_21"):
        said = asked(id, UNITS * (1 + sign * little), LABELS)
        assert isinstance(said, NotApplicable)
        assert "It is about inputs of norm 1" in said
        assert f"norms from {1 + sign * little:.3g}" in said


def clusters(radius: float, overlap: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three points at distance r from e₁, and −e₁; ±(Δ, √(1 − Δ²)) of the other class; and which cluster is whose."""
    angle, around = 2 * math.asin(radius / 2), 2 * math.pi * np.arange(3) / 3
    cap = np.stack(
        [np.full(3, math.cos(angle)), math.sin(angle) * np.cos(around), math.sin(angle) * np.sin(around), np.zeros(3)],
        axis=1,
    )
    other = np.array([overlap, 0.0, 0.0, math.sqrt(1 - overlap**2)])
    points = np.concatenate([cap, [(-1.0, 0.0, 0.0, 0.0)] * 3, [other] * 3, [-other] * 3])
    return points, np.repeat([1.0, -1.0], 6), np.repeat([0, 1, 2, 3], 3)


@given(little=LITTLE, sign=st.sampled_from([1, -1]))
def test_a_cluster_that_is_a_little_too_wide(little, sign):
    points, labels, _ = clusters(1 + sign * little)
    evidence = found("chatterji2021.lemma_21", points, labels.tolist())
    require(evidence, "radius", met=sign < 0, actual=1 + sign * little, slack=-sign * little)


@given(radius=st.floats(1e-6, 0.5), overlap=st.floats(0, 0.9), copies=st.integers(1, 4))
def test_radius_overlap_and_imbalance_are_those_of_the_data(radius, overlap, copies):
    points, labels, _ = clusters(radius, overlap)
    points, labels = np.concatenate([points, [points[-1]] * copies]), np.concatenate([labels, [-1.0] * copies])
    shape = measure_clusters(points, labels, find_clusters(points, labels))
    assert shape.radius == pytest.approx(radius, rel=1e-6)
    assert shape.overlap == pytest.approx(overlap, abs=1e-12)
    assert shape.imbalance == pytest.approx((3 + copies) / (12 + copies) - 0.25)


@given(little=st.floats(-6.0, -1.0).map(lambda exponent: 10.0**exponent))
def test_points_of_two_classes_that_are_almost_equal(little):
    points = UNITS.copy()
    points[4] = (math.cos(little), math.sin(little))  # beside (1, 0)
    apart = found("chatterji2021.theorem_1_start", points, LABELS)
    assert hypothesis_of(apart, "distinct").met in (True, None)  # float64 may not tell
    points[4] = points[2]
    equal = found("chatterji2021.theorem_1_start", points, LABELS)
    require(equal, "distinct", met=False, actual=1, slack=-1)
    assert "points 3 and 5 are equal and have different labels" in hypothesis_of(equal, "distinct").why


def test_three_points_are_too_few_for_four_clusters():
    said = asked("chatterji2021.theorem_2a", UNITS[[0, 1, 4]], [1, 1, -1])
    assert isinstance(said, NotApplicable)
    assert "at least 4 points, and this data has 3" in said
