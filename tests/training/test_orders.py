import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import Continued, Cyclic, Listed, Permutation, WithReplacement

LIST = [3, 1, 4, 1, 5, 9]


@functools.cache
def key():
    return jax.random.key(5)


def listed():
    return Listed(LIST)


ORDERS = {"WithReplacement": WithReplacement, "Permutation": Permutation, "Cyclic": Cyclic, "Listed": listed}
ORDERS["Continued"] = Continued
every_order = pytest.mark.parametrize("make", ORDERS.values(), ids=ORDERS)


@every_order
@pytest.mark.parametrize("batch", [1, 3])
def test_an_epoch_has_the_promised_shape_and_range(make, batch):
    order = make()
    rows = order.epoch(key(), jnp.asarray(2), 10, batch)
    assert rows.shape == (order.steps_per_epoch(10, batch), batch)
    assert rows.dtype == jnp.int32
    assert ((rows >= 0) & (rows < 10)).all()


@every_order
def test_an_order_does_not_depend_on_batch_mates(make):
    order = make()
    keys = jax.random.split(key(), 50)
    together = jax.vmap(lambda key: order.epoch(key, jnp.asarray(3), 12, 1))(keys)
    for run in (0, 17, 49):
        np.testing.assert_array_equal(together[run], order.epoch(keys[run], jnp.asarray(3), 12, 1))


def test_permutation_visits_each_sample_once_and_changes():
    epochs = [np.asarray(Permutation().epoch(key(), jnp.asarray(e), 20, 1)).ravel() for e in range(3)]
    for epoch in epochs:
        np.testing.assert_array_equal(np.sort(epoch), np.arange(20))
    assert (epochs[0] != epochs[1]).any()


@pytest.mark.parametrize(("n_samples", "batch"), [(10, 3), (7, 4), (24, 5), (5, 5), (12, 1)])
def test_continued_batches_are_the_permutations_one_after_the_other(n_samples, batch):
    """Cut anywhere, and nothing left out: the stream of batches is the stream of permutations."""
    order, n_epochs = Continued(), 3 * n_samples
    parts = jax.vmap(lambda epoch: order.epoch(key(), epoch, n_samples, batch))(jnp.arange(n_epochs))
    whole = jax.vmap(lambda epoch: Permutation().epoch(key(), epoch, n_samples, 1))(jnp.arange(n_epochs))
    stream = np.asarray(parts).ravel()
    np.testing.assert_array_equal(stream, np.asarray(whole).ravel()[: len(stream)])
    for first in range(0, len(stream) - n_samples + 1, n_samples):
        np.testing.assert_array_equal(np.sort(stream[first : first + n_samples]), np.arange(n_samples))


def test_control_a_permutation_leaves_a_remainder_out():
    rows = np.asarray(Permutation().epoch(key(), jnp.asarray(0), 10, 3)).ravel()
    assert len(np.unique(rows)) == 9


def test_continued_batches_late_in_a_long_run():
    """Two billion steps of many samples are past the largest int32."""
    epoch, n_samples, batch = 2**31 // 3, 1000, 333
    rows = np.asarray(Continued().epoch(key(), jnp.int32(epoch), n_samples, batch)).ravel()
    begin = epoch * 999
    permutations = [Permutation().epoch(key(), jnp.int32(begin // 1000 + later), n_samples, 1) for later in (0, 1)]
    expected = np.concatenate([np.asarray(each).ravel() for each in permutations])[begin % 1000 :][:999]
    np.testing.assert_array_equal(rows, expected)


def test_with_replacement_is_uniform():
    draws = np.asarray(WithReplacement().epoch(key(), jnp.asarray(0), 20_000, 1)).ravel() * 10 // 20_000
    counts = np.bincount(draws, minlength=10)
    assert abs(counts - 2000).max() < 5 * np.sqrt(2000)
    assert len(np.unique(draws)) == 10


def test_a_list_is_taken_literally():
    np.testing.assert_array_equal(Listed(LIST).epoch(key(), jnp.asarray(7), 10, 2), [[3, 1], [4, 1], [5, 9]])


def test_a_list_may_be_a_plain_one():
    np.testing.assert_array_equal(Listed([3, 1, 4, 1]).epoch(key(), jnp.asarray(0), 10, 2), [[3, 1], [4, 1]])
    assert Listed(np.asarray([[0, 1, 2], [2, 1, 0]])).indices.shape == (2, 3)


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([], "needs at least one index"),
        ([0.0, 1.0], "must hold whole numbers, got float64"),
        ([[0, 1], [2]], "must be one list of indices, or one per run, got"),
        (3, r"must be one list of indices, or one per run, got shape \(\)"),
        (None, "must be one list of indices, or one per run, got None"),
    ],
)
def test_what_is_no_list_of_indices_is_refused(indices, words):
    with pytest.raises(ValueError, match=f"a listed order {words}"):
        Listed(indices)


def test_lists_of_several_runs_are_as_long_as_their_rows():
    lists = Listed([[0, 1, 2], [2, 1, 0]])
    assert lists.steps_per_epoch(10, 1) == 3
    lists.check(3, 3, 2)
    with pytest.raises(ValueError, match="at least as long as one batch"):
        Listed([[0], [1], [2]]).check(3, 2, 3)
