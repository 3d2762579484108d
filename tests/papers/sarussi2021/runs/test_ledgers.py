"""The trainer of this room against numbers computed apart, and against the engine."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.sarussi2021 import toys
from widenet.losses import logistic
from widenet.networks import TwoLayer
from widenet.networks.activations import leaky_relu
from widenet.papers.sarussi2021.runs.epochs import EpochSetting, follow_epochs
from widenet.progress import silent
from widenet.training import SGD, Listed, Recipe, train
from widenet.types import Dataset


def test_the_first_two_updates_of_the_trace():
    runs = toys.ledger(toys.trace(), epochs=1, orders=toys.trace_orders())
    np.testing.assert_allclose(runs.margins[0], [0.108, -0.123139543988], rtol=1e-11)
    np.testing.assert_allclose(runs.pushes[0], [0.473026213425, 0.530746044732], rtol=1e-11)
    np.testing.assert_allclose(runs.alignments[0], [0.498671009639, 0.721584348426], rtol=1e-11)
    np.testing.assert_allclose(runs.norms[0] ** 2, [1.05568676641, 1.01973951889], rtol=1e-11)
    np.testing.assert_allclose(runs.start_alignment, 0.3, rtol=1e-12)
    np.testing.assert_allclose(runs.start_norm**2, 0.99, rtol=1e-12)


def test_the_weights_after_one_update():
    problem = toys.trace()
    networks = problem.networks.copy()
    networks.add(*problem.next_step(networks, np.array([0])))
    after = networks.hidden
    pinned = [(0.570953932, -0.164523034), (-0.271618427, 0.414190786)]
    np.testing.assert_allclose(after[0, :2], pinned, atol=5e-10)
    np.testing.assert_allclose(after[0, 2:], [(0.029046068, 0.164523034), (-0.228381573, -0.614190786)], atol=5e-10)


@pytest.mark.parametrize(("level", "epoch"), [(0.6, 4), (0.5, 7), (0.3, 17)])
def test_first_clean_epochs_of_the_trace(level, epoch):
    setting = EpochSetting(points=toys.SmallCloud(), levels=(0.6, 0.5, 0.3), hit_levels=(), clean_levels=(level,))
    found = follow_epochs(toys.trace(), toys.trace_orders(), setting, silent)
    assert found.clean[0, 3] == epoch
    assert found.hits[0].tolist() == [4, 10, 29]


def test_the_losses_sampled_in_a_clean_epoch():
    setting = EpochSetting(points=toys.SmallCloud(), levels=(), hit_levels=(), clean_levels=(0.6, 0.3))
    found = follow_epochs(toys.trace(), toys.trace_orders(), setting, silent)
    np.testing.assert_allclose(found.sampled[0, 0], [0.58273638, 0.51951859], atol=5e-9)
    np.testing.assert_allclose(found.sampled[0, 1], [0.29431794, 0.25674302], atol=5e-9)


def test_a_short_budget_leaves_levels_open():
    setting = EpochSetting(points=toys.SmallCloud(), levels=(0.1,), hit_levels=(), clean_levels=(), most_epochs=3)
    found = follow_epochs(toys.trace(), toys.trace_orders(), setting, silent)
    assert found.hits.tolist() == [[-1]]
    assert found.clean.tolist() == [[0]]
    assert found.updates == 6


def test_it_makes_the_steps_of_the_engine():
    problem = toys.trace()
    start = problem.networks
    network = TwoLayer(jnp.asarray(start.hidden[0]), jnp.asarray(start.output[0]), None, leaky_relu(0.4, 0.4))
    data = Dataset(jnp.asarray(problem.inputs[0]), jnp.asarray(problem.labels[0]))
    order = Listed(jnp.array([0, 1, 1, 0, 0, 1, 1, 0]))
    done = train(network, data, Recipe(logistic, SGD(0.5, order, kernel="plain"), 8), jax.random.key(0))
    networks = start.copy()
    for samples in (0, 1, 1, 0, 0, 1, 1, 0):
        networks.add(*problem.next_step(networks, np.array([samples])))
    np.testing.assert_allclose(done.network.hidden_weights, networks.hidden[0], rtol=1e-12)
