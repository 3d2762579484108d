"""Assumption 6.1: gradient flow and SGD arrive at nL < log 2 in time."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import claims_of
from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.toys import EDGES
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import flow_margins
from widenet.papers.sarussi2021.claims.flow_margins import assumption_6_1
from widenet.papers.sarussi2021.formulas import LOG_2, flow_time_bound, update_bound
from widenet.papers.sarussi2021.runs.small_steps import SmallStepFlows, SmallStepSetting, run_small_steps
from widenet.papers.sarussi2021.sources import SmallCloud
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
    assert isinstance(toy_steps(), SmallStepFlows)
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


def with_sgd(**fields):
    """The runs of SGD with other fields."""
    return at(lambda: (toy_steps(), altered(toy_epochs(), **fields)))


LIMITS = np.floor(flow_margins.promised(toy_epochs(), update_bound, LOG_2 / 6)).astype(int)
HITS = np.stack([toy_epochs().hits[:, 0], LIMITS], axis=1)


def exactly(factor):
    return lambda *_: factor * toy_epochs().hits[:, 1]


test_control = controls(
    flow_margins,
    lambda: (toy_steps(), toy_epochs()),
    (assumption_6_1, "printed_level"),
    (assumption_6_1, "flow", {"times": time_limits()}, {"times": (1 + 5e-12) * time_limits()}),
    (assumption_6_1, "sgd", with_sgd(hits=HITS), with_sgd(hits=HITS + 1)),
    (assumption_6_1, "sgd", {"bound": exactly(1)}, {"bound": exactly(1 - 5e-12)}),
    *((assumption_6_1, key, with_sgd(**inside), with_sgd(**outside)) for key, (inside, outside) in EDGES.items()),
    but=tuple(claim for claim in claims_of(flow_margins) if claim is not assumption_6_1),
)
