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
    assert [row.agrees for row in rows if "c" in row.name.split() or "Eq." in row.name] == [False] * 2
    assert not rows_of(numbers)[SIGNS].agrees
    assert not rows_of(numbers)["largest / smallest mean C across widths"].agrees


def test_control_C_that_differs_between_widths_is_seen(toy):
    numbers = toy.assign(C=toy.C * (1 + 9 * (toy.width == 8)))
    assert not rows_of(numbers)["largest / smallest mean C across widths"].agrees
