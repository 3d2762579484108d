from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from widenet.training.flow.events import LOOKS, TO_POWERS, first_below_zero, first_time, only_if, put
from widenet.training.flow.kinks import _extremes, first_arrival, first_pattern, kinks_of, tangent
from widenet.types import Dataset

SLOPE: Any = np.asarray(0.1)  # NumPy's: nothing is computed with JAX while tests are collected
# One small program each: compiled operation by operation, they would take longer.
first_arrival = jax.jit(first_arrival)
first_pattern = jax.jit(first_pattern, static_argnums=4)


@jax.jit
def of_samples(inputs):
    return kinks_of(Dataset(inputs, inputs[:, 0]), False)


def kinks(inputs):
    return of_samples(jnp.asarray(inputs))


def test_multiples_share_a_kink_and_zero_has_none():
    found = kinks([[1.0, 2.0], [3.0, 1.0], [-2.0, -4.0], [0.0, 0.0], [3.0, 1.0], [3.0, 1.0000001]])
    np.testing.assert_array_equal(found.first, [0, 1, 0, 3, 1, 5])
    np.testing.assert_allclose(found.ratio[:5], [1, 1, -2, 0, 1], rtol=1e-15)


def test_a_bias_is_a_coordinate_and_keeps_multiples_apart():
    inputs = jnp.asarray([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0], [1.0, 2.0]])
    found = kinks_of(Dataset(inputs, inputs[:, 0]), True)
    np.testing.assert_array_equal(found.first, [0, 1, 2, 0])
    assert (found.norms > 0).all()


def test_sides_of_samples_that_share_a_kink_fit_together():
    """Also where a pre-activation is 0, and both would be given the side of the derivative at 0."""
    shared = kinks([[1.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
    rows = jnp.asarray([[1.0, 1.0], [0.0, 1.0], [-1.0, 0.0]])
    pattern = first_pattern(rows, shared, SLOPE, jnp.asarray(1.0), 2)
    np.testing.assert_array_equal(pattern.sides, [[1, -1, 1], [1, -1, 1], [-1, 1, 1]])
    off = first_pattern(rows, shared, SLOPE, SLOPE, 2)
    np.testing.assert_array_equal(off.sides[1], [-1, 1, 1])


def moving(start, velocity):
    return start[None] + jnp.asarray(LOOKS)[:, None, None] * velocity[None]


def arrival(rows, found, needed=True):
    pattern = first_pattern(rows[0], found, SLOPE, jnp.asarray(1.0), 2)
    scale = jnp.sqrt(jnp.sum(rows[-1] ** 2, axis=1))
    share, spot = first_arrival(rows, pattern, found, SLOPE, scale, jnp.asarray(needed))
    return float(share), int(spot)


def test_the_first_arrival_is_found_among_many():
    """Neuron 1 comes to sample 2 after 0.3 of the step, before neuron 0 comes anywhere."""
    axes = kinks(np.eye(3))
    start = jnp.asarray([[1.0, 1.0, 1.0], [1.0, 1.0, 0.3]])
    velocity = jnp.asarray([[-2.0, 0.0, -3.0], [-1.5, 0.0, -1.0]])
    share, spot = arrival(moving(start, velocity), axes)
    np.testing.assert_allclose(share, 0.3, rtol=1e-11)
    assert spot == 1 * 3 + 2
    assert arrival(moving(start, 0.2 * velocity), axes) == (1.0, -1)
    assert arrival(moving(start, velocity), axes, needed=False) == (1.0, -1)


def test_rounding_is_measured_by_the_lengths_of_neuron_and_point():
    """Both a million long: 0.01 beyond the kink is rounding, a billionth of a millionth of a right angle; 1 is not."""
    long = kinks(1e6 * np.eye(2))
    for beyond, expected in ((1e-8, -1), (1e-6, 0)):
        start, velocity = jnp.asarray([[1e6, 1e6]]), jnp.asarray([[-1e6 - beyond, 0.0]])
        assert arrival(moving(start, velocity), long)[1] == expected


def test_a_kink_that_is_crossed_back_within_a_step_is_seen():
    """1 − 4 θ (1 − θ) · 1.2 is negative from 0.296 to 0.704, and positive at both ends."""
    axes = kinks(np.eye(2))
    rows = jnp.stack([jnp.asarray([[1 - 4.8 * share * (1 - share), 1.0]]) for share in LOOKS])
    share, spot = arrival(rows, axes)
    np.testing.assert_allclose(share, 0.5 - np.sqrt(0.25 - 1 / 4.8), rtol=1e-11)
    assert spot == 0


def test_no_kink_is_met_where_both_slopes_are_one():
    axes = kinks(np.eye(2))
    rows = moving(jnp.asarray([[1.0, 1.0]]), jnp.asarray([[-3.0, 0.0]]))
    pattern = first_pattern(rows[0], axes, jnp.asarray(1.0), jnp.asarray(1.0), 2)
    share, spot = first_arrival(rows, pattern, axes, jnp.asarray(1.0), jnp.ones(1), jnp.asarray(True))
    assert (share, spot) == (1.0, -1)


def test_a_sliding_velocity_is_the_projection_onto_all_its_kinks():
    draw = np.random.default_rng(0)
    base, normals = draw.normal(size=5), draw.normal(size=(2, 5))
    held = np.vstack([normals, np.ones(5)])  # the third slot is empty: its inverse is 0
    inverse = np.zeros((3, 3))
    inverse[:2, :2] = np.linalg.inv(normals @ normals.T)
    velocity = tangent(jnp.asarray(base), jnp.asarray(held), jnp.asarray(inverse))
    onto = base - normals.T @ np.linalg.solve(normals @ normals.T, normals @ base)
    np.testing.assert_allclose(velocity, onto, atol=1e-14)


def test_what_the_samples_of_a_kink_push_with_on_its_two_sides():
    """A point, its opposite at half its length, and one of another kink: pulls 2, 3 and 5."""
    shared = kinks([[1.0, 0.0], [-0.5, 0.0], [0.0, 1.0]])
    pulls, slots = jnp.asarray([[2.0, 3.0, 5.0]]), jnp.asarray([[0, 2]], jnp.int32)
    plus, minus = _extremes(pulls, slots, shared, jnp.asarray(0.1))
    np.testing.assert_allclose(plus, [[2 - 0.1 * 0.5 * 3, 5]], rtol=1e-15)
    np.testing.assert_allclose(minus, [[0.1 * 2 - 0.5 * 3, 0.5]], rtol=1e-15)


def test_five_looks_determine_a_polynomial_of_degree_four():
    powers = np.array([0.3, -1.0, 2.0, 0.5, -0.2])
    np.testing.assert_allclose(TO_POWERS @ np.polyval(powers, LOOKS), powers, atol=1e-13)


def test_moments_are_located_to_the_last_digits():
    low, high = jnp.asarray(0.0), jnp.asarray(1.0)
    before, after = first_time(lambda share: share > 1 / 3, low, high, jnp.asarray(True))
    assert before <= 1 / 3 < after < before + 1e-14
    assert first_time(lambda share: share > 1 / 3, low, high, jnp.asarray(False)) == (0.0, 1.0)
    root = first_below_zero(jnp.asarray([0.0, 0.0, 1.0, -1.5, 0.5]), low, jnp.asarray(0.8))  # (θ − 1/2)(θ − 1)
    np.testing.assert_allclose(root, 0.5, atol=1e-14)


def test_a_root_is_approached_from_where_the_polynomial_is_not_yet_negative():
    low, high = jnp.asarray(0.0), jnp.asarray(1.0)
    for root in (1 / 3, 0.5, 0.71):
        powers = jnp.asarray([0.0, 0.0, 0.0, -1.0, root])
        found = first_below_zero(powers, low, high)
        assert jnp.polyval(powers, found) >= 0 > jnp.polyval(powers, found + 5e-15)
    # At a place of the grid, where it is exactly 0, it is not negative.
    assert first_below_zero(jnp.asarray([-1.0, 0.5]), low, high) >= 0.5
    # One that is negative nowhere, by rounding, has its root at the end.
    np.testing.assert_allclose(first_below_zero(jnp.asarray([1.0]), low, jnp.asarray(0.75)), 0.75, atol=5e-15)


def test_work_is_done_only_where_it_is_needed():
    five = jnp.asarray(5.0)
    assert only_if(five > 4, lambda value: value + 1, five) == 6
    assert only_if(five < 4, lambda value: value + 1, five) == 5
    np.testing.assert_array_equal(put(jnp.zeros(3), jnp.asarray(1), 2.0), [0, 2, 0])
    np.testing.assert_array_equal(put(jnp.zeros(3), jnp.asarray(3), 2.0), [0, 0, 0])
