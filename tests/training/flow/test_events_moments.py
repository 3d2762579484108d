"""Moments within a step, to the last digit, and work on demand; root finding by the places it looks at."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training.flow.events import CLOSE, LOOKS, TO_POWERS, first_below_zero, first_time, only_if, put


@jax.jit
def located(moment, low, high, needed):
    return first_time(lambda share: share >= moment, low, high, needed)


def when(moment, low=0.0, high=1.0, needed=True):
    """The two ends between which a moment is located."""
    ends = located(*(jnp.asarray(value) for value in (moment, low, high, needed)))
    return tuple(float(end) for end in ends)


narrowed = jax.jit(first_below_zero)


def root(powers, low=0.0, high=1.0):
    """Of a polynomial of degree four at most: one program for all."""
    padded = np.concatenate([np.zeros(5 - len(powers)), powers])
    return float(narrowed(jnp.asarray(padded), jnp.asarray(low), jnp.asarray(high)))


def test_a_step_is_looked_at_in_its_quarters():
    assert LOOKS == (0, 0.25, 0.5, 0.75, 1)
    powers = [2.0, -1.0, 0.5, 3.0, -0.25]
    np.testing.assert_allclose(
        TO_POWERS @ [np.polyval(powers, quarter / 4) for quarter in range(5)], powers, rtol=1e-12
    )
    assert CLOSE == 4e-15


@pytest.mark.parametrize("moment", [1 / 3, 0.7, 0.99])
def test_a_moment_is_located_by_halves(moment):
    """The unit interval is halved 48 times, to 3.6e-15: the ends are the multiples of 2⁻⁴⁸ about the moment."""
    assert when(moment) == (np.floor(moment * 2**48) / 2**48, np.ceil(moment * 2**48) / 2**48)


def test_an_interval_is_halved_where_it_is_wider_than_what_is_close():
    for width, expected in ((4.2e-15, 2.1e-15), (4e-15, 4e-15), (3.8e-15, 3.8e-15)):
        assert when(0.0, high=width) == (0.0, expected)
    assert when(0.5, needed=False) == (0, 1)


def test_the_width_counts_and_not_where_the_interval_lies():
    """About 0.8 the ends of so narrow an interval are large, and their difference is not."""
    assert when(0.8, 0.8, 0.8 + 2e-15) == (0.8, 0.8 + 2e-15)
    assert root([1.0], 0.8, 0.8 + 2e-15) == 0.8


@pytest.mark.parametrize("place", [1 / 3, 0.7, 0.99])
def test_a_root_is_narrowed_down_by_thirty_seconds(place):
    """Ten times, to 2⁻⁵⁰: what is found is the multiple of it below the root. One that lies near the end, too."""
    assert root([-1.0, place]) == np.floor(place * 2**50) / 2**50


def test_the_first_of_several_roots_is_found():
    """(0.2 − θ)(0.6 − θ)(0.9 − θ) is positive to 0.2 and from 0.6 to 0.9, and negative elsewhere."""
    powers = -np.poly([0.2, 0.6, 0.9])
    for low, high, expected in ((0.0, 1.0, 0.2), (0.0, 0.5, 0.2), (0.65, 1.0, 0.9)):
        np.testing.assert_allclose(root(powers, low, high), expected, atol=1e-13)


def test_what_is_negative_nowhere_ends_at_the_end_within_what_is_close():
    for width, expected in ((4.2e-15, 4.2e-15 * 31 / 32), (4e-15, 0), (3.8e-15, 0)):
        np.testing.assert_allclose(root([1.0], high=width), expected, rtol=1e-12, atol=0)


def test_a_root_at_a_place_that_is_looked_at_is_not_yet_below():
    """Negative is what lies below 0, not what is 0: the search goes on in the part after it."""
    assert root([-1.0, 0.5]) == 0.5


def test_a_value_is_put_at_one_place_of_the_first_axis():
    for shape in ((3,), (3, 2, 5)):
        array = np.arange(np.prod(shape), dtype=float).reshape(shape)
        for place in (0, 2):
            expected = array.copy()
            expected[place] = -7
            np.testing.assert_array_equal(put(jnp.asarray(array), jnp.asarray(place), -7), expected, strict=True)
        for place in (-1, 3):
            np.testing.assert_array_equal(put(jnp.asarray(array), jnp.asarray(place), -7), array, strict=True)
    row = np.array([8.0, 9])
    found = put(jnp.zeros((3, 2), jnp.int8), jnp.asarray(1), row)
    np.testing.assert_array_equal(found, np.array([[0, 0], [8, 9], [0, 0]], np.int8), strict=True)


def test_work_is_done_once_and_only_where_it_is_needed():
    """The function itself is called while it is compiled; how often its work was done is counted by what it adds."""
    value = (jnp.asarray(2.0), jnp.asarray([1, -2]))
    for needed, number, pair in ((True, 3, [-1, 2]), (False, 2, [1, -2])):
        found = only_if(jnp.asarray(needed), lambda value: (value[0] + 1, -value[1]), value)
        assert found[0] == number
        np.testing.assert_array_equal(found[1], pair)
