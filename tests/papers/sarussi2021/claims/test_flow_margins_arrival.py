"""Assumption 6.1: gradient flow and SGD arrive at nL < log 2 in time."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_part, every_part_of, hypothesis_edges
from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.toys import EDGES
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import flow_margins
from widenet.papers.sarussi2021.claims.flow_margins import (
    assumption_6_1,
    directions_converge,
    footnote_9,
    limit_is_kkt,
    smoothed_margin_grows,
    smoothed_margin_level,
    smoothed_margin_level_as_printed,
    smoothed_margin_order,
)
from widenet.papers.sarussi2021.formulas import LOG_2, flow_time_bound, update_bound
from widenet.papers.sarussi2021.runs.small_steps import SmallSteps, SmallStepSetting, run_small_steps
from widenet.papers.sarussi2021.settings import SmallCloud
from widenet.progress import silent


@functools.cache
def toy_steps():
    return run_small_steps(
        SmallStepSetting(points=SmallCloud(n_samples=6), deviations=(0.1,), n_runs=2, half_width=2), silent
    )


@functools.cache
def toy_epochs():
    return toys.small_epochs()


def arrival(steps=None, trained=None, **constants):
    return assumption_6_1([steps or toy_steps()], [trained or toy_epochs()], **constants)


def test_small_steps_arrive():
    assert isinstance(toy_steps(), SmallSteps)
    assert (toy_steps().printed_times <= toy_steps().times).all()
    assert arrival().verdict is Verdict.HOLDS


@functools.cache
def time_limits():
    return flow_time_bound(
        toy_steps().separator_norm,
        toy_steps().slope,
        toy_steps().output_weight,
        toy_steps().half_width,
        6,
        toy_steps().start_norm,
        LOG_2 / 6,
    )


@breaks_part(assumption_6_1, "gradient flow: nL < log 2 within the time")
def test_control_a_time_beyond_the_bound():
    return arrival(altered(toy_steps(), times=time_limits())), arrival(
        altered(toy_steps(), times=1.001 * time_limits())
    )


@breaks_part(assumption_6_1, "SGD: nL < log 2 within M(n, log(2)/n) updates")
def test_control_one_update_more_than_the_bound():
    limits = np.floor(flow_margins.promised(toy_epochs(), update_bound, LOG_2 / 6)).astype(int)
    hits = np.stack([toy_epochs().hits[:, 0], limits], axis=1)
    return arrival(trained=altered(toy_epochs(), hits=hits)), arrival(trained=altered(toy_epochs(), hits=hits + 1))


@breaks_part(assumption_6_1, "nL < 1 comes no later")
def test_control_the_printed_level_after_the_true_one():
    return arrival(), arrival(altered(toy_steps(), printed_times=toy_steps().times + 1))


def arrival_of(steps=None, **fields):
    """The fields are those of the runs of SGD; `steps` are those of gradient flow."""
    return arrival(altered(toy_steps(), **(steps or {})), altered(toy_epochs(), **fields))


FAR, NEAR = EDGES["separable"]
test_edges_of_assumption_6_1 = hypothesis_edges(
    assumption_6_1, arrival_of, **EDGES | {"separable": (FAR | {"steps": FAR}, NEAR)}
)


@pytest.mark.parametrize("key", ["separable", "output_weight", "slope_positive", "slope_below_one"])
def test_control_the_hypotheses_of_the_flow(key):
    assert [h.key for h in arrival_of(steps=EDGES[key][1]).hypotheses if not h.met] == [key]


def test_a_flow_that_is_given_up_decides_nothing():
    never = altered(toy_steps(), times=np.full(2, np.nan), printed_times=np.full(2, np.nan))
    assert [part.kept for part in arrival(never).parts] == [None, True, None]


@pytest.mark.parametrize(("spent", "kept"), [(11, None), (12, None), (13, False)])
def test_what_is_given_up_decides_something_beyond_the_bound(spent, kept):
    nothing, twelve = (
        np.full(2, np.nan),
        {"time_bound": lambda *g: np.full(2, 12.0), "bound": lambda *g: np.full(2, 12.0)},
    )
    never = altered(toy_steps(), times=nothing, printed_times=nothing, ended=np.full(2, float(spent)))
    lost = altered(toy_epochs(), hits=lambda h: 0 * h - 1, updates=spent)
    assert [part.kept for part in arrival(never, lost, **twelve).parts] == [kept, kept, None]
    assert arrival(never, lost).runs.unfinished == 4


def test_a_run_that_is_given_up_after_the_bound_breaks_it():
    """And before it decides nothing."""
    limits = flow_margins.promised(toy_epochs(), update_bound, LOG_2 / 6)
    for updates, kept in ((int(limits.max()) + 1, False), (int(limits.min()), None)):
        lost = altered(toy_epochs(), hits=lambda h: np.full_like(h, -1), updates=updates)
        found = arrival(trained=lost)
        assert found.parts[1].kept is kept
        assert found.runs.unfinished == 2


def test_a_flow_that_is_given_up_after_the_bound_breaks_it():
    nothing = np.full(2, np.nan)
    late = altered(toy_steps(), times=nothing, printed_times=nothing, ended=1.001 * time_limits())
    assert arrival(late).parts[0].kept is False


def test_a_start_that_has_the_level_already_counts():
    hits = np.zeros_like(toy_epochs().hits)
    assert arrival(trained=altered(toy_epochs(), hits=hits)).parts[1].kept is True
    assert arrival(trained=altered(toy_epochs(), hits=hits - 1)).parts[1].kept is None


test_every_part_has_a_control = every_part_of(
    flow_margins,
    elsewhere=(
        smoothed_margin_order,
        smoothed_margin_grows,
        smoothed_margin_level,
        smoothed_margin_level_as_printed,
        limit_is_kkt,
        directions_converge,
        footnote_9,
    ),
)
