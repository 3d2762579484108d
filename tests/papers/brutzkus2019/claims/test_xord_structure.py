"""XORD before training: its solution with k = 2, the decoy, and the shares of diverse points."""

from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims.xord_structure import (
    CLAIMS,
    DECOY,
    SOLUTION,
    Candidates,
    DecoySetting,
    check_observation_decoy,
    check_observation_diverse_probability,
    check_observation_xord_realizable,
    counted_probabilities,
    decoy_on,
    diverse_probabilities,
    diverse_probabilities_as_printed,
    on_sets,
)
from widenet.papers.brutzkus2019.runs.training_set import PAIR, from_sets
from widenet.papers.brutzkus2019.runs.xord_descent import diverse_points
from widenet.types import Dataset, Scale, silent

SINGLES = np.random.default_rng(0).normal(size=(500, 2, 2))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_outputs_of_the_two_constructions():
    solution, decoy = on_sets(SOLUTION), on_sets(DECOY)
    expected = {(1,): 6, (1, 2, 4): 2, (2,): -2, (2, 4): -4, (1, 2, 3, 4): 8}
    for held, value in expected.items():
        assert solution[set_index(*held)] == value
    assert decoy[[DIVERSE_POSITIVE, DIVERSE_NEGATIVE]].tolist() == [8, -4]


def test_control_a_solution_without_its_factor_three():
    evidence = check_observation_xord_realizable(Candidates(PATTERNS[[0, 2, 1, 3]], SINGLES))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["wrong_sets"] == 7
    values = on_sets(PATTERNS[[0, 2, 1, 3]])
    negative = np.flatnonzero((values < 0) & (SET_LABELS > 0))
    assert set(negative) == {set_index(1, 2, 4), set_index(2, 3, 4)}


def test_control_too_many_filters_are_not_the_construction():
    six = np.concatenate([SOLUTION[:2], SOLUTION[:1], SOLUTION[2:], SOLUTION[2:3]])
    evidence = check_observation_xord_realizable(Candidates(six, SINGLES))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_singles_that_detect_both_would_be_noticed():
    """Not possible with ReLU, so the outputs of a k = 2 network are put through the same door."""
    pair = np.stack([SOLUTION])
    candidates = Candidates(SOLUTION, SINGLES)
    object.__setattr__(candidates, "singles", pair)
    assert check_observation_xord_realizable(candidates).verdict is Verdict.VIOLATED


def test_control_the_decoy_at_a_larger_margin():
    evidence = check_observation_decoy(DecoySetting(PAIR, 8.1))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == pytest.approx(0.1)


def test_control_the_true_solution_is_no_decoy():
    assert check_observation_decoy(DecoySetting(), filters=SOLUTION).verdict is Verdict.VIOLATED


def test_the_decoy_on_own_points():
    assert check_observation_decoy(decoy_on(diverse_points(0))).verdict is Verdict.HOLDS
    mixed = from_sets({DIVERSE_POSITIVE: 5, set_index(2, 3, 4): 1, DIVERSE_NEGATIVE: 6})
    evidence = check_observation_decoy(DecoySetting(mixed))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.measured == pytest.approx(12 / 6)


def test_control_labels_that_are_not_those_of_xord():
    points = diverse_points(0)
    wrong = Dataset(points.inputs, -points.labels)
    evidence = check_observation_decoy(decoy_on(wrong))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.actual for h in evidence.hypotheses if h.name.startswith("points whose label")] == [12]
    halves = Dataset(points.inputs / 2, points.labels)
    assert check_observation_decoy(decoy_on(halves)).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(("patches", "printed", "counted"), [(4, 0.09375, 0.1), (5, 0.23438, 0.24194)])
def test_shares_of_diverse_points(patches, printed, counted):
    assert float(diverse_probabilities_as_printed(patches)[0]) == pytest.approx(printed, abs=1e-5)
    assert float(diverse_probabilities(patches)[0]) == pytest.approx(counted, abs=1e-5)
    assert diverse_probabilities(patches) == counted_probabilities(patches)
    assert diverse_probabilities_as_printed(patches)[1] == counted_probabilities(patches)[1]


def test_control_another_share_of_negative_points():
    def formula(patches):
        return diverse_probabilities(patches)[0], 1 - Fraction(1, 2**patches)

    assert check_observation_diverse_probability((4,), formula=formula).verdict is Verdict.VIOLATED
    assert check_observation_diverse_probability((3,)).verdict is Verdict.HYPOTHESES_NOT_MET


def test_points_as_arrays():
    assert jnp.asarray(diverse_points(3).inputs).shape == (12, 14)
