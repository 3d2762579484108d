"""Figure 3 at toy size, through the same functions."""

import numpy as np
import pytest

from tests.papers.brutzkus2018 import toys
from widenet.papers.brutzkus2018.figures.figure_3 import compare_figure_3, reduce_figure_3

SIGNS = "share of runs in which no output weight changes sign (c > 0)"


@pytest.fixture(scope="module")
def toy():
    return reduce_figure_3(toys.scans(), toys.both_layers(), [toys.separator()])


def rows_of(numbers):
    return {row.name: row for row in compare_figure_3(numbers)}


def test_each_width_shows_its_own_step_size(toy):
    for scan in toys.scans():
        own = toy.sel(width=scan.setting.width)
        assert float(own.chosen_step_size) == scan.setting.step_sizes[scan.chosen]
        tried = own.pilot_c.dropna("step_size")
        assert float(tried.step_size[-1]) == float(own.chosen_step_size)
        np.testing.assert_array_equal(own.pilot_C.values, scan.largest_ratios.max(axis=1))
        assert scan.runs.ratios is not None
        np.testing.assert_array_equal(own.c.values, scan.runs.ratios.smallest_ever)


def test_the_reference_is_figure_2(toy):
    for runs in toys.both_layers():
        np.testing.assert_array_equal(toy.reference_test_error.sel(width=runs.setting.width), runs.test_error[:, -1])


def test_equation_13_bounds_the_runs_that_keep_their_signs(toy):
    rows = rows_of(toy)
    (name,) = [name for name in rows if name.startswith("largest updates / bound of Eq. 13")]
    assert rows[name].agrees
    assert toy.update_bound.where(toy.c <= 0).isnull().all()
    assert not rows_of(toy.assign(updates=toy.updates * 1e9))[name].agrees


def test_control_long_steps_change_signs():
    long = [toys.scan(width, step_sizes=(3.0,), max_epochs=30) for width in toys.WIDTHS]
    rows = rows_of(reduce_figure_3(long, toys.both_layers(), [toys.separator()]))
    assert not rows[SIGNS].agrees
    assert not rows["smallest c over all runs"].agrees


def test_control_a_nan_agrees_with_nothing(toy):
    numbers = toy.copy(deep=True)
    numbers.c.values[0, 0] = numbers.C.values[0, 0] = np.nan
    numbers.update_bound.values[:] = np.nan
    rows = compare_figure_3(numbers)
    assert [row.agrees for row in rows if "c" in row.name.split() or "Eq." in row.name] == [False] * 3
    assert not rows_of(numbers)[SIGNS].agrees
    assert not rows_of(numbers)["largest / smallest mean C across widths"].agrees


@pytest.mark.parametrize(("c", "agrees"), [(1e-9, True), (0.0, False), (-1e-9, False)])
def test_control_a_sign_that_flips(toy, c, agrees):
    numbers = toy.copy(deep=True)
    numbers.c.values[1, 0] = c
    rows = rows_of(numbers)
    assert rows[SIGNS].agrees is agrees
    assert rows["smallest c over all runs"].agrees is agrees


@pytest.mark.parametrize(("ratio", "agrees"), [(3.99, True), (4.01, False), (1 / 3.99, True), (1 / 4.01, False)])
def test_control_how_far_C_may_be_apart(toy, ratio, agrees):
    numbers = toy.assign(C=(0 * toy.C + 10.0) * (1 + (ratio - 1) * (toy.width == 8)))
    assert rows_of(numbers)["largest / smallest mean C across widths"].agrees is agrees


def test_control_one_run_in_twenty_may_keep_an_error(toy):
    many = toy.isel(run=[0] * 10).assign_coords(run=range(10)).copy(deep=True)
    many.train_error.values[:] = 0.0
    many.train_error.values[0, 0, -1] = 0.01
    assert rows_of(many)["share of runs at zero training error"].agrees
    many.train_error.values[0, 1, -1] = 0.01
    assert not rows_of(many)["share of runs at zero training error"].agrees


@pytest.mark.parametrize(("away", "agrees"), [(0.0149, True), (0.0151, False)])
def test_control_how_far_the_test_error_may_be_away(toy, away, agrees):
    reference = 0 * toy.reference_test_error + 0.1
    numbers = toy.assign(test_error=0 * toy.test_error + 0.1 + away, reference_test_error=reference)
    assert rows_of(numbers)["mean final test error, width 8"].agrees is agrees


def test_what_the_paper_says_of_this_figure(toy):
    assert [row.name for row in compare_figure_3(toy) if row.added] == [
        "mean test error of Figure 2's runs minus that of these, width 4",
        "mean test error of Figure 2's runs minus that of these, width 8",
        "mean epochs to zero loss, Figure 2 / here, width 4",
        "mean epochs to zero loss, Figure 2 / here, width 8",
        "mean updates to zero loss, width 8 / width 4",
        "largest updates / bound of Eq. 13 with the run's own c and C, where c > 0",
    ]
    assert all(row.basis for row in compare_figure_3(toy))


@pytest.mark.parametrize(("ratio", "agrees"), [(3.99, True), (4.01, False), (1 / 3.99, True), (1 / 4.01, False)])
def test_control_how_far_c_may_be_apart(toy, ratio, agrees):
    """“They behave similarly” is said of c as well as of C."""
    numbers = toy.assign(c=(0 * toy.c + 0.2) * (1 + (ratio - 1) * (toy.width == 8)))
    assert rows_of(numbers)["largest / smallest mean c across widths"].agrees is agrees


def test_control_C_that_differs_between_widths_is_seen(toy):
    numbers = toy.assign(C=toy.C * (1 + 9 * (toy.width == 8)))
    assert not rows_of(numbers)["largest / smallest mean C across widths"].agrees
