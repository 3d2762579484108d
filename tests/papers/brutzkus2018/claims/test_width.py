"""Corollary 3 holds, and its judges reject what they must."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.papers.brutzkus2018.toys import with_last
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import width
from widenet.papers.brutzkus2018.claims.width import corollary_3, equation_14, tied_rows
from widenet.papers.brutzkus2018.formulas import corollary_3_constant, equation_14_terms, width_free_bound
from widenet.papers.brutzkus2018.runs import tied_rows as tied_module
from widenet.papers.brutzkus2018.runs.parameters import Formulas, equation_14_formulas
from widenet.papers.brutzkus2018.runs.recorded_runs import RecordedRuns, corollary_3_settings, record_runs, run_recorded
from widenet.papers.brutzkus2018.runs.tied_rows import TiedRuns, TiedSetting, train_tied
from widenet.papers.brutzkus2018.sources import TiedWidths, equal_scale
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus


@pytest.fixture(scope="module")
def cells():
    return [run_recorded(setting, silent) for setting in corollary_3_settings(Scale.QUICK, 0)]


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


POINT = Formulas(np.array([1.0, 1.0]), np.array([0.99, 0.99]), np.array([1e-6, 1e6]), np.array([1, 7, 500]))
"""Where K(α) and the five terms of Eq. 14 are closest to what they bound."""
RUNS = record_runs(TiedWidths(seed=0, n_data_sets=1, half_widths=(1, 4)).draw())
MOST = np.floor(width_free_bound(*RUNS.parameters[:3])).astype(np.int64)


def with_k(factor):
    """K(α) times a factor."""
    return {"formulas": POINT, "constant": lambda slope: factor * corollary_3_constant(slope)}


def altered(more=0, **fields):
    """Toy runs with as many updates as the bound allows and a few more."""
    runs = with_last(RUNS, **fields)
    most = np.floor(width_free_bound(*runs.parameters[:3])).astype(np.int64)
    most[-1] += more
    return corollary_3([dataclasses.replace(runs, updates=most)])


def test_control_another_normalization_or_closed_form(cells):
    """v = R = 1/k: M_k grows with k. Nine tenths of M are neither M_k nor a bound on the updates."""
    assert broken_in(corollary_3(cells, normalization=lambda k: 1 / k)) == ["every_width"]
    assert broken_in(corollary_3(cells, bound=lambda *a: 0.9 * width_free_bound(*a))) == ["updates", "every_width"]


@pytest.mark.parametrize(
    ("lost", "kept"),
    [
        ({"status": RunStatus.DIVERGED}, [None, None]),
        ({"blurred": True}, [None, None]),
        ({"status": RunStatus.BUDGET_SPENT}, [False, None]),
    ],
)
def test_a_run_that_is_lost_decides_nothing(lost, kept):
    """A run that spent its budget above the bound has broken it; below, it has no T."""
    evidence = altered(more=1, last_margin=0.5, **lost)
    assert [part.kept for part in evidence.parts[:2]] == kept
    assert altered(more=0, status=RunStatus.BUDGET_SPENT).parts[0].kept is None


def test_corollary_3_comes_close_in_the_default_settings(cells):
    """The run of one update, at d = 1 and η = 10⁹, comes closer and could not fail: M is above 1 everywhere."""
    evidence = corollary_3(cells)
    frame = evidence.parts[0].cases
    assert frame.tightness.max() == pytest.approx(0.99795639, rel=1e-7)
    assert frame.measured[frame.tightness.idxmax()] == 1
    assert (evidence.measured, evidence.tightness) == (100, pytest.approx(0.91862561, rel=1e-7))
    assert evidence.parts[3].tightness == pytest.approx(0.999792, rel=1e-5)


def planted_bound(share):
    """M such that the updates of the toy runs are this share above it; as it is at the formulas."""
    return lambda norms, *others: (
        RUNS.updates / (1 + share) if len(norms) == len(RUNS) else width_free_bound(norms, *others)
    )


AT_ONE = Formulas(np.array([1.5]), np.array([0.6]), np.array([0.7]), np.array([1]))
CLOSED = float(width_free_bound(1.5, 0.6, 0.7))
"""‖w*‖ = 1.5, α = 0.6, η = 0.7: M = 44.37."""


def planted_simple(share):
    """K such that M is this share above the simple form."""
    return {"formulas": AT_ONE, "constant": lambda _: np.array((CLOSED / (1 + share) - 6.25) * 0.7 / 2.25)}


def planted_factors(share):
    """Factors such that M is this share above the five terms."""
    return {"factors": (CLOSED / float(sum(equation_14_terms(1.5, 0.6, 0.7))) / (1 + share),) * 5}


def test_a_run_that_is_cut_off_at_its_bound_has_no_end():
    spent = dataclasses.replace(RUNS, status=np.full(len(RUNS), RunStatus.BUDGET_SPENT))
    assert corollary_3([spent], bound=planted_bound(0)).parts[0].kept is None


def beside(norm=1.0, slope=0.99, step_size=1.0):
    """These parameters beside ordinary ones."""
    return Formulas(np.array([2.0, norm]), np.array([0.5, slope]), np.array([1.0, step_size]), np.array([1]))


def test_runs_that_did_not_end_decide_nothing(cells):
    cut = [dataclasses.replace(runs, status=np.full(len(runs), RunStatus.BUDGET_SPENT)) for runs in cells]
    assert corollary_3(cut).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_equation_14_holds():
    evidence = equation_14(equation_14_formulas(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == pytest.approx(0.999999999, abs=2e-9)


def test_how_close_the_five_terms_come():
    """M_k over their sum: 0.99976 where η is tiny, 0.999998 where it is large."""
    for norm, slope, eta, share in (
        (1, 0.99, 1e-6, 0.999764439),
        (1, 0.99, 1e6, 0.999998014),
        (1, 0.5, 1e-6, 0.999773591),
    ):
        assert equation_14(beside(norm, slope, eta)).tightness == pytest.approx(share, abs=1e-9)


def with_factors(place=None, formulas=POINT):
    """Eq. 14 with one of its terms a hundredth smaller."""
    return equation_14(formulas, factors=tuple(0.99 if place == number else 1.0 for number in range(5)))


@pytest.mark.parametrize("place", range(5))
def test_control_each_term_of_equation_14(place):
    assert with_factors().verdict is Verdict.HOLDS
    assert broken_in(with_factors(place)) == ["five_terms"]


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


TIED = train_tied(TiedSetting(seed=0, n_data_sets=1, half_widths=(1, 4, 16)))


def tied_with(**fields):
    return tied_rows([dataclasses.replace(TIED, **fields)])


SIZE = RUNS.output_weight[-1]


def times(factor):
    return lambda column: factor * column


test_control = controls(
    width,
    {RecordedRuns: RUNS, Formulas: POINT, TiedRuns: TIED},
    (corollary_3, "zero_loss", {"last_margin": 1.0}, {"last_margin": 1 - 5e-12}),
    (corollary_3, "every_width", {}, {"normalization": lambda k: equal_scale(k) * (1 + 5e-12)}),
    (corollary_3, "simple", with_k(0.82), with_k(0.8)),
    (corollary_3, "derivative_above_slope", {"slope": 0.5, "at_zero": 0.5}, {"slope": 0.5, "at_zero": 0.5 - 1e-15}),
    (corollary_3, "normalized_output", {"output_weight": SIZE * (1 + 1e-13)}, {"output_weight": SIZE * (1 + 5e-12)}),
    (corollary_3, "normalized_rows", {"row_bound": SIZE * (1 - 1e-13)}, {"row_bound": SIZE * (1 - 5e-12)}),
    (equation_14, "five_terms", {}, {"factors": (1.0, 0.99, 1.0, 1.0, 1.0)}),
    (tied_rows, "samples", {}, {"same_samples": np.array([True, False])}),
    (tied_rows, "weights", {"difference": np.array([0.0, 5e-10])}, {"difference": np.array([0.0, 2e-9])}),
    (tied_rows, "normalized_output", {"output_weight": times(1 + 1e-13)}, {"output_weight": times(1 + 5e-12)}),
    (tied_rows, "normalized_rows", {"row_bound": times(1 - 1e-13)}, {"row_bound": times(1 - 5e-12)}),
    (corollary_3, "updates", {"bound": planted_bound(1e-13)}, {"bound": planted_bound(5e-12)}),
    (corollary_3, "simple", planted_simple(1e-13), planted_simple(5e-12)),
    (equation_14, "five_terms", at(AT_ONE, **planted_factors(1e-13)), at(AT_ONE, **planted_factors(5e-12))),
    (tied_rows, "weights", {}, {"difference": np.array([0.0, -2e-9])}),
    (corollary_3, "separator_norm", {"formulas": beside()}, {"formulas": beside(1 - 1e-15)}),
    (corollary_3, "formula_slope_positive", {"formulas": beside(slope=1e-6)}, {"formulas": beside(slope=0.0)}),
    (corollary_3, "formula_slope_below_one", {"formulas": beside(slope=1 - 1e-15)}, {"formulas": beside(slope=1.0)}),
    (corollary_3, "formula_step_size", {"formulas": beside(step_size=1e-9)}, {"formulas": beside(step_size=0.0)}),
)


@pytest.mark.parametrize(("row", "when"), [(1, 1), (5, 1), (1, -1), (6, -1)])
def test_one_row_of_one_width_is_looked_at_after_every_update(monkeypatch, row, when):
    """A millionth in one entry of another row than the first, along the way or at the end."""
    honest, steps = tied_module.update_of, []

    def off(hidden, *others):
        to_hidden, to_output = honest(hidden, *others)
        steps.append(len(hidden))
        if when == 1 and steps.count(8) == 2 and len(hidden) == 8:
            to_hidden[row, 0] += 1e-6
        return to_hidden, to_output

    honest_run = tied_module.train_trial

    def off_at_the_end(trial, most):
        run = honest_run(trial, most)
        if when == -1 and trial.half_width == 4:
            run.hidden[row, 0] += 1e-6
        return run

    monkeypatch.setattr(tied_module, "update_of", off)
    monkeypatch.setattr(tied_module, "train_trial", off_at_the_end)
    evidence = tied_rows([train_tied(TiedSetting(seed=0, n_data_sets=1, half_widths=(1, 4)))])
    assert broken_in(evidence) == ["weights"]


def test_widths_that_other_samples_updated_are_not_compared():
    evidence = tied_with(same_samples=np.array([True, False]), difference=np.array([0.0, 1.0]))
    assert [part.kept for part in evidence.parts] == [False, True]


def test_one_run_without_an_update_leaves_the_others_decided():
    assert tied_with(updates=np.where(np.arange(3) == 1, 0, TIED.updates)).verdict is Verdict.HOLDS


def test_rows_that_are_not_tied_are_seen():
    assert train_tied(TiedSetting(seed=0, n_data_sets=1, half_widths=(1, 4))).untied.max() == 0


def test_tied_rows_without_an_update_decide_nothing(tied):
    quiet = dataclasses.replace(tied, updates=0 * tied.updates)
    assert tied_rows([quiet]).verdict is Verdict.INSUFFICIENT_EVIDENCE
