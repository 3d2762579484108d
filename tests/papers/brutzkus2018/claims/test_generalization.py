"""Theorems 5 and 6 and Remark 1, and the statements next to them that are false."""

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data import from_arrays
from widenet.papers.brutzkus2018.claims.generalization import (
    StepSizes,
    check_remark_1,
    check_theorem_5,
    check_theorem_6,
    compression_bound,
    remark_1,
    theorem_5,
    theorem_6,
)
from widenet.papers.brutzkus2018.runs.draws import separable_points
from widenet.papers.brutzkus2018.runs.learning import Learned, Learning, Rule, draw_samples, samples_of
from widenet.types import Scale

EASY = Rule(5, 0.9, 10.0)


def easy(trials=35, n_samples=1000, half_width=5, fresh=300):
    return Learning(draw_samples(1, trials, n_samples, 2.0, 0.7, fresh=fresh), Rule(half_width, 0.9, 10.0))


def stopped_early(trials=40):
    return Learning(draw_samples(2, trials, 2000, 20.0, 0.1, fresh=1000), Rule(5, 0.2, 1.0, max_updates=4))


def test_theorem_6_holds_and_says_something():
    evidence = check_theorem_6([easy(), easy(half_width=1)])
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous
    assert evidence.runs.tried == 70
    assert evidence.interval is not None
    assert evidence.interval[1] <= 0.1
    assert evidence.config["compression_sizes"] == [7, 7]


def test_theorem_5_holds_with_and_without_errors_on_the_unused_points():
    evidence = check_theorem_5([easy(), stopped_early()])
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous
    none, many = evidence.config["mean_unused_error"]
    assert none == 0
    assert many > 0.3
    assert evidence.tightness is not None
    assert 0.3 < evidence.tightness < 1


def test_the_bound_of_the_example():
    """c_k = 7, n = 2000, δ = .1: 8·7·ln(20 000)/2000."""
    assert compression_bound(0.0, 7, 2000, 0.1) == pytest.approx(0.2773, abs=1e-4)
    assert compression_bound(0.48, 4, 2000, 0.1) == pytest.approx(0.83, abs=0.01)


@pytest.mark.parametrize("claim", [theorem_5, theorem_6])
def test_settings_have_trials_enough(claim):
    learnings = claim.setting(Scale.QUICK, 0)
    assert all(len(learning.samples) >= 29 for learning in learnings)
    assert all(learning.samples.separator_is_given for learning in learnings)


def test_too_few_trials_are_refused():
    evidence = check_theorem_6([easy(trials=20)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_theorem_5_without_its_slack():
    """L_D ≤ L_V alone fails in about half of the trials."""
    evidence = check_theorem_5([stopped_early()], bound=lambda unused, size, n, delta: unused)
    assert evidence.verdict is Verdict.VIOLATED
    assert "The bound failed in 0 of" not in evidence.note


def test_control_too_few_samples():
    evidence = check_theorem_6([easy(n_samples=10)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["smallest n − 2c_k"]
    assert evidence.vacuous


def fit_and_fail(learning: Learning, trial: int) -> Learned:
    """A global minimum that is wrong on every fresh point: random gates common to both halves, then least squares."""
    samples, k = learning.samples, learning.rule.half_width
    inputs = np.concatenate([samples.inputs[trial], samples.fresh_inputs])
    labels = np.concatenate([samples.labels[trial], -samples.fresh_labels])
    gates = np.random.default_rng(trial).standard_normal((k, inputs.shape[1]))
    z = inputs @ gates.T
    slopes = np.where(z >= 0, 1.0, learning.rule.slope)
    features = (slopes[:, :, None] * inputs[:, None, :]).reshape(len(inputs), -1)
    change = np.linalg.lstsq(features, 2 * labels / learning.rule.scale)[0].reshape(k, -1)
    growth = 1 + np.abs(inputs @ change.T / z).max()
    weights = np.concatenate([growth * gates + change / 2, growth * gates - change / 2])
    loss = np.maximum(1 - samples.labels[trial] * learning.rule.outputs(weights, samples.inputs[trial]), 0).mean()
    return Learned(weights, [], float(loss))


def test_control_a_global_minimum_that_sgd_does_not_find():
    learning = Learning(draw_samples(1, 2, 600, 2.0, 0.7, fresh=60), Rule(36, 0.9, 10.0))
    honest = check_theorem_6([learning])
    assert honest.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert honest.measured == pytest.approx(0, abs=0.05)
    evidence = check_theorem_6([learning], run=fit_and_fail)
    assert evidence.measured == 1
    assert evidence.promised is not None
    assert evidence.promised < 1
    assert evidence.config["largest_training_loss"] == [0]
    assert evidence.verdict is Verdict.VIOLATED


def own_data(n_samples, separator_norm=3.0):
    inputs, labels, _ = separable_points(np.random.default_rng(0), 5, n_samples, separator_norm, 0.7)
    return from_arrays(inputs, labels)


def test_own_data_is_a_heuristic_and_says_so():
    data = own_data(900, 2.0)
    evidence = check_theorem_6([Learning(samples_of(data, 30, 800), EASY)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is True
    assert "A heuristic here" in evidence.note


GRID = remark_1.setting(Scale.QUICK, 0)


def test_remark_1_holds():
    evidence = check_remark_1(GRID)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(1, abs=1e-3)


def test_control_remark_1_with_rows_that_grow_with_the_step():
    """R = ηv: M falls too, but to ‖w*‖²/α² + √2(‖w*‖/α)^1.5 + 2‖w*‖/α."""
    evidence = check_remark_1(GRID, row_bound=lambda weight, eta: eta * weight)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    one = StepSizes(np.array([3.0]), np.array([0.5]), np.array([4.0]), np.array([1e9, 1e12]))
    alone = check_remark_1(one, row_bound=lambda weight, eta: eta * weight)
    assert alone.measured == pytest.approx(36 + np.sqrt(2) * 6**1.5 + 12, rel=1e-5)


def test_control_remark_1_with_another_limit():
    evidence = check_remark_1(GRID, limit=lambda norm, slope: norm**2 / slope)
    assert evidence.verdict is Verdict.VIOLATED
