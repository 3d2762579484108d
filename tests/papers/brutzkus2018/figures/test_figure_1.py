import numpy as np
import pytest

from widenet.papers.brutzkus2018 import PAPER
from widenet.papers.brutzkus2018.figures.figure_1 import compare_figure_1, compute_figure_1, figure_1
from widenet.types import RunStatus, Scale


@pytest.fixture(scope="module")
def toy():
    """The whole figure at toy size, through the same function."""
    seen = []
    numbers = compute_figure_1(
        0, lambda done, words: seen.append((done, words)), widths=(4, 20), n_runs=(3, 2), step_size=10.0,
        max_epochs=200, n_train=200, n_test=100,
    )  # fmt: skip
    return numbers, seen


def test_axes_and_missing_runs(toy):
    numbers, _ = toy
    assert dict(numbers.sizes) == {"width": 2, "run": 3, "epoch": numbers.sizes["epoch"]}
    assert np.isnan(numbers.test_error.sel(width=20, run=2)).all()
    assert int(numbers.status.sel(width=20, run=2)) == -1
    assert numbers.test_error.sel(width=20, run=1).notnull().all()


def test_runs_reach_zero_loss_and_their_errors_say_so(toy):
    numbers, _ = toy
    assert ((numbers.status == RunStatus.CONVERGED) | (numbers.status == -1)).all()
    final = numbers.train_error.isel(epoch=-1)
    assert float(final.max()) == 0
    assert (numbers.train_error.isel(epoch=0).max() > 0.2).item()


def test_progress_grows_to_one(toy):
    _, seen = toy
    fractions = [done for done, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)


def test_every_number_agrees_at_toy_size_where_it_can(toy):
    rows = {row.name: row for row in compare_figure_1(toy[0])}
    assert rows["share of runs at zero training loss"].agrees
    assert rows["largest final training error"].agrees
    assert rows["largest updates / M_k with a certified separator"].agrees


def test_control_a_run_that_did_not_finish_is_seen(toy):
    numbers = toy[0].copy(deep=True)
    numbers.status.values[0, 0] = RunStatus.BUDGET_SPENT
    numbers.train_error.values[0, 0, -1] = 0.01
    numbers.updates.values[0, 0] = 1e12
    rows = {row.name: row for row in compare_figure_1(numbers)}
    for name in (
        "share of runs at zero training loss",
        "largest final training error",
        "largest updates / M_k with a certified separator",
    ):
        assert not rows[name].agrees, name


def test_control_no_separator_and_no_convergence_agree_with_nothing(toy):
    numbers = toy[0].copy(deep=True)
    numbers.update_bound.values[:] = np.nan
    numbers.status.values[numbers.status.values >= 0] = RunStatus.BUDGET_SPENT
    rows = {row.name: row for row in compare_figure_1(numbers)}
    assert not rows["largest updates / M_k with a certified separator"].agrees
    assert not rows["most / fewest mean updates across widths"].agrees


def test_scales():
    assert figure_1 in PAPER.figures
    assert figure_1.sizes[Scale.PAPER]["n_runs"] == (40, 40, 40)
