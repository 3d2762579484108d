"""Figures 1 and 5 of brutzkus2019 and the choices around Figure 1, at toy size."""

import numpy as np
import pytest
import xarray as xr

from widenet.data import make_xord
from widenet.papers.brutzkus2019 import PAPER
from widenet.papers.brutzkus2019.figures.figure_1 import (
    CHANNELS,
    REPORTED,
    agreeing_shares,
    compare_figure_1,
    compute_figure_1,
    error_intervals,
    fisher_p,
    mean_errors,
)
from widenet.papers.brutzkus2019.figures.figure_1_laws import (
    CHOICES,
    compare_figure_1_laws,
    compute_figure_1_laws,
    smallest_p,
)
from widenet.papers.brutzkus2019.figures.figure_5 import compare_figure_5, compute_figure_5, paired_p
from widenet.types import Scale

N_RUNS = 100


@pytest.fixture(scope="module")
def errors():
    return compute_figure_1(0, channels=(4, 20), n_runs=N_RUNS)


@pytest.fixture(scope="module")
def margins():
    return compute_figure_5(0, channels=(20,), n_runs=N_RUNS)


def verdicts(rows):
    return {row.name: row.verdict for row in rows}


def made_up(counts, n_runs=100):
    """Runs at zero training error as counted; test errors that fall with the width."""
    widths = list(counts)
    solved = np.array([np.arange(n_runs) < counts[width] for width in widths])
    error = np.array([[0.1 / (1 + place) for _ in range(n_runs)] for place in range(len(widths))])
    axes = ("channels", "run")
    return xr.Dataset(
        {"train_error": (axes, np.where(solved, 0.0, 0.1)), "test_error": (axes, np.where(solved, error, 2 * error))},
        coords={"channels": widths, "run": np.arange(n_runs)},
        attrs={"margin": 1.0},
    )


def test_counts_agree_at_toy_widths(errors):
    rows = verdicts(compare_figure_1(errors))
    assert rows["share of runs at zero training error, 4 channels"] == "AGREES"
    assert rows["share of runs at zero training error, 20 channels"] == "AGREES"


def test_test_errors_are_those_of_the_law(errors):
    assert float(errors.test_error.max()) <= 1
    assert ((errors.test_error == 0) | (errors.test_error >= float(make_xord().probabilities[0]) - 1e-12)).all()
    everything, at_zero = mean_errors(errors)
    assert (at_zero <= everything + 1e-12).all()
    for curve, bounds in zip((everything, at_zero), error_intervals(errors), strict=True):
        assert ((bounds[:, 0] <= curve) & (curve <= bounds[:, 1])).all()


def test_the_reported_counts_agree_with_themselves():
    assert set(verdicts(compare_figure_1(made_up(REPORTED))).values()) == {"AGREES"}


def test_control_other_counts_are_seen():
    rows = verdicts(compare_figure_1(made_up({width: 40 for width in CHANNELS})))
    assert rows["widths at which the run count agrees"] == "DIFFERS"
    assert rows["share of runs at zero training error, 4 channels"] == "DIFFERS"


def test_control_permuted_widths_have_no_trend():
    numbers = made_up(REPORTED)
    order = [3, 0, 5, 1, 6, 2, 4]
    shuffled = numbers.isel(channels=order).assign_coords(channels=list(CHANNELS))
    rows = verdicts(compare_figure_1(shuffled))
    assert rows["rank correlation of channels and mean test error, all runs"] == "DIFFERS"
    assert rows["rank correlation of channels and mean test error, runs at zero training error"] == "DIFFERS"


def test_control_without_a_solved_run_nothing_is_claimed_of_the_solved():
    rows = verdicts(compare_figure_1(made_up({width: 0 for width in CHANNELS})))
    name = "mean test error with 200 channels / with 4, zero training error"
    assert rows[name] == "DIFFERS"


def test_fisher_bands_are_those_of_the_test():
    low, high = agreeing_shares(100, 94)
    assert (low, high) == (0.82, 1.0)
    assert fisher_p(81, 100, 94) < 0.01 <= fisher_p(82, 100, 94)


def test_laws_are_laws_and_the_first_is_the_default():
    for choice in CHOICES.values():
        law = choice.law()
        assert float(law.probabilities[14]) == pytest.approx(0.25)
        assert float(law.probabilities[9]) == pytest.approx(0.45)
    np.testing.assert_array_equal(next(iter(CHOICES.values())).law().probabilities, make_xord().probabilities)


def test_choices_at_toy_size():
    """The default is that of Figure 1; counting 0 as + never counts fewer; one law is far off."""
    default, lenient, far = "all 11 sets (figure_1)", "all 11 sets, N = 0 counts as +", "{1,2,4} or {2,3,4}"
    numbers = compute_figure_1_laws(0, choices=(default, lenient, far), channels=(4,), n_runs=N_RUNS)
    solved = numbers.solved.isel(channels=0)
    expected = int((compute_figure_1(0, channels=(4,), n_runs=N_RUNS).train_error == 0).sum())
    assert int(solved[0]) == expected
    assert int(solved[1]) >= expected
    assert verdicts(compare_figure_1_laws(numbers))["choices that agree at every width"] == "AGREES"
    assert smallest_p(numbers)[2] < 0.01 <= smallest_p(numbers)[0]


def test_control_no_choice_agrees():
    numbers = xr.Dataset(
        {"solved": (("choice", "channels"), np.zeros((2, 1), int))},
        coords={"choice": ["all 11 sets (figure_1)", "other"], "channels": [4]},
        attrs={"n_runs": 100},
    )
    assert set(verdicts(compare_figure_1_laws(numbers)).values()) == {"DIFFERS"}


def test_the_larger_margin_errs_less(margins):
    assert set(verdicts(compare_figure_5(margins)).values()) == {"AGREES"}


def test_runs_are_paired(errors, margins):
    np.testing.assert_array_equal(errors.test_error.sel(channels=20), margins.test_error.sel(channels=20, margin=1.0))


def test_control_the_same_margin_with_other_seeds_is_no_better(errors):
    other = compute_figure_1(1, channels=(20,), n_runs=N_RUNS)
    both = xr.concat([errors.test_error.sel(channels=[20]), other.test_error], "margin")
    numbers = xr.Dataset({"test_error": both.assign_coords(margin=[1.0, 1.5])})
    rows = verdicts(compare_figure_5(numbers))
    assert rows["p-value of the paired test that γ = 1.5 errs less, 20 channels"] == "DIFFERS"


def test_equal_pairs_are_no_evidence():
    assert paired_p(np.zeros(10)) == 1.0


def test_scales_are_those_of_the_paper():
    figures = {figure.id: figure for figure in PAPER.figures}
    assert figures["brutzkus2019.figure_1"].sizes[Scale.QUICK] == figures["brutzkus2019.figure_1"].sizes[Scale.PAPER]
    assert figures["brutzkus2019.figure_1"].sizes[Scale.PAPER]["n_runs"] == 100
