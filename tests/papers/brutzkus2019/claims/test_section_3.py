"""The hypotheses of Section 3 just inside and just outside, and sides over several settings."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.xor_toys import drawn, toy
from widenet.claims.base import Part
from widenet.claims.sides import Sense, Sides
from widenet.papers.brutzkus2019.claims.section_3 import (
    Event,
    both_events,
    event_of,
    everyone,
    reached_in_event,
    setting_of_section_3,
    together,
    two_filters,
    wide,
    with_probability,
    worst_of,
)
from widenet.papers.brutzkus2019.runs.xor import trace_xor
from widenet.papers.brutzkus2019.runs.xor_starts import XorStart, draw_xor_start
from widenet.types import RunStatus


def not_met(starts, **options):
    return [each.key for each in setting_of_section_3(starts, **options) if not each.met]


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
    assert not_met([small], as_printed=True) == []
    # A start by hand was not drawn, so it has no σ_g.
    assert not_met([dataclasses.replace(small, deviation=None)]) == []
    # The worst of several is looked at.
    assert not_met([start, small]) == ["deviation"]


def test_what_is_required():
    start = draw_xor_start(17, 0.1, 200)
    asked = [each.required.split(" (")[0] for each in setting_of_section_3([start])]
    assert asked == ["< 0.5", "≤ 1", "≤ 1"]
    assert (wide([17]).required, event_of([toy("X3")]).hypothesis.required) == ("> 16", "≥ 1")


def test_the_worst_of_several_settings_is_looked_at():
    start = draw_xor_start(17, 0.1, 200)
    for worse in (dataclasses.replace(start, step_constant=0.5), draw_xor_start(17, 0.1, 200, step_share=1.001)):
        assert not_met([start, worse]) == not_met([worse, start]) == not_met([worse]) != []


def test_control_widths():
    assert wide([17, 50]).met
    assert not wide([16, 50]).met
    assert two_filters([draw_xor_start(2, 0.1, 1)]).met
    three = two_filters([draw_xor_start(2, 0.1, 1), draw_xor_start(3, 0.1, 1)])
    assert (three.met, three.actual) == (False, 3)


def test_control_the_radius_of_the_event():
    """22/64 is inside √2/4, 23/64 is not, and a fit of 0 has no side."""
    for fit, inside in ((22, True), (23, False), (-22, True), (-23, False), (0, False)):
        fits = toy("X3").start.fits.copy()
        fits[0, 1, 2, 0] = fit / 64
        assert XorStart(fits, 1 / 9, 1 / 3).in_event.tolist() == [inside]


def test_runs_outside_are_scored_only_where_there_is_no_other():
    inside, outside = drawn(2, 0.1, 50), trace_xor(draw_xor_start(2, 0.1, 5, spread=100.0))
    both, alone = event_of([inside, outside]), event_of([outside])
    assert [int(mask.sum()) for mask in both.scored] == [50, 0]
    assert [int(mask.sum()) for mask in alone.scored] == [5]
    assert not both.hypothesis.met
    assert not alone.hypothesis.met
    assert both.runs.outside == alone.runs.outside == 5
    assert everyone([outside]).runs.outside == 0


def test_some_runs_inside_are_enough():
    """And where there is no setting, there is no run inside."""
    mask = np.arange(50) < 10
    assert Event([drawn(2, 0.1, 50)], [mask]).scored[0].tolist() == mask.tolist()
    nobody = Event((), ()).hypothesis
    assert (nobody.met, nobody.actual) == (False, 0)


def test_events_that_ask_for_more():
    run = drawn(2, 0.1, 50)
    assert (both_events([run]).inside[0] == run.start.explored).all()
    assert 0 < reached_in_event([run]).inside[0].sum() < 50


def test_cases_of_several_sides_together():
    joined = together(Sides([[1.0, 2.0]], limit, Sense.AT_LEAST, trivial=0.0, scored=[True, False]) for limit in (1, 3))
    assert joined.measured.tolist() == [1, 2, 1, 2]
    assert joined.promised.tolist() == [1, 1, 3, 3]
    assert joined.broken.tolist() == [False, False, True, False]
    assert not joined.vacuous
    assert together([Sides(1.0, 0.0, Sense.AT_LEAST, trivial=0.0)]).vacuous


def test_where_one_of_several_sides_is_not_exact_numbers_decide():
    mixed = together([Sides([1.0, 3.0], 2.0, exact=[True, True]), Sides([1.0, 3.0], 2.0)])
    assert mixed.exact is None
    assert mixed.broken.tolist() == [False, True, False, True]


def test_exact_answers_of_several_sides_stay_exact():
    exact = together(Sides([1.0, 3.0], 2.0, exact=answers) for answers in ([True, True], [False, True]))
    assert exact.broken.tolist() == [False, False, True, False]


def test_a_rate_at_several_settings():
    runs = [drawn(2, 0.1, 50), drawn(50, 0.4, 1200)]
    failed = [np.arange(50) < 10, np.arange(1200) < 0]
    part = with_probability(runs, failed, lambda half_width: 0.5 if half_width == 2 else 0.0027)
    assert (part.kept, part.measured, part.promised) == (True, 0.2, 0.5)
    assert (part.cases, part.broken) == (1250, 10)
    assert with_probability(runs, failed, lambda _: 0.01).kept is False


@pytest.mark.parametrize(("narrow", "wide_rate", "kept"), [(0.5, 0.0027, False), (0.0027, 0.5, True)])
def test_each_setting_has_the_rate_of_its_own_width(narrow, wide_rate, kept):
    """40 of 1,200 wide runs fail, a share of 0.033, and no narrow one of 1,200."""
    runs = [drawn(2, 0.1, 1200), drawn(50, 0.4, 1200)]
    failed = [np.zeros(1200, bool), np.arange(1200) < 40]
    for order in (slice(None), slice(None, None, -1)):
        part = with_probability(runs[order], failed[order], lambda half_width: narrow if half_width == 2 else wide_rate)
        assert (part.kept, part.promised) == (kept, wide_rate)


@pytest.mark.parametrize("n_failed", [0, 50])
def test_runs_that_still_move_neither_fail_nor_succeed(n_failed):
    """A half may fail: 50 runs without a failure show it, 50 failures refute it, 50 that were cut off do neither."""
    run = drawn(2, 0.1, 50)
    moving = dataclasses.replace(run, status=np.full(50, RunStatus.BUDGET_SPENT))
    failed = [np.arange(50) < n_failed]
    assert with_probability([run], failed, lambda _: 0.5).kept is (n_failed == 0)
    assert with_probability([moving], failed, lambda _: 0.5).kept is None


@pytest.mark.parametrize(("answers", "kept"), [((True, None), None), ((None, False), False), ((True, True), True)])
def test_one_setting_that_fails_is_not_hidden_by_others(answers, kept):
    assert worst_of([Part(name="rate", kept=answer) for answer in answers]).kept is kept
