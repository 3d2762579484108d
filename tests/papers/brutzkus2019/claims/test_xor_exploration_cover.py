"""XOR at the start: the half-planes cover all filters, and every point is active."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import broken_in, lacking_in
from tests.papers.brutzkus2019.claims.xor_edges import deviation_rows, second_outside, wide_runs
from tests.papers.brutzkus2019.claims.xor_toys import altered, solution_start, toy, undecided
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import xor_exploration
from widenet.papers.brutzkus2019.claims.xor_exploration import (
    lemma_3_1,
    lemma_b_2,
    lemma_b_2_as_printed,
    observation_active_at_start,
    observation_half_planes_cover,
)
from widenet.papers.brutzkus2019.runs.xor import trace_xor
from widenet.papers.brutzkus2019.runs.xor_counts import count_filters
from widenet.papers.brutzkus2019.xor_sources import draw_xor_start
from widenet.types import RunStatus


def test_control_active_at_start_from_twice_a_solution():
    evidence = observation_active_at_start([trace_xor(solution_start(2.0))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == 0
    assert evidence.runs.outside == 1


@pytest.mark.parametrize("point", range(4))
def test_control_one_point_at_rest_at_the_start(point):
    sums = {"own_sums": ((0, 0, point), 1.001 * toy("X3").goal), "opposing_sums": ((0, 0, point), 0.0)}
    evidence = observation_active_at_start([altered(toy("X3"), **sums)])
    assert broken_in(evidence) == ["a_i(0) = 1"]


def resting(point, share):
    """X3 with y N(x_i) at this share of 1 at t = 0."""
    sums = {"own_sums": ((0, 0, point), share * toy("X3").goal), "opposing_sums": ((0, 0, point), 0.0)}
    return at(altered(toy("X3"), **sums))


def test_control_active_at_start_of_a_run_that_still_moves():
    evidence = observation_active_at_start([altered(toy("X3"), status=(0, RunStatus.BUDGET_SPENT))])
    assert undecided(evidence) == ["every run ends"]


@pytest.mark.parametrize("sign", [0, 1])
def test_control_cover_with_a_filter_on_the_border(sign):
    """w_0 orthogonal to x_1, or u_0 to x_2."""
    start = draw_xor_start(17, 0.1, 10)
    fits = start.fits.copy()
    fits[3, sign, 5, sign] = 0.0
    evidence = observation_half_planes_cover([count_filters(dataclasses.replace(start, fits=fits))])
    assert evidence.verdict is Verdict.VIOLATED
    assert len(broken_in(evidence)) == 1
    assert broken_in(evidence)[0].startswith("WU"[sign])
    assert evidence.measured == 1


def test_points_at_rest_outside_the_event_are_not_scored():
    sums = {"own_sums": ((0, 1, 2), toy("X3").goal), "opposing_sums": ((0, 1, 2), 0.0)}
    run = altered(second_outside(toy("X3")), **sums)
    assert broken_in(observation_active_at_start([run])) == []


def test_control_cover_asks_for_uniform_directions():
    start = draw_xor_start(17, 0.1, 10)
    leaning = count_filters(dataclasses.replace(start, fits=np.abs(start.fits)))
    assert lacking_in(observation_half_planes_cover([leaning])) == ["uniform_directions"]


def test_a_fit_is_not_rounded_to_zero():
    """Among four million fits (seed 6 at k = 200) one is closer to 0 than half a step of the grid."""
    start = draw_xor_start(2, 0.1, 1)
    fits = start.fits.copy()
    fits[0, 0, 0] = 1e-11, -1e-11
    moved = dataclasses.replace(start, fits=fits)
    assert np.array_equal(np.sign(moved.fits), np.sign(fits))
    assert np.abs(moved.fits - fits).max() < 2.0**-32
    assert moved.in_event.all()
    assert observation_half_planes_cover([count_filters(draw_xor_start(200, 0.1, 5000, 6))]).verdict is Verdict.HOLDS


test_control = controls(
    xor_exploration,
    wide_runs,
    (observation_active_at_start, "grows"),
    (observation_active_at_start, "ends"),
    *deviation_rows(wide_runs(), observation_active_at_start),
    (observation_active_at_start, "first", resting(2, 1 - 1e-9), resting(2, 1.0)),
    (observation_active_at_start, "first", at(wide_runs), at(wide_runs, first_counts=lambda old: old + 1)),
    but=(lemma_3_1, lemma_b_2, lemma_b_2_as_printed, observation_half_planes_cover),
)
