"""The reckoning of inequalities one step at a time, by hand: what is counted, which step is kept, what is shown."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.networks import TwoLayer, relu
from widenet.training import Closest, Found, Potentials
from widenet.training.closest import Followed, _closeness, followed, potentials_of, updates_of, value_of
from widenet.training.record import Step


def numbers(found):
    """A `Found` in Python's numbers."""
    return {name: float(value) for name, value in vars(found).items()}


def folded(pairs, at_least=False, room=0.5):
    """The pairs in turn, at the steps 11, 12, …"""
    found = Found.nothing()
    for number, pair in enumerate(pairs, start=11):
        found = found.after(pair, jnp.int32(number), at_least, room)
    return numbers(found)


def test_before_the_first_step_nothing_was_close():
    found = numbers(Found.nothing())
    assert (found["steps"], found["broken"], found["undecided"], found["at"]) == (0, 0, 0, 0)
    assert found["ratio"] == -np.inf
    assert np.isnan([found["measured"], found["promised"]]).all()


def test_steps_are_counted_and_the_first_of_the_closest_is_kept():
    """1/4, 3/4, 3/4 once more, 1/2, nothing to say, −1 beside 2: closest at step 12."""
    pairs = [(1.0, 4.0), (3.0, 4.0), (6.0, 8.0), (1.0, 2.0), (np.nan, 1.0), (-1.0, 2.0)]
    expected = {"steps": 6, "broken": 0, "undecided": 1, "ratio": 0.75, "measured": 3, "promised": 4, "at": 12}
    assert folded(pairs) == expected
    swapped = [(high, low) for low, high in pairs]
    assert folded(swapped, at_least=True) == {**expected, "measured": 4, "promised": 3}


def test_half_of_the_larger_side_may_be_rounding():
    """2 ≤ 1 misses by 1, half of 2. A little more is broken, and stays the closest."""
    assert folded([(2.0, 1.0)])["broken"] == 0
    assert folded([(2.0, 1.0)])["ratio"] == 1
    found = folded([(2.5, 1.0), (2.0, 1.0), (4.0, 1.0), (0.0, 1.0)])
    assert (found["steps"], found["broken"], found["ratio"], found["at"]) == (4, 2, 4.0, 13)


@pytest.mark.parametrize("pair", [(np.inf, 1.0), (1.0, np.inf), (1.0, -np.inf), (np.inf, np.inf), (1.0, np.nan)])
def test_a_side_that_is_not_finite_is_neither_close_nor_broken(pair):
    for room in (0.0, 0.5):
        found = folded([pair], room=room)
        assert (found["steps"], found["broken"], found["undecided"], found["at"]) == (1, 0, 1, 0)
        assert found["ratio"] == -np.inf
        assert np.isnan(found["measured"])


ABOVE = np.nextafter(1.0, 2.0)


@pytest.mark.parametrize(
    ("low", "high", "broken", "ratio"),
    [
        (0.25, 0.5, False, 0.5),
        (0.05, 1.0, False, 0.05),
        (0.95, 1.0, False, 0.95),
        (1.0, 1.0, False, 1.0),
        (1.01, 1.0, False, 1.0),  # by rounding
        (-1.0, -0.5, False, 0.5),
        (-4.0, -3.0, False, 0.75),
        (-1.0, 1.0, False, 0.0),
        (0.0, 3.0, False, 0.0),
        (-3.0, 0.0, False, 0.0),
        (0.0, 0.0, False, 1.0),
        (1.05, 1.0, True, 1.05),
        (3.0, 2.0, True, 1.5),
        (-2.0, -3.0, True, 1.5),
        (1.0, -1.0, True, np.inf),
        (0.0, -1.0, True, np.inf),
        (1.0, 0.0, True, np.inf),
        (1.0, 1.0, True, ABOVE),  # a quotient that was rounded to 1
    ],
)
def test_the_smaller_side_over_the_larger(low, high, broken, ratio):
    assert float(_closeness(jnp.asarray(low), jnp.asarray(high), jnp.asarray(broken))) == ratio


def step(before, after, is_update=True, number=7):
    """A step of two samples between two networks without biases."""
    first, last = (TwoLayer(jnp.asarray(rows), jnp.asarray([1.0, -2.0]), None, relu()) for rows in (before, after))
    labels, outputs = jnp.asarray([1.0, -1.0]), jnp.asarray([3.0, 5.0])
    return Step(
        first,
        last,
        jnp.ones((2, 2)),
        labels,
        outputs,
        None,
        jnp.asarray(0.5),
        jnp.asarray(is_update),
        jnp.int32(number),
    )


BEFORE, AFTER = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[2.0, 2.0], [1.0, -3.0]])
VOTES, DIRECTION = np.array([1.0, -1.0]), np.array([0.5, 3.0])


def follows():
    return Potentials(jnp.asarray(VOTES), jnp.asarray(DIRECTION))


def shown(move):
    """Everything that is shown of an update, far below what is promised."""
    seen = {
        "square": move.square,
        "alignment": move.alignment,
        "square_gain": move.square_gain,
        "alignment_gain": move.alignment_gain,
        "margins": jnp.sum(move.labels * move.outputs),
        "output_weights": jnp.sum(move.output_weights),
        "updates": move.updates.astype(float),
        "number": move.number.astype(float),
    }
    return {name: (value, 1e6) for name, value in seen.items()}


def squares():
    return {name: (rows**2).sum() for name, rows in (("before", BEFORE), ("after", AFTER))}


def alignments():
    return {name: VOTES @ rows @ DIRECTION for name, rows in (("before", BEFORE), ("after", AFTER))}


def test_an_update_is_shown_with_the_potentials_on_both_sides():
    watch, one = Closest(shown, follows=follows()), step(BEFORE, AFTER)
    begun = watch.begin(one)
    assert all(int(found.steps) == 0 for found in begun.values())
    seen = {name: float(found.measured) for name, found in watch.update(begun, one).items()}
    assert seen == {
        "square": squares()["after"],
        "alignment": alignments()["after"],
        "square_gain": squares()["after"] - squares()["before"],
        "alignment_gain": alignments()["after"] - alignments()["before"],
        "margins": 3.0 - 5.0,
        "output_weights": -1.0,
        "updates": 1.0,
        "number": 7.0,
    }
    twice = watch.update(watch.update(begun, one), step(BEFORE, AFTER, number=9))
    assert (float(twice["updates"].measured), float(twice["number"].measured)) == (2, 9)
    assert int(updates_of(twice)) == 2


def test_a_step_that_is_no_update_is_seen_by_those_alone_who_follow_no_potentials():
    rest = step(BEFORE, BEFORE, is_update=False)
    watch = Closest(shown, follows=follows())
    assert int(updates_of(watch.update(watch.begin(rest), rest))) == 0
    every = Closest(lambda step: {"number": (step.number.astype(float), 10.0)})
    after = every.update(every.begin(rest), rest)["number"]
    assert (int(after.steps), float(after.measured), int(after.at)) == (1, 7, 7)


def test_what_a_kernel_carries_follows_its_gains():
    watch, network = Closest(shown, follows=follows()), step(BEFORE, AFTER).before
    carried = followed(watch, network, watch.begin(step(BEFORE, AFTER)))
    assert (float(carried.square), float(carried.alignment)) == (squares()["before"], alignments()["before"])
    seen = jnp.asarray([1.0, -1.0]), jnp.asarray([3.0, 5.0]), jnp.asarray([1.0, -2.0])
    gains = jnp.asarray(0.5), jnp.asarray(-0.25)
    for _ in range(2):
        carried = carried.after(watch, gains, seen, jnp.int32(4), jnp.asarray(True))
    idle = carried.after(watch, gains, seen, jnp.int32(5), jnp.asarray(False))
    for found in (carried, idle):
        square, alignment = squares()["before"] + 1.0, alignments()["before"] - 0.5
        assert (float(found.square), float(found.alignment)) == (square, alignment)
        assert float(found.value["square"].measured) == square
        assert float(found.value["alignment"].measured) == max(alignment, alignment + 0.25)
        assert float(found.value["square_gain"].measured) == 0.5
        assert float(found.value["alignment_gain"].measured) == -0.25
        assert (float(found.value["updates"].measured), float(found.value["number"].measured)) == (2, 4)
        assert int(updates_of(found.value)) == 2


def test_a_watch_of_steps_is_carried_as_it_is():
    value: Any = {"number": Found.nothing()}
    watch = Closest(lambda step: {"number": (1.0, 2.0)})
    assert potentials_of(watch) is None
    assert potentials_of(None) is None
    carried = followed(watch, step(BEFORE, AFTER).before, value)
    assert carried is value
    assert value_of(carried) is value
    assert value_of(Followed(value, jnp.zeros(()), jnp.zeros(()))) is value


def test_what_is_given_is_all_that_programs_are_given():
    """Sides, names and rooms are what they are compiled for."""
    watch = Closest(lambda step, given: {"number": given}, (jnp.ones(2), jnp.zeros(2)), ("number",))
    assert [leaf.tolist() for leaf in jax.tree.leaves(watch)] == [[1, 1], [0, 0]]
    assert watch.room == 1e-12


@pytest.mark.parametrize("room", [-1.0, -1e-9, float("inf"), float("nan"), "1"])
def test_rooms_that_are_none(room):
    with pytest.raises(Exception, match=r"(?i)room must be a number from 0 on|type-check|type check"):
        Closest(lambda step: {}, room=room)


@pytest.mark.parametrize("room", [0.0, 0, 0.5, 2])
def test_rooms_may_be_whole_numbers(room):
    assert Closest(lambda step: {}, room=room).room == room


def norm(sides):
    return lambda step: {"norm": sides}


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        (lambda step: {}, "a dictionary of inequalities by name"),
        (lambda step: [(1.0, 2.0)], "a dictionary of inequalities by name"),
        (lambda step: None, "a dictionary of inequalities by name"),
        (norm([1.0, 2.0]), "two numbers, for 'norm'"),
        (norm((1.0, 2.0, 3.0)), "two numbers, for 'norm'"),
        (norm((1.0,)), "two numbers, for 'norm'"),
        (lambda step: {"norm": (step.labels, 1.0)}, "two numbers, for 'norm'"),
        (lambda step: {"norm": (1.0, step.labels)}, "two numbers, for 'norm'"),
    ],
)
def test_sides_are_two_numbers_by_name(sides, words):
    with pytest.raises(Exception, match=rf"(?i){words}|type-check"):
        Closest(sides).begin(step(BEFORE, AFTER))
    begun = Closest(norm((1.0, 2.0)), at_least=("norm",)).begin(step(BEFORE, AFTER))
    assert list(begun) == ["norm"]
    with pytest.raises(ValueError, match=r"at_least must name inequalities of sides, \['norm'\], got \['mass'\]"):
        Closest(norm((1.0, 2.0)), at_least=("norm", "mass")).begin(step(BEFORE, AFTER))


@pytest.mark.parametrize("given", [None, 2.0])
@pytest.mark.parametrize("is_followed", [False, True])
def test_sides_take_what_they_are_shown_and_what_is_given(given, is_followed):
    extra: Any = {"follows": follows()} if is_followed else {}
    number = None if given is None else jnp.asarray(given)

    def one(seen):
        return {"norm": (1.0, 2.0)}

    def two(seen, given):
        return {"norm": (1.0, given)}

    right, wrong = (one, two) if given is None else (two, one)
    assert list(Closest(right, number, **extra).begin(step(BEFORE, AFTER))) == ["norm"]
    what = ("a Move" if is_followed else "a Step") + ("" if given is None else " and what is given")
    with pytest.raises(ValueError, match=f"sides must take {what}, but takes"):
        Closest(wrong, number, **extra).begin(step(BEFORE, AFTER))
