"""Your data at the thresholds of this paper, moved by a little: the right hypothesis, sign and size."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thresholds import LITTLE, TOLERANCE, asked, found, hypothesis_of, nearly_inseparable, not_met, require
from widenet.claims import NotApplicable


@settings(max_examples=12)
@given(little=LITTLE, sign=st.sampled_from([1, -1]))
def test_points_that_are_just_separable_and_just_not(little, sign):
    points, labels = nearly_inseparable(sign * little)
    evidence = found("sarussi2021.rows_grow", points, labels.tolist())
    require(evidence, "separable", met=sign > 0, actual=float(sign > 0), slack=TOLERANCE - (sign < 0))


def test_the_theorem_asks_the_same():
    """Once: it is a long training."""
    points, labels = nearly_inseparable(-1e-6)
    evidence = found("sarussi2021.theorem_4_1", points, labels.tolist())
    require(evidence, "separable", met=False, actual=0, slack=TOLERANCE - 1)


@given(little=LITTLE, sign=st.sampled_from([1, -1]))
def test_a_program_has_the_margin_as_its_slack(little, sign):
    points, labels = nearly_inseparable(sign * little)
    answer = asked("sarussi2021.equation_7_kernel", points, labels.tolist())
    if sign < 0:
        assert isinstance(answer, NotApplicable)
        assert "not separable through the origin" in answer
        return
    evidence = found("sarussi2021.equation_7_kernel", points, labels.tolist())
    margin = hypothesis_of(evidence, "separable")
    assert (margin.met, margin.required) == (True, "> 0")
    assert margin.slack == margin.actual == pytest.approx(little / 2, rel=2e-5)  # what the solver found


@pytest.mark.parametrize("id", ["sarussi2021.section_15", "sarussi2021.equation_7_antipodal"])
@given(little=LITTLE)
def test_points_that_almost_have_mirror_images(id, little):
    half = np.array([(1.0, 0.2), (0.5, -0.4), (0.8, 0.0)])
    points, labels = np.concatenate([half, -half]), [1, 1, 1, -1, -1, -1]
    evidence = found(id, points, labels)
    assert not_met(evidence) == set()
    assert hypothesis_of(evidence, "antipodal").slack == 0
    points[0] += (0.0, little)
    said = asked(id, points, labels)
    assert isinstance(said, NotApplicable)
    distance = float(re.search(r"some −x is (\S+)·max", said)[1])  # pyright: ignore[reportOptionalSubscript]
    assert distance == pytest.approx(little / math.hypot(1.0, 0.2 + little), rel=0.06)


@settings(max_examples=12)
@given(factor=st.floats(-3, 50).map(lambda exponent: 10.0**exponent))
def test_the_length_of_points_is_no_hypothesis(factor):
    """R_x is that of the data, whatever it is."""
    points, labels = nearly_inseparable(0.5)
    evidence = found("sarussi2021.rows_grow", points * factor, labels.tolist())
    assert not_met(evidence) == set()
    assert hypothesis_of(evidence, "input_norm").actual == pytest.approx(1.0)
