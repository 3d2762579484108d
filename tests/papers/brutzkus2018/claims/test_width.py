"""Corollary 3 holds, and its judges reject what they must."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_part, broken_in, every_part_of, hypothesis_edges, part_edges
from tests.papers.brutzkus2018.toys import EDGES, with_last
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import width
from widenet.papers.brutzkus2018.claims.width import (
    Formulas,
    corollary_3,
    corollary_3_settings,
    equation_14,
    equation_14_formulas,
    tied_rows,
)
from widenet.papers.brutzkus2018.formulas import corollary_3_constant, equation_14_terms, width_free_bound
from widenet.papers.brutzkus2018.runs import tied_rows as tied_module
from widenet.papers.brutzkus2018.runs.ledgers import keep_ledgers, run_ledgers
from widenet.papers.brutzkus2018.runs.tied_rows import TiedSetting, train_tied
from widenet.papers.brutzkus2018.runs.trials import TiedWidths, equal_scale
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


POINT = Formulas(np.array([1.0, 1.0]), np.array([0.99, 0.99]), np.array([1e-6, 1e6]), (1, 7, 500))
"""Where K(α) and the five terms of Eq. 14 are closest to what they bound."""
RUNS = keep_ledgers(TiedWidths(seed=0, n_data_sets=1, half_widths=(1, 4)).draw())
MOST = np.floor(width_free_bound(*RUNS.parameters[:3])).astype(np.int64)
BOUND, ZERO, SAME, SIMPLE = (
    "at most M non-zero updates",
    "training loss 0 at the end",
    "M_k is M at every width",
    "M ≤ ‖w*‖²/α² + K(α)‖w*‖²/min{η, √η}",
)


def altered(more=0, times=1.0, size=equal_scale, formulas=POINT, **fields):
    """Toy runs with as many updates as the bound allows and a few more, K(α) times a factor, or another scale."""
    runs = with_last(RUNS, **fields)
    most = np.nan_to_num(np.floor(width_free_bound(*runs.parameters[:3])), posinf=0).astype(np.int64)
    most[-1] += more
    return corollary_3(
        [dataclasses.replace(runs, updates=most)],
        formulas=formulas,
        normalization=size,
        constant=lambda slope: times * corollary_3_constant(slope),
    )


test_control_each_part_of_corollary_3 = part_edges(
    corollary_3,
    altered,
    {
        BOUND: ({}, {"more": 1}),
        ZERO: ({"last_margin": 1.0}, {"last_margin": 1 - 5e-12}),
        SAME: ({}, {"size": lambda k: equal_scale(k) * (1 + 5e-12)}),
        SIMPLE: ({"times": 0.82}, {"times": 0.8}),
    },
)


def test_control_another_normalization_or_closed_form(cells):
    """v = R = 1/k: M_k grows with k. Nine tenths of M are neither M_k nor a bound on the updates."""
    assert broken_in(corollary_3(cells, normalization=lambda k: 1 / k)) == [SAME]
    assert broken_in(corollary_3(cells, bound=lambda *a: 0.9 * width_free_bound(*a))) == [BOUND, SAME]


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


def test_corollary_3_is_attained_in_the_default_settings(cells):
    evidence = corollary_3(cells)
    assert evidence.tightness == pytest.approx(0.99795639, rel=1e-7)
    assert evidence.parts[3].tightness == pytest.approx(0.999792, rel=1e-5)


@pytest.mark.parametrize(("share", "kept"), [(1e-13, True), (5e-12, False)])
def test_the_bounds_of_corollary_3_hold_up_to_rounding(share, kept):
    """‖w*‖ = 1.5, α = 0.6, η = 0.7: M = 44.37, and K such that the simple form is M."""

    def planted(norms, *others):
        return RUNS.updates / (1 + share) if len(norms) == len(RUNS) else width_free_bound(norms, *others)

    assert corollary_3([RUNS], bound=planted).parts[0].kept is kept
    point = Formulas(np.array([1.5]), np.array([0.6]), np.array([0.7]), (1,))
    closed = float(width_free_bound(1.5, 0.6, 0.7))
    simple = corollary_3([RUNS], formulas=point, constant=lambda _: (closed / (1 + share) - 6.25) * 0.7 / 2.25)
    assert simple.parts[3].kept is kept
    factor = closed / float(sum(equation_14_terms(1.5, 0.6, 0.7))) / (1 + share)
    assert equation_14(point, factors=(factor,) * 5).parts[0].kept is kept


def test_a_run_that_is_cut_off_at_its_bound_has_no_end():
    def planted(norms, *others):
        return 1.0 * RUNS.updates if len(norms) == len(RUNS) else width_free_bound(norms, *others)

    spent = dataclasses.replace(RUNS, status=np.full(len(RUNS), RunStatus.BUDGET_SPENT))
    assert corollary_3([spent], bound=planted).parts[0].kept is None


def at(norm=1.0, slope=0.99, step_size=1.0):
    """These parameters beside ordinary ones."""
    return Formulas(np.array([2.0, norm]), np.array([0.5, slope]), np.array([1.0, step_size]), (1,))


test_control_hypotheses_of_corollary_3 = hypothesis_edges(
    corollary_3,
    altered,
    separator_norm=({"formulas": at(1.0)}, {"formulas": at(1 - 5e-12)}),
    formula_slope_positive=({"formulas": at(slope=1e-6)}, {"formulas": at(slope=0.0)}),
    formula_slope_below_one=({"formulas": at(slope=1 - 5e-12)}, {"formulas": at(slope=1.0)}),
    formula_step_size=({"formulas": at(step_size=1e-9)}, {"formulas": at(step_size=0.0)}),
    **EDGES,
    normalized_output=(
        {"output_weight": RUNS.output_weight[-1] * (1 + 1e-13)},
        {"output_weight": RUNS.output_weight[-1] * (1 + 5e-12)},
    ),
    normalized_rows=({"row_bound": RUNS.row_bound[-1] * (1 - 1e-13)}, {"row_bound": RUNS.row_bound[-1] * (1 - 5e-12)}),
)


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
        assert equation_14(at(norm, slope, eta)).tightness == pytest.approx(share, abs=1e-9)


def with_factors(place=None, formulas=POINT):
    """Eq. 14 with one of its terms a hundredth smaller."""
    return equation_14(formulas, factors=tuple(0.99 if place == number else 1.0 for number in range(5)))


@pytest.mark.parametrize("place", range(5))
def test_control_each_term_of_equation_14(place):
    assert with_factors().verdict is Verdict.HOLDS
    assert broken_in(with_factors(place)) == ["M_k is at most the five terms"]


@breaks_part(equation_14, "M_k is at most the five terms")
def test_control_the_second_term_of_equation_14():
    return with_factors(), with_factors(1)


test_control_hypotheses_of_equation_14 = hypothesis_edges(
    equation_14,
    lambda **changes: with_factors(formulas=at(**changes)),
    separator_norm=({"norm": 1.0}, {"norm": 1 - 5e-12}),
    formula_slope_positive=({"slope": 1e-6}, {"slope": 0.0}),
    formula_slope_below_one=({"slope": 1 - 5e-12}, {"slope": 1.0}),
    formula_step_size=({"step_size": 1e-9}, {"step_size": 0.0}),
)


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


test_control_each_part_of_tied_rows = part_edges(
    tied_rows,
    tied_with,
    {
        "the same samples make the updates": ({}, {"same_samples": np.array([True, False])}),
        "W/v is the same after every update": (
            {"difference": np.array([0.0, 5e-10])},
            {"difference": np.array([0.0, 2e-9])},
        ),
    },
)
test_control_hypotheses_of_tied_rows = hypothesis_edges(
    tied_rows,
    tied_with,
    normalized_output=(
        {"output_weight": TIED.output_weight * (1 + 1e-13)},
        {"output_weight": TIED.output_weight * (1 + 5e-12)},
    ),
    normalized_rows=({"row_bound": TIED.row_bound * (1 - 1e-13)}, {"row_bound": TIED.row_bound * (1 - 5e-12)}),
    tied=({"untied": np.array([0.0, 0.0, 1e-10])}, {"untied": np.array([0.0, 5e-9, 0.0])}),
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

    honest_run = tied_module.keep_ledger

    def off_at_the_end(trial, most):
        run = honest_run(trial, most)
        if when == -1 and trial.half_width == 4:
            run.hidden[row, 0] += 1e-6
        return run

    monkeypatch.setattr(tied_module, "update_of", off)
    monkeypatch.setattr(tied_module, "keep_ledger", off_at_the_end)
    evidence = tied_rows([train_tied(TiedSetting(seed=0, n_data_sets=1, half_widths=(1, 4)))])
    assert broken_in(evidence) == ["W/v is the same after every update"]


def test_widths_that_other_samples_updated_are_not_compared():
    evidence = tied_with(same_samples=np.array([True, False]), difference=np.array([0.0, 1.0]))
    assert [part.kept for part in evidence.parts] == [False, True]


def test_a_difference_of_either_sign_is_one():
    assert broken_in(tied_with(difference=np.array([0.0, -2e-9]))) == ["W/v is the same after every update"]


def test_one_run_without_an_update_leaves_the_others_decided():
    assert tied_with(updates=np.where(np.arange(3) == 1, 0, TIED.updates)).verdict is Verdict.HOLDS


def test_rows_that_are_not_tied_are_seen():
    assert train_tied(TiedSetting(seed=0, n_data_sets=1, half_widths=(1, 4))).untied.max() == 0


def test_tied_rows_without_an_update_decide_nothing(tied):
    quiet = dataclasses.replace(tied, updates=0 * tied.updates)
    assert tied_rows([quiet]).verdict is Verdict.INSUFFICIENT_EVIDENCE


test_every_part_has_a_control = every_part_of(width)
