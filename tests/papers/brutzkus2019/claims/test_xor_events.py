"""The hypotheses of Section 3 just inside and just outside, its events, and rates at several settings."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.xor_edges import leaning
from tests.papers.brutzkus2019.claims.xor_toys import drawn, toy
from widenet.papers.brutzkus2019.claims.xor_events import (
    XorRuns,
    both_events,
    event_of,
    everyone,
    reached_in_event,
    with_probability,
)
from widenet.papers.brutzkus2019.hypotheses import (
    SECTION_3,
    SECTION_3_AS_PRINTED,
    runs_in_event,
    two_filters,
    width_above_16,
)
from widenet.papers.brutzkus2019.runs.xor import trace_xor
from widenet.papers.brutzkus2019.xor_sources import XorStart, draw_xor_start
from widenet.types import RunStatus


def measured(given, starts):
    return given.measured(given(type(starts[0]).join(starts)))


def not_met(starts, given=SECTION_3):
    return [each.key for each in given if measured(each, starts).met is False]


def test_control_the_edges_of_the_setting():
    start = draw_xor_start(17, 0.1, 200)
    assert not_met([start]) == []
    assert not_met([draw_xor_start(17, 0.499, 200)]) == []
    assert not_met([draw_xor_start(17, 0.5, 200)]) == ["step_constant"]
    assert not_met([draw_xor_start(17, 0.1, 200, step_share=1.001)]) == ["step_size"]
    assert not_met([draw_xor_start(17, 0.1, 200, spread=1.2)]) == ["deviation"]
    # The same σ_g with a tenth of the step: the paper allows it, Lemma B.2 does not.
    small = draw_xor_start(17, 0.1, 200, step_share=0.1)
    assert not_met([small]) == ["deviation"]
    assert not_met([small], SECTION_3_AS_PRINTED) == []
    # A start by hand was not drawn, so it has no σ_g.
    assert not_met([dataclasses.replace(small, deviation=np.nan)]) == []


def test_what_is_required():
    start = draw_xor_start(17, 0.1, 200)
    asked = [measured(each, [start]).required.split(" (")[0] for each in SECTION_3]
    assert asked == ["< 0.5", "≤ 1", "≤ 1"]
    assert measured(width_above_16, [start]).required == "> 16"
    runs = XorRuns.join([toy("X3")])
    assert runs_in_event.measured(runs_in_event(runs)).required == "≥ 1"


def test_control_widths():
    assert measured(two_filters, [draw_xor_start(2, 0.1, 1)]).met
    for k in (1, 3):
        other = measured(two_filters, [draw_xor_start(2, 0.1, 1), draw_xor_start(k, 0.1, 1)])
        assert (other.met, other.actual) == (False, k)


def test_control_the_radius_of_the_event():
    """22/64 is inside √2/4, 23/64 is not, and a fit of 0 has no side."""
    for fit, inside in ((22, True), (23, False), (-22, True), (-23, False), (0, False)):
        fits = toy("X3").fits.copy()
        fits[0, 1, 2, 0] = fit / 64
        assert XorStart(fits, 1 / 9, 1 / 3).in_event.tolist() == [inside]


@pytest.mark.parametrize(("inside", "explored"), [(15, False), (16, True), (48, True), (49, False)])
def test_how_many_filters_the_event_of_lemma_3_1_allows(inside, explored):
    assert leaning(inside).explored.tolist() == [explored]


def test_runs_outside_are_scored_only_where_there_is_no_other():
    inside, outside = drawn(2, 0.1, 50), trace_xor(draw_xor_start(2, 0.1, 5, spread=100.0))
    both, alone = XorRuns.join([inside, outside]), XorRuns.join([outside])
    assert event_of(both).scored.tolist() == [True] * 50 + [False] * 5
    assert event_of(alone).scored.all()
    for runs in (both, alone):
        assert not runs_in_event.measured(runs_in_event(runs)).met
        assert event_of(runs).promise({}).runs.outside == 5  # pyright: ignore[reportOptionalMemberAccess]
    assert everyone(alone).promise({}).runs.outside == 0  # pyright: ignore[reportOptionalMemberAccess]


def test_events_that_ask_for_more():
    runs = XorRuns.join([drawn(2, 0.1, 50)])
    assert (both_events(runs).scored == runs.explored).all()
    assert 0 < reached_in_event(runs).scored.sum() < 50
    cell = runs.cells[0]
    assert (cell.n_in_both, cell.n_at_zero_loss) == (int(runs.explored.sum()), int(reached_in_event(runs).scored.sum()))


def rate(runs, failed, allowed):
    return with_probability(XorRuns.join(runs), failed, allowed, text="rate").part("rate")


def test_a_rate_at_several_settings():
    runs, failed = [drawn(2, 0.1, 50), drawn(50, 0.4, 1200)], np.arange(1250) < 10
    part = rate(runs, failed, lambda half_width: 0.5 if half_width == 2 else 0.0027)
    assert (part.kept, part.measured, part.promised) == (True, 0.2, 0.5)
    assert (part.n_cases, part.broken) == (1250, 10)
    assert rate(runs, failed, lambda _: 0.01).kept is False


@pytest.mark.parametrize("n_failed", [0, 50])
def test_runs_that_still_move_neither_fail_nor_succeed(n_failed):
    """A half may fail: 50 runs without a failure show it, 50 failures refute it, 50 that were cut off do neither."""
    run, failed = drawn(2, 0.1, 50), np.arange(50) < n_failed
    moving = dataclasses.replace(run, status=np.full(50, RunStatus.BUDGET_SPENT))
    assert rate([run], failed, lambda _: 0.5).kept is (n_failed == 0)
    assert rate([moving], failed, lambda _: 0.5).kept is None
