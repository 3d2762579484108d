"""Corollary 3 holds, and its judges reject what they must."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.width import (
    Formulas,
    corollary_3,
    corollary_3_settings,
    equation_14,
    equation_14_formulas,
    tied_rows,
)
from widenet.papers.brutzkus2018.formulas import corollary_3_constant, width_free_bound
from widenet.papers.brutzkus2018.runs.ledgers import run_ledgers
from widenet.papers.brutzkus2018.runs.tied_rows import TiedSetting, train_tied
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus


@pytest.fixture(scope="module")
def cells():
    return [run_ledgers(setting, silent) for setting in corollary_3_settings(Scale.QUICK, 0)]


@pytest.fixture(scope="module")
def tied():
    return train_tied(TiedSetting(seed=0, n_data_sets=2, half_widths=(1, 4, 16)))


def test_corollary_3_holds_at_several_widths(cells):
    evidence = corollary_3(cells)
    assert evidence.verdict is Verdict.HOLDS
    assert all(h.met for h in evidence.hypotheses)
    assert evidence.runs.unfinished == 0
    assert evidence.details["half_widths_of_the_runs"] == [1, 4, 16, 64]
    assert evidence.tightness is not None
    assert evidence.tightness > 0.9


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        # v = R = 1/k: M_k grows with k, so it is no longer one number.
        ({"normalization": lambda k: 1 / k}, [2]),
        ({"constant": lambda slope: corollary_3_constant(slope) / 2}, [3]),
        # Another closed form is neither M_k nor, nine tenths of it, a bound on the updates.
        ({"bound": lambda *a: 0.9 * width_free_bound(*a)}, [0, 2]),
    ],
)
def test_control_each_part_of_corollary_3(cells, change, broken):
    evidence = corollary_3(cells, **change)
    assert evidence.verdict is Verdict.VIOLATED
    assert [place for place, part in enumerate(evidence.parts) if part.kept is False] == broken


@pytest.mark.parametrize(("key", "field"), [("normalized_output", "output_weight"), ("normalized_rows", "row_bound")])
def test_control_other_scales_meet_no_hypothesis(cells, key, field):
    other = [dataclasses.replace(runs, **{field: 1.01 * getattr(runs, field)}) for runs in cells]
    assert [h.key for h in corollary_3(other).hypotheses if not h.met] == [key]


def test_control_a_run_that_stalls_breaks_corollary_3(cells):
    stalled = [dataclasses.replace(runs, status=np.full(len(runs), RunStatus.STALLED)) for runs in cells]
    assert [place for place, part in enumerate(corollary_3(stalled).parts) if part.kept is False] == [1]


def test_runs_that_did_not_end_decide_nothing(cells):
    cut = [dataclasses.replace(runs, status=np.full(len(runs), RunStatus.BUDGET_SPENT)) for runs in cells]
    assert corollary_3(cut).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_equation_14_holds():
    evidence = equation_14(equation_14_formulas(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(1, abs=1e-3)


def test_control_equation_14_with_half_of_the_last_four_terms():
    formulas = Formulas(np.array([3.0]), np.array([0.5]), np.array([0.01]), (1, 10))
    assert equation_14(formulas).verdict is Verdict.HOLDS
    evidence = equation_14(formulas, factors=(1.0, 0.5, 0.5, 0.5, 0.5))
    assert evidence.verdict is Verdict.VIOLATED


def test_tied_rows_hold(tied):
    evidence = tied_rows([tied])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 6
    assert evidence.runs.unfinished == 0


def test_control_tied_rows_with_another_normalization():
    """v = 1/(2k): the step in units of v is no longer the same, and the counts differ between widths."""
    setting = TiedSetting(seed=0, n_data_sets=2, half_widths=(1, 4))
    evidence = tied_rows([train_tied(setting, normalization=lambda k: 1 / (2 * k))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.parts[0].broken > 0


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda tied: {"same_samples": ~(np.arange(len(tied.same_samples)) == 1)}, 0),
        (lambda tied: {"difference": tied.difference + 1e-6}, 1),
    ],
)
def test_control_each_part_of_tied_rows(tied, change, broken):
    evidence = tied_rows([dataclasses.replace(tied, **change(tied))])
    assert evidence.verdict is Verdict.VIOLATED
    assert [part.kept for part in evidence.parts].index(False) == broken


def test_tied_rows_without_an_update_decide_nothing(tied):
    quiet = dataclasses.replace(tied, updates=0 * tied.updates)
    assert tied_rows([quiet]).verdict is Verdict.INSUFFICIENT_EVIDENCE
