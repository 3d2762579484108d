"""Figure 1 of brutzkus2019: the reported counts, and controls that do not agree with them."""

import numpy as np
import pytest
import scipy
import xarray as xr

from tests.papers.brutzkus2019.figures.rows import verdicts
from tests.papers.brutzkus2019.toy_runs import N_RUNS, sampled
from widenet.data import make_xord
from widenet.papers.brutzkus2019.figures.figure_1 import (
    FISHER_LEVEL,
    REPORTED,
    agreeing_shares,
    compare_figure_1,
    error_intervals,
    figure_1,
    figure_1_numbers,
    fisher_p,
    fisher_p_of_all,
    mean_errors,
)
from widenet.papers.brutzkus2019.runs.sampled_runs import CHANNELS
from widenet.records import Scale


@pytest.fixture(scope="module")
def errors():
    return figure_1_numbers([sampled(4), sampled(20)])


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


def test_only_the_first_runs_of_a_cell_are_counted():
    few = figure_1_numbers([sampled(4)], n_runs=7)
    assert few.sizes["run"] == 7
    np.testing.assert_array_equal(few.train_error[0], sampled(4).train_error[:7])
    assert figure_1_numbers([sampled(4)]).sizes["run"] == N_RUNS == 100


def test_the_reported_counts_agree_with_themselves():
    assert set(verdicts(compare_figure_1(made_up(REPORTED))).values()) == {"AGREES", "AS EXPECTED", "MEASURED"}


def test_control_other_counts_are_seen():
    rows = verdicts(compare_figure_1(made_up({width: 10 for width in CHANNELS})))
    assert rows["widths at which the run count agrees"] == "NOT AS EXPECTED"
    assert rows["share of runs at zero training error, 4 channels"] == "DIFFERS"


def test_control_permuted_widths_have_no_trend():
    numbers = made_up(REPORTED)
    order = [3, 6, 0, 5, 1, 4, 2]
    shuffled = numbers.isel(channels=order).assign_coords(channels=list(CHANNELS))
    rows = verdicts(compare_figure_1(shuffled))
    assert rows["rank correlation of channels and mean test error, all runs"] == "DIFFERS"
    assert rows["rank correlation of channels and mean test error, runs at zero training error"] == "DIFFERS"


def test_control_without_a_solved_run_nothing_is_claimed_of_the_solved():
    rows = verdicts(compare_figure_1(made_up({width: 0 for width in CHANNELS})))
    name = "mean test error with 200 channels / with 4, zero training error"
    assert rows[name] == "DIFFERS"


def test_fisher_bands_are_those_of_the_test():
    """A count that the band leaves out has a p-value below 1e-6/7: seven widths differ by chance once in a million."""
    low, high = agreeing_shares(100, 94)
    assert high == 1.0
    first = round(100 * low)
    assert fisher_p(first - 1, 100, 94) < 1e-6 / 7 <= fisher_p(first, 100, 94)


@pytest.mark.parametrize("n_runs", [100, 400])
@pytest.mark.parametrize("rate", [0.62, 0.94])
def test_the_rule_differs_by_chance_once_in_a_million(n_runs, rate):
    """For every rate that both have in common, over both draws: the sum of the probabilities of what differs."""
    counts, reported = np.arange(n_runs + 1), np.arange(101)
    own, theirs = scipy.stats.binom.pmf(counts, n_runs, rate), scipy.stats.binom.pmf(reported, 100, rate)
    differs = [fisher_p_of_all(counts, n_runs, int(each)) < FISHER_LEVEL for each in reported]
    assert sum(weight * own[row].sum() for weight, row in zip(theirs, differs, strict=True)) <= 1e-6 / 7


def test_the_counts_that_flipped_with_the_seed_agree():
    """81 of 100 (seed 3, figure 1) and 839 of 1000 (seed 0, figure_1_laws) at 8 channels."""
    assert agreeing_shares(100, 94)[0] < 0.81 - 5 * np.sqrt(0.852 * 0.148 / 100) + 0.04
    assert agreeing_shares(1000, 94)[0] < 0.852 - 5 * np.sqrt(0.852 * 0.148 / 1000)


@pytest.mark.parametrize(("count", "n_runs", "reported"), [(81, 100, 94), (50, 60, 100), (150, 250, 62)])
def test_the_p_value_is_twice_the_smaller_tail_of_fishers_test(count, n_runs, reported):
    table = [[count, n_runs - count], [reported, 100 - reported]]
    tails = [scipy.stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert fisher_p(count, n_runs, reported) == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)


@pytest.mark.parametrize("n_runs", [100, 1000, 5000])
@pytest.mark.parametrize("reported", sorted(set(REPORTED.values())))
def test_the_band_and_the_p_value_never_contradict_each_other(n_runs, reported):
    low, high = agreeing_shares(n_runs, reported)
    counts = np.arange(n_runs + 1)
    inside = (counts / n_runs >= low) & (counts / n_runs <= high)
    np.testing.assert_array_equal(inside, fisher_p_of_all(counts, n_runs, reported) >= FISHER_LEVEL)


@pytest.mark.parametrize("width", list(CHANNELS))
def test_control_a_count_just_outside_its_band(width):
    """One run fewer than agrees, at this width alone; where 100 are reported there is no count above."""
    low, high = agreeing_shares(100, REPORTED[width])
    row = f"share of runs at zero training error, {width} channels"
    for count, verdict in ((round(100 * low), "AGREES"), (round(100 * low) - 1, "DIFFERS")):
        assert verdicts(compare_figure_1(made_up({**REPORTED, width: count})))[row] == verdict
    if high < 1:
        assert verdicts(compare_figure_1(made_up({**REPORTED, width: round(100 * high) + 1})))[row] == "DIFFERS"


def test_two_counts_off_are_one_too_many():
    name = "widths at which the run count agrees"
    assert verdicts(compare_figure_1(made_up({**REPORTED, 8: 40})))[name] == "AS EXPECTED"
    assert verdicts(compare_figure_1(made_up({**REPORTED, 8: 40, 6: 20})))[name] == "NOT AS EXPECTED"


@pytest.mark.parametrize(("ratio", "verdict"), [(0.59, "AGREES"), (0.99, "AGREES"), (1.01, "DIFFERS")])
def test_control_errors_that_do_not_fall_enough(ratio, verdict):
    numbers = made_up(REPORTED)
    error = np.linspace(0.1, 0.1 * ratio, len(CHANNELS))[:, None] + np.zeros((1, 100))
    rows = verdicts(compare_figure_1(numbers.assign(test_error=(("channels", "run"), error))))
    assert rows["mean test error with 200 channels / with 4, zero training error"] == verdict
    trend = "AGREES" if ratio < 1 else "DIFFERS"
    assert rows["rank correlation of channels and mean test error, all runs"] == trend
    assert rows["rank correlation of channels and mean test error, runs at zero training error"] == trend


def test_both_scales_have_the_widths_and_at_least_the_runs_of_the_paper():
    for scale in Scale:
        settings = figure_1.reads[0].settings(scale, 0)
        assert tuple(setting.n_channels for setting in settings) == CHANNELS
        assert all(setting.n_runs >= 100 and setting.margin == 1.0 for setting in settings)
