"""Eq. 13 and the sign condition of Section 5.3 hold, and their checks fail where they must."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import both_layers
from widenet.papers.brutzkus2018.claims.both_layers import (
    SignScan,
    both_layers_trials,
    check_equation_13,
    check_section_5_3_signs,
    sign_run,
)
from widenet.papers.brutzkus2018.runs.draws import as_trials, plus_minus_weights, separable_points, unit_rows
from widenet.papers.brutzkus2018.runs.ledger import Start, keep_ledger
from widenet.training import Listed, Permutation
from widenet.types import Layers, RunStatus, Scale


def test_equation_13_holds():
    evidence = check_equation_13(both_layers.equation_13.setting(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried >= 20
    assert evidence.config["largest_C"] > 1.5  # the output weights did move
    assert evidence.config["smallest_c"] < 1


def _slow_steps():
    """α = .9, η = .01, k = 5."""
    trials = both_layers_trials(np.random.default_rng(0), 5, 3, 0, step_sizes=(0.01, 0.01))
    return as_trials(
        np.asarray(trials.data.inputs), np.asarray(trials.data.labels), np.asarray(trials.separators),
        np.asarray(trials.networks.hidden_weights), np.asarray(trials.networks.output_weights),
        np.full(3, 0.9), np.full(3, 0.01), np.asarray(trials.row_bounds), Permutation(), 0,
    )  # fmt: skip


def test_control_only_the_first_term_of_equation_13():
    trials = [_slow_steps()]
    assert check_equation_13(trials).verdict is Verdict.HOLDS

    def first_term(norm, slope, eta, weight, radius, half, low, high):
        return (high * norm / (low * slope)) ** 2

    evidence = check_equation_13(trials, bound=first_term)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_over_the_bound"] == 3


def test_control_a_run_in_which_signs_change_is_promised_nothing():
    """A large step turns an output weight around: c ≤ 0."""
    trials = [both_layers_trials(np.random.default_rng(1), 5, 5, 0, step_sizes=(4.0, 5.0))]
    evidence = check_equation_13(trials)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["c: smallest v_t/v_0 of all runs (no sign changes)"]
    assert evidence.config["smallest_c"] <= 0


def _scan(step_sizes, n_samples=60, n_runs=1):
    draw = np.random.default_rng(3)
    inputs, labels, _ = separable_points(draw, 12, n_samples, 30.0, 0.2)
    return SignScan(inputs, labels, (2, 8), step_sizes, n_runs, 0)


def test_the_run_on_the_gram_matrix_is_the_run_of_the_network():
    """Same start, same order of updates, once with weights and once with pre-activations only."""
    scan = _scan((0.1,))
    run = sign_run(scan, 4, 0.1, 0)
    draw = np.random.default_rng((0, 4, 0))
    hidden = 8**-0.5 * unit_rows(draw, 8, 12)
    orders = np.concatenate([draw.permutation(60) for _ in range(500)])
    start = Start(scan.inputs, scan.labels, np.zeros(12), hidden, plus_minus_weights(4, 8**-0.5), 0.2, 0.1, 8**-0.5)
    ledger = keep_ledger(start, Listed(jnp.asarray(orders)), 20_000, layers=Layers.BOTH)
    assert run.end is ledger.end is RunStatus.CONVERGED
    assert run.updates == ledger.updates > 50
    assert run.smallest_ratio == pytest.approx(ledger.smallest_ratios[-1], rel=1e-9)
    assert run.largest_ratio == pytest.approx(ledger.largest_ratios[-1], rel=1e-9)


def test_a_suitable_step_size_is_found_for_every_width():
    """The first of the list makes a run blow up, which is counted and not mistaken for success."""
    evidence = check_section_5_3_signs(_scan((10.0, 0.1, 0.03)))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.diverged > 0
    assert set(evidence.config["chosen"]) == {"4", "16"}
    assert evidence.measured is not None
    assert evidence.measured > 0


def test_control_mnist_with_step_size_1_changes_signs():
    """The list {1} alone has no suitable step size, at widths 10 and 100."""
    setting = both_layers.section_5_3_signs.setting(Scale.QUICK, 0)
    evidence = check_section_5_3_signs(dataclasses.replace(setting, step_sizes=(1.0,)))
    assert evidence.verdict is Verdict.VIOLATED
    assert [entry["c"] < 0 for entry in evidence.config["scan"]] == [True, True]
    honest = check_section_5_3_signs(dataclasses.replace(setting, half_widths=(5,)))
    assert honest.verdict is Verdict.HOLDS


def test_control_contradictory_images_meet_no_hypothesis(monkeypatch):
    scan = _scan((0.1,))
    doubled = dataclasses.replace(
        scan, inputs=np.concatenate([scan.inputs, scan.inputs[:1]]), labels=np.append(scan.labels, -scan.labels[0])
    )
    few = dataclasses.replace(doubled, half_widths=(2,))
    monkeypatch.setattr(both_layers, "MOST_UPDATES", 500)
    evidence = check_section_5_3_signs(few)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
