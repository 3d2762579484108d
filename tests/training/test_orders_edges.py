"""The edges of what orders hand out: one sample, one batch, the first and the last index."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import Listed


@functools.cache
def key():
    return jax.random.key(5)


def test_a_list_of_one_index_is_one():
    np.testing.assert_array_equal(Listed([3]).epoch(key(), jnp.asarray(0), 10, 1), [[3]])
    assert Listed([3]).steps_per_epoch(10, 1) == 1


def test_a_list_leaves_out_what_is_shorter_than_a_batch():
    np.testing.assert_array_equal(Listed([3, 1, 4, 1, 5]).epoch(key(), jnp.asarray(0), 10, 2), [[3, 1], [4, 1]])
    assert Listed([3, 1, 4, 1, 5]).steps_per_epoch(10, 2) == 2


@pytest.mark.parametrize("shape", [(), (1, 2, 3)])
def test_lists_have_one_axis_or_two(shape):
    with pytest.raises(ValueError, match="must be one list of indices, or one per run, got shape"):
        Listed(np.zeros(shape, int))


def test_the_first_and_the_last_sample_may_be_listed_and_no_other():
    """Of three samples 0, 1 and 2."""
    Listed([0, 2]).check(3, 2, 4)
    Listed([0]).check(1, 1, 4)
    for wrong in ([0, 3], [-1, 2], [1, -1], [3, 1]):
        low, high = min(wrong), max(wrong)
        with pytest.raises(ValueError, match=f"must name samples 0 to 2, got {low} to {high}"):
            Listed(wrong).check(3, 2, 4)


def test_as_many_lists_as_runs_and_as_long_as_a_batch():
    Listed([[0, 1, 2], [2, 1, 0]]).check(3, 3, 2)
    Listed([0, 1, 2]).check(3, 3, 2)
    for n_runs in (1, 3):
        with pytest.raises(ValueError, match="one list or one per run, got 2 lists"):
            Listed([[0, 1, 2], [2, 1, 0]]).check(3, 3, n_runs)
    for lists in ([0, 1], [[0, 1], [2, 1]]):
        with pytest.raises(ValueError, match="at least as long as one batch"):
            Listed(lists).check(3, 3, 2)
