"""What is known of cycles, and when a leap is taken: random lanes against the rules written out in NumPy."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.xord.test_program import drawn as lanes_drawn
from tests.training.xord.test_program import outputs_of, seats_and_lanes
from widenet.data.xord import SET_LABELS
from widenet.training.xord import cycles, program
from widenet.training.xord.cycles import CHECK, FEWEST, LARGEST, LONGEST, MEASURE, SEARCH, Cycle, Rule, Seen
from widenet.training.xord.patterns import GRID
from widenet.training.xord.program import NEVER, _Lanes
from widenet.types import RunStatus

LANES, CHANNELS = 240, 4


@functools.cache
def drawn():
    """(cycle, seen, rule, first, second): lanes in every phase, at and around every limit."""
    draw = np.random.default_rng(1)
    whole = functools.partial(draw.choice, size=LANES)
    first, second = (draw.integers(-8, 9, (CHANNELS, LANES)) / 4 for _ in range(2))
    steps = [draw.integers(-2, 3, (CHANNELS, LANES)) / 4 for _ in range(2)]
    drifts = [np.where(draw.random(LANES) < 0.8, step, step + 0.25) for step in steps]
    limit = whole([0.0, 1.0, 3.0, 7.0, np.inf])
    for at in range(4):  # as large as sums may not be, and a little less
        steps[0][:, at] = steps[1][:, at] = drifts[0][:, at] = drifts[1][:, at] = 0
        steps[0][0, at] = drifts[0][0, at] = 1.0
        first[:, at] = second[:, at] = 0
        first[0, at], limit[at] = LARGEST - 7 - at % 2 / 4, 7
    length = whole([1, 3, 5])
    phase, left = whole([SEARCH, MEASURE, CHECK, CHECK, CHECK]), whole([0, 0, 0, 1])
    phase[:4], left[:4], length[:4] = CHECK, 0, 1
    cycle = (phase, length, first - steps[0], second - steps[1], *drifts, draw.random(LANES) < 0.5)
    matches = draw.integers(0, 40, (LONGEST, LANES))
    for at in np.flatnonzero(draw.random(LANES) < 0.7):
        for own in draw.integers(1, LONGEST + 1, 2):
            matches[own - 1, at] = max(own, FEWEST) - draw.integers(0, 2)
    signs = draw.choice([0.0, 1.0, 2.0], (LONGEST, LANES))
    lowest = whole([-1.0, -0.5, 0.0, 1.0])
    highest = np.where(draw.random(LANES) < 0.8, lowest, lowest + 0.5)
    seen = (signs, matches, left, limit, lowest, highest)
    rule = (draw.random(LANES) < 0.9, length + whole([-1, 0, 1]), whole([0, 4, 5, 100]))
    rule[0][:4], rule[2][:4] = True, 100
    return cycle, seen, rule, first, second


def in_jax():
    cycle, seen, _, first, second = drawn()
    kinds = (np.int32, np.int32, float, float, float, float, bool)
    own = Cycle(*(jnp.asarray(part.astype(kind)) for part, kind in zip(cycle, kinds, strict=True)))
    kinds = (float, np.int32, np.int32, float, float, float)
    told = Seen(*(jnp.asarray(part.astype(kind)) for part, kind in zip(seen, kinds, strict=True)))
    return own, told, jnp.asarray(first), jnp.asarray(second)


def by_hand(at, by_loss):
    """(copies, what begins: a phase or nothing, length, sure) of one lane."""
    cycle, seen, rule, first, second = drawn()
    phase, length, begun, begun_too, drift, drift_too, copied = (part[..., at] for part in cycle)
    _, matches, left, limit, lowest, highest = (part[..., at] for part in seen)
    allowed, since_best, steps_left = (part[at] for part in rule)
    if phase == SEARCH:
        found = [own for own in range(1, LONGEST + 1) if matches[own - 1] >= max(own, FEWEST)]
        return (0, MEASURE, found[0], False) if found and allowed else (0, None, length, False)
    if left != 0:
        return 0, None, length, False
    if phase == MEASURE:
        return 0, CHECK, length, False
    moved, moved_too = first[:, at] - begun, second[:, at] - begun_too
    sure = bool((moved == drift).all() and (moved_too == drift_too).all() and limit >= 1 and allowed)
    count = 0
    if sure and (not by_loss or (copied and lowest == highest < 0 and since_best <= length)):
        count = min(limit, steps_left // length)
        size = np.abs(first[:, at] + count * moved).sum() + np.abs(second[:, at] + count * moved_too).sum()
        count = 0 if size >= LARGEST else int(count)
    return count, CHECK if sure and by_loss and not copied else SEARCH, length, sure


@pytest.mark.parametrize("by_loss", [False, True])
def test_leaps_and_what_begins_after_them(by_loss):
    own, told, first, second = in_jax()
    cycle, seen, rule, *weights = drawn()
    asked = Rule(jnp.asarray(rule[0]), jnp.bool_(by_loss), *(jnp.asarray(part, jnp.int32) for part in rule[1:]))
    moved, moved_too, copies, after, sees = jax.tree.map(
        np.asarray, jax.jit(cycles.leap)(own, told, first, second, asked)
    )
    some = set()
    for at in range(LANES):
        count, begins, length, sure = by_hand(at, by_loss)
        some.add((count > 0, begins))
        drifts = [weights[part][:, at] - cycle[2 + part][:, at] for part in (0, 1)]
        here = [weights[part][:, at] + count * drifts[part] for part in (0, 1)]
        assert copies[at] == count, at
        np.testing.assert_array_equal(moved[:, at], here[0])
        np.testing.assert_array_equal(moved_too[:, at], here[1])
        ends_one = cycle[0][at] != SEARCH and seen[2][at] == 0
        fresh = begins in (MEASURE, CHECK)
        assert after.phase[at] == (cycle[0][at] if begins is None else begins), at
        assert after.length[at] == length
        for part, name in ((0, "first"), (1, "second")):
            kept = getattr(after, name)[:, at]
            np.testing.assert_array_equal(kept, here[part] if fresh else cycle[2 + part][:, at])
            drift = getattr(after, f"drift_{name}")[:, at]
            np.testing.assert_array_equal(drift, drifts[part] if ends_one else cycle[4 + part][:, at])
        assert after.copied[at] == (sure if fresh else cycle[6][at])
        assert sees.left[at] == (length if fresh else seen[2][at])
        news = (np.inf, np.inf, -np.inf) if fresh else [part[at] for part in seen[3:]]
        assert (sees.limit[at], sees.lowest[at], sees.highest[at]) == tuple(news)
        forgets = begins == SEARCH
        np.testing.assert_array_equal(sees.matches[:, at], 0 if forgets else seen[1][:, at])
    np.testing.assert_array_equal(sees.signs, seen[0])
    assert {(True, SEARCH), (False, SEARCH), (False, MEASURE), (False, CHECK), (False, None)} <= some
    if not by_loss:
        np.testing.assert_array_equal(copies[:4], [0, 7, 0, 7])


def test_turns_are_those_of_the_leap():
    own, told, *_ = in_jax()
    starts, over, shortest = cycles.turns(own, told, jnp.asarray(drawn()[2][0]))
    cycle, seen, *_ = drawn()
    expected = [by_hand(at, False) for at in range(LANES)]
    np.testing.assert_array_equal(starts, [each[1] == MEASURE for each in expected])
    np.testing.assert_array_equal(over, (cycle[0] != SEARCH) & (seen[2] == 0))
    begun = np.asarray(starts)
    np.testing.assert_array_equal(shortest[begun], np.array([each[2] for each in expected])[begun])


def test_what_a_leap_does_to_the_lanes():
    """Steps, best steps and, where the loss decides, the best loss go on by as many cycles as were leapt over."""
    seats, lanes = seats_and_lanes()
    own, told, first, second = in_jax()
    fields = {**lanes.__dict__, "first": first, "second": second, "loss": jnp.zeros(LANES)}
    lanes = _Lanes(**{**fields, "best": jnp.ones(LANES), "status": jnp.full(LANES, RunStatus.RUNNING, jnp.int32)})
    for patience in (NEVER, 4):
        arguments = seats, lanes, own, told, jnp.int32(100), jnp.int32(patience)
        rule = program._rule(seats, lanes, *arguments[-2:])
        copies = np.asarray(jax.jit(cycles.leap)(own, told, first, second, rule)[2])
        after, cycle, seen = jax.jit(program._leap)(*arguments)
        assert (copies > 0).any()
        leapt = copies * drawn()[0][1]
        np.testing.assert_array_equal(after.steps, lanes.steps + leapt)
        np.testing.assert_array_equal(after.best_step, lanes.best_step + leapt)
        by_loss = np.where(copies > 0, copies * drawn()[1][5], 0) if patience != NEVER else 0
        np.testing.assert_array_equal(after.best, 1 + by_loss)
        assert cycle.phase.shape == seen.left.shape == (LANES,)


def test_listening_and_forgetting():
    own, told, *_ = in_jax()
    signs, matches, left, *_ = drawn()[1]
    sign = np.random.default_rng(2).choice([0.0, 1.0, 2.0], LANES)
    heard = cycles.listen(told, jnp.asarray(sign))
    np.testing.assert_array_equal(heard.signs, np.vstack([sign, signs[:-1]]))
    np.testing.assert_array_equal(heard.matches, np.where(signs == sign, matches + 1, 0))
    np.testing.assert_array_equal(heard.left, left - 1)
    fresh = np.arange(LANES) % 2 == 0
    cycle, seen = cycles.forget(own, told, jnp.asarray(fresh))
    np.testing.assert_array_equal(cycle.phase, np.where(fresh, SEARCH, drawn()[0][0]))
    np.testing.assert_array_equal(seen.matches, np.where(fresh, 0, matches))
    cycle, seen = cycles.nothing_known(3, 2)
    assert (np.asarray(cycle.phase) == SEARCH).all()
    assert not any(np.asarray(leaf).any() for leaf in jax.tree.leaves((cycle, seen)))
    assert (cycle.first.shape, seen.signs.shape) == ((3, 2), (LONGEST, 2))


def test_what_a_step_of_a_cycle_tells():
    """The copies that every weight, sum, difference and fit allows, and the change of the loss."""
    own, told, first, second = in_jax()
    draw = np.random.default_rng(5)
    fits = [draw.integers(-6, 7, (5, LANES)) / 2 for _ in range(2)]
    losses = [draw.integers(0, 9, LANES) / 2 for _ in range(2)]
    pairs = [(jnp.asarray(part[0]), jnp.asarray(part[1])) for part in (fits, losses)]
    limit, lowest, highest = jax.jit(cycles.see)(own, told, first, second, *pairs)
    (_, _, _, _, drift, drift_too, _), seen, _, one, other = drawn()
    values = np.vstack([one, other, one + other, one - other, fits[0]])
    changes = np.vstack([drift, drift_too, drift + drift_too, drift - drift_too, fits[1] - fits[0]])
    for at in range(LANES):
        least = seen[3][at]
        for value, change in zip(values[:, at], changes[:, at], strict=True):
            if value == 0 and change != 0:
                least = 0
            elif value * change < 0:
                least = min(least, max(np.ceil(-value / change) - 1, 0))
        assert limit[at] == least, at
    slope = losses[1] - losses[0]
    np.testing.assert_array_equal(lowest, np.minimum(seen[4], slope))
    np.testing.assert_array_equal(highest, np.maximum(seen[5], slope))


@pytest.mark.parametrize("checks", [True, False])
def test_what_a_step_tells_about_a_leap(checks):
    """Slacks of the sets that have points, and their margins until all are right, must keep their signs."""
    (seats, lanes), (own, told, *_) = seats_and_lanes(), in_jax()
    if not checks:
        own = Cycle(**{**own.__dict__, "phase": jnp.full(LANES, MEASURE, jnp.int32)})
    listen = jax.jit(program._listening_step)
    moved, heard = jax.tree.map(np.asarray, listen(seats, lanes, own, told, jnp.int32(50), jnp.int32(NEVER)))
    filters, weights, margins, _, lane = lanes_drawn()
    real: Any = (np.abs(filters) < 1e300).all(axis=(1, 2))
    outputs = np.where(real[:, None], moved.outputs.T, 0)
    before = np.where(real[:, None], lane["outputs"], 0)
    signs = ((outputs - before) * np.arange(1, 16)).sum(axis=1)
    np.testing.assert_array_equal(heard.signs[0][real], signs[real])
    if not checks:
        np.testing.assert_array_equal(heard.limit, told.limit)
        np.testing.assert_array_equal(heard.lowest, told.lowest)
        return
    drift = np.stack([np.asarray(own.drift_first).T, np.asarray(own.drift_second).T], axis=2)
    shifted = np.where(real[:, None], [outputs_of(each) for each in filters + drift], 0)
    counts = weights > 0
    unsolved = counts & (moved.zero_error_step < 0)[:, None]
    fits, losses = [], []
    for there in (outputs, shifted):
        slacks = margins - SET_LABELS * there
        both = np.where(counts, slacks, 1), np.where(unsolved, SET_LABELS * there, 1)
        fits.append(jnp.asarray(np.concatenate(both, axis=1).T))
        losses.append(jnp.asarray((weights * np.maximum(slacks, 0)).sum(axis=1)))
    found = jax.jit(cycles.see)(own, told, lanes.first, lanes.second, tuple(fits), tuple(losses))
    for mine, theirs in zip((heard.limit, heard.lowest, heard.highest), found, strict=True):
        np.testing.assert_array_equal(mine[real], np.asarray(theirs)[real])
    assert (heard.limit[real] < np.asarray(told.limit)[real]).any()


def test_below_the_largest_number_the_grid_adds_without_rounding():
    assert LARGEST / GRID == 2.0**53
