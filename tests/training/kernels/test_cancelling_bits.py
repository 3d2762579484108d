"""Which samples of a batch are equal or opposite, and the 64 bits that stand for a sample."""

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training.kernels.cancelling import _fingerprints, twins


def test_equal_and_opposite_samples():
    rows = jnp.asarray([[1.0, 2.0, 0.0], [1.0, 2.0, -0.0], [-1.0, -2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    wanted = np.array(
        [[1, 1, -1, 0, 0], [1, 1, -1, 0, 0], [-1, -1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]]
    )  # zeros are their own opposites
    np.testing.assert_array_equal(twins(rows, False), wanted)
    np.testing.assert_array_equal(twins(rows, True), np.maximum(wanted, 0) + np.diag([0, 0, 0, 0, 1]))


def test_twins_are_found_by_their_bits_and_nothing_else_is_taken_for_one():
    draw = np.random.default_rng(0)
    signs = draw.choice([-1.0, 1.0], (200, 12))  # differ in one bit of each number alone
    for dtype in (jnp.float32, jnp.float64):
        rows = jnp.asarray(np.concatenate([signs, draw.normal(size=(50, 12)), [np.zeros(12)], [-np.zeros(12)]]), dtype)
        equal = np.all(rows[:, None] == rows[None], -1).astype(float)
        opposite = np.all(rows[:, None] == -rows[None], -1).astype(float)
        np.testing.assert_array_equal(twins(rows, True), equal)
        np.testing.assert_array_equal(twins(rows, False), equal - opposite)
        assert equal.sum() > len(rows)  # control: there are some


def test_one_word_is_never_taken_for_another():
    """Mixing is one to one, so that numbers of 32 bits keep all of them; by chance eight pairs would meet."""
    draw = np.random.default_rng(1)
    words = draw.integers(2**23, 2**31 - 2**24, 2**18, np.uint32)  # ordinary numbers, of both signs
    numbers = np.unique(words + draw.integers(0, 2, 2**18, np.uint32) * np.uint32(2**31)).view(np.float32)
    prints = np.asarray(_fingerprints(jnp.asarray(numbers[:, None])))
    assert len(np.unique(prints[:, 0])) == len(numbers)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_every_bit_is_set_for_about_half_of_all_samples(dtype):
    """Also in whether the two words differ there: the second is not the first once more."""
    rows = jnp.asarray(np.random.default_rng(2).normal(size=(4000, 3)), dtype)
    first, second = np.asarray(_fingerprints(rows)).T
    for words in (first, second, first ^ second):
        shares = (words[:, None] >> np.arange(32, dtype=np.uint32) & 1).mean(axis=0)
        assert (abs(shares - 0.5) < 0.05).all()


def test_a_sample_is_not_taken_for_one_whose_numbers_change_places():
    rows = jnp.asarray([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])
    prints = np.asarray(_fingerprints(rows))
    assert all(len(set(word)) == 4 for word in prints.T.tolist())
