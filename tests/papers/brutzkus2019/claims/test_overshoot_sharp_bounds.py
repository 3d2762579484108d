"""The sharp bounds on overshooting, each just inside and just outside."""

import dataclasses

import numpy as np
import pytest

from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.overshoot_records import MINUS, PLUS
from tests.papers.brutzkus2019.claims.settings import (
    TOYS,
    toy,
    with_nonsense_after_the_end,
)
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.overshoot import sharp_bounds, sum_limit
from widenet.papers.brutzkus2019.runs.traces import follow
from widenet.types import RunStatus

SHARP_SUM, IN_A_ROW = "(iii) S⁺ < γ + 1 + 4c_η + 4η|W13|", "(iv) at most 3 consecutive steps with only x⁻ active"
ONLY_PLUS, X, Y, REST = "(v) at most 1 + 4/ω steps with only x⁺ active", "(vi) X_T", "(vi) Y_T", "(vi) S⁻_T + X_T"


@pytest.mark.parametrize(
    ("name", "fails", "holds", "part"),
    [
        ("D2", {"overshoot": 3.992}, {"overshoot": 3.993}, "(i) " + PLUS),
        ("J4", {"overshoot": 3.714}, {"overshoot": 3.715}, "(ii) " + MINUS),
        ("J5", {"sum_limit": lambda w: 0.71 * sum_limit(w)}, {"sum_limit": lambda w: 0.712 * sum_limit(w)}, SHARP_SUM),
        ("D4", {"steps": 1}, {"steps": 2}, IN_A_ROW),
        ("J9", {"only_plus_limit": lambda w: 0 * w + 6}, {"only_plus_limit": lambda w: 0 * w + 7}, ONLY_PLUS),
    ],
)
def test_control_sharp_bounds_just_below_what_is_attained(name, fails, holds, part):
    assert broken_in(sharp_bounds([toy(name)])) == []
    assert broken_in(sharp_bounds([toy(name)], **fails)) == [part]
    assert broken_in(sharp_bounds([toy(name)], **holds)) == []


def test_bounds_at_zero_loss_are_asked_of_runs_at_zero_loss():
    """A run that stalls has no T: (v) and (vi) say nothing about it."""
    trace = toy("D2")
    stalled = dataclasses.replace(trace, status=np.array([RunStatus.STALLED]))
    parts = {part.name: part.n_cases for part in sharp_bounds([stalled, trace]).parts}
    assert [parts[name] for name in (IN_A_ROW, ONLY_PLUS, X, Y, REST)] == [2, 1, 1, 1, 1]


def test_sharp_bounds_say_nothing_without_a_filter_in_w13():
    for status in (RunStatus.STALLED, RunStatus.CONVERGED):
        evidence = sharp_bounds([dataclasses.replace(toy("no w in W13"), status=np.array([status]))])
        assert {(part.kept, part.n_cases) for part in evidence.parts} == {(None, 0)}


def test_what_comes_after_the_end_of_a_run_does_not_count():
    """T = 20 and 18 from two starts with the same η and γ: the shorter run has other records after its T."""
    fits = [[*TOYS[name][2], *TOYS[name][3]] for name in ("D4", "two units of U13")]
    both = follow(toy("D4").setting, np.array(fits) / 64)
    assert both.steps.tolist() == [20, 18]
    assert sharp_bounds([with_nonsense_after_the_end(both)]).parts == sharp_bounds([both]).parts
    for name, value in (("s_plus", 999.0), ("s_minus", -999.0)):
        later = dataclasses.replace(both, **{name: np.where(both.seen, getattr(both, name), value)})
        assert sharp_bounds([later]).parts == sharp_bounds([both]).parts
    assert sharp_bounds([both]).verdict is Verdict.HOLDS
