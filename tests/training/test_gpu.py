"""On a GPU: a run is the same alone, among 7 and among 64, and the same as on the CPU as far as that is promised."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.kernels.test_outputs import classes, several
from tests.training.problems import drawn_networks, run_keys, separable
from widenet.losses import cross_entropy, hinge, logistic
from widenet.training import SGD, Permutation, Recipe, Record, ensemble

pytestmark = [
    pytest.mark.skipif(jax.default_backend() != "gpu", reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated"),
]

COUNTERS = ("status", "updates", "mistakes", "last_update", "zero_loss_step", "steps")
RECORD = Record((0, 10, 200), {"weights": lambda now: now.network.hidden_weights})


def on_cpu(function, *arguments):
    with jax.default_device(jax.devices("cpu")[0]):
        return jax.tree.map(np.asarray, function(*arguments))


def trained(n_runs, kernel, loss, dtype):
    recipe = Recipe(loss, SGD(0.5, kernel=kernel), 2000)
    nets, data = drawn_networks(n_runs, 20, 30, dtype=dtype), separable(64, 30, dtype=dtype)
    return ensemble(nets, data, recipe, run_keys(n_runs), record=RECORD)


@pytest.mark.parametrize("loss", [hinge, logistic], ids=lambda loss: loss.__name__)
@pytest.mark.parametrize("kernel", ["plain", "blocked", "gram", "fused"])
def test_batch_invariance(kernel, loss):
    dtype = jnp.float32 if kernel == "fused" else jnp.float64
    largest = trained(64, kernel, loss, dtype)
    for n_runs in (1, 7):
        batch = trained(n_runs, kernel, loss, dtype)
        here, there = batch.records["weights"], largest.records["weights"][:n_runs]
        np.testing.assert_array_equal(here[:, 0], there[:, 0])
        for name in COUNTERS:
            np.testing.assert_array_equal(getattr(batch, name), getattr(largest, name)[:n_runs], err_msg=name)
        # One program per run in the fused kernel: nothing there can see the batch.
        np.testing.assert_allclose(here, there, rtol=0, atol=0 if kernel == "fused" else 1e-13)


@pytest.mark.parametrize("batch", [16, 40])
def test_sweeps_do_not_see_the_batch_and_are_as_accurate_as_float32(batch):
    def go(n_runs, kernel, dtype):
        nets = jax.tree.map(lambda leaf: leaf.astype(dtype), several(n_runs, n_neurons=600, dim=50))
        data = jax.tree.map(lambda leaf: leaf.astype(dtype), classes(96, 50))
        recipe = Recipe(cross_entropy, SGD(0.01, batch_size=batch, kernel=kernel), 600)
        return ensemble(nets, data, recipe, run_keys(n_runs), record=RECORD)

    largest, plain, exact = go(16, "minibatch", jnp.float32), go(16, "plain", jnp.float32), go(16, "plain", jnp.float64)
    for n_runs in (1, 7):
        batch_of = go(n_runs, "minibatch", jnp.float32)
        np.testing.assert_array_equal(batch_of.records["weights"], largest.records["weights"][:n_runs])
        for name in COUNTERS:
            np.testing.assert_array_equal(getattr(batch_of, name), getattr(largest, name)[:n_runs], err_msg=name)

    def away(run):
        return np.abs(run.records["weights"] - exact.records["weights"])[:, -1].max(-1)

    scale = np.abs(exact.records["weights"]).max()
    assert np.median(away(largest)) <= 1.2 * np.median(away(plain))
    assert np.mean(away(largest) > 2e-5 * scale) <= 0.02
    np.testing.assert_array_equal(largest.updates, exact.updates)


@pytest.mark.parametrize("kernel", ["plain", "blocked", "gram"])
def test_counts_are_those_of_the_cpu(kernel):
    there, here = (
        on_cpu(trained, 7, kernel, hinge, jnp.float64),
        jax.tree.map(np.asarray, trained(7, kernel, hinge, jnp.float64)),
    )
    for name in COUNTERS:
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name), err_msg=name)
    np.testing.assert_array_equal(here.records["weights"][:, 0], there.records["weights"][:, 0])
    np.testing.assert_allclose(here.records["weights"], there.records["weights"], rtol=0, atol=1e-12)


def test_orders_are_those_of_the_cpu_bit_for_bit():
    def draw():
        return jax.vmap(lambda key: Permutation().epoch(key, jnp.asarray(3), 500, 1))(run_keys(64))

    np.testing.assert_array_equal(draw(), on_cpu(draw))
