"""The measured updates do not grow with the width, and the judge sees it where they do."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.width_trend import corollary_3_width_free, slope_with_limits
from widenet.papers.brutzkus2018.runs.widths import Normalization, WidthRuns, WidthSetting, run_width
from widenet.progress import silent
from widenet.types import RunStatus


def cell(half, updates):
    """Runs as if they had been trained under Eq. 6."""
    setting = WidthSetting(half_width=half, normalization=Normalization.EQUATION_6, n_runs=len(updates))
    size = Normalization.EQUATION_6.size(half)
    return WidthRuns(setting, np.asarray(updates), np.full(len(updates), RunStatus.CONVERGED), size, size, 1.0)


def planted(power, n_runs=20):
    """About 50 000·k^power updates, without scatter."""
    return [cell(half, np.full(n_runs, round(50_000 * half**power))) for half in (1, 4, 16, 64)]


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


def test_control_a_growing_count_under_equation_6_is_a_violation():
    """The constant itself: k^0.06 grows, k^0.04 is called flat."""
    assert corollary_3_width_free(planted(0.06)).verdict is Verdict.VIOLATED
    assert corollary_3_width_free(planted(0.04)).verdict is Verdict.HOLDS
    assert corollary_3_width_free(planted(0.04), flat=0.03).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("field", "factor", "key"),
    [
        ("output_weight", 1 + 1e-6, "normalized_output"),
        ("row_bound", 1 + 1e-6, "normalized_rows"),
        ("smallest_margin", 1 - 1e-6, "separable"),
    ],
)
def test_control_each_hypothesis(field, factor, key):
    *others, last = planted(0.0)
    evidence = corollary_3_width_free([*others, dataclasses.replace(last, **{field: factor * getattr(last, field)})])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == [key]


def test_too_few_starts_or_widths_decide_nothing():
    assert corollary_3_width_free(planted(0.0, n_runs=5)).verdict is Verdict.HOLDS
    assert corollary_3_width_free(planted(0.0, n_runs=4)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert corollary_3_width_free(planted(0.0)[:2]).verdict is Verdict.INSUFFICIENT_EVIDENCE


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


def test_the_slope_recovers_a_power_law():
    counts = 10 * np.array([1.0, 4.0, 16.0])[:, None] ** 0.5 * np.ones((3, 8))
    assert slope_with_limits(np.log([1.0, 4.0, 16.0]), list(counts), 0) == pytest.approx((0.5, 0.5, 0.5))
