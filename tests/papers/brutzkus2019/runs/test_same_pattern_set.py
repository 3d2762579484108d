"""Words that share a pattern set, counted and compared."""

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data.own import keep
from widenet.data.xord import set_index
from widenet.papers.brutzkus2019.runs.same_pattern_set import (
    SamePatternSetSetting,
    compare_mates,
    random_networks,
    random_words,
    same_pattern_set,
)
from widenet.progress import silent
from widenet.run.records import decode, encode
from widenet.types import Dataset


def test_words_are_counted_by_their_set():
    words = np.array([[1, 1, 1, -1], [1, -1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], float)
    mates = compare_mates(words, random_networks(0, 2, 2))
    expected = np.zeros(16, int)
    expected[[1 + set_index(1), 1 + set_index(1, 2)]] = 1, 2
    assert mates.inputs_per_set.tolist() == expected.tolist()
    assert mates.output_spread.max() == mates.gradient_spread.max() == 0


def test_another_pooling_tells_words_apart():
    words = np.array([[1, 1, 1, 1, 1, -1], [1, 1, 1, -1, 1, -1]], float)
    mates = compare_mates(words, random_networks(0, 2, 2), pooling=lambda w, votes, x: votes @ (w @ x[:2] + w @ x[2:4]))
    place = 1 + set_index(1, 2)
    assert mates.output_spread[:, place].min() > 0
    assert mates.gradient_spread[:, place].min() > 0


def test_a_readers_points_are_found_by_their_digest():
    words = random_words(3, 40)
    digest = keep(Dataset(jnp.asarray(words, jnp.float32), jnp.ones(40)))
    mates = same_pattern_set.run(SamePatternSetSetting(n_networks=1, own_data=digest), silent)
    assert mates.inputs_per_set.sum() == len(np.unique(words, axis=0))
    back = decode(same_pattern_set.result_type, *encode(mates))
    assert np.array_equal(back.output_spread, mates.output_spread)


@pytest.mark.parametrize("sign", [0, 1])
def test_gradients_of_both_signs_are_compared(sign):
    """Only the w's, or only the u's, are pooled by the mean: p_1 twice and p_2 once, beside p_1 once and p_2 twice."""
    words = np.array([[1, 1, 1, 1, 1, -1], [1, 1, 1, -1, 1, -1]], float)

    def half_mean(filters, votes, x):
        answers = jnp.maximum(filters @ x.reshape(-1, 2).T, 0)
        by_mean = (jnp.arange(len(filters)) >= len(filters) // 2) == sign
        return jnp.where(by_mean, answers.mean(axis=1), answers.max(axis=1)) @ votes

    filters = np.array([[[1.0, 0.1], [1.0, -0.2], [1.0, 0.3], [1.0, -0.1]]])
    assert compare_mates(words, filters).gradient_spread.max() == 0
    # A filter's gradient is the mean of the patches it answers to, all three of them: (1, 1/3) and (1, −1/3).
    spread = compare_mates(words, filters, pooling=half_mean).gradient_spread
    np.testing.assert_allclose(spread[0, 1 + set_index(1, 2)], 2 / 3)
