"""Answers in plain NumPy against the network itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data.xord import set_index, set_points
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.networks.two_layer import plus_minus
from widenet.papers.brutzkus2019.runs.outputs import on_sets, outputs, responses

FILTERS = np.random.default_rng(0).normal(size=(3, 6, 2))


def test_outputs_are_those_of_the_network():
    votes = plus_minus(6, 1.0)
    for filters, values in zip(FILTERS, on_sets(FILTERS), strict=True):
        network = ConvMaxPool(jnp.asarray(filters), votes)
        expected = pytest.approx(np.asarray(jax.vmap(network)(set_points().inputs)), rel=1e-12)
        assert values == expected
        assert values.astype(np.float32) != expected


def test_a_few_sets_alone():
    sets = (set_index(1), set_index(2, 4))
    assert np.array_equal(on_sets(FILTERS, sets), on_sets(FILTERS)[:, list(sets)])


def test_outputs_are_the_responses_of_the_w_minus_those_of_the_u():
    x = np.array([1.0, 1.0, -1.0, 1.0])
    answers = responses(FILTERS, x)
    assert answers.shape == (3, 6)
    assert answers.min() >= 0
    expected = pytest.approx(answers[:, :3].sum(axis=1) - answers[:, 3:].sum(axis=1), rel=1e-12)
    assert outputs(FILTERS, x) == expected
    assert outputs(FILTERS.astype(np.float32), x) != expected
