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
    expected = ["AGREES", "AS EXPECTED", "AS EXPECTED", "AS EXPECTED", "AGREES"]
    assert verdicts(compare_updates_by_step_size(steps)) == expected


def test_control_the_plateau_has_slope_zero(steps):
    rows = compare_updates_by_step_size(steps, small=(4.0, 100.0))
    assert rows[1].verdict == "NOT AS EXPECTED"
    assert rows[1].measured == pytest.approx(0)


def test_control_other_counts_break_both_bounds(steps):
    more = compare_updates_by_step_size(steps.assign(updates=steps.updates * 50))
    assert [verdicts(more)[2], verdicts(more)[4]] == ["NOT AS EXPECTED", "DIFFERS"]
    fewer = compare_updates_by_step_size(steps.assign(updates=steps.updates / 50))
    assert fewer[3].verdict == "NOT AS EXPECTED"


@pytest.mark.parametrize(("power", "agrees"), [(0.91, True), (0.89, False), (1.09, True), (1.11, False)])
def test_control_the_slope_of_the_counts(steps, power, agrees):
    counts = 0 * steps.updates + steps.step_size**-power
    assert compare_updates_by_step_size(steps.assign(updates=counts))[1].agrees is agrees


@pytest.mark.parametrize(("share", "agrees"), [(1.0, True), (1.001, False)])
def test_control_counts_at_the_bounds(steps, share, agrees):
    upper = compare_updates_by_step_size(steps.assign(updates=0 * steps.updates + share * steps.update_bound))
    assert upper[4].agrees is agrees
    lower = compare_updates_by_step_size(steps.assign(updates=0 * steps.updates + steps.lower_bound / share))
    assert lower[3].agrees is agrees


def test_control_a_second_update_on_the_plateau(steps):
    numbers = steps.copy(deep=True)
    numbers.updates.loc[{"data": "basis sequence", "step_size": 64.0, "run": 0}] += 1
    assert not compare_updates_by_step_size(numbers)[2].agrees


def test_control_an_unfinished_run_is_seen(steps):
    numbers = steps.copy(deep=True)
    numbers.status.values[1, 0, 0] = RunStatus.BUDGET_SPENT
    assert compare_updates_by_step_size(numbers)[0].verdict == "DIFFERS"
