"""The measured updates do not grow with the width, and the judge sees it where they do."""

import dataclasses

import numpy as np
import pytest
import scipy

from tests.control_table import at, controls
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import width_trend
from widenet.papers.brutzkus2018.claims.width_trend import corollary_3_width_free, slope_with_limits
from widenet.papers.brutzkus2018.runs.widths import Normalization, WidthRuns, WidthSetting, run_width, width_settings
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus


def cell(half, updates):
    """Runs as if they had been trained under Eq. 6."""
    setting = WidthSetting(half_width=half, normalization=Normalization.EQUATION_6, n_runs=len(updates))
    size = Normalization.EQUATION_6.size(half)
    return WidthRuns(setting, np.asarray(updates), np.full(len(updates), RunStatus.CONVERGED), size, size, 1.0, 1.0)


def planted(power, n_runs=20):
    """About 10⁶·k^power updates, without scatter."""
    return [cell(half, np.full(n_runs, round(1_000_000 * half**power))) for half in (1, 4, 16, 64)]


def test_it_holds():
    settings = [WidthSetting(half_width=half, normalization=Normalization.EQUATION_6, n_runs=6) for half in (1, 4, 16)]
    evidence = corollary_3_width_free([run_width(setting, silent) for setting in settings])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 18
    assert evidence.interval is not None
    assert evidence.measured is not None
    assert evidence.interval[0] <= evidence.measured <= evidence.interval[1]


def test_control_the_count_grows_with_the_width_under_another_normalization():
    """v = R = 1/(2k) at the same η: the number of updates grows nearly like k."""
    other = [
        run_width(WidthSetting(half_width=half, normalization=Normalization.SMALLER, n_runs=5), silent)
        for half in (1, 2, 4)
    ]
    evidence = corollary_3_width_free(other)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["normalized_output", "normalized_rows"]
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 0.5


def test_the_largest_slope_called_flat_is_what_is_passed():
    assert corollary_3_width_free(planted(0.04), flat=0.03).verdict is Verdict.VIOLATED


def times(factor):
    return lambda value: factor * value


FREE = corollary_3_width_free
test_control = controls(
    width_trend,
    lambda: planted(0.0),
    # k^0.0505 grows, k^0.0495 is called flat
    (FREE, "flat", at(planted(0.0495)), at(planted(0.0505))),
    (FREE, "normalized_output", {"output_weight": times(1 + 1e-13)}, {"output_weight": times(1 + 5e-12)}),
    (FREE, "normalized_rows", {"row_bound": times(1 - 1e-13)}, {"row_bound": times(1 - 5e-12)}),
)


def test_the_default_settings_go_up_to_512_neurons():
    for scale in Scale:
        assert [setting.half_width for setting in width_settings(scale, 0)] == [1, 4, 16, 64, 256]


def test_the_limits_are_those_of_one_sided_95_percent():
    """One run in five of the widest network makes twice the updates: limits and slope of a resampling done apart."""
    counts = [np.full(20, 100.0)] * 3 + [np.where(np.arange(20) % 5 == 0, 200.0, 100.0)]
    logs = np.log([1.0, 4.0, 16.0, 64.0])
    slope, lower, upper = slope_with_limits(logs, counts, 0)
    centred = logs - logs.mean()
    weight = centred[-1] / (centred @ centred)
    assert slope == pytest.approx(weight * np.log(1.2))
    doubled = scipy.stats.binom(20, 0.2)
    expected = [weight * np.log(1 + doubled.ppf(level) / 20) for level in (0.05, 0.95)]
    assert (lower, upper) == pytest.approx(expected)


def test_too_few_starts_or_widths_decide_nothing():
    assert corollary_3_width_free(planted(0.0, n_runs=5)).verdict is Verdict.HOLDS
    assert corollary_3_width_free(planted(0.0, n_runs=4)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert corollary_3_width_free(planted(0.0)[:2]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_one_width_with_too_few_starts_decides_nothing():
    first, *others = planted(0.0)
    few = dataclasses.replace(first, updates=first.updates[:4], status=first.status[:4])
    assert corollary_3_width_free([few, *others]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_the_largest_slope_called_flat_is_shown():
    assert corollary_3_width_free(planted(0.0)).promised == 0.05


def test_an_unfinished_run_decides_nothing():
    first, *others = planted(0.0)
    status = first.status.copy()
    status[0] = RunStatus.BUDGET_SPENT
    evidence = corollary_3_width_free([dataclasses.replace(first, status=status), *others])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 1


def test_a_slope_whose_limits_lie_on_both_sides_decides_nothing():
    """Some runs of the widest network make three times as many updates."""
    *others, last = planted(0.0)
    wild = last.updates * np.where(np.arange(20) % 4 == 0, 3, 1)
    evidence = corollary_3_width_free([*others, dataclasses.replace(last, updates=wild)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE

    assert evidence.interval is not None
    lower = evidence.interval[0]
    on_the_edge = [*others, dataclasses.replace(last, updates=wild)]
    assert corollary_3_width_free(on_the_edge, flat=lower).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_a_slope_that_is_just_flat():
    limits = corollary_3_width_free(planted(0.04)).interval
    assert limits is not None
    assert corollary_3_width_free(planted(0.04), flat=limits[1]).verdict is Verdict.HOLDS


def test_a_mean_below_one_counts_as_one():
    logs = np.log([1.0, 4.0, 16.0])
    counts = [np.full(8, 0.0), np.full(8, 3.0), np.full(8, 3.0)]
    assert slope_with_limits(logs, counts, 0) == pytest.approx((np.log(3) / (2 * np.log(4)),) * 3)


def test_the_slope_recovers_a_power_law():
    counts = 10 * np.array([1.0, 4.0, 16.0])[:, None] ** 0.5 * np.ones((3, 8))
    assert slope_with_limits(np.log([1.0, 4.0, 16.0]), list(counts), 0) == pytest.approx((0.5, 0.5, 0.5))
