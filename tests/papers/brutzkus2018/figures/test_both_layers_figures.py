"""Figures 2 and 3 at toy size, through the same functions."""

from typing import Any

import numpy as np
import pytest

from widenet.papers.brutzkus2018.figures.figure_1 import compute_figure_1
from widenet.papers.brutzkus2018.figures.figure_2 import compare_figure_2, compute_figure_2, figure_2
from widenet.papers.brutzkus2018.figures.figure_3 import compare_figure_3, compute_figure_3, figure_3
from widenet.types import RunStatus, Scale

TOY: dict[str, Any] = {"widths": (4, 8), "n_runs": (2, 2), "max_epochs": 150, "n_train": 200, "n_test": 100}


@pytest.fixture(scope="module")
def two():
    return compute_figure_2(0, **TOY, first_layer_step_size=10.0, first_layer_max_epochs=200)


@pytest.fixture(scope="module")
def three():
    seen = []
    numbers = compute_figure_3(0, lambda done, words: seen.append((done, words)), **TOY, n_pilot=2)
    return numbers, seen


def rows_of(rows):
    return {row.name: row for row in rows}


def test_both_layers_reach_zero_loss(two):
    assert (two.status == RunStatus.CONVERGED).all()
    rows = rows_of(compare_figure_2(two))
    assert rows["share of runs at zero training error"].agrees


def test_the_reference_of_figure_2_is_figure_1(two):
    one = compute_figure_1(0, **dict(TOY, max_epochs=200), step_size=10.0)
    np.testing.assert_array_equal(two.reference_test_error, one.test_error.isel(epoch=-1))


def test_c_and_C_are_at_least_as_extreme_as_the_looks(two):
    assert (two.c <= two.smallest_ratio.min("epoch")).all()
    assert (two.largest_ratio.max("epoch") <= two.C).all()
    assert (two.c < 1).all()
    assert (two.C > 1).all()


def test_control_a_run_with_an_error_and_a_diverged_run_are_seen(two):
    numbers = two.copy(deep=True)
    numbers.train_error.values[0, 0, -1] = 0.005
    assert not rows_of(compare_figure_2(numbers))["share of runs at zero training error"].agrees
    numbers = two.copy(deep=True)
    numbers.status.values[1, 1] = RunStatus.DIVERGED
    rows = rows_of(compare_figure_2(numbers))
    assert not rows["share of runs at zero training error"].agrees
    assert not rows["mean final test error, width 8"].agrees


def test_control_another_level_of_test_error_is_seen(two):
    numbers = two.assign(reference_test_error=two.reference_test_error + 0.3)
    rows = rows_of(compare_figure_2(numbers))
    assert not rows["mean final test error, width 4"].agrees


def test_control_steps_that_are_too_long_do_not_converge():
    numbers = compute_figure_2(0, **dict(TOY, max_epochs=20), step_size=30.0, first_layer_step_size=10.0)
    assert not rows_of(compare_figure_2(numbers))["share of runs at zero training error"].agrees


def test_the_step_size_is_the_largest_whose_pilot_keeps_the_signs(three):
    numbers, _ = three
    for width in numbers.width.values:
        own = numbers.sel(width=width)
        tried = own.pilot_c.dropna("step_size")
        assert float(own.chosen_step_size) == float(tried.step_size[-1])
        assert (tried[:-1] <= 0).all() or len(tried) > 1  # refused for a sign, or for not reaching zero loss
        assert float(tried[-1]) > 0


def test_ratios_start_at_one_and_progress_ends_at_one(three):
    numbers, seen = three
    # A compiler may divide by multiplying with the reciprocal, so 1 in float32 need not be exact.
    np.testing.assert_allclose(numbers.smallest_ratio.isel(epoch=0), 1, rtol=1e-6)
    np.testing.assert_allclose(numbers.largest_ratio.isel(epoch=0), 1, rtol=1e-6)
    assert seen[-1][0] == pytest.approx(1)


def test_equation_13_bounds_the_runs_that_keep_their_signs(three):
    rows = rows_of(compare_figure_3(three[0]))
    (name,) = [name for name in rows if name.startswith("largest updates / bound of Eq. 13")]
    assert rows[name].agrees
    assert three[0].update_bound.where(three[0].c <= 0).isnull().all()


def test_control_long_steps_change_signs():
    numbers = compute_figure_3(0, **dict(TOY, max_epochs=30), n_pilot=2, step_sizes=(3.0,))
    rows = rows_of(compare_figure_3(numbers))
    assert not rows["share of runs in which no output weight changes sign (c > 0)"].agrees
    assert not rows["smallest c over all runs"].agrees


def test_control_a_nan_agrees_with_nothing(three):
    numbers = three[0].copy(deep=True)
    numbers.c.values[0, 0] = numbers.C.values[0, 0] = np.nan
    numbers.update_bound.values[:] = np.nan
    rows = compare_figure_3(numbers)
    assert [row.agrees for row in rows if "c" in row.name.split() or "Eq." in row.name] == [False] * 2
    assert not rows_of(rows)["share of runs in which no output weight changes sign (c > 0)"].agrees
    assert not rows_of(rows)["largest / smallest mean C across widths"].agrees


@pytest.mark.parametrize("figure", [figure_2, figure_3])
def test_paper_scale_has_forty_runs_of_each_width(figure):
    assert figure.sizes[Scale.PAPER]["n_runs"] == (40, 40, 40)
