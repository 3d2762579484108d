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
    assert set(verdicts(compare_relu_success(phase))) == {"AGREES"}
    assert (phase.reached == phase.predicted).all()


def test_control_the_reading_with_all_neurons_is_off(phase):
    wrong = phase.assign(exact=(1 - 4.0**-phase.half_width) ** phase.dim)
    assert compare_relu_success(wrong)[1].verdict == "DIFFERS"


def test_control_exchanged_outcomes_break_both_halves(phase):
    rows = compare_relu_success(phase.assign(reached=phase.attrs["n_runs"] - phase.reached))
    assert verdicts(rows)[1:] == ["DIFFERS"] * 3
    assert compare_relu_success(phase.assign(disagree=phase.disagree + 1))[0].verdict == "DIFFERS"


def test_without_a_cell_that_a_half_speaks_of_nothing_agrees(phase):
    rows = compare_relu_success(phase.sel(half_width=[4]))
    assert np.isnan(rows[3].measured)
    assert rows[3].verdict == "DIFFERS"
