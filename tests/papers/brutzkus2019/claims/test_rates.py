"""Probability statements: all runs together, every setting alone, and the events of the proof."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.networks import altered, part, repeated, some, twenty
from widenet.claims import Verdict
from widenet.claims.base import Hypothesis, at_most
from widenet.claims.sides import evidence
from widenet.papers.brutzkus2019.claims.rates import Case, event_failure, nearest, rate_details, rate_parts
from widenet.papers.brutzkus2019.formulas import large_start_probability
from widenet.types import RunStatus

RATE = 4 * math.exp(-8)


def case(networks, *, event=None, exact_event=1e-4, allowed=RATE, **more):
    event = networks.axes_explored if event is None else event
    return Case(networks, np.ones(networks.n_runs, bool), event, allowed, exact_event, 1e6, **more)


def judged(*cases):
    return evidence(rate_parts(cases, "share"))


@pytest.fixture(scope="module")
def many():
    return repeated(twenty(), 2240)


def test_control_a_case_without_a_run_in_its_event_is_not_carried_by_another(many):
    """2240 runs confirm Proposition E.14 where they are; ten more, none in the event, confirm nothing elsewhere."""
    full, few = case(many), some(twenty(), slice(10))
    assert judged(full).verdict is Verdict.HOLDS
    assert judged(full, case(few)).verdict is Verdict.HOLDS
    for other in (case(few, event=np.zeros(10, bool)), case(few, exact_event=0.5)):
        assert judged(full, other).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_one_setting_that_fails_is_not_carried_by_another(many):
    """Ten failures of ten, in no event: 10 of 2250 in all would not refute an allowed 1 %."""
    lost = altered(some(twenty(), slice(10)), loss=(slice(None), 1e-12))
    found = judged(case(many, allowed=0.01), case(lost, event=np.zeros(10, bool), allowed=0.01))
    assert broken_in(found) == ["no setting alone fails more often"]


@pytest.mark.parametrize(("failures", "verdict"), [(0, True), (5, None), (9, False)])
def test_a_rate_is_decided_by_exact_limits(many, failures, verdict):
    """9 of 2232: the lower limit is 2.1e-3, above the allowed 1.34e-3."""
    runs = altered(some(many, slice(2232)), loss=(slice(failures), 1e-12))
    found = judged(case(runs, event=np.arange(2232) >= failures))
    assert found.conclusion is verdict
    assert found.parts[0].kept is verdict


def test_a_run_of_an_event_that_fails_is_enough(many):
    found = judged(case(altered(many, loss=(3, 1e-12))))
    assert broken_in(found) == ["zero loss inside the events of the proof"]


def test_runs_that_were_cut_off_are_neither(many):
    cut = dataclasses.replace(altered(many, status=(slice(5), 2), loss=(slice(5), 1.0)), max_steps=10)
    found = judged(case(cut))
    assert found.conclusion is None
    assert found.parts[0].undecided == 5
    late = judged(dataclasses.replace(case(cut), allowed_steps=10.0))
    assert late.conclusion is False


def test_time_counts_where_it_is_promised(many):
    slow = dataclasses.replace(case(many), allowed_steps=float(many.steps.max()) - 1)
    assert "in time inside the events" in broken_in(judged(slow))
    assert judged(dataclasses.replace(slow, timed=False)).verdict is Verdict.HOLDS


def four(**arrays):
    """Four runs at zero loss after ten steps, some of them altered."""
    return altered(some(twenty(), slice(4)), **{"steps": (slice(None), 10), **arrays})


def one_of(allowed_steps, max_steps=100, **more):
    """A case on runs of which the last was cut off."""
    runs = four(status=(3, RunStatus.BUDGET_SPENT), loss=(3, 1.0))
    return dataclasses.replace(
        case(dataclasses.replace(runs, max_steps=max_steps), **more), allowed_steps=allowed_steps
    )


@pytest.mark.parametrize(("allowed", "good"), [(9.95, False), (10.0, True)])
def test_the_last_step_in_time(allowed, good):
    assert one_of(allowed).good.tolist() == [good] * 3 + [False]


@pytest.mark.parametrize(("allowed", "cut"), [(10.95, False), (11.0, True), (11.05, True)])
def test_a_run_is_cut_where_another_step_was_allowed(allowed, cut):
    assert one_of(allowed, max_steps=10).cut.tolist() == [False] * 3 + [cut]


NONE, ALL, LAST = np.zeros(4, bool), np.ones(4, bool), np.arange(4) == 3


@pytest.mark.parametrize(
    ("event", "allowed", "exact_event", "decided"),
    [
        (NONE, 0.01, 0.01, False),
        (ALL, 0.01, 0.01, True),
        (ALL, 0.01, 0.011, False),
        (LAST, 0.01, 0.01, False),
        (NONE, 0.99, 1.0, True),
    ],
    ids=["no event", "event", "event too rare", "event cut off", "runs enough"],
)
def test_what_decides_a_setting(event, allowed, exact_event, decided):
    """Three runs and one that was cut off say nothing about a rate of 1 %, but they do about one of 99 %."""
    found = one_of(1e6, event=event, allowed=allowed, exact_event=exact_event)
    assert found.is_decided is decided


def test_failures_are_counted_inside_the_event_and_outside():
    """At zero loss; failed in the event; failed outside; cut off in the event."""
    ends = [RunStatus.CONVERGED, RunStatus.STALLED, RunStatus.STALLED, RunStatus.BUDGET_SPENT]
    runs = four(status=(slice(None), ends), loss=(slice(1, 4), 1.0))
    row = case(runs, event=np.array([True, True, False, True])).row()
    counted = ("failures", "failures_inside_the_event", "outside_the_event")
    assert [row[name] for name in counted] == [2, 1, 1]


INSIDE = np.array([True, True, False, True])


def in_and_out(**more):
    """Run 0 and run 3 are in the event and at zero loss, run 1 is only in the event, run 2 only at zero loss."""
    runs = four(status=(1, RunStatus.STALLED), loss=(1, 1.0))
    return dataclasses.replace(case(runs, event=INSIDE, allowed=0.99), **more)


def test_times_and_signs_are_asked_inside_the_event_at_zero_loss():
    parts = {each.name: each for each in evidence(rate_parts([in_and_out()], "share", "signs")).parts}
    assert (parts["in time inside the events"].cases, parts["signs inside the events"].cases) == (2, 2)
    assert parts["signs inside the events"].kept is True
    wrong = in_and_out(right=np.array([False, True, True, True]))
    assert part(evidence(rate_parts([wrong], "share", "signs")), "signs").kept is False


def test_one_setting_with_a_time_is_enough_to_ask_for_it():
    names = [each.name for each in judged(in_and_out(), in_and_out(timed=False)).parts]
    assert "in time inside the events" in names
    assert "in time inside the events" not in [each.name for each in judged(in_and_out(timed=False)).parts]


def test_the_smallest_rate_is_promised():
    first, second = (case(four(), allowed=allowed) for allowed in (0.99, 0.5))
    assert judged(first, second).parts[0].promised == 0.5
    assert judged().parts[0].promised == 1


def test_one_setting_that_is_not_decided_leaves_it_open():
    few = case(four(), event=NONE, allowed=0.01)
    assert part(judged(case(four(), allowed=0.99), few), "every setting has").kept is None
    assert part(judged(*[case(four(), allowed=0.99)] * 2), "every setting has").kept is True


@pytest.mark.parametrize(
    ("rates", "needed"),
    [((), 0), ((0.5,), 5), ((0.05,), 59), ((0.5, 0.05), 59), ((0.92,), 2), ((1.05,), 0), ((0.0,), 0), ((-0.05,), 0)],
)
def test_how_many_runs_the_smallest_rate_needs(rates, needed):
    """(1 − δ)^n ≤ 5 %; a rate that is no probability needs none."""
    assert rate_details([case(four(), allowed=rate) for rate in rates])["runs_needed"] == needed


def test_outside_an_event_of_counts_or_of_sizes():
    """1 − ¾(1 − p): both have to happen, and they are independent. At k = 2 eight fits lie within 4√2 deviations."""
    assert large_start_probability(2) == pytest.approx(8 * math.erfc(4), rel=1e-6)
    asked = []
    found = event_failure(2, lambda k: asked.append(k) or Fraction(3, 4))
    assert asked == [2]
    assert found - 0.25 == pytest.approx(0.75 * large_start_probability(2), rel=1e-6)


@pytest.mark.parametrize(("slack", "is_nearer"), [(0.05, False), (-0.05, True)])
def test_a_hypothesis_without_a_distance_counts_as_0(slack, is_nearer):
    def having(distance):
        return Hypothesis(key="a", name="a", required="≤ 3", actual=1.0, slack=distance, met=True)

    (found,) = nearest([[having(None)], [having(slack)]])
    assert (found.slack == slack) is is_nearer


def test_no_case_decides_nothing():
    assert judged().conclusion is None


def test_the_nearest_hypothesis_is_shown():
    rows = [[at_most("a", "a", value, 3)] for value in (1, 4, 2)]
    assert [each.actual for each in nearest(rows)] == [4]
    assert [each.actual for each in nearest([rows[0], rows[2]])] == [2]
    assert nearest([]) == []


def test_parts_are_found_by_their_words(many):
    assert part(judged(case(many)), "zero loss").cases == many.n_runs
