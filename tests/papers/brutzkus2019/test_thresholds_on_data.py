"""Your data at the thresholds of this paper, moved by a little: the right hypothesis, sign and size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thresholds import LITTLE, found, hypothesis_of, not_met, require

ID = "brutzkus2019.theorem_6_4"
"""Networks of two filters: the quickest of the theorems about a training set."""
PLUS = [1, 1, -1, -1, 1, -1, -1, 1]
MINUS = [1, -1, -1, 1, 1, -1, -1, 1]
"""A diverse point of each class: all four patterns, and both that a negative point may have."""
POOR_PLUS, POOR_MINUS = [1, 1] * 4, [1, -1] * 4


def data(*more: tuple[list[float], int]) -> tuple[np.ndarray, list[int]]:
    """A diverse point of each class, and others."""
    rows = [(PLUS, 1), (MINUS, -1), *more]
    return np.array([point for point, _ in rows], float), [label for _, label in rows]


def test_a_diverse_training_set():
    evidence = found(ID, *data(), required_margin=1.0)
    assert not_met(evidence) == set()
    assert {hypothesis_of(evidence, key).slack for key in ("signs", "labels", "diverse", "balanced")} == {0.0}


@settings(max_examples=12)
@given(little=LITTLE, sign=st.sampled_from([1, -1]), place=st.integers(0, 7), count=st.integers(1, 3))
def test_entries_that_are_almost_signs(little, sign, place, count):
    point = np.array(PLUS, float)
    point[place] *= 1 + sign * little
    evidence = found(ID, *data(*[(point.tolist(), 1)] * count), required_margin=1.0)
    require(evidence, "signs", met=False, actual=count, slack=-count)
    assert f"{count} of {2 + count} points" in hypothesis_of(evidence, "signs").why


@settings(max_examples=4)
@given(count=st.integers(1, 4))
def test_labels_that_are_wrong(count):
    evidence = found(ID, *data(*[(PLUS, -1)] * count), required_margin=1.0)
    require(evidence, "labels", met=False, actual=count, slack=-count)


@settings(max_examples=4)
@given(count=st.integers(1, 4))
def test_points_that_lack_a_pattern(count):
    evidence = found(ID, *data(*[(POOR_PLUS, 1), (POOR_MINUS, -1)] * count), required_margin=1.0)
    require(evidence, "diverse", met=False, actual=2 * count, slack=-2 * count)


@settings(max_examples=4)
@given(count=st.integers(1, 4), sign=st.sampled_from([1, -1]))
def test_classes_of_two_sizes(count, sign):
    evidence = found(ID, *data(*[(PLUS if sign > 0 else MINUS, sign)] * count), required_margin=1.0)
    require(evidence, "balanced", met=False, actual=count, slack=-count)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("little", [1e-9, 1e-5, 1e-1])
def test_a_margin_that_is_a_little_too_small(little, sign):
    evidence = found(ID, *data(), required_margin=1 + sign * little)
    require(evidence, "margin", met=sign > 0, actual=1 + sign * little, slack=sign * little)
