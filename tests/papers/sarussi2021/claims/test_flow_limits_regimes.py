"""Theorem 6.2 on altered records of a path whose limit is known: its regime, its first step and its direction."""

import functools

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.papers.records import altered
from tests.papers.sarussi2021.inputs import handed, looks_read, promised
from tests.papers.sarussi2021.paths import toy_path
from tests.papers.sarussi2021.toys import flow_runs
from widenet.claims.base import Verdict
from widenet.diagnostics.homogeneous_margins import smoothed_margin
from widenet.papers.sarussi2021.claims import flow_limits
from widenet.papers.sarussi2021.claims.flow_limits import (
    corollary_6_2,
    theorem_6_1,
    theorem_6_2_direction,
    theorem_6_2_first_step,
    theorem_6_2_region,
)
from widenet.papers.sarussi2021.claims.paths import Paths
from widenet.papers.sarussi2021.runs.flows import READINGS

REGIMES = (theorem_6_2_region, theorem_6_2_first_step, theorem_6_2_direction)


def test_which_looks_the_direction_reads():
    read = looks_read(theorem_6_2_direction, toy_path())
    assert read.pop("it never exceeds it") == {reading for reading in READINGS if reading >= 20}
    assert all(looks == set(READINGS) for looks in read.values())


def far_by(share):
    """A third point that makes √k·αvR_x this share of the largest smoothed margin, and is no support vector."""
    course = next(toy_path().each())
    best = float(smoothed_margin(course.margins, course.norms).max())
    reach = share * best / (3**0.5 / 3 * 0.4)
    return flow_runs(far_point=reach / 5**0.5)


@pytest.mark.parametrize("claim", REGIMES, ids=lambda claim: claim.name)
def test_the_edge_of_the_margin_hypothesis(claim):
    for share, met in ((0.999, True), (1.001, False)):
        assert {h.key: h.met for h in claim([far_by(share)]).hypotheses}["smoothed_margin"] is met


@pytest.mark.parametrize("number", range(4))
def test_a_point_on_which_neurons_disagree_is_not_right(number):
    name = list(SIDES)[number]
    undecided = {field: np.where(value == toy_signs(field), value, 0.0) for field, value in SIDES[name].items()}
    found = theorem_6_2_region([altered(toy_path(), **undecided)])
    assert broken_in(found) == [name]


def toy_signs(field):
    return getattr(toy_path(), field)


@functools.cache
def toy_margin():
    return float(Paths.join([toy_path()]).beta[0])


def test_the_first_step_does_not_need_it():
    found = theorem_6_2_first_step([altered(toy_path(), critical=np.array([9.0]))])
    assert found.verdict is Verdict.HOLDS
    assert found.runs.outside == 0


def with_critical(share):
    return altered(toy_path(), critical=np.array([share * toy_margin()]))


def test_every_run_that_meets_them_is_judged_and_the_nearest_shown():
    for cells in ([toy_path(), with_critical(0.999)], [with_critical(0.999), toy_path()]):
        found = theorem_6_2_region(cells)
        assert found.parts[0].n_cases == 2 * theorem_6_2_region([toy_path()]).parts[0].n_cases
        assert {h.key: h.actual for h in found.hypotheses}["critical_margin"] == pytest.approx(0.999 * toy_margin())


def test_where_none_does_the_run_that_is_least_short_is_shown():
    """One is far below the margin of Assumption 3, the other a little beyond the β of Assumption 4."""
    for cells in ([flow_runs(far_point=True), with_critical(1.001)], [with_critical(1.001), flow_runs(far_point=True)]):
        found = theorem_6_2_region(cells)
        assert [h.key for h in found.hypotheses if not h.met] == ["critical_margin"]
        assert found.runs.outside == 2


def test_runs_outside_are_counted_not_scored():
    both = [toy_path(), flow_runs(far_point=True)]
    found = theorem_6_2_region(both)
    assert found.verdict is Verdict.HOLDS
    assert (found.runs.tried, found.runs.outside) == (2, 1)


def signs(**fields):
    return {name: np.array([values]) for name, values in fields.items()}


SIDES = {
    "plus_on_positive": signs(plus_signs=(-1.0, -1.0)),
    "minus_on_negative": signs(minus_signs=(-1.0, -1.0)),
    "plus_on_negative": signs(plus_signs=(1.0, 1.0)),
    "minus_on_positive": signs(minus_signs=(1.0, 1.0)),
}


@pytest.mark.parametrize("name", list(SIDES)[2:])
def test_the_first_step_says_nothing_about_the_other_sides(name):
    assert theorem_6_2_first_step([altered(toy_path(), **SIDES[name])]).verdict is Verdict.HOLDS


def turned_minus(solutions, degrees=15):
    angle = np.radians(degrees)
    turn_by = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    solution = solutions.copy()
    solution[0, 2:] = turn_by @ solution[0, 2:]
    return solution


def test_both_sides_of_the_direction():
    """Of the means (w̄, ū) at every look; E_0 = γ*‖W_0‖ − ψ_0 with γ* = 0.4·√(3/val)."""
    parts, _ = handed(theorem_6_2_direction, [toy_path()])
    (course,) = toy_path().each()
    means = course.weights.reshape(-1, 2, 3, 2).mean(axis=2).reshape(-1, 4)
    pair, lengths = course.perfect_solution, np.linalg.norm(means.reshape(-1, 2, 2), axis=2)
    cosines = means @ pair / np.linalg.norm(means, axis=1) / np.linalg.norm(pair)
    goal = np.arctan(np.linalg.norm(pair[:2]) / np.linalg.norm(pair[2:]))
    limit, norms = 0.4 * np.sqrt(3 / course.perfect_value), np.linalg.norm(course.weights, axis=(1, 2))
    near = (limit * norms[0] + np.log(np.prod(1 + np.exp(-course.margins[0])) - 1)) / (limit * norms)
    direction, ratio, margin = (parts[name] for name in list(parts)[:3])
    np.testing.assert_allclose(direction.measured, 1 - cosines, atol=1e-12)
    np.testing.assert_allclose(ratio.measured, np.abs(np.arctan(lengths[:, 0] / lengths[:, 1]) - goal), atol=1e-12)
    np.testing.assert_allclose(margin.measured, 1 - course.margins.min(axis=1) / norms / limit, atol=1e-12)
    np.testing.assert_allclose(direction.promised, near, rtol=1e-9)
    np.testing.assert_allclose(margin.promised, near, rtol=1e-9)
    np.testing.assert_allclose(np.cos(ratio.promised), 1 - near, rtol=1e-9)


def margin_short_by(distance):
    """At the first look the margin is farther from its limit than is allowed, by so much."""
    part = promised(theorem_6_2_direction, "margin_limit", [toy_path()])
    goal = Paths.join([toy_path()]).perfect_margin[0] * (1 - part.promised[0] - distance)
    return {"normalized": lambda margins: np.where(np.arange(margins.shape[1]) == 0, goal, margins)}


LONGER = {"perfect_solution": lambda pair: pair * np.array([1.3, 1.3, 1.0, 1.0])}
test_control = controls(
    flow_limits,
    toy_path,
    *((theorem_6_2_region, key, {}, SIDES[key]) for key in SIDES),
    *((theorem_6_2_first_step, key, {}, SIDES[key]) for key in list(SIDES)[:2]),
    (theorem_6_2_direction, "direction", {}, {"perfect_solution": turned_minus}),
    (theorem_6_2_direction, "lengths", {}, LONGER, "direction"),  # what is off in ‖w‖/‖u‖ is off in (w, u)
    (theorem_6_2_direction, "margin_limit", {}, {"share": 1.05}),
    (theorem_6_2_direction, "margin_limit", margin_short_by(5e-8), margin_short_by(5e-7)),
    (theorem_6_2_direction, "largest_margin", {}, {"share": 0.998}),
    *((claim, "agreement", {}, {"disagrees": 1.0}) for claim in REGIMES),
    *((claim, "smoothed_margin", {}, at(lambda: flow_runs(far_point=True))) for claim in REGIMES),
    but=(theorem_6_1, corollary_6_2),
)
