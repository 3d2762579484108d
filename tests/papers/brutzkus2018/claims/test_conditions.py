"""The hypotheses of the convergence theorems, each broken in one run of three and not in the last."""

import dataclasses
import functools

import numpy as np
import pytest

from tests.controls import unmet_in
from tests.papers.brutzkus2018.toys import three_points
from widenet.claims.sides import evidence
from widenet.papers.brutzkus2018.claims.conditions import active_before, conditions, lost, promised_updates, zero_loss
from widenet.papers.brutzkus2018.runs.ledgers import keep_ledgers
from widenet.types import RunStatus


@functools.cache
def three():
    return keep_ledgers([three_points(0.5, 0.25)] * 3)


def with_second(**fields):
    """Three runs, the second with these fields."""
    columns = {name: np.array(getattr(three(), name)) for name in fields}
    for name, value in fields.items():
        columns[name][1] = value
    return dataclasses.replace(three(), **columns)


@pytest.mark.parametrize(
    ("key", "field", "inside", "outside"),
    [
        ("separable", "smallest_margin", 1 - 1e-13, 1 - 5e-12),
        ("input_norm", "largest_input", 1 + 1e-13, 1 + 5e-12),
        ("row_norm", "relative_row", 1 + 1e-13, 1 + 5e-12),
        ("labels", "label_error", 0.0, 1e-15),
        ("output_weight", "smallest_output", 1e-15, 0.0),
        ("equal_outputs", "output_spread", 0.0, 1e-15),
        ("slope_positive", "slope", 1e-15, 0.0),
        ("derivative_above_slope", "at_zero", 0.5, 0.5 - 1e-15),
        ("derivative_at_zero", "at_zero", 1.0, 1 + 1e-15),
        ("step_size", "step_size", 1e-15, 0.0),
    ],
)
def test_each_hypothesis_at_its_edge(key, field, inside, outside):
    assert not unmet_in(judged(conditions(with_second(**{field: inside}))))
    assert unmet_in(judged(conditions(with_second(**{field: outside})))) == [key]


def judged(hypotheses):
    return evidence({"loss 0": zero_loss(three(), np.zeros(3, bool))}, hypotheses)


def test_a_slope_of_one_is_not_leaky():
    for slope, keys in ((1 - 1e-15, []), (1.0, ["slope_below_one"])):
        assert unmet_in(judged(conditions(with_second(slope=slope, at_zero=1.0)))) == keys


@pytest.mark.parametrize(
    ("margin", "undecided", "kept"),
    [(1.0, False, True), (1 - 1e-13, False, True), (1 - 5e-12, False, False), (0.5, True, None)],
)
def test_loss_zero_at_the_end(margin, undecided, kept):
    sides = zero_loss(with_second(last_margin=margin), np.array([False, undecided, False]))
    assert sides.kept is kept
    assert sides.promised.tolist() == [0.0] * 3
    assert sides.measured[1] == 1 - margin


@pytest.mark.parametrize(
    ("margin", "blurred", "kept"),
    [
        (1 - 1e-12, False, True),
        (1.0, False, None),
        (1 + 5e-10, False, None),
        (1 + 5e-9, False, False),
        (1 + 5e-9, True, None),
        (0.5, True, True),
    ],
)
def test_only_points_below_margin_one_make_updates(margin, blurred, kept):
    """Beside one blurred run of three nothing above 1 is broken."""
    assert active_before(with_second(margins=margin, blurred=blurred)).kept is kept


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
