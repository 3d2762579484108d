"""Several devices: the runs are divided among them, and nothing else changes."""

import os
import subprocess
import sys

PROGRAM = """
import jax
import numpy as np
from tests.training.problems import networks, run_keys, separable
from widenet.losses import logistic
from widenet.training import SGD, Recipe, ensemble

assert jax.local_device_count() == 2
recipe = Recipe(logistic, SGD(0.7, kernel="plain"), 30, check_every=30)
seen = set()

def see(fraction, words):
    seen.update(array.devices().pop() for array in jax.live_arrays())

many = ensemble(networks(5), separable(), recipe, run_keys(5), progress=see)
assert len(seen) == 2, seen
alone = ensemble(networks(5), separable(), recipe, run_keys(5), chunk=5)
for name in ("status", "steps", "updates", "mistakes", "last_update", "zero_loss_step"):
    np.testing.assert_array_equal(getattr(many, name), getattr(alone, name), err_msg=name)
np.testing.assert_allclose(many.network.hidden_weights, alone.network.hidden_weights, rtol=1e-12, atol=1e-14)
assert many.network.hidden_weights.devices() == {jax.devices()[0]}
"""


def test_runs_are_divided_among_devices():
    there = {
        **os.environ,
        "XLA_FLAGS": f"--xla_force_host_platform_device_count=2 {os.environ['MACHINE_XLA_FLAGS']}",
        "JAX_PLATFORMS": "cpu",
    }
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=there, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
