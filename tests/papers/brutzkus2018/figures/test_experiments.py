"""The experiments of brutzkus2018 at toy size, through the same functions, each with its control."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.figures.experiment_bad_minimum import (
    SOLUTIONS,
    compare_experiment_bad_minimum,
    compute_experiment_bad_minimum,
)
from widenet.papers.brutzkus2018.figures.experiment_relu_phase import (
    compare_experiment_relu_phase,
    compute_experiment_relu_phase,
)
from widenet.papers.brutzkus2018.figures.experiment_step_size import (
    compare_experiment_step_size,
    compute_experiment_step_size,
)
from widenet.papers.brutzkus2018.figures.experiment_width import (
    compare_experiment_width,
    compute_experiment_width,
    growth,
)
from widenet.types import RunStatus


def verdicts(rows):
    return [row.verdict for row in rows]


@pytest.fixture(scope="module")
def widths():
    return compute_experiment_width(0, half_widths=(1, 4, 16), n_runs=5, other_half_widths=(1, 4, 16))


def test_updates_do_not_grow_with_the_width(widths):
    assert set(verdicts(compare_experiment_width(widths))) == {"AGREES"}


def test_control_another_normalization_grows(widths):
    slope, interval = growth(widths.sel(normalization="1/(2k)"))
    assert slope > 0.8
    assert interval is not None
    assert interval[0] > 0.5
    swapped = widths.assign_coords(normalization=["1/(2k)", "1/√(2k)"])
    assert verdicts(compare_experiment_width(swapped))[1] == "DIFFERS"


def test_control_an_unfinished_run_is_no_count(widths):
    numbers = widths.copy(deep=True)
    numbers.status.values[0, 0, 0] = RunStatus.BUDGET_SPENT
    assert verdicts(compare_experiment_width(numbers))[:2] == ["DIFFERS", "DIFFERS"]


@pytest.fixture(scope="module")
def steps():
    return compute_experiment_step_size(0, powers=(-6, -5, -4, 0, 2, 4, 6), n_runs=2)


def test_updates_lie_between_the_bounds(steps):
    assert set(verdicts(compare_experiment_step_size(steps))) == {"AGREES"}


def test_control_the_plateau_has_slope_zero(steps):
    rows = compare_experiment_step_size(steps, small=(4.0, 100.0))
    assert rows[1].verdict == "DIFFERS"
    assert rows[1].measured == pytest.approx(0)


def test_control_other_counts_break_both_bounds(steps):
    more = compare_experiment_step_size(steps.assign(updates=steps.updates * 50))
    assert verdicts(more)[2] == verdicts(more)[4] == "DIFFERS"
    assert compare_experiment_step_size(steps.assign(updates=steps.updates / 50))[3].verdict == "DIFFERS"


@pytest.fixture(scope="module")
def phase():
    return compute_experiment_relu_phase(0, dims=(4, 16), half_widths=(1, 2, 4, 6, 9), n_runs=60)


def test_every_cell_follows_the_law(phase):
    assert set(verdicts(compare_experiment_relu_phase(phase))) == {"AGREES"}
    assert (phase.reached == phase.predicted).all()


def test_control_the_reading_with_all_neurons_is_off(phase):
    wrong = phase.assign(exact=(1 - 4.0**-phase.half_width) ** phase.dim)
    assert compare_experiment_relu_phase(wrong)[1].verdict == "DIFFERS"


def test_control_exchanged_outcomes_break_both_halves(phase):
    rows = compare_experiment_relu_phase(phase.assign(reached=phase.attrs["n_runs"] - phase.reached))
    assert verdicts(rows)[1:] == ["DIFFERS"] * 3
    assert compare_experiment_relu_phase(phase.assign(disagree=phase.disagree + 1))[0].verdict == "DIFFERS"


def test_without_a_cell_that_a_half_speaks_of_nothing_agrees(phase):
    rows = compare_experiment_relu_phase(phase.sel(half_width=[4]))
    assert np.isnan(rows[3].measured)
    assert rows[3].verdict == "DIFFERS"


SMALL = {"multiples": (1, 2), "n_runs": 2, "n_train": 30, "n_test": 30, "dim": 10}


def test_a_global_minimum_can_fail_everywhere_and_sgd_does_not():
    numbers = compute_experiment_bad_minimum(0, **SMALL)
    assert verdicts(compare_experiment_bad_minimum(numbers))[:2] == ["AGREES", "AGREES"]
    assert float(numbers.test_error.sel(solution="SGD").max()) < 0.3
    assert compare_experiment_bad_minimum(numbers.assign(train_loss=numbers.train_loss + 1e-9))[0].verdict == "DIFFERS"


def test_control_without_flipped_labels_the_built_network_is_right():
    numbers = compute_experiment_bad_minimum(0, **SMALL, flip=False)
    assert float(numbers.test_error.sel(solution=SOLUTIONS[0]).max()) == 0
    assert compare_experiment_bad_minimum(numbers)[1].verdict == "DIFFERS"
