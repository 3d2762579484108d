"""Every run is judged by its own numbers: what is large, small or well in the runs beside it does not matter."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import broken_in
from tests.papers.brutzkus2018.basis_toys import altered, starts, trained
from tests.papers.brutzkus2018.toys import all_off, nearly_solved, three_points
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.both_layers import equation_13
from widenet.papers.brutzkus2018.claims.potentials import equation_11, equation_12, theorem_2_chain
from widenet.papers.brutzkus2018.claims.relu_basis import theorem_9_equivalence
from widenet.papers.brutzkus2018.claims.width_trend import corollary_3_width_free, slope_with_limits
from widenet.papers.brutzkus2018.runs.recorded_runs import record_runs
from widenet.papers.brutzkus2018.runs.widths import Normalization, WidthRuns, WidthSetting
from widenet.types import Layers, RunStatus

TOY = record_runs([three_points(0.5, 0.25)])


def beside(runs, **columns):
    """The runs, with other numbers in some columns."""
    return dataclasses.replace(runs, **columns)


def test_the_rounding_of_a_large_run_is_no_room_for_a_small_one():
    """F of one run is known to 1e6 only; the other's F grows by a fifth less than 2kηvα."""
    large = beside(TOY, norms=1e15 * TOY.norms, alignments=1e15 * TOY.alignments)
    exact = record_runs([all_off()])
    slower = beside(exact, alignments=0.8 * exact.alignments)
    assert equation_12([large, exact]).verdict is Verdict.HOLDS
    assert equation_12([large, slower]).verdict is Verdict.VIOLATED


def test_the_rounding_of_a_large_run_is_no_room_in_equation_13_either():
    """Three points, both layers trained: F grows by 1.4967 times 2kηcvα or more; half is too little."""
    small = record_runs([three_points(0.5, 0.25)], layers=Layers.BOTH, most_updates=100)
    large = beside(small, alignments=1e15 * small.alignments)
    slower = beside(small, alignments=0.5 * small.alignments)
    assert not broken_in(equation_13([large, small]))
    assert broken_in(equation_13([large, slower])) == ["alignment"]


def test_each_run_has_its_own_start_in_equation_11():
    """G_0² = 1e4 in one run; in the other G² is 1 above G_0² + t(2kη²v² + 2η) at the end."""
    far = beside(TOY, norms=np.sqrt(TOY.norms**2 + 1e4))
    near = record_runs([nearly_solved(10.0)])
    above = beside(near, norms=np.sqrt(near.norms**2 + [0.0, 1.0]))
    assert equation_11([far, near]).verdict is Verdict.HOLDS
    assert equation_11([far, above]).verdict is Verdict.VIOLATED


def test_m_init_takes_the_start_as_it_is_and_not_the_bound_on_its_rows():
    """W_0 = 0 with R = 10: F_0 = G_0 = 0, so M_0 = B²D/A², A = 2kηvα = ¼, B² = 2k‖w*‖² = 6¼, D = 2kη²v² + 2η = 9/16.

    M_R has 4kR‖w*‖ in its place, and is far larger.
    """
    runs = record_runs([three_points(0.5, 0.25, hidden=np.zeros((4, 2)), row_bound=10.0)])
    init, root, _, _ = theorem_2_chain([runs]).parts
    assert init.promised == pytest.approx(6.25 * 0.5625 / 0.0625, rel=1e-12)
    assert root.measured == init.promised
    assert init.promised is not None
    assert root.promised is not None
    assert root.promised > 5 * init.promised


def width_cell(half, updates, status=RunStatus.CONVERGED):
    setting = WidthSetting(half_width=half, normalization=Normalization.EQUATION_6, n_runs=len(updates))
    ends = np.full(len(updates), RunStatus.CONVERGED)
    ends[0] = status
    size = Normalization.EQUATION_6.size(half)
    return WidthRuns(setting, np.asarray(updates), ends, size, size, 1.0, 1.0)


@pytest.mark.parametrize("status", [RunStatus.BUDGET_SPENT, RunStatus.STALLED, RunStatus.DIVERGED])
def test_one_run_without_an_end_leaves_the_trend_undecided(status):
    """Whatever stopped it: its count is that of no training."""
    flat, growing = ([width_cell(half, [1000 * half**power] * 9) for half in (1, 4, 16)] for power in (0, 1))
    assert corollary_3_width_free(flat).verdict is Verdict.HOLDS
    assert corollary_3_width_free(growing).verdict is Verdict.VIOLATED
    for counts in (1000, 1000 * 16):
        last = width_cell(16, [counts] * 9, status)
        assert corollary_3_width_free([*flat[:2], last]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_widths_are_resampled_apart_from_each_other():
    """The same scatter at every width: the slope still has a deviation, √(Σ w² σ²/n) with w the weights of the fit.

    With one choice of runs for all widths it would be none.
    """
    counts = np.tile([900.0, 1100.0], 50)  # mean 1000, deviation of the mean 10
    logs = np.log([1.0, 4.0, 16.0])
    weights = (logs - logs.mean()) / ((logs - logs.mean()) ** 2).sum()
    slope, lower, upper = slope_with_limits(logs, [counts] * 3, 0)
    deviation = 0.01 * np.sqrt((weights**2).sum())
    assert slope == pytest.approx(0, abs=1e-12)
    assert (lower, upper) == (pytest.approx(-1.645 * deviation, rel=0.1), pytest.approx(1.645 * deviation, rel=0.1))


def test_what_a_run_that_was_cut_off_looks_like_refutes_nothing():
    """Its loss is not #K_0/d yet."""
    runs = trained(starts())

    def outputs(batch):
        return np.where(np.arange(len(batch.runs.outputs))[:, None] == 0, 0.3, batch.runs.outputs)

    cut = altered(runs, outputs=outputs, ended=lambda batch: np.arange(len(batch.runs.ended)) > 0)
    assert theorem_9_equivalence(altered(runs, outputs=outputs)).verdict is Verdict.VIOLATED
    assert theorem_9_equivalence(cut).verdict is Verdict.INSUFFICIENT_EVIDENCE
