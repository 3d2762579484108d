"""Runs on fresh training sets drawn from a law of XORD, as in Figures 1 and 5 of brutzkus2019."""

import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float, Int

from widenet.data import Xord, count_sets
from widenet.networks import ConvMaxPool, make_conv_maxpool
from widenet.training import PatternTrajectory, on_grid, train_patterns
from widenet.types import Progress, RunKeys, silent

STEP_CONSTANT = 0.02
"""c_η = ηk: Appendix A takes η = 0.04 divided by the number 2k of channels."""

INITIAL_SCALE = 1e-5
"""σ_g in Appendix A."""


def train_sampled(
    seed: int,
    law: Xord,
    n_channels: int,
    n_runs: int,
    margin: float,
    *,
    n_per_class: int = 6,
    progress: Progress = silent,
) -> PatternTrajectory:
    """Fresh data and fresh filters in every run; step size, scale and stopping rule of Appendix A.

    The draws depend on seed, width and number of the run alone: two margins (or two laws) with the same seed are pairs.
    """
    keys = run_keys(seed, n_channels, n_runs)
    networks, counts = draw_networks(keys, n_channels, INITIAL_SCALE), draw_counts(law, keys, n_per_class)
    networks, step_sizes = on_grid(networks, counts, 2 * STEP_CONSTANT / n_channels)
    return train_patterns(networks, counts, step_sizes, margin=margin, progress=progress)


def run_keys(seed: int, n_channels: int, n_runs: int) -> RunKeys:
    """One key per run, which depends on the seed, the width and the number of the run alone."""
    numbers = n_channels * 100_000 + jnp.arange(n_runs)
    return jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(seed), numbers)


@eqx.filter_jit
def draw_networks(keys: RunKeys, n_channels: int, scale: Float[Array, ""] | float) -> ConvMaxPool:
    """A network per key; the key is split as in `train_sampled`, so both draw the same filters."""
    init_keys = jax.vmap(lambda key: jax.random.split(key)[0])(keys)
    return jax.vmap(functools.partial(make_conv_maxpool, n_channels=n_channels, scale=scale))(init_keys)


@eqx.filter_jit
def draw_counts(law: Xord, keys: RunKeys, n_per_class: int = 6) -> Int[Array, "run 15"]:
    """The training sets of `train_sampled`: how many points of each run have each pattern set."""
    data_keys = jax.vmap(lambda key: jax.random.split(key)[1])(keys)
    return count_sets(jax.vmap(lambda key: law.sample_balanced(key, n_per_class))(data_keys))


def part_of(progress: Progress, index: int, total: int) -> Callable[[float, str], None]:
    """The progress of one of several equal parts."""
    return lambda done, words: progress((index + done) / total, words)


def mean_interval(values: Float[np.ndarray, " run"]) -> tuple[float, float] | None:
    """The 95 % t-interval of a mean; None below two runs or where all are equal."""
    if len(values) < 2 or np.ptp(values) == 0:
        return None
    low, high = scipy.stats.t.interval(0.95, len(values) - 1, values.mean(), scipy.stats.sem(values))
    return (float(low), float(high))
