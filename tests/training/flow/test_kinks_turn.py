"""What a neuron does at the end of its pattern, on random cases, against the rules written out in NumPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training.flow.kinks import NEAR, ROUNDING, Kinks, Pattern, kinks_of, slot_room, turn
from widenet.types import Dataset

SLOPE, CASES, NEURONS, SLOTS = 0.25, 400, 3, 2
# The third is −2 times the first, the fifth 3 times the fourth, the sixth is 0; the others are in general position.
INPUTS = np.array([[1.0, 0, 1], [0, 1, 0], [-2, 0, -2], [1, 1, -1], [3, 3, -3], [0, 0, 0], [0.5, -1, 0.25], [0, 2, 0]])
FIRST, RATIO = np.array([0, 1, 0, 3, 3, 5, 6, 1]), np.array([1.0, 1, -2, 1, 3, 0, 1, 2])
NORMS = np.linalg.norm(INPUTS, axis=1)
NAMES = np.array([0, 1, 3, 6])


def inverse_of(slots):
    normals = np.where(np.asarray(slots)[:, None] >= 0, INPUTS[np.maximum(slots, 0)], 0)
    return normals, np.linalg.pinv(normals @ normals.T, rcond=1e-12, hermitian=True)


@functools.cache
def cases():
    """Rows on and beside kinks, sides, up to two kinks that the neuron slides along, pulls, and where it ends."""
    draw = np.random.default_rng(0)
    found = []
    while len(found) < CASES:
        held = draw.choice(NAMES, draw.integers(0, SLOTS + 1), replace=False)
        slots = np.full(SLOTS, -1)
        slots[draw.permutation(SLOTS)[: len(held)]] = held
        side = draw.choice([-1, 1], len(INPUTS))
        sides = side[FIRST] * np.where(RATIO < 0, -1, 1)
        sides[np.isin(FIRST, held)] = 0
        samples = np.flatnonzero((sides != 0) & (NORMS > 0))
        place = draw.choice([*samples, *(len(INPUTS) + np.flatnonzero(slots >= 0))])
        on = [*held, *([place] if place < len(INPUTS) else [])]
        on += list(draw.choice(NAMES, 1)) if draw.random() < 0.3 else []
        row = draw.normal(size=3) * 10.0 ** draw.integers(-1, 2)
        normals = INPUTS[on]
        row = row - normals.T @ np.linalg.pinv(normals @ normals.T) @ normals @ row + draw.choice([0, 1e-7, 1e-14])
        pulls = draw.normal(size=len(INPUTS)) * draw.choice([0.2, 1, 4], len(INPUTS))
        found.append((row, pulls, place, sides, slots, draw.choice([1.0, 1e3])))
    return [np.stack(part) for part in zip(*found, strict=True)]


def by_hand(row, pulls, place, sides, slots, scale):
    """(row, sides, slots, crossed, slid, released, corner, full) after the turn."""
    normals, inverse = inverse_of(slots)

    def base(sides):
        return (pulls * np.select([sides > 0, sides < 0], [1, SLOPE], 0)) @ INPUTS

    def speeds(sides):
        return INPUTS @ (base(sides) - normals.T @ inverse @ normals @ base(sides))

    def onto(row, slots):
        normals, inverse = inverse_of(slots)
        return row - normals.T @ inverse @ normals @ row

    sides, slots, at_slot = sides.copy(), slots.copy(), place >= len(INPUTS)
    name = slots[place - len(INPUTS)] if at_slot else FIRST[place]
    group = name == FIRST
    if at_slot:
        push, (plus, minus) = (-inverse @ normals @ base(sides))[place - len(INPUTS)], extremes(pulls, name)
        up = 1 if push - plus < minus - push else -1
        row = onto(row, slots)
        sides[group], slots[place - len(INPUTS)] = up * np.sign(RATIO[group]), -1
        return row, sides, slots, False, False, True, False, False
    leaving = (sides * speeds(sides) < 0) & (sides != 0) & (NORMS > 0)
    taken = slots.copy()
    if (slots < 0).any():
        taken[np.argmax(slots < 0)] = name
    if not (leaving & group).any():
        return onto(row, taken), sides, slots, False, False, False, False, False
    many = group | (leaving & (np.abs(INPUTS @ row) <= NEAR * NORMS * scale))
    corner = bool((many & ~group).any())
    for those in (many, group):
        over = np.where(those, -sides, sides)
        if (over * speeds(over) >= 0)[those].all():
            return onto(row, slots), over, slots, True, False, False, corner, False
    if not (slots < 0).any():
        return onto(row, slots), sides, slots, False, False, False, corner, True
    sides[group] = 0
    return onto(row, taken), sides, taken, False, True, False, corner, False


def extremes(pulls, name):
    """What the samples of a kink push with on its positive and on its negative side."""
    group = name == FIRST
    return tuple((pulls * np.where(RATIO * sign > 0, 1, SLOPE) * RATIO)[group].sum() for sign in (1, -1))


@functools.cache
def found():
    row, pulls, place, sides, slots, scale = cases()
    neurons = np.arange(CASES) % NEURONS
    others = np.random.default_rng(1)
    all_sides = others.choice([-1, 1], (CASES, NEURONS, len(INPUTS))).astype(np.int8)
    all_slots, numbers = np.full((CASES, NEURONS, SLOTS), -1, np.int32), np.full((CASES, NEURONS, SLOTS), -1, np.int32)
    inverses = np.zeros((CASES, NEURONS, SLOTS, SLOTS))
    for case, neuron in enumerate(neurons):
        all_sides[case, neuron], all_slots[case, neuron] = sides[case], slots[case]
        inverses[case, neuron] = inverse_of(slots[case])[1]
        numbers[case, neuron] = np.where(slots[case] >= 0, 7, -1)
    before = jax.vmap(Pattern)(*(jnp.asarray(part) for part in (all_sides, all_slots, inverses, numbers)))
    kinks = kinks_of(Dataset(jnp.asarray(INPUTS), jnp.ones(len(INPUTS))), False)

    @jax.jit
    @jax.vmap
    def go(row, pulls, neuron, place, pattern, scale, episode):
        slope = jnp.asarray(SLOPE)
        done = turn(row, pulls, neuron, place, pattern, kinks, slope, scale, episode)
        every = jnp.stack([pulls, 2 * pulls, -pulls])
        return done, slot_room(every, pattern, pattern.frozen(kinks, slope), kinks, slope)

    integers = (jnp.asarray(part, jnp.int32) for part in (neurons, place))
    done, rooms = go(
        jnp.asarray(row), jnp.asarray(pulls), *integers, before, jnp.asarray(scale), jnp.full(CASES, 9, jnp.int32)
    )
    return kinks, before, neurons, jax.tree.map(np.asarray, done), np.asarray(rooms)


def test_the_kinks_of_the_samples():
    kinks: Kinks = found()[0]
    np.testing.assert_array_equal(kinks.first, FIRST)
    np.testing.assert_allclose(kinks.ratio, RATIO, rtol=1e-15)
    np.testing.assert_allclose(kinks.norms, NORMS, rtol=1e-15)


def test_every_turn_is_the_one_of_the_rules():
    """All cases at once: one by one, the comparisons would take longer than what is compared."""
    _, before, neurons, done, _ = found()
    given_row, _, _, _, given_slots, _ = cases()
    expected = [by_hand(*given) for given in zip(*cases(), strict=True)]
    row, sides, slots, *what = (np.stack(part) for part in zip(*expected, strict=True))
    own, others = (np.arange(NEURONS) == neurons[:, None]), (np.arange(NEURONS) != neurons[:, None])
    np.testing.assert_array_equal(done.pattern.sides[own], sides)
    np.testing.assert_array_equal(done.pattern.slots[own], slots)
    inverse = np.stack([inverse_of(each)[1] for each in slots])
    np.testing.assert_allclose(done.pattern.inverse[own], inverse, atol=1e-12)
    assert (np.abs(done.row - row).max(axis=1) <= 1e-13 * np.abs(given_row).max(axis=1)).all()
    for name, those in zip(("crossed", "slid", "released", "corner", "full"), what, strict=True):
        np.testing.assert_array_equal(getattr(done, name), those, err_msg=name)
    changed = slots != given_slots
    numbers = np.where(changed, np.where(what[1], 9, -1)[:, None], np.where(given_slots >= 0, 7, -1))
    np.testing.assert_array_equal(done.pattern.episodes[own], numbers)
    some = changed.any(axis=1)
    np.testing.assert_array_equal(done.slot[some], np.argmax(changed[some], axis=1))
    for leaf, old in zip(jax.tree.leaves(done.pattern), jax.tree.leaves(before), strict=True):
        np.testing.assert_array_equal(leaf[others], np.asarray(old)[others])
    # Crossed and full with and without a corner, slid, released, touched.
    assert len(set(zip(*(part.tolist() for part in what), strict=True))) == 7


@pytest.mark.parametrize(("which", "factor"), [(0, 1.0), (1, 2.0), (2, -1.0)])
def test_the_room_of_sliding_neurons(which, factor):
    """Only the neuron that turns slides; the pulls of the others differ."""
    _, _, neurons, _, rooms = found()
    _, pulls, _, sides, slots, _ = cases()
    for case in np.flatnonzero(neurons == which):
        normals, inverse = inverse_of(slots[case])
        now = factor * pulls[case]
        base = (now * np.select([sides[case] > 0, sides[case] < 0], [1, SLOPE], 0)) @ INPUTS
        push = -inverse @ normals @ base
        for slot, name in enumerate(slots[case]):
            if name < 0:
                assert rooms[case, which, slot] == np.inf
                continue
            plus, minus = extremes(now, name)
            within = min(push[slot] - plus, minus - push[slot]) / (abs(plus) + abs(minus))
            np.testing.assert_allclose(rooms[case, which, slot], within + ROUNDING, rtol=1e-9)
        assert (np.delete(rooms[case], which, 0) == np.inf).all()
