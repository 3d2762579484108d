"""Kinks of short and of nearly equal points, the sides a run begins with, and which kink is met first."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training.flow import kinks as module
from widenet.training.flow.events import LOOKS
from widenet.training.flow.kinks import Kinks, Pattern, kinks_of
from widenet.types import Dataset

# One small program each: compiled operation by operation, they would take longer.
first_arrival = jax.jit(module.first_arrival)
first_pattern = jax.jit(module.first_pattern, static_argnums=4)
slot_room = jax.jit(module.slot_room)
turn = jax.jit(module.turn)


@jax.jit
def of_points(inputs):
    return kinks_of(Dataset(inputs, inputs[:, 0]), False)


def points(*rows):
    return of_points(jnp.asarray(rows, float))


def test_short_points_share_a_kink_as_long_ones_do():
    found = points([0.3, 0.0], [-0.6, 0.0], [0.01, 0.02], [0.005, 0.01])
    np.testing.assert_array_equal(found.first, [0, 0, 2, 2])
    np.testing.assert_allclose(found.ratio, [1, -2, 1, 0.5], rtol=1e-15)
    np.testing.assert_allclose(found.norms, [0.3, 0.6, np.sqrt(5) / 100, np.sqrt(5) / 200], rtol=1e-15)


def test_a_bias_is_one_more_coordinate_that_is_one():
    inputs = jnp.asarray([[0.3, 0.4], [0.0, 0.0], [-2.0, 1.0]])
    found = jax.jit(lambda inputs: kinks_of(Dataset(inputs, inputs[:, 0]), True))(inputs)
    np.testing.assert_array_equal(found.inputs, np.c_[inputs, np.ones(3)])
    np.testing.assert_allclose(found.norms, np.sqrt([1.25, 1, 6]), rtol=1e-15)


@pytest.mark.parametrize(("apart", "one"), [(0.95e-13, True), (1.05e-13, False)])
def test_points_that_differ_by_rounding_share_a_kink(apart, one):
    """Each coordinate of the unit vectors within 1e-13, on the same side or on the other."""
    found = points([1.0, 0.0], [1.0, apart], [0.0, 1.0], [apart, -1.0])
    np.testing.assert_array_equal(found.first, [0, 0, 2, 2] if one else [0, 1, 2, 3])
    np.testing.assert_array_equal(found.ratio, [1, 1, 1, -1] if one else [1, 1, 1, 1])


def sides(rows, inputs, slope, at_zero, slots=2):
    return first_pattern(jnp.asarray(rows, float), points(*inputs), jnp.asarray(slope), jnp.asarray(at_zero), slots)


@pytest.mark.parametrize(("at_zero", "guess"), [(1.0, 1), (0.1, -1), (0.5, -1), (0.56, 1), (0.0, -1)])
def test_a_neuron_on_a_kink_takes_the_side_whose_slope_is_closest(at_zero, guess):
    """The slopes are 1 and 0.1, the middle is 0.55. Beside a kink the side is where the neuron is, however near."""
    found = sides([[0.0, 0.3], [0.2, 0.0], [-0.2, 0.0]], [[1.0, 0.0], [0.0, 0.5], [0.0, 0.0]], 0.1, at_zero)
    np.testing.assert_array_equal(found.sides, [[guess, 1, guess], [1, guess, guess], [-1, guess, guess]])
    assert found.slots.shape == found.episodes.shape == (3, 2)
    assert found.inverse.shape == (3, 2, 2)


def test_between_two_slopes_that_are_as_close_the_larger_one_is_taken():
    found = sides([[0.0, 0.3], [0.2, 0.0], [-0.2, 0.0]], [[1.0, 0.0], [0.0, 0.5], [0.0, 0.0]], 0.0, 0.5)
    np.testing.assert_array_equal(found.sides[0], [1, 1, 1])


def test_a_pattern_has_as_many_rows_as_there_are_neurons():
    """Two neurons, four points, three slots; a short point that shares the kink of a longer one on its other side."""
    found = sides([[0.1, 0.2], [-0.1, 0.2]], [[1, 0], [-0.1, 0], [0, 0.1], [3, 1]], 0.1, 1.0, 3)
    np.testing.assert_array_equal(found.sides, [[1, -1, 1, 1], [-1, 1, 1, -1]])
    assert (found.slots.shape, found.episodes.shape, found.inverse.shape) == ((2, 3), (2, 3), (2, 3, 3))
    assert (found.slots == -1).all()
    assert (found.episodes == -1).all()


def arrival(seen, sides=None, scale=1.0, slope=0.1, needed=True, axes=None):
    """(share, spot) of neurons whose coordinates are given at the five looks: (look, neuron, coordinate).

    The points are the unit vectors, so that coordinates are pre-activations.
    """
    rows = jnp.asarray(seen, float)
    sides = np.sign(rows[0]) if sides is None else np.asarray(sides)
    n_neurons = rows.shape[1]
    slots, inverse = jnp.full((n_neurons, 1), -1, jnp.int32), jnp.zeros((n_neurons, 1, 1))
    pattern = Pattern(jnp.asarray(sides, jnp.int8), slots, inverse, slots)
    axes = points([1.0, 0.0], [0.0, 1.0]) if axes is None else axes
    lengths = jnp.full(n_neurons, scale)
    share, spot = first_arrival(rows, pattern, axes, jnp.asarray(slope), lengths, jnp.asarray(needed))
    return float(share), int(spot)


def path(*coordinates):
    """One row per neuron, each with its coordinates as functions of the share."""
    return [[[each(share) for each in row] for row in coordinates] for share in LOOKS]


def still(value):
    return lambda share: value


@pytest.mark.parametrize("side", [1, -1])
def test_a_kink_is_met_from_either_side(side):
    share, spot = arrival(path([still(0.5), still(-0.5)], [still(0.2), lambda s: side * (0.6 - s)]))
    np.testing.assert_allclose(share, 0.6, rtol=1e-11)
    assert spot == 3
    assert arrival(path([still(0.5), still(-0.5)], [still(0.2), lambda s: side * (0.6 + s)])) == (1.0, -1)


def test_a_neuron_that_slides_along_a_kink_does_not_meet_it():
    seen = path([lambda s: 0.6 - s, lambda s: 0.8 - s], [still(1.0), still(1.0)])
    np.testing.assert_allclose(arrival(seen), (0.6, 0), rtol=1e-11)
    share, spot = arrival(seen, [[0, 1], [1, 1]])
    np.testing.assert_allclose(share, 0.8, rtol=1e-11)
    assert spot == 1


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_is_rounding_is_measured_by_the_neuron(scale):
    """A ten-trillionth of its length beyond the kink, a little less and a little more."""
    for beyond, expected in ((0.95e-13, (1.0, -1)), (1.05e-13, None)):
        seen = path([lambda s, beyond=beyond: scale * (1 - (1 + beyond) * s), still(scale)], [still(scale)] * 2)
        share, spot = arrival(seen, scale=scale)
        if expected:
            assert (share, spot) == expected
        else:
            assert (share > 0.99, spot) == (True, 0)


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_what_is_rounding_is_measured_by_the_point(length):
    axes = Kinks(length * jnp.eye(2), jnp.full(2, length), jnp.arange(2, dtype=jnp.int32), jnp.ones(2))
    for beyond, expected in ((0.95e-13, -1), (1.05e-13, 0)):
        seen = path([lambda s, beyond=beyond: 1 - (1 + beyond) * s, still(1.0)], [still(1.0)] * 2)
        assert arrival(seen, axes=axes)[1] == expected


def test_the_first_is_found_where_a_straight_line_would_name_another():
    """At the end of the quarter the first is farther beyond its kink, but it got there later."""
    late, early = (lambda s: 0.2 - 200 * s**4), (lambda s: 0.2 - 1.2 * s)
    for late_one, early_one, name in (((0, 0), (1, 1), 3), ((1, 0), (0, 1), 1), ((1, 1), (0, 0), 0)):
        rows: Any = [[still(1.0), still(1.0)], [still(1.0), still(1.0)]]
        rows[late_one[0]][late_one[1]], rows[early_one[0]][early_one[1]] = late, early
        share, spot = arrival(path(*rows))
        np.testing.assert_allclose(share, 1 / 6, rtol=1e-11)
        assert spot == name


def test_who_moves_away_from_a_kink_does_not_meet_it():
    """Three that are nearer to their kinks and go away from them, each faster than the fourth comes to its own."""
    share, spot = arrival(
        path([lambda s: 0.1 + 0.3 * s, lambda s: 0.05 + 0.2 * s], [lambda s: 0.6 - s, lambda s: 0.08 + 0.7 * s])
    )
    np.testing.assert_allclose(share, 0.6, rtol=1e-11)
    assert spot == 2


def test_what_is_beyond_its_kinks_already_is_met_at_once():
    """Two kinks behind it: one of them is named, and the search ends."""
    share, spot = arrival(path([still(-0.5), still(-0.5)], [still(1.0), still(1.0)]), [[1, 1], [1, 1]])
    assert 0 <= share < 1e-14
    assert spot in (0, 1)


def test_exactly_at_the_edge_of_rounding_a_kink_is_not_met_yet():
    for last, expected in ((-1e-13, (1.0, -1)), (-0.25, None)):
        seen = [[[value, 1.0], [1.0, 1.0]] for value in (0.75, 0.5, 0.25, -1e-13, last)]
        found = arrival(seen)
        assert found == expected if expected else (found[1] == 0 and found[0] >= 0.75 - 1e-12)


def test_nothing_is_met_where_the_slopes_are_one_or_nobody_asks():
    seen = path([lambda s: 0.6 - s, lambda s: 0.8 - s], [still(1.0), still(1.0)])
    assert arrival(seen, slope=1.0) == (1.0, -1)
    assert arrival(seen, needed=False) == (1.0, -1)
    assert arrival(seen, slope=0.0)[1] == 0


def test_a_kink_without_pulls_leaves_the_room_of_rounding():
    """One neuron slides along the first axis. Pulls of 0: σ' may be anything, and only rounding is left."""
    pattern = Pattern(
        jnp.asarray([[0, 1]], jnp.int8), jnp.asarray([[0, -1]], jnp.int32),
        jnp.asarray([[[1.0, 0.0], [0.0, 0.0]]]), jnp.asarray([[0, -1]], jnp.int32),
    )  # fmt: skip
    axes, slope = points([1.0, 0.0], [0.5, 1.0]), jnp.asarray(0.25)
    frozen = pattern.frozen(axes, slope)
    room = slot_room(jnp.zeros((1, 2)), pattern, frozen, axes, slope)
    np.testing.assert_allclose(room, [[1e-13, np.inf]], rtol=1e-12)
    # The second point pushes with 0.5 · 2 along the first axis, which nothing holds back.
    room = slot_room(jnp.asarray([[0.0, 2.0]]), pattern, frozen, axes, slope)
    assert room[0, 0] < 0
    # Held back by as much, σ' = 1, and by the four-fold, σ' = 1/4: neither is below 0.
    for pull in (-1.0, -4.0):
        room = slot_room(jnp.asarray([[pull, 2.0]]), pattern, frozen, axes, slope)
        np.testing.assert_allclose(room, [[1e-13, np.inf]], rtol=1e-12)


def turned(points, row, pulls):
    """What a neuron of length 10 at the kink of the first of two points does, on the positive side of both."""
    slots, none = jnp.full((1, 1), -1, jnp.int32), jnp.zeros((), jnp.int32)
    pattern = Pattern(jnp.ones((1, 2), jnp.int8), slots, jnp.zeros((1, 1, 1)), slots)
    slope, scale = jnp.asarray(0.5), jnp.asarray(10.0)
    return turn(jnp.asarray(row), jnp.asarray(pulls), none, none, pattern, points, slope, scale, none)


@pytest.mark.parametrize(("beside", "corner"), [(0.0, True), (7.8e-13, True), (8.2e-13, False)])
def test_kinks_that_are_met_together_make_a_corner(beside, corner):
    """A neuron of length 10 at the first axis, and beside the second, by so much of its length; it leaves both.

    Both points pull it through their kinks, and on.
    """
    done = turned(points([1.0, 0.0], [0.0, 1.0]), [0.0, 10 * beside], [-1.0, -1.0])
    assert bool(done.corner) is corner
    assert bool(done.crossed)
    np.testing.assert_array_equal(done.pattern.sides, [[-1, -1 if corner else 1]])


@pytest.mark.parametrize(("pull", "crosses"), [(0.9, True), (1.0, True), (1.1, False)])
def test_a_neuron_that_would_stand_still_beyond_a_kink_crosses_it(pull, crosses):
    """The first point pulls it back with 2, beyond the kink with 1; the second one pulls it on, or forth."""
    done = turned(points([1.0, 0.0], [1.0, 1.0]), [0.0, 10.0], [-2.0, pull])
    assert (bool(done.crossed), bool(done.slid)) == (crosses, not crosses)
    np.testing.assert_array_equal(done.pattern.sides, [[-1 if crosses else 0, 1]])


@pytest.mark.parametrize(("ratio", "singular"), [(0.95e-12, True), (1.05e-12, False)])
def test_kinks_that_are_nearly_one_are_held_as_one(ratio, singular):
    """The Gram matrix of (1, 0) and (1, δ) has eigenvalues near 2 and δ²/2. As one, each holds with a half of it."""
    inputs = jnp.asarray([[1.0, 0.0], [1.0, 2 * np.sqrt(ratio)], [0.0, 1.0]])
    kinks = Kinks(inputs, jnp.ones(3), jnp.arange(3, dtype=jnp.int32), jnp.ones(3))
    normals, inverse = jax.jit(module._inverse)(jnp.asarray([0, -1, 1], jnp.int32), kinks)
    np.testing.assert_array_equal(normals, [inputs[0], [0, 0], inputs[1]])
    np.testing.assert_array_equal(inverse[1], 0)
    if singular:
        np.testing.assert_allclose(inverse, np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1]]) / 4, atol=1e-6)
    else:
        assert inverse[0, 0] > 1e11
