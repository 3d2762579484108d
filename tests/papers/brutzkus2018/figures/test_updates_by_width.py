"""Updates against the width, at toy size, through the same functions."""

import pytest

from widenet.papers.brutzkus2018.figures.updates_by_width import (
    compare_updates_by_width,
    growth,
    reduce_updates_by_width,
)
from widenet.papers.brutzkus2018.runs.widths import Normalization, WidthSetting, run_width
from widenet.progress import silent
from widenet.types import RunStatus


@pytest.fixture(scope="module")
def widths():
    """One cell has more runs than the others, as where the claim shares it."""
    settings = [
        WidthSetting(half_width=half, normalization=kind, n_runs=4 if half == 4 else 3)
        for kind, half_widths in ((Normalization.EQUATION_6, (1, 4, 16)), (Normalization.SMALLER, (1, 4)))
        for half in half_widths
    ]
    return reduce_updates_by_width([run_width(setting, silent) for setting in settings])


def verdicts(rows):
    return [row.verdict for row in rows]


def test_updates_do_not_grow_with_the_width(widths):
    assert widths.sizes["run"] == 3
    assert verdicts(compare_updates_by_width(widths)) == ["AGREES", "AS EXPECTED", "AGREES"]


def test_control_another_normalization_grows(widths):
    slope, interval = growth(widths.sel(normalization="1/(2k)"))
    assert slope > 0.8
    assert interval is not None
    assert interval[0] > 0.5
    swapped = widths.assign_coords(normalization=["1/(2k)", "1/√(2k)"])
    assert verdicts(compare_updates_by_width(swapped))[1] == "NOT AS EXPECTED"


def test_control_an_unfinished_run_is_no_count(widths):
    numbers = widths.copy(deep=True)
    numbers.status.values[0, 0, 0] = RunStatus.BUDGET_SPENT
    assert verdicts(compare_updates_by_width(numbers))[:2] == ["DIFFERS", "NOT AS EXPECTED"]


def test_control_more_updates_than_the_bound(widths):
    assert verdicts(compare_updates_by_width(widths.assign(updates=widths.updates * 100)))[2] == "DIFFERS"


@pytest.mark.parametrize(("power", "agrees"), [(0.049, True), (0.051, False), (-0.049, True), (-0.051, False)])
def test_control_the_slope_that_is_called_level(widths, power, agrees):
    counts = widths.updates.where(widths.updates.isnull(), 1e6 * widths.half_width**power)
    assert compare_updates_by_width(widths.assign(updates=counts))[1].agrees is agrees


@pytest.mark.parametrize(("share", "agrees"), [(1.0, True), (1.001, False)])
def test_control_as_many_updates_as_the_bound(widths, share, agrees):
    counts = widths.updates.where(widths.updates.isnull(), share * widths.update_bound)
    assert compare_updates_by_width(widths.assign(updates=counts))[2].agrees is agrees
