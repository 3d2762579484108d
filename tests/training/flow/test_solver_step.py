"""One step of the solver as a course takes it, against NumPy: what is kept, and how long the next one is."""

import functools
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import LossClock
from widenet.types import Layers, RunStatus

from .test_solver import NEURONS, SAMPLES, SLOPE, course, drawn

STEP, TOLERANCE, MOST = 0.5, 1e-8, 100
"""As `course` has them."""


@functools.cache
def asked():
    return course(layers=Layers.BOTH, clock=LossClock(STEP))


@functools.cache
def goes():
    return jax.jit(asked()._go)


def begin(**changed):
    """The carry of the loop before its first turn, with some numbers of it changed."""
    carry = asked()._begin()
    own = {name: changed.pop(name) for name in ("solver_step", "reach") if name in changed}
    for name, value in own.items():
        carry = eqx.tree_at(lambda c, name=name: getattr(c.own, name), carry, jnp.asarray(value, float))
    for name, value in changed.items():
        old = getattr(carry, name)
        new = jax.tree.map(lambda leaf, part: jnp.asarray(part, leaf.dtype), old, value)
        carry = eqx.tree_at(lambda c, name=name: getattr(c, name), carry, new)
    return carry


def field(rows, second, passed, factors):
    """−∇ log L by the rows and the output weights, and d log(1 + t)/du, on the sides that `factors` say."""
    *_, inputs, labels = drawn(None, False)
    hidden = factors * (rows @ inputs.T)
    outputs = second @ hidden
    losses = np.log1p(np.exp(-labels * outputs))
    drive = labels / (1 + np.exp(labels * outputs)) / SAMPLES / losses.mean()
    return (second[:, None] * factors * drive) @ inputs, hidden @ drive, np.exp(-passed) / losses.mean()


def step(rows, second, passed, length):
    """(the end of one step of Tsitouras' method, its error, its first slopes), each by rows, outputs, log(1 + t)."""
    table: Any = diffrax.Tsit5.tableau
    factors = np.where(rows @ drawn(None, False)[3].T > 0, 1, SLOPE)
    start, slopes = (rows, second, np.asarray(passed)), []
    for weights in [[], *table.a_lower]:
        moved = [
            part + length * sum(w * k[i] for w, k in zip(weights, slopes, strict=True)) for i, part in enumerate(start)
        ]
        slopes.append(field(moved[0], moved[1], moved[2], factors))
    total = [length * sum(w * k[i] for w, k in zip(table.b_sol, slopes, strict=True)) for i in range(3)]
    gap = [length * sum(w * k[i] for w, k in zip(table.b_error, slopes, strict=True)) for i in range(3)]
    return [part + more for part, more in zip(start, total, strict=True)], gap, slopes[0]


def norms(place):
    return np.sqrt((place[0] ** 2).sum(axis=1) + place[1] ** 2)


def start():
    rows, outer, *_ = drawn(None, False)
    return rows, outer, 0.0


def derived(length, reach):
    """(the end, the error in units of the tolerance) of a step from the start."""
    end, gap, _ = step(*start(), length)
    scale = np.maximum(np.maximum(norms(start()), norms(end)), 1e-3 * reach)
    return end, max((norms(gap) / scale).max(), abs(gap[2])) / TOLERANCE


def lengths():
    return np.linalg.norm(start()[0], axis=1)


def assert_at(found, place):
    for part, expected in zip(found, place, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-14)


def status(carry):
    return int(carry.own.report.status)


@pytest.mark.parametrize(("length", "grows"), [(0.01, 5), (0.05, None), (0.1, None)])
def test_a_step_within_the_tolerance_is_kept_and_the_next_one_is_as_long_as_its_error_allows(length, grows):
    end, error = derived(length, lengths())
    assert error < 1
    after = goes()(begin(solver_step=length))
    assert_at(after.place, end)
    np.testing.assert_allclose(after.own.solver_step, length * (grows or 0.9 * error**-0.2), rtol=1e-7)
    np.testing.assert_allclose(after.own.reach, np.maximum(lengths(), np.linalg.norm(end[0], axis=1)), rtol=1e-12)
    np.testing.assert_allclose(after.own.passed, end[2], rtol=1e-12)
    now = after.own.report.now
    np.testing.assert_allclose([after.into, now.reading], [length, 3 * STEP + length], rtol=1e-12)
    np.testing.assert_allclose(now.log_time, np.log(np.expm1(end[2])), rtol=1e-12)
    assert (int(after.number), int(after.tried), int(after.own.report.solver_steps)) == (3, 1, 1)
    assert (status(after), int(after.tally.updates), bool(after.solver[0])) == (RunStatus.RUNNING, 0, False)
    # What a step of the clock began with is kept until it ends.
    assert_at(after.before, start())


@pytest.mark.parametrize(("length", "shrinks"), [(0.2, None), (0.3, None), (0.5, 0.2)])
def test_a_step_beyond_the_tolerance_is_tried_again_shorter(length, shrinks):
    error = derived(length, lengths())[1]
    assert error > 1
    after = goes()(begin(solver_step=length))
    assert_at(after.place, start())
    np.testing.assert_allclose(after.own.solver_step, length * (shrinks or 0.9 * error**-0.2), rtol=1e-7)
    np.testing.assert_allclose(after.own.reach, lengths(), rtol=1e-15)
    assert (float(after.into), int(after.number), int(after.tried)) == (0, 3, 1)
    assert float(after.own.report.now.reading) == 3 * STEP
    assert (status(after), int(after.own.report.solver_steps)) == (RunStatus.RUNNING, 1)
    assert bool(after.solver[0])  # nothing was computed yet that could be used again


def test_a_neuron_that_has_shrunk_is_resolved_relative_to_a_thousandth_of_what_it_was():
    for factor in (1e3, 2e3, 1e9):
        error = derived(0.2, factor * lengths())[1]
        after = goes()(begin(solver_step=0.2, reach=factor * lengths()))
        np.testing.assert_allclose(after.own.solver_step, 0.2 * 0.9 * error**-0.2, rtol=1e-7)
    # The time that has passed has a tolerance of its own.
    np.testing.assert_allclose(error, abs(step(*start(), 0.2)[1][2]) / TOLERANCE, rtol=1e-12)


def test_what_is_not_finite_is_tried_again_five_times_as_short():
    rows, outer, _ = start()
    after = goes()(begin(solver_step=0.1, place=(1e200 * rows, outer, 0.0)))
    np.testing.assert_allclose(after.own.solver_step, 0.02, rtol=1e-12)
    assert_at(after.place, (1e200 * rows, outer, 0.0))
    assert status(after) == RunStatus.RUNNING


@pytest.mark.parametrize(("before", "next_one"), [(0.2, 0.2), (0.06, None)])
def test_a_step_that_fills_up_the_clocks_ends_it_and_says_nothing_about_how_long_steps_may_be(before, next_one):
    end, error = derived(0.05, lengths())
    after = goes()(begin(solver_step=before, into=0.45, tried=7, outputs=np.array([1.0, -1, -1, 0, 2])))
    assert_at(after.place, end)
    assert_at(after.before, end)
    np.testing.assert_allclose(after.own.solver_step, next_one or 0.05 * 0.9 * error**-0.2, rtol=1e-7)
    assert (float(after.into), int(after.number), int(after.tried)) == (0, 4, 0)
    np.testing.assert_allclose(after.own.report.now.reading, 4 * STEP, rtol=1e-12)
    inputs = drawn(None, False)[3]
    z = end[0] @ inputs.T
    np.testing.assert_allclose(after.outputs, end[1] @ (np.where(z > 0, 1, SLOPE) * z), rtol=1e-12)
    # Counted is what was wrong, or 0, at the beginning.
    assert [int(each) for each in jax.tree.leaves(after.tally)] == [1, 3, 4]


@pytest.mark.parametrize(("short_of", "ends"), [(0.98e-9, True), (1.02e-9, False)])
def test_a_step_that_nearly_fills_up_the_clocks_does(short_of, ends):
    after = goes()(begin(solver_step=0.05 * (1 - short_of), into=0.45))
    assert int(after.number) == (4 if ends else 3)


def test_a_step_that_moves_no_weight_is_no_update():
    zero = (np.zeros_like(start()[0]), np.zeros(NEURONS), 0.0)
    after = goes()(begin(place=zero, before=zero, into=0.499, solver_step=1.0))
    assert (int(after.number), int(after.tally.updates), int(after.tally.last_update)) == (4, 0, 0)
    moved = (zero[0], np.eye(NEURONS)[2], 0.0)
    for before, place in ((zero, moved), (moved, zero)):  # one number is enough
        after = goes()(begin(place=place, before=before, into=0.499, solver_step=1.0))
        assert (int(after.number), int(after.tally.updates), int(after.tally.last_update)) == (4, 1, 4)


def test_too_many_steps_of_the_solver_leave_a_run_unresolved():
    for tried, into, expected in (
        (MOST - 1, 0.0, RunStatus.RUNNING),
        (MOST, 0.0, RunStatus.UNRESOLVED),
        (MOST, 0.45, RunStatus.RUNNING),  # the last one reached the end
    ):
        assert status(goes()(begin(solver_step=0.05, tried=tried, into=into))) == expected


HURRIED = -100.0
"""log(1 + t) that no run has: there the time passes so quickly that its error is too large for every step."""


@pytest.mark.parametrize("number", [0, 1 << 26])
def test_where_steps_get_too_short_for_the_clock_a_run_is_unresolved(number):
    shortest = 1e-14 * max(number * STEP, 1e-14 * STEP)
    for factor, expected in ((0.98, RunStatus.UNRESOLVED), (1.02, RunStatus.RUNNING)):
        length = 5 * factor * shortest
        after = goes()(begin(place=(*start()[:2], HURRIED), number=number, solver_step=length))
        np.testing.assert_allclose(after.own.solver_step, length / 5, rtol=1e-12)
        assert status(after) == expected


def test_where_the_shortest_step_moves_the_weights_they_blow_up():
    rows, outer, _ = start()
    first = step(rows, outer, HURRIED, 0.0)[2]
    most = 1e-6 * np.sqrt((rows**2).sum() + (outer**2).sum()) / np.sqrt((first[0] ** 2).sum() + (first[1] ** 2).sum())
    for factor, expected in ((0.98, RunStatus.UNRESOLVED), (1.02, RunStatus.DIVERGED)):
        after = goes()(begin(place=(rows, outer, HURRIED), number=1 << 30, solver_step=factor * most))
        assert status(after) == expected
    lost = goes()(begin(place=(np.nan * rows, outer, 0.0), number=1 << 30, solver_step=most))
    assert status(lost) == RunStatus.DIVERGED


def release(monkeypatch, rooms, found=(1.0, -1, False), length=2.0):
    """(share, place, whether it is a slot) where the first of these rooms, of 4 neurons with 2 slots, is below 0.

    `rooms` tells what is left at a reading of the clock, which begins at 3 here; all others are empty slots.
    """
    asked = course()
    monkeypatch.setattr(asked, "pulls", lambda place, reading, frozen: (reading, None, None, None))

    def room_of(reading, *_):
        left = jnp.full(NEURONS * 2, jnp.inf)
        for place, room in rooms.items():
            left = left.at[place].set(room(reading - 3))
        return left.reshape(NEURONS, 2)

    monkeypatch.setattr("widenet.training.flow.solver.slot_room", room_of)
    pattern, before = asked._begin().own.pattern, (jnp.asarray(found[0]), jnp.int32(found[1]), jnp.asarray(found[2]))
    reading, step_length = jnp.asarray(3.0), jnp.asarray(length)
    frozen: Any = asked.frozen(pattern)
    share, spot, at_slot = asked._first_release(
        lambda share: None,
        reading,
        step_length,
        pattern,
        frozen,
        before,
    )
    return float(share), int(spot), bool(at_slot)


def test_the_first_slot_that_comes_free_is_found(monkeypatch):
    """Slot 5 at the reading 0.7 of two, slot 2 at 1.2; both have little room before, less than 1."""
    rooms = {2: lambda u: 1.2 - u, 5: lambda u: 0.7 - u}
    share, spot, at_slot = release(monkeypatch, rooms)
    assert 0.35 - 1e-14 < share <= 0.35
    assert (spot, at_slot) == (5, True)
    share, spot, _ = release(monkeypatch, {2: rooms[2]})
    assert 0.6 - 1e-14 < share <= 0.6
    assert spot == 2


def test_what_was_found_before_a_slot_comes_free_stays(monkeypatch):
    rooms = {2: lambda u: 1.2 - u, 5: lambda u: 0.7 - u}
    assert release(monkeypatch, rooms, (0.3, 11, False)) == (0.3, 11, False)
    assert release(monkeypatch, {1: lambda u: 0 * u}) == (1.0, -1, False)  # exactly 0 is not yet free
    share, spot, at_slot = release(monkeypatch, rooms, (0.5, 11, False))
    assert 0.35 - 1e-14 < share <= 0.35
    assert (spot, at_slot) == (5, True)


def test_a_slot_that_is_free_at_once_and_one_that_is_free_for_a_while(monkeypatch):
    share, spot, _ = release(monkeypatch, {0: lambda u: -1e-9 + 0 * u})
    assert 0 <= share < 1e-14
    assert spot == 0
    # Free between the readings 0.8 and 1.2: seen in the middle of the step.
    share, spot, _ = release(monkeypatch, {7: lambda u: (u - 0.8) * (u - 1.2)})
    assert 0.4 - 1e-14 < share <= 0.4
    assert spot == 7


def test_a_short_step_that_is_kept_goes_on():
    """Only a step that was rejected says that none is short enough."""
    after = goes()(begin(number=1 << 30, solver_step=1e-7))
    np.testing.assert_allclose(after.own.solver_step, 5e-7, rtol=1e-12)
    assert status(after) == RunStatus.RUNNING
