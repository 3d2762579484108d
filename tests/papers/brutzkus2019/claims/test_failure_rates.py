"""Probability statements: all runs together, every setting alone, and the events of the proof."""

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.control_table import broken_in
from tests.papers.brutzkus2019.claims.networks import altered, part, repeated, some, twenty
from widenet.claims import Verdict
from widenet.claims.conclusion import evidence
from widenet.papers.brutzkus2019.claims.failure_rates import event_failure, often
from widenet.papers.brutzkus2019.formulas import large_start_probability
from widenet.papers.brutzkus2019.hypotheses import XordNetworks
from widenet.types import RunStatus

RATE = 4 * math.exp(-8)


def judged(*networks, event=None, missed: Any = 1e-4, allowed: Any = RATE, steps: Any = 1e6, **more):
    """Settings with these numbers, one of all or one each; the events are those of the start unless given."""
    runs = XordNetworks.join(networks)
    per_cell = (np.resize(np.array(each, float), len(networks)) for each in (missed, allowed, steps))
    numbers = dict(zip(("missed", "allowed", "steps"), per_cell, strict=True))
    inside = runs.axes_explored if event is None else np.asarray(event, bool)
    promise: Any = often(runs, event=inside, quantity="share", **numbers, **more)
    return evidence(promise.parts, details=promise.details())


@pytest.fixture(scope="module")
def many():
    return repeated(twenty(), 2240)


def test_control_a_setting_without_a_run_in_its_event_is_not_carried_by_another(many):
    """2240 runs confirm Proposition E.14 where they are; ten more, none in the event, confirm nothing elsewhere."""
    few = some(twenty(), slice(10))
    assert judged(many).verdict is Verdict.HOLDS
    assert judged(many, few).verdict is Verdict.HOLDS
    nowhere = np.concatenate([many.axes_explored, np.zeros(10, bool)])
    for other in ({"event": nowhere}, {"missed": [1e-4, 0.5]}):
        assert judged(many, few, **other).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_one_setting_that_fails_is_not_carried_by_another(many):
    """Ten failures of ten, in no event: 10 of 2250 in all would not refute an allowed 1 %."""
    lost = altered(some(twenty(), slice(10)), loss=(slice(None), 1e-12))
    event = np.concatenate([many.axes_explored, np.zeros(10, bool)])
    assert broken_in(judged(many, lost, event=event, allowed=0.01)) == ["alone"]


@pytest.mark.parametrize(("failures", "verdict"), [(0, True), (5, None), (9, False)])
def test_a_rate_is_decided_by_exact_limits(many, failures, verdict):
    """9 of 2232: the lower limit is 2.1e-3, above the allowed 1.34e-3."""
    runs = altered(some(many, slice(2232)), loss=(slice(failures), 1e-12))
    found = judged(runs, event=np.arange(2232) >= failures)
    assert found.conclusion is verdict
    assert found.parts[0].kept is verdict


def test_a_run_of_an_event_that_fails_is_enough(many):
    assert broken_in(judged(altered(many, loss=(3, 1e-12)))) == ["zero_loss"]


def test_runs_that_were_cut_off_are_neither(many):
    cut = dataclasses.replace(altered(many, status=(slice(5), 2), loss=(slice(5), 1.0)), max_steps=10)
    found = judged(cut)
    assert found.conclusion is None
    assert found.parts[0].undecided == 5
    assert judged(cut, steps=10.0).conclusion is False


def test_time_counts_where_it_is_promised(many):
    slow = float(many.steps.max()) - 1
    assert "time" in broken_in(judged(many, steps=slow))
    untimed = judged(many, steps=slow, timed=False)
    assert untimed.verdict is Verdict.HOLDS
    assert "time" not in [each.key for each in untimed.parts]


def four(**arrays):
    """Four runs at zero loss after ten steps, some of them altered."""
    return altered(some(twenty(), slice(4)), **{"steps": (slice(None), 10), **arrays})


def one_cut(max_steps=100):
    """Of four runs the last was cut off."""
    runs = four(status=(3, RunStatus.BUDGET_SPENT), loss=(3, 1.0))
    return dataclasses.replace(runs, max_steps=max_steps)


@pytest.mark.parametrize(("allowed", "failures"), [(9.95, 4), (10.0, 1)])
def test_the_last_step_in_time(allowed, failures):
    assert judged(one_cut(), steps=allowed).details["cases"][0]["failures"] == failures


@pytest.mark.parametrize(("allowed", "cut"), [(10.95, 0), (11.0, 1), (11.05, 1)])
def test_a_run_is_cut_where_another_step_was_allowed(allowed, cut):
    assert judged(one_cut(max_steps=10), steps=allowed).parts[0].undecided == cut


NONE, ALL, LAST = np.zeros(4, bool), np.ones(4, bool), np.arange(4) == 3


@pytest.mark.parametrize(
    ("event", "allowed", "missed", "decided"),
    [
        (NONE, 0.01, 0.01, None),
        (ALL, 0.01, 0.01, True),
        (ALL, 0.01, 0.011, None),
        (LAST, 0.01, 0.01, None),
        (NONE, 0.99, 1.0, True),
    ],
    ids=["no event", "event", "event too rare", "event cut off", "runs enough"],
)
def test_what_decides_a_setting(event, allowed, missed, decided):
    """Three runs and one that was cut off say nothing about a rate of 1 %, but they do about one of 99 %."""
    twice = judged(one_cut(), one_cut(), event=[*event, *event], allowed=allowed, missed=missed)
    assert part(twice, "enough").kept is decided


def test_one_setting_that_is_not_decided_leaves_it_open():
    assert part(judged(four(), four(), event=[*ALL, *NONE], allowed=[0.99, 0.01]), "enough").kept is None
    assert part(judged(four(), four(), event=[*ALL, *NONE], allowed=0.99), "enough").kept is True


def test_failures_are_counted_inside_the_event_and_outside():
    """At zero loss; failed in the event; failed outside; cut off in the event."""
    ends = [RunStatus.CONVERGED, RunStatus.STALLED, RunStatus.STALLED, RunStatus.BUDGET_SPENT]
    runs = four(status=(slice(None), ends), loss=(slice(1, 4), 1.0))
    (row,) = judged(runs, event=[True, True, False, True]).details["cases"]
    counted = ("failures", "failures_inside_the_event", "outside_the_event")
    assert [row[name] for name in counted] == [2, 1, 1]


def test_times_and_signs_are_asked_inside_the_event_at_zero_loss():
    """Run 0 and run 3 are in the event and at zero loss, run 1 is only in the event, run 2 only at zero loss."""
    runs, event = four(status=(1, RunStatus.STALLED), loss=(1, 1.0)), [True, True, False, True]
    found = judged(runs, event=event, allowed=0.99, right=ALL, words="signs")
    assert (part(found, "time").n_cases, part(found, "right").n_cases) == (2, 2)
    assert part(found, "right").kept is True
    wrong = judged(runs, event=event, allowed=0.99, right=np.arange(4) > 0, words="signs")
    assert part(wrong, "right").kept is False
    assert part(wrong, "right").name == "signs inside the events"


def test_the_smallest_rate_is_promised():
    assert judged(four(), four(), allowed=[0.99, 0.5]).parts[0].promised == 0.5


def test_settings_are_told_apart_where_there_are_several():
    one, two = ({each.key for each in judged(*[four()] * count).parts} for count in (1, 2))
    assert two - one == {"alone", "enough"}


@pytest.mark.parametrize(("rates", "needed"), [([0.5], 5), ([0.05], 59), ([0.5, 0.05], 59), ([0.92], 2), ([1.0], 0)])
def test_how_many_runs_the_smallest_rate_needs(rates, needed):
    """(1 − δ)^n ≤ 5 %."""
    assert judged(*[four() for _ in rates], allowed=rates).details["runs_needed"] == needed


def test_outside_an_event_of_counts_or_of_sizes():
    """1 − ¾(1 − p): both have to happen, and they are independent. At k = 2 eight fits lie within 4√2 deviations."""
    assert large_start_probability(2) == pytest.approx(8 * math.erfc(4), rel=1e-6)
    asked = []
    found = event_failure(2, lambda k: asked.append(k) or Fraction(3, 4))
    assert asked == [2]
    assert found - 0.25 == pytest.approx(0.75 * large_start_probability(2), rel=1e-6)
