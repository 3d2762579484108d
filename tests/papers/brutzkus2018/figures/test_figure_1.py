"""Figure 1 at toy size, through the same functions."""

import numpy as np
import pytest

from tests.papers.brutzkus2018 import toys
from widenet.papers.brutzkus2018.figures.figure_1 import compare_figure_1, reduce_figure_1
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.types import RunStatus


@pytest.fixture(scope="module")
def toy():
    return reduce_figure_1(toys.first_layer(), [toys.separator()])


def rows_of(numbers):
    return {row.name: row for row in compare_figure_1(numbers)}


def test_axes_and_missing_runs(toy):
    assert dict(toy.sizes) == {"width": 2, "run": 3, "epoch": toy.sizes["epoch"]}
    assert np.isnan(toy.test_error.sel(width=8, run=2)).all()
    assert int(toy.status.sel(width=8, run=2)) == -1
    assert toy.test_error.sel(width=8, run=1).notnull().all()


def test_a_width_that_ends_early_keeps_its_last_values(toy):
    for runs in toys.first_layer():
        own = toy.test_error.sel(width=runs.setting.width).values[: len(runs.status)]
        np.testing.assert_array_equal(own[:, : len(runs.epochs)], runs.test_error)
        np.testing.assert_array_equal(own[:, -1], runs.test_error[:, -1])


def test_the_bound_is_M_k_of_the_separator(toy):
    norm = toys.separator().norm
    assert toy.update_bound.values == pytest.approx(
        [float(max_nonzero_updates(norm, 0.2, 10.0, width**-0.5, width**-0.5, width // 2)) for width in toys.WIDTHS]
    )
    assert toy.attrs["separator_norm"] == norm


def test_every_number_agrees_at_toy_size_where_it_can(toy):
    rows = rows_of(toy)
    assert rows["share of runs at zero training loss"].agrees
    assert rows["largest final training error"].agrees
    assert rows["largest updates / M_k with a certified separator"].agrees


def test_control_a_run_that_did_not_finish_is_seen(toy):
    numbers = toy.copy(deep=True)
    numbers.status.values[0, 0] = RunStatus.BUDGET_SPENT
    numbers.train_error.values[0, 0, -1] = 0.01
    numbers.updates.values[0, 0] = 1e12
    rows = rows_of(numbers)
    for name in (
        "share of runs at zero training loss",
        "largest final training error",
        "largest updates / M_k with a certified separator",
    ):
        assert not rows[name].agrees, name


def test_control_no_separator_and_no_convergence_agree_with_nothing(toy):
    numbers = toy.copy(deep=True)
    numbers.update_bound.values[:] = np.nan
    numbers.status.values[numbers.status.values >= 0] = RunStatus.BUDGET_SPENT
    rows = rows_of(numbers)
    assert not rows["largest updates / M_k with a certified separator"].agrees
    assert not rows["most / fewest mean updates across widths"].agrees


def test_control_errors_that_differ_between_widths_or_rise_again_are_seen(toy):
    apart = toy.assign(test_error=toy.test_error + 0.05 * (toy.width == 8))
    assert not rows_of(apart)["largest difference of mean test error between widths"].agrees
    rising = toy.assign(test_error=toy.test_error + 0.05 * (toy.epoch == toy.epoch[-1]))
    assert not rows_of(rising)["rise of the mean test error after its minimum"].agrees
    assert not rows_of(toy.assign(test_error=toy.test_error + 0.3))["mean final test error, width 4"].agrees
