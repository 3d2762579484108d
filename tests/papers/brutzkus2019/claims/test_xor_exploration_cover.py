"""XOR at the start: the half-planes cover all filters, and every point is active."""

import dataclasses

import numpy as np
import pytest

from tests.controls import breaks_part, broken_in, every_part_of, hypothesis_edges, lacking_in, part_edges
from tests.papers.brutzkus2019.claims.xor_edges import ENDS, second_outside, shared_edges
from tests.papers.brutzkus2019.claims.xor_toys import altered, toy, undecided
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
from widenet.papers.brutzkus2019.runs.xor_starts import XorCounts, count_filters, draw_xor_start, solution_start
from widenet.types import RunStatus


def halves(half_width, n_runs=1200):
    """Counts of k/2 everywhere."""
    return XorCounts(half_width, np.full((n_runs, 2, 4), half_width // 2), 0.5)


def test_control_active_at_start_from_twice_a_solution():
    evidence = observation_active_at_start([trace_xor(solution_start(2.0))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == 0
    assert evidence.runs.outside == 1


@pytest.mark.parametrize("point", range(4))
def test_control_one_point_at_rest_at_the_start(point):
    sums = {"own_sums": ((0, 0, point), 1.001 * toy("X3").start.goal), "opposing_sums": ((0, 0, point), 0.0)}
    evidence = observation_active_at_start([altered(toy("X3"), **sums)])
    assert broken_in(evidence) == ["a_i(0) = 1"]


def resting(point, share):
    """X3 with y N(x_i) at this share of 1 at t = 0."""
    sums = {"own_sums": ((0, 0, point), share * toy("X3").start.goal), "opposing_sums": ((0, 0, point), 0.0)}
    return observation_active_at_start([altered(toy("X3"), **sums)])


@breaks_part(observation_active_at_start, "a_i(0) = 1")
def test_control_a_point_that_is_just_satisfied_at_the_start():
    return resting(2, 1 - 1e-9), resting(2, 1.0)


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


def covering(**changes):
    counts = halves(16, 10).counts
    for (sign, point), by in changes.pop("less", {}).items():
        counts[3, sign, point] -= by
    return observation_half_planes_cover([dataclasses.replace(halves(16, 10), counts=counts, **changes)])


test_control_cover_part_by_part = part_edges(
    observation_half_planes_cover,
    covering,
    {
        "W_0⁺(1) ∪ W_0⁺(3) is all": ({"less": {(0, 1): 1, (0, 3): 1}}, {"less": {(0, 2): 1}}),
        "U_0⁺(2) ∪ U_0⁺(4) is all": ({"less": {(1, 0): 1, (1, 2): 1}}, {"less": {(1, 3): 1}}),
    },
)


test_control_cover_at_its_edge = hypothesis_edges(
    observation_half_planes_cover, covering, uniform_directions=({"uniform": 1e-6}, {"uniform": 0.999e-6})
)


def test_control_filters_that_are_counted_twice():
    assert len(broken_in(covering(less={(0, 0): -1}))) == 1
    assert len(broken_in(covering(less={(1, 1): -1}))) == 1


def test_points_at_rest_outside_the_event_are_not_scored():
    sums = {"own_sums": ((0, 1, 2), toy("X3").start.goal), "opposing_sums": ((0, 1, 2), 0.0)}
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


test_control_each_hypothesis_at_its_edge = shared_edges(observation_active_at_start)


test_every_part_has_a_control = every_part_of(
    xor_exploration,
    except_for={
        "observation_active_at_start: a_i never falls (by construction)": "a count of times up to t cannot fall",
        "observation_active_at_start: every run ends": ENDS,
    },
    elsewhere=(lemma_3_1, lemma_b_2, lemma_b_2_as_printed),
)
