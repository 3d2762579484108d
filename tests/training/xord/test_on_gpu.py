"""XORD on a GPU: the counts of the CPU."""

import jax
import numpy as np
import pytest

from tests.training.test_gpu import on_cpu
from widenet.data import count_sets, make_xord
from widenet.networks import make_conv_maxpool
from widenet.training import on_grid, train_patterns
from widenet.types import RunStatus

pytestmark = pytest.mark.skipif(jax.default_backend() != "gpu", reason="needs a GPU")


def test_xord_gives_the_counts_of_the_cpu():
    """On the grid every sum is exact, so the whole trajectory is the same on any machine."""
    keys = jax.random.split(jax.random.key(2), 100)

    def one(key):
        init_key, data_key = jax.random.split(key)
        return make_conv_maxpool(init_key, 50, 1e-5), make_xord(n_patches=5).sample_balanced(data_key, 6)

    def all_runs(n_runs):
        nets, data = jax.vmap(one)(keys[:n_runs])
        counts = np.asarray(count_sets(data))
        nets, steps = on_grid(nets, counts, 0.04 / 50)
        return train_patterns(nets, counts, steps, max_steps=3000)

    there = on_cpu(all_runs, 100)
    assert (there.status == RunStatus.CONVERGED).any()
    for n_runs in (1, 7, 100):
        here = all_runs(n_runs)
        for name in ("status", "steps", "zero_error_step", "zero_loss_step", "loss", "outputs"):
            np.testing.assert_array_equal(getattr(here, name), getattr(there, name)[:n_runs], err_msg=name)
        np.testing.assert_array_equal(here.network.filters, there.network.filters[:n_runs])
