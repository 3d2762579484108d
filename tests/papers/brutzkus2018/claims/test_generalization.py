"""Theorems 5 and 6 and Remark 1, and the statements next to them that are false."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls
from widenet.claims.base import Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.data.points import separable_points
from widenet.papers.brutzkus2018.claims import generalization
from widenet.papers.brutzkus2018.claims.generalization import remark_1, theorem_5, theorem_6
from widenet.papers.brutzkus2018.formulas import compression_bound, corollary_3_constant, width_free_bound
from widenet.papers.brutzkus2018.runs.learning import (
    Learned,
    Learning,
    LearningRule,
    LearningRuns,
    errors_on,
    learn_all,
    run_learning,
    theorem_5_settings,
    theorem_6_settings,
)
from widenet.papers.brutzkus2018.runs.parameters import StepSizes, growing_steps
from widenet.papers.brutzkus2018.sources import DrawnSamples
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
    user_data = UserData(from_arrays(inputs, labels), Choices(n_neurons=10, slope=0.9, step_size=10.0))
    (setting,) = errors_on(user_data)
    evidence = theorem_6([run_learning(setting, silent)])  # pyright: ignore[reportArgumentType]
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["fixed_before"]
    assert evidence.conclusion is True
    assert "A heuristic here" in evidence.note


GRID = growing_steps(Scale.QUICK, 0)


def test_remark_1_holds():
    evidence = remark_1(GRID)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(1, abs=1e-3)


def steps(step_sizes, cases=3, norm=3.0, slope=0.5):
    """The same parameters in every case, over these steps."""
    sizes = np.array(step_sizes)
    return StepSizes(
        np.full(cases, norm), np.full(cases, slope), np.full(cases, 4.0), sizes, np.ones((cases, len(sizes)))
    )


def growing_rows(grid):
    """R = ηv."""
    return dataclasses.replace(grid, relative_radius=grid.relative_radius * grid.step_sizes)


def test_control_remark_1_with_rows_that_grow_with_the_step():
    """R = ηv: M falls too, but to ‖w*‖²/α² + √2(‖w*‖/α)^1.5 + 2‖w*‖/α."""
    evidence = remark_1(growing_rows(GRID))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.parts[2].kept is False
    alone = remark_1(growing_rows(steps([1e9, 1e12], cases=1)))
    assert alone.parts[2].measured == pytest.approx(36 + np.sqrt(2) * 6**1.5 + 12, rel=1e-5)


RULE = LearningRule(half_width=1, slope=0.9, step_size=10.0, max_updates=7)
"""c_k = 7; with ‖w*‖ = 2 M is 7.993."""


def planted(failures=0, *, error=None, loss=0.0, waited=True, trials=200, unused=0.0):
    """Trials of which so many have this error and this loss, and the others none."""
    bad = np.arange(trials) < failures
    limit = 0.316644287626
    given = {
        "rule": RULE,
        "n_samples": 2000,
        "n_fresh": 1000,
        "separator_norm": 2.0,
        "separator_is_given": True,
        "smallest_margin": 1.0,
        "largest_input": 1.0,
        "is_waited_for": waited,
        "relative_row": 1.0,
        "output_error": 0.0,
        "updates": np.full(trials, 7),
        "distinct": np.full(trials, 7),
        "loss": np.where(bad, loss, 0.0),
        "n_unused": np.full(trials, 1993),
        "unused_error": np.full(trials, unused),
        "error": np.where(bad, 1.001 * limit if error is None else error, 0.0),
        "same_replay": np.zeros(0, bool),
    }
    return [LearningRuns(**given)]


@pytest.mark.parametrize("claim", [theorem_5, theorem_6], ids=["5", "6"])
@pytest.mark.parametrize("failures", [13, 27])
def test_between_12_and_28_failures_of_200_nothing_is_decided(claim, failures):
    assert claim(planted(failures)).parts[0].kept is None


def test_a_run_that_was_not_given_its_time_says_nothing_about_its_loss():
    impatient = theorem_6(planted(28, error=0.0, loss=1e-3, waited=False))
    assert impatient.verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("share", "kept"), [(0.999, True), (1.001, False)])
def test_control_the_bounds_themselves(share, kept):
    """Theorem 5 at L_V = 0, n = 2000, δ = 0.1: 0.2773 with c_k = 7; Theorem 6: 0.3166 with M = 7.993."""
    assert theorem_5(planted(28, error=share * 0.277297651471)).parts[0].kept is kept
    assert theorem_6(planted(28, error=share * 0.316644287626)).parts[0].kept is kept
    at_20_percent = compression_bound(0.2, 7, 2000, 0.1)
    assert theorem_5(planted(28, error=share * at_20_percent, unused=0.2)).parts[0].kept is kept


def test_control_another_delta():
    """28 failures in 200 refute 0.1 and decide nothing about 0.15, where 39 do."""
    assert theorem_5(planted(28, error=1.0), delta=0.15).parts[0].kept is None
    assert theorem_5(planted(21, error=1.0), delta=0.15).parts[0].kept is True
    assert theorem_5(planted(39, error=1.0), delta=0.15).parts[0].kept is False


@pytest.mark.parametrize(("bound", "vacuous"), [(1.0, True), (0.999, False)])
def test_a_bound_of_one_says_nothing(bound, vacuous):
    assert theorem_5(planted(), bound=lambda *_: bound).vacuous is vacuous


def test_an_error_that_is_not_known_decides_nothing():
    for claim in (theorem_5, theorem_6):
        assert claim(planted(28, error=np.nan)).parts[0].kept is None


LARGEST = float(width_free_bound(3.0, 0.5, 1e12))
"""M at the largest step, where it is nearest to its limit 36."""
APART = float(corollary_3_constant(0.5)) * 9 / 1e6


def with_eight(bad):
    """One update more than c_k in so many trials."""
    return np.where(np.arange(200) < bad, 8, 7)


def radius(value):
    """R/v in the middle case."""
    return lambda column: np.where(np.arange(3)[:, None] == 1, value, column)


def limit_at(value):
    """The limit planted at this value."""
    return {"limit": lambda norm, slope: value / 36 * (norm / np.maximum(slope, 1e-100)) ** 2}


def case(number, failures):
    """In this case of three so many of 200 trials fail."""
    cells = [planted()[0] for _ in range(3)]
    cells[number - 1] = planted(failures)[0]
    return at(cells)


CLAIMS = (theorem_5, theorem_6)
test_control = controls(
    generalization,
    {LearningRuns: lambda: planted(), StepSizes: steps([1.0, 1e6, 1e12])},
    # 200 trials at δ = 0.1: 12 failures show it, 28 refute it.
    *((claim, f"case_{number}", case(number, 12), case(number, 28)) for claim in CLAIMS for number in (1, 2, 3)),
    (
        theorem_6,
        "case_1",
        at(lambda: planted(12, error=0.0, loss=1e-3)),
        at(lambda: planted(28, error=0.0, loss=1e-3)),
    ),
    (theorem_6, "case_1", {"updates": with_eight(12)}, {"updates": with_eight(28)}),
    *(
        row
        for claim in CLAIMS
        for row in (
            (claim, "enough_samples", {"n_samples": 14}, {"n_samples": 13}),
            (claim, "fixed_before", {}, {"separator_is_given": False}),
        )
    ),
    (theorem_5, "few_updates", {}, {"updates": with_eight(1)}),
    (remark_1, "floor", limit_at(LARGEST * (1 + 1e-10)), limit_at(LARGEST * (1 + 5e-9))),
    (remark_1, "falls", {}, at(steps([1.0, 1e12, 1e6]))),
    (remark_1, "falls", {}, at(steps([1.0, 1e9, 1e9]))),
    (remark_1, "rate", limit_at(LARGEST * (1 - 1e-10) - APART), limit_at(LARGEST * (1 - 5e-9) - APART)),
    (remark_1, "equal_scale", {"relative_radius": radius(1 + 1e-13)}, {"relative_radius": radius(1 + 5e-12)}),
    (remark_1, "equal_scale", {}, {"relative_radius": radius(1 - 5e-12)}),
)


def test_the_numbers_of_remark_1():
    """M at ‖w*‖ = 1.5, α = 0.6, η = 0.7 for any k, and K(½) = 12 + (2 + √2)√8 at ‖w*‖ = 3, η = 4."""
    assert remark_1(steps([0.7], 1, 1.5, 0.6)).parts[0].measured == pytest.approx(44.3722664792, rel=1e-11)
    rate = remark_1(steps([4.0])).parts[2]
    assert rate.promised == pytest.approx(36 + (12 + (2 + np.sqrt(2)) * np.sqrt(8)) * 9 / 2, rel=1e-11)


def test_the_rate_of_remark_1_is_that_of_steps_from_1_on():
    assert remark_1(steps([0.95, 1.0, 1.05, 1e12])).parts[2].n_cases == 9
