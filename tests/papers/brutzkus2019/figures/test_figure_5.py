"""Figure 5 of brutzkus2019: a larger margin errs less, and a control where none is larger."""

import dataclasses

import numpy as np
import pytest
import xarray as xr

from tests.papers.brutzkus2019.figures.rows import verdicts
from tests.papers.brutzkus2019.toy_runs import N_RUNS, sampled
from widenet.papers.brutzkus2019.figures.figure_1 import figure_1_numbers
from widenet.papers.brutzkus2019.figures.figure_5 import compare_figure_5, figure_5_numbers, paired_p


@pytest.fixture(scope="module")
def margins():
    return figure_5_numbers([sampled(20), sampled(20, margin=5.0)], n_runs=N_RUNS)


def test_the_larger_margin_errs_less(margins):
    assert set(verdicts(compare_figure_5(margins)).values()) == {"AGREES", "AS EXPECTED"}


def test_runs_are_paired(margins):
    errors = figure_1_numbers([sampled(20)])
    np.testing.assert_array_equal(errors.test_error.sel(channels=20), margins.test_error.sel(channels=20, margin=1.0))


def test_control_the_same_margin_with_other_seeds_is_no_better():
    other = sampled(20, seed=1)
    renamed = dataclasses.replace(other, setting=other.setting.model_copy(update={"margin": 1.5}))
    rows = verdicts(compare_figure_5(figure_5_numbers([sampled(20), renamed], n_runs=N_RUNS)))
    assert rows["p-value of the paired test that γ = 1.5 errs less, 20 channels"] == "NOT AS EXPECTED"


def test_equal_pairs_are_no_evidence():
    assert paired_p(np.zeros(10)) == 1.0


def made_up(*means: tuple[float, float], n_runs: int = 400) -> xr.Dataset:
    """Mean errors with γ = 1 and γ = 5 at 4, 20 and 100 channels, the same in every run."""
    errors = np.array(means).T[:, :, None] + np.zeros(n_runs)
    axes = ("margin", "channels", "run")
    return xr.Dataset(
        {"test_error": (axes, errors)},
        coords={"margin": [1.0, 5.0], "channels": [4, 20, 100], "run": np.arange(n_runs)},
    )


def test_control_each_comparison_can_differ():
    """γ = 5 errs as much, or more, at one width or on average."""
    names = "mean test error with γ = 5 / with γ = 1"
    better, same = (0.1, 0.05), (0.1, 0.1)
    assert set(verdicts(compare_figure_5(made_up(better, better, better))).values()) == {"AGREES", "AS EXPECTED"}
    rows = verdicts(compare_figure_5(made_up(better, same, better)))
    assert rows[f"{names}, 20 channels"] == "DIFFERS"
    assert rows["p-value of the paired test that γ = 5 errs less, 20 channels"] == "NOT AS EXPECTED"
    assert rows[f"{names}, 100 channels"] == rows[f"{names}, all widths together"] == "AGREES"
    rows = verdicts(compare_figure_5(made_up((0.1, 0.3), better, better)))
    assert rows[f"{names}, all widths together"] == "DIFFERS"


def test_the_means_are_those_of_as_many_runs_as_in_the_paper():
    """Runs beyond the first hundred count for the paired test alone."""
    numbers = made_up((0.1, 0.05), (0.1, 0.05), (0.1, 0.05))
    numbers["test_error"].loc[{"margin": 5.0, "run": slice(100, None)}] = 0.2
    rows = {row.name: row for row in compare_figure_5(numbers)}
    for name, row in rows.items():
        if row.added:
            assert row.verdict == "NOT AS EXPECTED", name
            assert "400 runs" in row.basis
        else:
            assert row.measured == 0.5, name
