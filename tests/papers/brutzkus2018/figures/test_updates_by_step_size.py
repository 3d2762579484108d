"""Updates against the step size, at toy size, through the same functions."""

import pytest

from widenet.papers.brutzkus2018.figures.updates_by_step_size import (
    compare_updates_by_step_size,
    reduce_updates_by_step_size,
)
from widenet.papers.brutzkus2018.runs.step_sizes import StepSizeSetting, run_step_sizes
from widenet.progress import silent
from widenet.types import RunStatus


@pytest.fixture(scope="module")
def steps():
    setting = StepSizeSetting(powers=(-6, -5, -4, 0, 2, 4, 6), n_runs=1)
    return reduce_updates_by_step_size([run_step_sizes(setting, silent)])


def verdicts(rows):
    return [row.verdict for row in rows]


def test_updates_lie_between_the_bounds(steps):
    assert set(verdicts(compare_updates_by_step_size(steps))) == {"AGREES"}


def test_control_the_plateau_has_slope_zero(steps):
    rows = compare_updates_by_step_size(steps, small=(4.0, 100.0))
    assert rows[1].verdict == "DIFFERS"
    assert rows[1].measured == pytest.approx(0)


def test_control_other_counts_break_both_bounds(steps):
    more = compare_updates_by_step_size(steps.assign(updates=steps.updates * 50))
    assert verdicts(more)[2] == verdicts(more)[4] == "DIFFERS"
    assert compare_updates_by_step_size(steps.assign(updates=steps.updates / 50))[3].verdict == "DIFFERS"


def test_control_an_unfinished_run_is_seen(steps):
    numbers = steps.copy(deep=True)
    numbers.status.values[1, 0, 0] = RunStatus.BUDGET_SPENT
    assert compare_updates_by_step_size(numbers)[0].verdict == "DIFFERS"
