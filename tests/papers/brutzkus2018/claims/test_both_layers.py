"""Eq. 13 holds, and its judge rejects what it must."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.both_layers import both_layers_settings, equation_13
from widenet.papers.brutzkus2018.runs.ledgers import keep_ledgers, run_ledgers
from widenet.papers.brutzkus2018.runs.trials import SmallSteps
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import Layers, RunStatus


@pytest.fixture(scope="module")
def runs():
    (setting,) = both_layers_settings(Scale.QUICK, 0)
    return run_ledgers(setting, silent)


def trained(**changes):
    trials = SmallSteps(seed=0, per_width=3, half_widths=(5,), **changes.pop("source", {})).draw()
    return keep_ledgers(
        [dataclasses.replace(trial, **changes) for trial in trials], layers=Layers.BOTH, most_updates=20_000
    )


def test_it_holds(runs):
    evidence = equation_13([runs])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried >= 20
    assert evidence.details["largest_C"] > 1.5  # the output weights did move
    assert evidence.details["smallest_c"] < 1


def test_control_only_the_first_term():
    """α = .9, η = .01, k = 5."""
    slow = trained(slope=0.9, step_size=0.01)
    assert equation_13([slow]).verdict is Verdict.HOLDS

    def first_term(norm, slope, eta, weight, radius, half, low, high):
        return (high * norm / (low * slope)) ** 2

    evidence = equation_13([slow], bound=first_term)
    assert evidence.verdict is Verdict.VIOLATED
    assert [part.kept for part in evidence.parts] == [False, True, True, True]


def test_control_a_run_in_which_signs_change_is_promised_nothing():
    """A large step turns an output weight around: c ≤ 0."""
    evidence = equation_13([trained(source={"step_sizes": (4.0, 5.0)})])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["no_sign_change"]
    assert evidence.details["smallest_c"] <= 0


@pytest.mark.parametrize(("field", "factor", "broken"), [("norms", 1.2, 1), ("alignments", 0.8, 2)])
def test_control_each_inequality_of_the_proof(runs, field, factor, broken):
    """F and G² that grow a fifth faster or slower than they did."""
    evidence = equation_13([dataclasses.replace(runs, **{field: factor * getattr(runs, field)})])
    assert [place for place, part in enumerate(evidence.parts) if part.kept is False] == [broken]


def test_how_tight_the_inequalities_of_the_proof_are(runs):
    """Looser constants would show here."""
    square, alignment = equation_13([runs]).parts[1:3]
    assert square.tightness == pytest.approx(0.9845, abs=1e-3)
    assert alignment.tightness == pytest.approx(0.9595, abs=1e-3)


def test_control_a_run_that_stalls(runs):
    evidence = equation_13([dataclasses.replace(runs, status=np.full(len(runs), RunStatus.STALLED))])
    assert [place for place, part in enumerate(evidence.parts) if part.kept is False] == [3]


@pytest.mark.parametrize("status", [RunStatus.BUDGET_SPENT, RunStatus.DIVERGED])
def test_runs_that_did_not_end_decide_nothing(runs, status):
    evidence = equation_13([dataclasses.replace(runs, status=np.full(len(runs), status))])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
