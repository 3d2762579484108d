"""Probability statements: all runs together, every setting alone, and the events of the proof."""

import dataclasses
import math

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.networks import altered, broken, part, repeated, some, twenty
from widenet.claims import Verdict
from widenet.claims.base import at_most
from widenet.claims.sides import evidence
from widenet.papers.brutzkus2019.claims.rates import Case, nearest, rate_parts

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
    assert broken(found) == ["no setting alone fails more often"]


@pytest.mark.parametrize(("failures", "verdict"), [(0, True), (5, None), (9, False)])
def test_a_rate_is_decided_by_exact_limits(many, failures, verdict):
    """9 of 2232: the lower limit is 2.1e-3, above the allowed 1.34e-3."""
    runs = altered(some(many, slice(2232)), loss=(slice(failures), 1e-12))
    found = judged(case(runs, event=np.arange(2232) >= failures))
    assert found.conclusion is verdict
    assert found.parts[0].kept is verdict


def test_a_run_of_an_event_that_fails_is_enough(many):
    found = judged(case(altered(many, loss=(3, 1e-12))))
    assert broken(found) == ["zero loss inside the events of the proof"]


def test_runs_that_were_cut_off_are_neither(many):
    cut = dataclasses.replace(altered(many, status=(slice(5), 2), loss=(slice(5), 1.0)), max_steps=10)
    found = judged(case(cut))
    assert found.conclusion is None
    assert found.parts[0].undecided == 5
    late = judged(dataclasses.replace(case(cut), allowed_steps=10.0))
    assert late.conclusion is False


def test_time_counts_where_it_is_promised(many):
    slow = dataclasses.replace(case(many), allowed_steps=float(many.steps.max()) - 1)
    assert "in time inside the events" in broken(judged(slow))
    assert judged(dataclasses.replace(slow, timed=False)).verdict is Verdict.HOLDS


def test_no_case_decides_nothing():
    assert judged().conclusion is None


def test_the_nearest_hypothesis_is_shown():
    rows = [[at_most("a", "a", value, 3)] for value in (1, 4, 2)]
    assert [each.actual for each in nearest(rows)] == [4]
    assert [each.actual for each in nearest([rows[0], rows[2]])] == [2]
    assert nearest([]) == []


def test_parts_are_found_by_their_words(many):
    assert part(judged(case(many)), "zero loss").cases == many.n_runs
