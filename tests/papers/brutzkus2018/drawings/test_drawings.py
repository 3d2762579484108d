"""The drawings of brutzkus2018 beyond Figure 1, from numbers of the right shape."""

import numpy as np
import pytest
import xarray as xr

from tests.plots.test_drawings import RUNS_PER_WIDTH, WIDTHS, plausible_numbers
from widenet.papers.brutzkus2018.figures.experiment_bad_minimum import SOLUTIONS
from widenet.papers.brutzkus2018.figures.experiment_relu_phase import compute_experiment_relu_phase
from widenet.papers.brutzkus2018.figures.experiment_step_size import compute_experiment_step_size
from widenet.papers.brutzkus2018.figures.experiment_width import compute_experiment_width
from widenet.plots import DRAWINGS, render


def both_layers(lowest: float = 0.5) -> xr.Dataset:
    numbers = plausible_numbers()
    error = numbers["train_error"]
    exists = error.notnull().any("epoch")
    return numbers.assign(
        smallest_ratio=xr.full_like(error, 1.0).where(error.notnull()) * np.linspace(1, lowest, error.sizes["epoch"]),
        largest_ratio=xr.full_like(error, 1.0).where(error.notnull()) * np.linspace(1, 30, error.sizes["epoch"]),
        c=xr.full_like(exists, lowest, float).where(exists),
        C=xr.full_like(exists, 31.0, float).where(exists),
        chosen_step_size=("width", [0.3, 0.1, 0.1]),
        reference_test_error=numbers["test_error"].isel(epoch=-1),
    )


def svg_of(name: str, numbers: xr.Dataset) -> str:
    return render(DRAWINGS[f"brutzkus2018.{name}"](numbers), "svg").decode()


def test_figure_2_names_the_errors_of_figure_1() -> None:
    svg = svg_of("figure_2", both_layers())
    assert "with a fixed second layer (Figure 1)" in svg
    assert f"{sum(RUNS_PER_WIDTH)} of {sum(RUNS_PER_WIDTH)} runs" in svg


def test_figure_3_shows_both_ratios_per_width() -> None:
    drawing = DRAWINGS["brutzkus2018.figure_3"](both_layers())
    ratios = drawing.axes[2]
    assert len(ratios.lines) == 2 * len(WIDTHS)
    assert ratios.get_yscale() == "log"
    assert "η = 0.3, c = 0.5, C = 31" in render(drawing, "svg").decode()


def test_a_changed_sign_is_shown_below_zero() -> None:
    axes = DRAWINGS["brutzkus2018.figure_3"](both_layers(lowest=-2.0)).axes[2]
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylim()[0] < -1


def test_many_runs_get_the_band_without_the_outermost_tenths() -> None:
    numbers = plausible_numbers()
    many = xr.concat([numbers.assign_coords(run=np.arange(10) + 10 * part) for part in range(3)], "run",
                     data_vars="minimal", coords="minimal", compat="override")  # fmt: skip
    assert "middle 80 % of runs" in svg_of("figure_1", many)
    assert "smallest to largest run" in svg_of("figure_1", numbers)


def test_width_and_step_size_are_drawn() -> None:
    widths = compute_experiment_width(0, half_widths=(1, 4), n_runs=2, other_half_widths=(1,))
    assert "updates, R = v = 1/(2k)" in svg_of("experiment_width", widths)
    steps = compute_experiment_step_size(0, powers=(-1, 0, 3), n_runs=2)
    assert "updates, basis sequence" in svg_of("experiment_step_size", steps)


def test_the_phase_diagram_has_its_thresholds() -> None:
    phase = compute_experiment_relu_phase(0, dims=(2, 4), half_widths=(1, 3), n_runs=5)
    svg = svg_of("experiment_relu_phase", phase)
    assert "k = log2(2d/δ)" in svg
    assert "k = log2(d/ln(1/δ))" in svg
    assert "5 runs per cell" in svg


@pytest.mark.parametrize("n_runs", [1, 3])
def test_three_solutions_are_told_apart(n_runs: int) -> None:
    shape = (3, 2, n_runs)
    numbers = xr.Dataset(
        {
            "test_error": (("solution", "multiple", "run"), np.full(shape, 0.25)),
            "train_loss": (("solution", "multiple", "run"), np.zeros(shape)),
            "half_width": ("multiple", [4, 8]),
        },
        coords={"solution": list(SOLUTIONS), "multiple": [1, 2]},
    )
    svg = svg_of("experiment_bad_minimum", numbers)
    assert all(f"{name} (mean 25 %)" in svg for name in SOLUTIONS)
