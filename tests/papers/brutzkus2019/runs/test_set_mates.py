"""Words that share a pattern set, counted and compared."""

import jax.numpy as jnp
import numpy as np

from widenet.data.own import keep
from widenet.data.xord import set_index
from widenet.papers.brutzkus2019.runs.set_mates import (
    SetMatesSetting,
    compare_mates,
    random_networks,
    random_words,
    set_mates,
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
    mates = set_mates.run(SetMatesSetting(n_networks=1, own_data=digest), silent)
    assert mates.inputs_per_set.sum() == len(np.unique(words, axis=0))
    back = decode(set_mates.result_type, *encode(mates))
    assert np.array_equal(back.output_spread, mates.output_spread)
