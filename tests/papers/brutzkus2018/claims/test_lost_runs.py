"""Which runs decide nothing, and what the others must show; one run of three is altered, and not the last."""

import dataclasses
import functools

import numpy as np
import pytest

from tests.papers.brutzkus2018.toys import three_points
from widenet.papers.brutzkus2018.claims.convergence import active_before, lost, promised_updates, zero_loss
from widenet.papers.brutzkus2018.runs.recorded_runs import record_runs
from widenet.types import RunStatus


@functools.cache
def three():
    return record_runs([three_points(0.5, 0.25)] * 3)


def with_second(**fields):
    """Three runs, the second with these fields."""
    columns = {name: np.array(getattr(three(), name)) for name in fields}
    for name, value in fields.items():
        columns[name][1] = value
    return dataclasses.replace(three(), **columns)


@pytest.mark.parametrize(
    ("margin", "undecided", "kept"),
    [(1.0, False, True), (1 - 1e-13, False, None), (1 - 5e-12, False, False), (0.5, True, None)],
)
def test_loss_zero_at_the_end(margin, undecided, kept):
    sides = zero_loss(with_second(last_margin=margin), np.array([False, undecided, False]))
    assert sides.kept is kept
    assert sides.promised.tolist() == [0.0] * 3
    assert sides.measured[1] == 1 - margin


@pytest.mark.parametrize(
    ("margin", "blurred", "there", "elsewhere"),
    [
        (1 - 1e-12, False, True, True),
        (1.0, False, None, None),
        (1 + 5e-10, False, None, None),
        (1 + 5e-9, False, False, False),
        (1 + 5e-9, True, None, False),
        (0.5, True, True, True),
    ],
)
def test_only_points_below_margin_one_make_updates(margin, blurred, there, elsewhere):
    """In a blurred run nothing above 1 is broken; beside it everything is."""
    runs = with_second(blurred=blurred)
    first = np.cumsum(runs.updates) - runs.updates
    for run, kept in ((0, elsewhere), (1, there), (2, elsewhere)):
        altered = runs.replace(margins=np.where(np.arange(len(runs.margins)) == first[run], margin, runs.margins))
        assert active_before(altered).kept is kept


@pytest.mark.parametrize(
    ("fields", "is_lost"),
    [
        ({}, False),
        ({"status": RunStatus.DIVERGED}, True),
        ({"status": RunStatus.DIVERGED, "slope": 0.0}, True),
        ({"blurred": True}, True),
        ({"status": RunStatus.BUDGET_SPENT}, False),
        ({"status": RunStatus.STALLED}, True),
        ({"status": RunStatus.STALLED, "step_size": 5e-324, "smallest_output": 5e-324, "slope": 5e-324}, True),
        ({"status": RunStatus.STALLED, "step_size": 0.0}, False),
        ({"status": RunStatus.STALLED, "smallest_output": 0.0}, False),
        ({"status": RunStatus.STALLED, "slope": 0.0}, False),
    ],
)
def test_which_runs_float64_lost(fields, is_lost):
    """A run that stalls is lost only where something positive must have rounded to 0."""
    assert lost(with_second(**fields)).tolist() == [False, is_lost, False]


def test_without_a_separator_nothing_is_promised():
    limits = promised_updates(with_second(smallest_margin=0.2), np.array([3.0, 4.0, 5.0]))
    assert limits.tolist() == [3.0, np.inf, 5.0]
