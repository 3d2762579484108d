import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import Cyclic, Listed, Permutation, WithReplacement

ORDERS = [WithReplacement(), Permutation(), Cyclic(), Listed(jnp.asarray([3, 1, 4, 1, 5, 9]))]
KEY = jax.random.key(5)


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
@pytest.mark.parametrize("batch", [1, 3])
def test_an_epoch_has_the_promised_shape_and_range(order, batch):
    rows = order.epoch(KEY, jnp.asarray(2), 10, batch)
    assert rows.shape == (order.steps_per_epoch(10, batch), batch)
    assert rows.dtype == jnp.int32
    assert ((rows >= 0) & (rows < 10)).all()


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
def test_an_order_does_not_depend_on_batch_mates(order):
    keys = jax.random.split(KEY, 50)
    together = jax.vmap(lambda key: order.epoch(key, jnp.asarray(3), 12, 1))(keys)
    for run in (0, 17, 49):
        np.testing.assert_array_equal(together[run], order.epoch(keys[run], jnp.asarray(3), 12, 1))


def test_permutation_visits_each_sample_once_and_changes():
    epochs = [np.asarray(Permutation().epoch(KEY, jnp.asarray(e), 20, 1)).ravel() for e in range(3)]
    for epoch in epochs:
        np.testing.assert_array_equal(np.sort(epoch), np.arange(20))
    assert (epochs[0] != epochs[1]).any()


def test_with_replacement_is_uniform():
    draws = np.asarray(WithReplacement().epoch(KEY, jnp.asarray(0), 20_000, 1)).ravel() * 10 // 20_000
    counts = np.bincount(draws, minlength=10)
    assert abs(counts - 2000).max() < 5 * np.sqrt(2000)
    assert len(np.unique(draws)) == 10


def test_a_list_is_taken_literally():
    np.testing.assert_array_equal(ORDERS[3].epoch(KEY, jnp.asarray(7), 10, 2), [[3, 1], [4, 1], [5, 9]])


def test_a_list_may_be_a_plain_one():
    np.testing.assert_array_equal(Listed([3, 1, 4, 1]).epoch(KEY, jnp.asarray(0), 10, 2), [[3, 1], [4, 1]])
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
