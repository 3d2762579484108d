"""Your data at the thresholds of this paper, moved by a little: the right hypothesis, sign and size."""

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thresholds import LITTLE, TOLERANCE, found, hypothesis_of, nearly_inseparable, not_met, require
from widenet.claims.user_data import UserData
from widenet.data import from_arrays

BALL = np.array([(0.6, 0.8), (0.3, 0.1), (1.0, 0.0), (-0.8, 0.5), (-0.2, -0.3), (-0.6, -0.75)])
SIDES = [1, 1, 1, -1, -1, -1]
ON_THE_BALL = (
    "brutzkus2018.theorem_2",
    "brutzkus2018.corollary_3",
    "brutzkus2018.theorem_8",
    "brutzkus2018.lemma_11",
    "brutzkus2018.footnote_1",
    "brutzkus2018.compression_replay",
)


@pytest.mark.parametrize("id", ON_THE_BALL)
@settings(max_examples=8)
@given(little=LITTLE, sign=st.sampled_from([1, -1]))
def test_the_longest_point_is_a_little_too_long_or_short(id, little, sign):
    points = BALL * (1 + sign * little)  # the longest has length 1
    evidence = found(id, points, SIDES, max_updates=5000)
    require(evidence, "input_norm", met=sign < 0, actual=1 + sign * little, slack=TOLERANCE - sign * little)
    assert hypothesis_of(evidence, "input_norm").required == "≤ 1 (to 1e-12)"


NEEDS_A_SEPARATOR = (
    "brutzkus2018.theorem_2",
    "brutzkus2018.corollary_3",
    "brutzkus2018.section_2_zero_minimum",
    "brutzkus2018.proposition_1_2",
)


@pytest.mark.parametrize("id", NEEDS_A_SEPARATOR)
@settings(max_examples=12)
@given(little=LITTLE, sign=st.sampled_from([1, -1]))
def test_points_that_are_just_separable_and_just_not(id, little, sign):
    points, labels = nearly_inseparable(sign * little)
    evidence = found(id, points, labels.tolist(), max_updates=20)
    # w* is scaled so that the closest point has y⟨w*, x⟩ = 1; where there is none, the best of all w is 0.
    require(evidence, "separable", met=sign > 0, actual=float(sign > 0), slack=TOLERANCE - (sign < 0))
    if sign < 0:
        assert "not separable through the origin" in hypothesis_of(evidence, "separable").why
    separation = UserData(from_arrays(points, labels)).separation
    assert separation.margin == pytest.approx(little / 2 if sign > 0 else 0.0, rel=2e-5)  # what the solver found
    if sign > 0:  # what is certified
        assert separation.norm_lower <= 2 / little * (1 + 1e-12)
        assert separation.norm_upper >= 2 / little * (1 - 1e-12)


def updates_promised(norm: float, slope: float, step: float) -> float:
    """M of Corollary 3, written anew."""
    return (
        norm**2 / slope**2 * (1 + 2 / step)
        + math.sqrt(2 * (1 / step + 2 / step**2)) * (norm / slope) ** 1.5
        + 2 * norm / (step * slope)
    )


@given(little=LITTLE, sign=st.sampled_from([1, -1]), size=st.integers(2, 4))
def test_one_point_too_few_for_the_compression_bound(little, sign, size):
    slope, step = 0.9, 100.0
    wanted = size * (1 + sign * little)  # M, of which ⌊M⌋ = c_k counts
    excess = scipy.optimize.root_scalar(
        lambda norm: updates_promised(norm, slope, step) - wanted, bracket=(0.5, 50.0), xtol=1e-15
    )
    norm = float(excess.root)
    margin, count = 1 / norm, 2 * (2 * size - 1)  # n = 2·size − 1 points in each half
    height = math.sqrt(1 - margin**2)
    labels = np.array([1, -1] * (count // 2))
    signed = np.stack([np.full(count, margin), height * np.linspace(-1, 1, count)], axis=1)
    signed[:, 1] /= max(np.linalg.norm(signed, axis=1).max(), 1.0)
    evidence = found("brutzkus2018.theorem_6", signed * labels[:, None], labels.tolist(), slope=slope, step_size=step)
    spare = 1 if sign < 0 else -1  # n − 2c_k with c_k = size − 1 or size
    require(evidence, "enough_samples", met=spare > 0, actual=spare, slack=spare, others={"fixed_before"})


@given(little=st.floats(-8.9, -1.0).map(lambda exponent: 10.0**exponent) | st.just(0.0))
def test_two_points_almost_on_one_ray(little):
    points = np.concatenate([np.delete(BALL, 5, axis=0), [1.7 * np.array([0.6, 0.8]) @ _turn(little)]])
    evidence = found("brutzkus2018.theorem_7", points, SIDES)
    chord = 2 * math.sin(little / 2)
    ray = hypothesis_of(evidence, "distinct_rays")
    assert ray.actual == pytest.approx(chord, rel=1e-5, abs=1e-15)
    limit = float(ray.required.removeprefix("> "))
    assert ray.slack == pytest.approx(chord - limit, rel=1e-5, abs=1e-15)
    assert not_met(evidence) == (set() if (ray.slack or 0) > 0 else {"distinct_rays"})


def _turn(angle: float) -> np.ndarray:
    return np.array([(math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))])
