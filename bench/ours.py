"""widenet itself, through `ensemble`, as a user calls it."""

import time

import jax
import numpy as np

from bench.measure import Measured
from bench.workloads import Workload
from widenet.losses import logistic
from widenet.training import Recipe, ensemble
from widenet.training.kernels import choose


def widenet(workload: Workload, steps: int, kernel: str = "auto") -> Measured:
    """The marginal cost of a step: a budget of 2·steps against one of `steps`.

    The difference leaves out what a call costs once: compilation, and two looks at the whole training set.
    """
    data, networks, keys = workload.data(), workload.networks(), workload.keys

    def train(budget: int) -> tuple[float, np.ndarray]:
        recipe = Recipe(logistic, workload.step_size, budget, check_every=budget, kernel=kernel)
        start = time.perf_counter()
        weights = ensemble(networks, data, recipe, keys).network.hidden_weights
        jax.block_until_ready(weights)
        return time.perf_counter() - start, np.asarray(weights[:8])

    first, _ = train(steps)
    short, weights = min((train(steps) for _ in range(3)), key=lambda pair: pair[0])
    long, _ = min((train(2 * steps) for _ in range(3)), key=lambda pair: pair[0])
    per = (long - short) / steps / workload.n_runs * 1e6
    chosen = choose(networks, data, Recipe(logistic, 0.1, steps, kernel=kernel), None)
    whole = long / (2 * steps) / workload.n_runs * 1e6
    note = f"kernel {chosen}; with the looks of a call of {2 * steps} steps: {whole:.4f}"
    return Measured(f"widenet ({chosen})", per, max(0.0, first - short), weights, steps, note)
