"""Trajectories on diverse points: one pair, the closed form, kinks, the split of the outputs, and XOR as a case."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.xord_oracle import descend as plain_descend
from widenet.claims.base import Verdict
from widenet.data.xord import PATTERNS
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.networks.two_layer import plus_minus
from widenet.papers.brutzkus2019.claims.xord_updates import (
    CLAIMS,
    check_equation_7_8,
    check_footnote_3,
    check_footnote_10,
    check_observation_decomposition,
    check_observation_one_pair,
)
from widenet.papers.brutzkus2019.runs.xor import draw_start
from widenet.papers.brutzkus2019.runs.xord_descent import (
    XordRuns,
    descend,
    diverse_part,
    diverse_points,
    outputs,
    runs_on,
)
from widenet.types import Dataset, Scale, silent

RUNS = runs_on(diverse_points(1), half_width=8, margin=2.0, n_runs=2, seed=2)
ONE_PATCH = PATTERNS[[1] * 7].reshape(1, -1)
"""A negative point with the pattern p_2 alone."""


def with_one_non_diverse(data):
    inputs = np.asarray(data.inputs).copy()
    inputs[-1] = ONE_PATCH
    return Dataset(jnp.asarray(inputs), data.labels)


def unmet(evidence):
    return [h.name for h in evidence.hypotheses if not h.met]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), silent)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_descent_against_the_oracle_of_the_pattern_sets():
    path = descend(RUNS)
    network = ConvMaxPool(jnp.asarray(RUNS.filters[0]), plus_minus(16, 1.0))
    expected, steps, _, _ = plain_descend(
        network, RUNS.data, RUNS.step_size, RUNS.margin, max_steps=1000, patience=None, literal=True
    )
    assert path[: steps + 1, 0] == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(path[steps, 0], path[-1, 0])
    assert outputs(path[-1], RUNS.one_of(1.0)).min() >= 2
    assert outputs(path[-1], RUNS.one_of(-1.0)).max() <= -1


def test_without_a_positive_direction_nothing_moves_from_the_first_step_on():
    """W⁺(1) ∪ W⁺(3) = ∅: the two points cancel exactly, and the loss stays γ + 1."""
    filters = RUNS.filters.copy()
    fits = filters @ PATTERNS[:2].T
    filters = np.where((np.abs(fits[..., 0]) > np.abs(fits[..., 1]))[..., None], filters * [1, -1], filters)
    path = descend(replace(RUNS, filters=filters))
    assert np.array_equal(path[1], path[-1])
    assert outputs(path[-1], RUNS.one_of(1.0)) == pytest.approx(outputs(path[-1], RUNS.one_of(-1.0)))


def test_control_one_non_diverse_point_changes_the_trajectory():
    evidence = check_observation_one_pair([runs_on(with_one_non_diverse(diverse_points(1)), seed=1)], steps=100)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["points that are not diverse"]
    assert evidence.measured is not None
    assert evidence.measured > 0.01


def test_the_diverse_part_of_own_data():
    kept = diverse_part(with_one_non_diverse(diverse_points(1)))
    assert kept.n_samples == 10
    evidence = check_observation_one_pair([runs_on(kept, half_width=8, n_runs=2)], steps=50)
    assert evidence.verdict is Verdict.HOLDS


def test_control_data_with_one_class_are_not_judged():
    only = diverse_points(1)[np.arange(6)]
    for check in (check_observation_one_pair, check_equation_7_8, check_observation_decomposition):
        evidence = check([runs_on(only)])
        assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
        assert evidence.conclusion is None
        assert "points in the smaller class" in unmet(evidence)


@pytest.mark.parametrize("labels", [(0.0, 1.0), (-2.0, 2.0)])
def test_control_labels_that_are_not_signs_are_not_judged(labels):
    data = diverse_points(1)
    other = Dataset(data.inputs, jnp.where(data.labels > 0, labels[1], labels[0]))
    for check in (check_observation_one_pair, check_equation_7_8, check_observation_decomposition):
        evidence = check([runs_on(other)])
        assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
        assert "points whose label is not f*(x)" in unmet(evidence)


def test_control_a_pair_is_not_compared_with_itself():
    """Copies of one pair are that pair; a third point makes the comparison one."""
    data = diverse_points(1)
    for places, verdict in (([0, 0, 6, 6], Verdict.INSUFFICIENT_EVIDENCE), ([0, 1, 6, 6], Verdict.HOLDS)):
        evidence = check_observation_one_pair([runs_on(data[np.array(places)], half_width=8, n_runs=2)], steps=50)
        assert evidence.verdict is verdict
        assert evidence.vacuous is (verdict is not Verdict.HOLDS)


def test_control_the_printed_indicator_never_stops():
    evidence = check_equation_7_8([RUNS], is_active=lambda values: values < 1)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(RUNS.step_size)
    assert check_equation_7_8([RUNS]).verdict is Verdict.HOLDS


def test_control_the_closed_form_on_a_mixed_set():
    mixed = runs_on(with_one_non_diverse(diverse_points(1)), half_width=8, margin=2.0, n_runs=2)
    evidence = check_equation_7_8([mixed])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_a_start_on_the_lattice_meets_the_kink():
    step = 2.0**-9
    filters = np.tile(np.array([[2.5, 0.5], [0.3, 0.1]]) * step, (1, 1, 1))
    evidence = check_footnote_10([XordRuns(diverse_points(1), filters, step, 8.0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == 0


def test_control_a_point_with_one_pattern_breaks_the_split():
    mixed = runs_on(with_one_non_diverse(diverse_points(1)), half_width=8, margin=2.0, n_runs=2)
    evidence = check_observation_decomposition([mixed])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 1e-3


def test_control_xor_and_xord_with_the_same_step():
    evidence = check_footnote_3([draw_start(17, 0.1, 20, 0)], step_ratio=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured > 1e-3
