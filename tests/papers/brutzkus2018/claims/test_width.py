"""Corollary 3 holds, and its checks fail where they must."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import width, width_trend
from widenet.papers.brutzkus2018.claims.width import Formulas, check_corollary_3, check_equation_14, check_tied_rows
from widenet.papers.brutzkus2018.claims.width_trend import check_corollary_3_width_free
from widenet.papers.brutzkus2018.formulas import corollary_3_constant
from widenet.types import Scale

CLAIMS = (width.corollary_3, width.equation_14, width.tied_rows, width_trend.corollary_3_width_free)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_it_holds(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert all(h.met for h in evidence.hypotheses)
    assert evidence.runs.unfinished == 0


def test_corollary_3_trains_several_widths():
    evidence = check_corollary_3(width.corollary_3.setting(Scale.QUICK, 0))
    assert evidence.config["half_widths_of_the_runs"] == [1, 4, 16, 64]
    assert evidence.tightness is not None
    assert evidence.tightness > 0.9


def test_control_corollary_3_with_another_normalization():
    """v = R = 1/k: M_k grows with k, so it is no longer one number."""
    setting = width.corollary_3.setting(Scale.QUICK, 0)
    evidence = check_corollary_3(setting, normalization=lambda k: 1 / k)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["largest_relative_difference_between_widths"] > 1


def test_control_corollary_3_with_a_smaller_constant():
    setting = width.corollary_3.setting(Scale.QUICK, 0)
    evidence = check_corollary_3(setting, constant=lambda slope: corollary_3_constant(slope) / 2)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_equation_14_with_half_of_the_last_four_terms():
    formulas = Formulas(np.array([3.0]), np.array([0.5]), np.array([0.01]), (1, 10))
    assert check_equation_14(formulas).verdict is Verdict.HOLDS
    evidence = check_equation_14(formulas, factors=(1.0, 0.5, 0.5, 0.5, 0.5))
    assert evidence.verdict is Verdict.VIOLATED


def test_control_tied_rows_with_another_normalization():
    """v = 1/(2k): the step in units of v is no longer the same, and the counts differ between widths."""
    cases = width.tied_rows.setting(Scale.QUICK, 0)[:2]
    evidence = check_tied_rows(
        [dataclasses.replace(case, half_widths=(1, 4)) for case in cases], normalization=lambda k: 1 / (2 * k)
    )
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["runs_with_another_sequence_of_updates"] > 0


def test_control_tied_rows_must_be_tied():
    """Rows scaled by something else than v start elsewhere in units of v."""

    @dataclasses.dataclass(frozen=True)
    class Untied(width.Tied):
        def start(self, half, size):
            start = super().start(half, size)
            return dataclasses.replace(start, hidden=start.hidden / half)

    cases = [
        Untied(**{f.name: getattr(case, f.name) for f in dataclasses.fields(case)})
        for case in width.tied_rows.setting(Scale.QUICK, 0)
    ]
    assert check_tied_rows(cases).verdict is Verdict.VIOLATED


def _few(n_seeds=6, half_widths=(1, 4, 16)):
    return dataclasses.replace(
        width_trend.corollary_3_width_free.setting(Scale.QUICK, 0), n_seeds=n_seeds, half_widths=half_widths
    )


def test_control_the_count_grows_with_the_width_under_another_normalization():
    """v = R = 1/(2k) at the same η: the number of updates grows nearly like k."""
    evidence = check_corollary_3_width_free(_few(), normalization=lambda k: 1 / (2 * k))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 0.5


def test_control_a_growing_count_under_equation_6_is_a_violation(monkeypatch):
    """The same growth, hidden from the hypotheses: the verdict itself must say VIOLATED."""
    monkeypatch.setattr(width_trend, "normalized", lambda ledgers: ())
    evidence = check_corollary_3_width_free(_few(), normalization=lambda k: 1 / (2 * k))
    assert evidence.verdict is Verdict.VIOLATED


def test_too_few_starts_or_widths_decide_nothing():
    assert check_corollary_3_width_free(_few(n_seeds=2)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert check_corollary_3_width_free(_few(half_widths=(1, 4))).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_the_slope_recovers_a_power_law():
    counts = 10 * np.array([1.0, 4.0, 16.0])[:, None] ** 0.5 * np.ones((3, 8))
    slope, lower, upper = width_trend._slope(np.log([1.0, 4.0, 16.0]), counts, 0)
    assert slope == pytest.approx(0.5)
    assert lower == pytest.approx(0.5)
    assert upper == pytest.approx(0.5)
