import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import Cyclic, Listed, Permutation

LIST = [3, 1, 4, 1, 5, 9]


@functools.cache
def key():
    return jax.random.key(5)


def listed():
    return Listed(LIST)


ORDERS = {"Permutation": Permutation, "Cyclic": Cyclic, "Listed": listed}
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


def test_control_a_permutation_leaves_a_remainder_out():
    rows = np.asarray(Permutation().epoch(key(), jnp.asarray(0), 10, 3)).ravel()
    assert len(np.unique(rows)) == 9


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
