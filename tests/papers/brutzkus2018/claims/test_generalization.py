"""Theorems 5 and 6 and Remark 1, and the statements next to them that are false."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.claims.specimen import Choices, Specimen
from widenet.data import from_arrays
from widenet.data.points import separable_points
from widenet.papers.brutzkus2018.claims.generalization import (
    StepSizes,
    growing_steps,
    remark_1,
    theorem_5,
    theorem_5_settings,
    theorem_6,
    theorem_6_on,
    theorem_6_settings,
)
from widenet.papers.brutzkus2018.formulas import compression_bound
from widenet.papers.brutzkus2018.runs.learning import Learned, Learning, LearningRule, learn_all, run_learning
from widenet.papers.brutzkus2018.runs.sample_sets import DrawnSamples
from widenet.progress import silent
from widenet.records import Scale


def drawn(seed, trials, n_samples, separator_norm, largest_margin, fresh):
    return DrawnSamples(
        seed=seed,
        trials=trials,
        n_samples=n_samples,
        separator_norm=separator_norm,
        largest_margin=largest_margin,
        fresh=fresh,
    ).draw()


def easy_rule(half_width=5):
    return LearningRule(half_width=half_width, slope=0.9, step_size=10.0)


def easy(trials=35, n_samples=1000, half_width=5, fresh=300):
    return learn_all(Learning(drawn(1, trials, n_samples, 2.0, 0.7, fresh), easy_rule(half_width)))


def stopped_early(trials=40):
    rule = LearningRule(half_width=5, slope=0.2, step_size=1.0, max_updates=4)
    return learn_all(Learning(drawn(2, trials, 2000, 20.0, 0.1, 1000), rule))


@pytest.fixture(scope="module")
def easy_runs():
    return easy()


@pytest.fixture(scope="module")
def stopped():
    return stopped_early()


def test_theorem_6_holds_and_says_something(easy_runs):
    evidence = theorem_6([easy_runs, easy(half_width=1)])
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous
    assert evidence.runs.tried == 70
    assert evidence.interval is not None
    assert evidence.interval[1] <= 0.1
    assert evidence.details["compression_sizes"] == [7, 7]


def test_theorem_5_holds_with_and_without_errors_on_the_unused_points(easy_runs, stopped):
    evidence = theorem_5([easy_runs, stopped])
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous
    none, many = evidence.details["mean_unused_error"]
    assert none == 0
    assert many > 0.3
    assert evidence.tightness is not None
    assert 0.3 < evidence.tightness < 1


def test_the_bound_of_the_example():
    """c_k = 7, n = 2000, δ = .1: 8·7·ln(20 000)/2000."""
    assert compression_bound(0.0, 7, 2000, 0.1) == pytest.approx(0.2773, abs=1e-4)
    assert compression_bound(0.48, 4, 2000, 0.1) == pytest.approx(0.83, abs=0.01)


@pytest.mark.parametrize("settings", [theorem_5_settings, theorem_6_settings])
def test_settings_have_trials_enough(settings):
    assert all(setting.samples.trials >= 29 for setting in settings(Scale.QUICK, 0))


def test_too_few_trials_are_refused():
    assert theorem_6([easy(trials=20)]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_theorem_5_without_its_slack(stopped):
    """L_D ≤ L_V alone fails in about half of the trials."""
    evidence = theorem_5([stopped], bound=lambda unused, size, n, delta: unused)
    assert evidence.verdict is Verdict.VIOLATED
    assert "The bound failed in 0 of" not in evidence.note


def test_control_one_case_of_two_is_enough_to_break_it(easy_runs, stopped):
    wrong = dataclasses.replace(stopped, error=np.ones_like(stopped.error))
    evidence = theorem_5([easy_runs, wrong])
    assert evidence.verdict is Verdict.VIOLATED
    assert sorted(str(part.kept) for part in evidence.parts) == ["False", "True"]


def test_control_too_few_samples():
    evidence = theorem_6([easy(n_samples=10)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["enough_samples"]
    assert evidence.vacuous


def test_control_more_updates_than_compression_points(easy_runs):
    """A hypothesis of Theorem 5, and a consequence of Theorem 6."""
    size = np.full_like(easy_runs.updates, easy_runs.compression_size)
    full, many = dataclasses.replace(easy_runs, updates=size), dataclasses.replace(easy_runs, updates=size + 1)
    assert theorem_6([full]).verdict is Verdict.HOLDS
    assert theorem_6([many]).verdict is Verdict.VIOLATED
    assert [h.key for h in theorem_5([many]).hypotheses if not h.met] == ["few_updates"]


def test_control_a_loss_that_is_not_zero_breaks_theorem_6(easy_runs):
    evidence = theorem_6([dataclasses.replace(easy_runs, loss=easy_runs.loss + 1e-3)])
    assert evidence.verdict is Verdict.VIOLATED
    impatient = dataclasses.replace(easy_runs, loss=easy_runs.loss + 1e-3, is_waited_for=False)
    assert theorem_6([impatient]).verdict is Verdict.INSUFFICIENT_EVIDENCE


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
    learning = Learning(drawn(1, 2, 600, 2.0, 0.7, 60), easy_rule(36))
    honest = theorem_6([learn_all(learning)])
    assert honest.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert honest.measured == pytest.approx(0, abs=0.05)
    evidence = theorem_6([learn_all(learning, run=fit_and_fail)])
    assert evidence.measured == 1
    assert evidence.promised is not None
    assert evidence.promised < 1
    assert evidence.details["largest_training_loss"] == [0]
    assert evidence.verdict is Verdict.VIOLATED


def test_own_data_is_a_heuristic_and_says_so():
    inputs, labels, _ = separable_points(np.random.default_rng(0), 5, 900, 2.0, 0.7)
    specimen = Specimen(from_arrays(inputs, labels), Choices(n_neurons=10, slope=0.9, step_size=10.0))
    (setting,) = theorem_6_on(specimen)
    evidence = theorem_6([run_learning(setting, silent)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["fixed_before"]
    assert evidence.conclusion is True
    assert "A heuristic here" in evidence.note


GRID = growing_steps(Scale.QUICK, 0)


def test_remark_1_holds():
    evidence = remark_1(GRID)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(1, abs=1e-3)


def test_control_remark_1_with_rows_that_grow_with_the_step():
    """R = ηv: M falls too, but to ‖w*‖²/α² + √2(‖w*‖/α)^1.5 + 2‖w*‖/α."""
    evidence = remark_1(GRID, row_bound=lambda weight, eta: eta * weight)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.parts[2].kept is False
    one = StepSizes(np.array([3.0]), np.array([0.5]), np.array([4.0]), np.array([1e9, 1e12]))
    alone = remark_1(one, row_bound=lambda weight, eta: eta * weight)
    assert alone.parts[2].measured == pytest.approx(36 + np.sqrt(2) * 6**1.5 + 12, rel=1e-5)


def test_control_remark_1_with_another_limit():
    assert remark_1(GRID, limit=lambda norm, slope: norm**2 / slope).parts[2].kept is False
    assert remark_1(GRID, limit=lambda norm, slope: 1.01 * (norm / slope) ** 2).parts[0].kept is False


def test_control_remark_1_falls_strictly():
    same = dataclasses.replace(GRID, step_sizes=np.array([1.0, 1e9, 1e9]))
    assert remark_1(same).parts[1].kept is False
