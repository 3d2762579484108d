"""The phase diagram of Theorem 9, at toy size, through the same functions."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.figures.relu_success import (
    compare_relu_success,
    reduce_relu_success,
)
from widenet.papers.brutzkus2018.runs.relu_phase import PhaseSetting, run_phase
from widenet.progress import silent


@pytest.fixture(scope="module")
def phase():
    settings = [PhaseSetting(dim=dim, half_widths=(1, 2, 4, 6, 9), n_runs=60) for dim in (4, 16)]
    return reduce_relu_success([run_phase(setting, silent) for setting in settings])


def verdicts(rows):
    return [row.verdict for row in rows]


def test_every_cell_follows_the_law(phase):
    assert verdicts(compare_relu_success(phase)) == ["AGREES", "AS EXPECTED", "AGREES", "AGREES"]
    assert (phase.reached == phase.predicted).all()


def test_control_the_reading_with_all_neurons_is_off(phase):
    wrong = phase.assign(exact=(1 - 4.0**-phase.half_width) ** phase.dim)
    assert compare_relu_success(wrong)[1].verdict == "NOT AS EXPECTED"


def test_control_exchanged_outcomes_break_both_halves(phase):
    rows = compare_relu_success(phase.assign(reached=phase.attrs["n_runs"] - phase.reached))
    assert verdicts(rows)[1:] == ["NOT AS EXPECTED", "DIFFERS", "DIFFERS"]
    assert compare_relu_success(phase.assign(disagree=phase.disagree + 1))[0].verdict == "DIFFERS"


def test_without_a_cell_that_a_half_speaks_of_nothing_agrees(phase):
    rows = compare_relu_success(phase.sel(half_width=[4]))
    assert np.isnan(rows[3].measured)
    assert rows[3].verdict == "DIFFERS"


@pytest.mark.parametrize(("reached", "agrees"), [(46, True), (47, False), (14, True), (13, False)])
def test_control_how_far_a_share_may_be_from_the_law(phase, reached, agrees):
    """Four standard errors and one in a hundred: 16.1 of 60 runs around 30."""
    numbers = phase.assign(exact=0 * phase.exact + 0.5, reached=0 * phase.reached + 30)
    numbers.reached.values[1, 1] = reached
    assert compare_relu_success(numbers)[1].agrees is agrees


@pytest.mark.parametrize(("bad", "agrees"), [(10, True), (11, False)])
def test_control_how_often_a_cell_may_fail(phase, bad, agrees):
    """60 runs at δ = 0.1: eleven failures have a lower limit above δ."""
    runs = phase.attrs["n_runs"]
    narrow = phase.half_width <= phase.stuck_up_to
    wide = phase.half_width >= phase.solved_from
    rows = compare_relu_success(
        phase.assign(reached=phase.reached.where(~narrow, bad).where(~wide, runs - bad).astype(int))
    )
    assert [rows[2].agrees, rows[3].agrees] == [agrees, agrees]


def test_control_one_run_that_does_not_end(phase):
    numbers = phase.copy(deep=True)
    numbers.unfinished.values[0, 0] = 1
    assert compare_relu_success(numbers)[0].verdict == "DIFFERS"
