"""Figure 2 at toy size, through the same functions."""

import numpy as np
import pytest

from tests.papers.brutzkus2018 import toys
from widenet.papers.brutzkus2018.figures.figure_1 import reduce_figure_1
from widenet.papers.brutzkus2018.figures.figure_2 import compare_figure_2, reduce_figure_2
from widenet.types import Layers, RunStatus


@pytest.fixture(scope="module")
def toy():
    return reduce_figure_2(toys.both_layers(), toys.first_layer(), [toys.separator()])


def rows_of(numbers):
    return {row.name: row for row in compare_figure_2(numbers)}


def test_both_layers_reach_zero_loss(toy):
    assert (toy.status == RunStatus.CONVERGED).all()
    assert rows_of(toy)["share of runs at zero training error"].agrees


def test_the_reference_is_the_first_runs_of_figure_1(toy):
    one = reduce_figure_1(toys.first_layer(), [toys.separator()])
    np.testing.assert_array_equal(toy.reference_test_error, one.test_error.isel(epoch=-1, run=slice(0, 2)))
    assert toy.attrs["first_layer_step_size"] == 10.0
    assert toy.attrs["step_size"] == 1.0


def test_control_a_run_with_an_error_and_a_diverged_run_are_seen(toy):
    numbers = toy.copy(deep=True)
    numbers.train_error.values[0, 0, -1] = 0.005
    assert not rows_of(numbers)["share of runs at zero training error"].agrees
    numbers = toy.copy(deep=True)
    numbers.status.values[1, 1] = RunStatus.DIVERGED
    rows = rows_of(numbers)
    assert not rows["share of runs at zero training error"].agrees
    assert not rows["mean final test error, width 8"].agrees


def test_control_a_diverged_reference_agrees_with_nothing(toy):
    numbers = toy.copy(deep=True)
    numbers.reference_status.values[0, 0] = RunStatus.DIVERGED
    assert not rows_of(numbers)["mean final test error, width 4"].agrees


def test_control_another_level_of_test_error_is_seen(toy):
    numbers = toy.assign(reference_test_error=toy.reference_test_error + 0.3)
    assert not rows_of(numbers)["mean final test error, width 4"].agrees


@pytest.mark.parametrize(("away", "agrees"), [(0.0149, True), (0.0151, False), (-0.0149, True), (-0.0151, False)])
def test_control_how_far_a_similar_performance_may_be_away(toy, away, agrees):
    reference = 0 * toy.reference_test_error + 0.1
    numbers = toy.assign(test_error=0 * toy.test_error + 0.1 + away, reference_test_error=reference)
    assert rows_of(numbers)["mean final test error, width 8"].agrees is agrees


def test_the_difference_to_figure_1_has_a_row_of_its_own(toy):
    """Run by run: 0.004 and 0.006 above these runs, an interval without 0."""
    away = 0.004 + 0.002 * (toy.run == 1)
    numbers = toy.assign(
        test_error=0 * toy.test_error + 0.1, reference_test_error=0 * toy.reference_test_error + 0.1 + away
    )
    row = rows_of(numbers)["mean test error of Figure 1's runs minus that of these, width 8"]
    assert (row.measured, row.verdict) == (pytest.approx(0.005), "MEASURED")
    assert row.interval == pytest.approx((0.005 - 0.001 * 12.706, 0.005 + 0.001 * 12.706), rel=1e-3)  # t at 1 degree
    assert rows_of(numbers)["mean final test error, width 8"].agrees


def test_how_long_training_takes_has_rows_of_its_own(toy):
    """Four times the epochs in Figure 1, and twice the updates at the larger width; unfinished runs are left out."""
    numbers = toy.assign(
        zero_loss_epoch=0 * toy.zero_loss_epoch + 20.0,
        reference_zero_loss_epoch=0 * toy.reference_zero_loss_epoch + 80.0,
        updates=(0 * toy.updates + 100.0) * (1 + (toy.width == 8)),
    ).copy(deep=True)
    numbers.status.values[1, 0] = numbers.reference_status.values[0, 0] = RunStatus.BUDGET_SPENT
    numbers.zero_loss_epoch.values[1, 0] = numbers.reference_zero_loss_epoch.values[0, 0] = np.nan
    numbers.updates.values[1, 0] = 1e6
    rows = rows_of(numbers)
    found = [rows[f"mean epochs to zero loss, Figure 1 / here, width {width}"].measured for width in toys.WIDTHS]
    assert found == [4, 4]
    assert rows["mean updates to zero loss, width 8 / width 4"].measured == 2


def test_the_reference_epochs_are_those_of_figure_1(toy):
    one = reduce_figure_1(toys.first_layer(), [toys.separator()])
    np.testing.assert_array_equal(toy.reference_zero_loss_epoch, one.zero_loss_epoch.isel(run=slice(0, 2)))


def test_the_rows_name_both_step_sizes_and_the_paper_alone_is_quoted(toy):
    rows = rows_of(toy)
    judged = [row for row in rows.values() if not row.added]
    assert {row.reported for row in judged} == {
        "the training and generalization performance are similar to the performance in [Figure 1]"
    }
    assert all("(step size 10 there, 1 here)" in row.basis for name, row in rows.items() if "Figure 1" in name)


def test_control_one_run_in_ten_may_keep_an_error(toy):
    """Of 10 runs per width 2 of 20 may, 3 may not."""
    many = toy.isel(run=[0] * 10).assign_coords(run=range(10)).copy(deep=True)
    many.train_error.values[0, :2, -1] = 0.01
    assert rows_of(many)["share of runs at zero training error"].agrees
    many.train_error.values[0, 2, -1] = 0.01
    assert not rows_of(many)["share of runs at zero training error"].agrees


def test_control_steps_that_are_too_long_do_not_converge():
    long = [toys.mnist_runs(width, Layers.BOTH, 30.0, max_epochs=20) for width in toys.WIDTHS]
    numbers = reduce_figure_2(long, toys.first_layer(), [toys.separator()])
    assert not rows_of(numbers)["share of runs at zero training error"].agrees
