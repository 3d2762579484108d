# pyright: reportCallIssue=false, reportOperatorIssue=false
"""One step of the solver that comes to a kink, slides along one or is released, against integration in NumPy."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from widenet.training.flow.kinks import Pattern
from widenet.types import RunStatus

from .test_solver import NEURONS, SLOPE, drawn
from .test_solver_step import STEP, assert_at, begin, derived, field, goes, lengths, start, status, step

INPUTS = drawn(None, False)[3]


def velocity(place, factors, held):
    """`field`, where the neuron `held[0]` slides along the kink of the sample `held[1]`; (velocity, σ' there)."""
    rows, second, passed = field(*place, factors)
    if held is None:
        return (rows, second, passed), np.nan
    neuron, point = held[0], INPUTS[held[1]]
    unit = np.zeros_like(factors)
    unit[held] = 1
    pull = point @ (field(*place, factors + unit)[0] - rows)[neuron]
    towards = point @ rows[neuron]
    rows[neuron] -= towards / (point @ point) * point
    return (rows, second, passed), -towards / pull


def flat(place):
    return np.concatenate([np.ravel(part) for part in place])


def folded(numbers):
    return numbers[: 3 * NEURONS].reshape(NEURONS, 3), numbers[3 * NEURONS : -1], numbers[-1]


def integrated(place, sides, held=None, event=None, length=0.2):
    """(when the event happens, the place then), or the end of the length."""
    factors = np.select([sides > 0, sides < 0], [1, SLOPE], 0)

    happens: Any = lambda _, numbers: event(folded(numbers), factors) if event else 1.0  # noqa: E731
    happens.terminal = True
    path = solve_ivp(
        lambda _, numbers: flat(velocity(folded(numbers), factors, held)[0]), (0, length), flat(place),
        method="DOP853", rtol=1e-12, atol=1e-13, events=[happens],
    )  # fmt: skip
    return path.t[-1], folded(path.y[:, -1])


def to_a_kink(neuron, sample, side, after=0.02):
    """(place, sides) of the start with one neuron moved so near to a kink that it arrives after about this long."""
    rows, outer, passed = start()
    rows, point = rows.copy(), INPUTS[sample]
    rows[neuron] -= (rows[neuron] @ point) / (point @ point) * point
    sides = np.where(rows @ INPUTS.T > 0, 1, -1)
    sides[neuron, sample] = side
    speed = point @ field(rows, outer, passed, np.where(sides > 0, 1, SLOPE))[0][neuron]
    rows[neuron] -= after * speed / (point @ point) * point
    return (rows, outer, passed), sides


def carried(place, sides, held=None, slot=1, **others):
    """The carry of the loop at this place, with this pattern; `held` fills one slot of its neuron."""
    carry = begin(place=place, before=place, reach=np.linalg.norm(place[0], axis=1), **others)
    slots, episodes = (np.full((NEURONS, 2), -1, np.int32) for _ in range(2))
    inverse = np.zeros((NEURONS, 2, 2))
    if held is not None:
        slots[held[0], slot], episodes[held[0], slot] = held[1], 3
        inverse[held[0], slot, slot] = 1 / (INPUTS[held[1]] @ INPUTS[held[1]])
    pattern = Pattern(*(jnp.asarray(part) for part in (sides.astype(np.int8), slots, inverse, episodes)))
    return eqx.tree_at(lambda c: c.own.pattern, carry, pattern)


def is_near(found, place):
    for part, expected in zip(found, place, strict=True):
        np.testing.assert_allclose(part, expected, atol=2e-8)


def length_of(error):
    """Of the step from the start whose error is so many tolerances."""
    return brentq(lambda length: np.log(derived(length, lengths())[1] / error), 0.02, 0.4, xtol=1e-12)


@pytest.mark.parametrize("error", [0.7, 0.95, 1.05, 1.9])
def test_a_step_is_kept_up_to_the_tolerance_and_the_next_one_may_be_shorter(error):
    length = length_of(error)
    after = goes()(begin(solver_step=length))
    assert_at(after.place, derived(length, lengths())[0] if error < 1 else start())
    np.testing.assert_allclose(after.own.solver_step, length * 0.9 * error**-0.2, rtol=1e-7)


@pytest.mark.parametrize(("neuron", "sample", "side"), [(0, 0, 1), (2, 4, -1)])
def test_a_neuron_crosses_a_kink_and_the_step_ends_there(neuron, sample, side):
    """The step would have filled up the clock's."""
    place, sides = to_a_kink(neuron, sample, side)
    when, there = integrated(place, sides, event=lambda moved, _: moved[0][neuron] @ INPUTS[sample])
    assert 0.01 < when < 0.04
    after = goes()(carried(place, sides, into=0.45, solver_step=1.0, tried=7))
    is_near(after.place, there)
    np.testing.assert_allclose(after.into, 0.45 + when, atol=1e-7)
    now = 3 * STEP + float(after.into)
    np.testing.assert_allclose(after.own.report.now.reading, now, rtol=1e-12)
    np.testing.assert_allclose(after.own.report.now.log_time, np.log(np.expm1(float(after.place[2]))), rtol=1e-12)
    np.testing.assert_allclose(after.own.passed, after.place[2], rtol=1e-15)
    crossings = after.own.report.crossings
    assert [int(each) for each in (crossings.count, crossings.neuron, crossings.sample)] == [1, neuron, sample]
    np.testing.assert_allclose([crossings.first, crossings.last], now, rtol=1e-12)
    sides[neuron, sample] *= -1
    np.testing.assert_array_equal(after.own.pattern.sides, sides)
    assert (int(after.number), int(after.tried), status(after)) == (3, 8, RunStatus.RUNNING)
    assert bool(after.solver[0])  # the field has jumped
    assert int(after.own.report.sliding.count) == 0


def test_a_neuron_that_is_led_back_slides_from_there_on():
    place, sides = to_a_kink(0, 2, 1)
    when, there = integrated(place, sides, event=lambda moved, _: moved[0][0] @ INPUTS[2])
    after = goes()(carried(place, sides, solver_step=0.05))
    is_near(after.place, there)
    np.testing.assert_allclose(after.into, when, atol=1e-7)
    np.testing.assert_allclose(after.place[0][0] @ INPUTS[2], 0, atol=1e-15)
    sides[0, 2] = 0
    np.testing.assert_array_equal(after.own.pattern.sides, sides)
    np.testing.assert_array_equal(after.own.pattern.slots, [[2, -1], *[[-1, -1]] * 3])
    sliding = after.own.report.sliding
    np.testing.assert_allclose(sliding.begun[0], 3 * STEP + float(after.into), rtol=1e-12)
    assert [int(each) for each in (sliding.count, sliding.neuron[0], sliding.sample[0])] == [1, 0, 2]
    assert (int(after.own.report.crossings.count), bool(after.solver[0])) == (0, True)


HELD = (3, 2)


def sliding():
    """(place, sides) in which a neuron slides along a kink, and is released after about 0.013."""
    draw = np.random.default_rng(3991)
    rows, outer = draw.normal(size=(NEURONS, 3)), draw.normal(size=NEURONS)
    point = INPUTS[HELD[1]]
    rows[HELD[0]] -= (rows[HELD[0]] @ point) / (point @ point) * point
    sides = np.where(rows @ INPUTS.T > 0, 1, -1)
    sides[HELD] = 0
    return (rows, outer, 0.0), sides


@pytest.mark.parametrize("slot", [0, 1])
def test_a_sliding_neuron_stays_on_its_kink(slot):
    place, sides = sliding()
    _, there = integrated(place, sides, HELD, length=0.005)
    after = goes()(carried(place, sides, HELD, slot, solver_step=0.005))
    is_near(after.place, there)
    np.testing.assert_allclose(after.place[0][HELD[0]] @ INPUTS[HELD[1]], 0, atol=1e-14)
    np.testing.assert_array_equal(after.own.pattern.sides, sides)
    np.testing.assert_allclose(after.into, 0.005, rtol=1e-12)
    assert (bool(after.solver[0]), np.isnan(after.own.report.sliding.ended).all()) == (False, True)


@pytest.mark.parametrize("slot", [0, 1])
def test_a_sliding_neuron_is_released_to_the_side_whose_slope_is_reached(slot):
    place, sides = sliding()
    when, there = integrated(place, sides, HELD, lambda moved, factors: velocity(moved, factors, HELD)[1] - SLOPE)
    assert 0.01 < when < 0.016
    after = goes()(carried(place, sides, HELD, slot, solver_step=0.02))
    is_near(after.place, there)
    np.testing.assert_allclose(after.into, when, atol=1e-6)
    sides[HELD] = -1
    np.testing.assert_array_equal(after.own.pattern.sides, sides)
    assert (after.own.pattern.slots == -1).all()
    report = after.own.report
    expected = np.where(np.arange(16) == 3, 3 * STEP + float(after.into), np.nan)
    np.testing.assert_allclose(report.sliding.ended, expected, rtol=1e-12)
    assert (int(report.crossings.count), int(report.sliding.count), bool(after.solver[0])) == (0, 0, True)


def test_of_a_rejected_step_nothing_is_taken_where_a_neuron_would_be_released():
    place, sides = sliding()
    after = goes()(carried(place, sides, HELD, solver_step=0.4))
    assert_at(after.place, place)
    np.testing.assert_array_equal(after.own.pattern.sides, sides)
    assert (float(after.into), float(after.own.solver_step) < 0.4) == (0, True)
    assert np.isnan(after.own.report.sliding.ended).all()


def holding(place, sides, held, slopes):
    """The carry of the loop where the first neuron is held by two kinks with these σ', wherever it is."""
    sides[0, held] = 0
    factors, labels = np.select([sides > 0, sides < 0], [1, SLOPE], 0), drawn(None, False)[4]
    outputs = place[1] @ (factors * (place[0] @ INPUTS.T))
    drive = labels / (1 + np.exp(labels * outputs)) / np.log1p(np.exp(-labels * outputs)).sum()
    towards = INPUTS[held] @ ((place[1][0] * drive * factors[0]) @ INPUTS)
    inverse = np.diag(-slopes * place[1][0] * drive[held] / towards)
    slots = np.pad(held, (0, 2 - len(held)), constant_values=-1)
    inverse = np.pad(inverse, (0, 2 - len(held)))
    carry = carried(place, sides, solver_step=0.05)
    pattern = carry.own.pattern
    changed = pattern.slots.at[0].set(jnp.asarray(slots, jnp.int32)), pattern.inverse.at[0].set(jnp.asarray(inverse))
    pattern = eqx.tree_at(lambda pattern: (pattern.slots, pattern.inverse), pattern, changed)
    return eqx.tree_at(lambda c: c.own.pattern, carry, pattern)


def test_a_neuron_that_should_slide_and_has_no_slot_left_ends_the_run():
    """Two slots hold it with the σ' that it would have without them, or nearly so: it moves as it would."""
    place, sides = to_a_kink(0, 2, 1)
    after = goes()(holding(place, sides, [0, 3], np.where(sides[0, [0, 3]] > 0, 0.98, 0.27)))
    assert status(after) == RunStatus.UNRESOLVED
    assert 0.005 < float(after.into) < 0.05
    np.testing.assert_array_equal(after.own.pattern.slots[0], [0, 3])


@pytest.mark.parametrize(("slope", "side"), [(0.24, -1), (1.01, 1)])
def test_a_neuron_that_is_held_with_less_or_more_than_the_slopes_is_released_at_once(slope, side):
    """Along the kink of the very first sample, whose number is 0."""
    place, sides = to_a_kink(0, 0, 1, after=0)
    after = goes()(holding(place, sides, [0], np.array([slope])))
    assert 0 <= float(after.into) < 1e-14
    assert (after.own.pattern.slots == -1).all()
    sides[0, 0] = side
    np.testing.assert_array_equal(after.own.pattern.sides, sides)
    assert bool(after.solver[0])


def test_the_last_slope_of_a_step_is_the_first_of_the_next_one():
    """It is kept with a step that is kept; after one that is rejected, what was known at its beginning still holds."""
    factors = np.where(start()[0] @ INPUTS.T > 0, 1, SLOPE)
    known = tuple(np.asarray(part) for part in field(*start(), factors))
    after = goes()(begin(solver_step=0.05, solver=(np.asarray(False), known)))
    end = derived(0.05, lengths())[0]
    assert_at(after.place, end)
    assert_at(after.solver[1], field(*end, factors))
    again = goes()(begin(solver_step=0.3, solver=(np.asarray(False), known)))
    assert_at(again.place, start())
    assert not again.solver[0]
    assert_at(again.solver[1], known)


def test_neurons_without_error_say_nothing_about_the_step():
    """Nothing moves but the time, whose error alone counts."""
    zero = (np.zeros((NEURONS, 3)), np.zeros(NEURONS), 0.0)
    error = abs(step(*zero, 0.05)[1][2]) / 1e-8
    assert 1e-4 < error < 0.5
    after = goes()(begin(place=zero, before=zero, reach=np.zeros(NEURONS), solver_step=0.05))
    np.testing.assert_allclose(after.own.solver_step, 0.05 * 0.9 * error**-0.2, rtol=1e-7)


def test_one_neuron_that_is_too_long_to_be_measured_is_enough_to_try_again():
    rows, outer, _ = start()
    rows = rows * np.array([1e200, 1, 1, 1])[:, None]
    after = goes()(begin(place=(rows, outer, 0.0), solver_step=0.1))
    np.testing.assert_allclose(after.own.solver_step, 0.02, rtol=1e-12)
    assert_at(after.place, (rows, outer, 0.0))
