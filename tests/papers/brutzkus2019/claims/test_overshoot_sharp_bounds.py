"""The sharp bounds on overshooting, each just inside and just outside."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_part, broken_in, every_part_of
from tests.papers.brutzkus2019.claims.overshoot_records import MINUS, PLUS, SUM, overshooting, stuck
from tests.papers.brutzkus2019.claims.settings import (
    TINY,
    TOYS,
    altered,
    plus,
    toy,
    with_nonsense_after_the_end,
    with_outputs,
)
from tests.papers.brutzkus2019.claims.trace_edges import shared_edges
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import overshoot
from widenet.papers.brutzkus2019.claims.overshoot import (
    equation_14_stuck,
    lemma_e_11,
    lemma_e_12,
    lemma_e_13,
    lemma_e_13_as_printed,
    sharp_bounds,
    sum_limit,
)
from widenet.papers.brutzkus2019.runs.traces import Trace, follow
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


@breaks_part(sharp_bounds, "(i) " + PLUS)
def test_control_sharp_bounds_on_the_positive_point():
    inside, outside = (sharp_bounds([overshooting(toy("D4"), 12, PLUS, over)]) for over in (4 - TINY, 4.0))
    return inside, outside


@breaks_part(sharp_bounds, "(ii) " + MINUS)
def test_control_sharp_bounds_on_the_negative_point():
    inside, outside = (sharp_bounds([overshooting(toy("D4"), 12, MINUS, over)]) for over in (4 - TINY, 4.0))
    return inside, outside


@breaks_part(sharp_bounds, SHARP_SUM)
def test_control_sharp_bounds_on_the_sum():
    """ω = 1/2 in D2: 4 + 4ω = 6."""
    inside, outside = (sharp_bounds([overshooting(toy("D2"), 12, SUM, over)]) for over in (6 - TINY, 6.0))
    return inside, outside


def at_end(name: str, series: str, more: float):
    trace = toy(name)
    return sharp_bounds([altered(trace, series, int(trace.steps[0]), plus(more))])


@breaks_part(sharp_bounds, X)
def test_control_x_at_zero_loss():
    """W24 is empty in J15, so X must be 0."""
    return at_end("J15", "x", 0.0), at_end("J15", "x", TINY)


@breaks_part(sharp_bounds, REST)
def test_control_the_rest_at_zero_loss():
    """J15 leaves 1/32 c_η = η/16 of 2c_η."""
    return at_end("J15", "s_minus", 1 / 16), at_end("J15", "s_minus", 1 / 16 + TINY)


@breaks_part(sharp_bounds, Y, also=("(ii) " + MINUS,))
def test_control_y_at_zero_loss():
    """Y follows from (ii), X and S⁻, and does not break alone. D2: ω = 1/2, so y ≤ 1 + 15c_η."""
    trace = toy("D2")
    allowed = 16 + 15 * 2 - trace.at_end(trace.y)[0]
    assert broken_in(at_end("D2", "y", allowed)) == ["(ii) " + MINUS]
    return at_end("D2", "y", allowed + TINY)


@breaks_part(sharp_bounds, IN_A_ROW)
def test_control_four_steps_in_a_row():
    return sharp_bounds([stuck(toy("D4"), 2, 3)]), sharp_bounds([stuck(toy("D4"), 2, 4)])


def only_positive(trace: Trace, n_steps: int) -> Trace:
    """A record in which only x⁺ is active at so many iterations, two and two with one of both between them."""
    times = [t for t in range(2, 3 * n_steps) if t % 3][:n_steps]
    for t in times:
        trace = with_outputs(trace, t, plus=trace.goals[0] - 1, minus=trace.goals[1])
    return trace


@breaks_part(sharp_bounds, ONLY_PLUS)
def test_control_too_many_steps_of_the_positive_point():
    """ω = 1/2 in D2: at most nine; it has three of its own, at t = 19, 21 and 23."""
    trace = toy("D2")
    assert trace.only_plus.sum() == 3
    return sharp_bounds([only_positive(trace, 6)]), sharp_bounds([only_positive(trace, 7)])


def test_bounds_at_zero_loss_are_asked_of_runs_at_zero_loss():
    """A run that stalls has no T: (v) and (vi) say nothing about it."""
    trace = toy("D2")
    stalled = dataclasses.replace(trace, status=np.array([RunStatus.STALLED]))
    parts = {part.name: part.cases for part in sharp_bounds([stalled, trace]).parts}
    assert [parts[name] for name in (IN_A_ROW, ONLY_PLUS, X, Y, REST)] == [2, 1, 1, 1, 1]


def test_sharp_bounds_say_nothing_without_a_filter_in_w13():
    for status in (RunStatus.STALLED, RunStatus.CONVERGED):
        evidence = sharp_bounds([dataclasses.replace(toy("no w in W13"), status=np.array([status]))])
        assert {(part.kept, part.cases) for part in evidence.parts} == {(None, 0)}


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


test_control_each_hypothesis_at_its_edge = shared_edges(sharp_bounds)
test_every_part_has_a_control = every_part_of(
    overshoot, elsewhere=(lemma_e_11, lemma_e_12, lemma_e_13, lemma_e_13_as_printed, equation_14_stuck)
)
