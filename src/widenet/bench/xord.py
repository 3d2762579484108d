"""Full-batch gradient descent on XORD as a workload, and Figure 1 of brutzkus2019 at its size.

Everybody gets the same points, initial filters and steps, in float64: 200 channels, 6 + 6 points of 8 patches. The
margin is 100, so that no run is done before the last step. Ours sees the points only through their pattern sets.
"""

import functools
import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from widenet.bench.threads import in_threads
from widenet.data import count_sets, make_xord
from widenet.networks import ConvMaxPool, make_conv_maxpool
from widenet.papers.brutzkus2019.figure_1 import CHANNELS
from widenet.training import on_grid, train_patterns
from widenet.types import Dataset, Progress, silent

LAW = make_xord()


@functools.partial(jax.jit, static_argnums=1)
def _points(keys: jax.Array, n_per_class: int) -> Dataset:
    """The points of every run, in a program that all widths share."""
    return jax.vmap(lambda key: LAW.sample_balanced(key, n_per_class))(keys)


@dataclass(frozen=True)
class XordWorkload:
    """Runs side by side, one data set and one network each, as in Figure 1 at this width."""

    n_runs: int
    n_channels: int = 200
    n_per_class: int = 6
    margin: float = 100.0
    name: str = "xord"
    dtype: str = "float64"

    @property
    def step_size(self) -> float:
        """0.04 divided by the number of channels."""
        return 0.04 / self.n_channels

    @property
    def sizes(self) -> dict[str, int]:
        """What the times depend on."""
        points = 2 * self.n_per_class
        return {"runs": self.n_runs, "channels": self.n_channels, "points": points, "inputs": 2 * LAW.n_patches}

    @functools.cached_property
    def keys(self) -> jax.Array:
        """Two keys for each run, one for its network and one for its points."""
        places = self.n_channels * 100_000 + jnp.arange(self.n_runs)
        return jax.vmap(jax.random.split)(jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(0), places))

    @functools.cached_property
    def networks(self) -> ConvMaxPool:
        """What the peers start from."""
        return jax.jit(jax.vmap(lambda key: make_conv_maxpool(key, self.n_channels, 1e-5)))(self.keys[:, 0])

    @functools.cached_property
    def data(self) -> Dataset:
        """The points of each run."""
        return _points(self.keys[:, 1], self.n_per_class)

    @functools.cached_property
    def counts(self) -> np.ndarray:
        """The points of each run as pattern sets."""
        return np.asarray(count_sets(self.data))

    @property
    def patches(self) -> jax.Array:
        """The points of each run, cut into patches of two numbers."""
        inputs = self.data.inputs
        return inputs.reshape(*inputs.shape[:2], -1, 2)

    @property
    def product_shape(self) -> tuple[int, int, int]:
        """Rows, inner size and columns of the product of all patches with all filters."""
        return 2 * self.n_per_class * LAW.n_patches, 2, self.n_channels

    @property
    def bytes_per_step(self) -> float:
        """Reading and writing the filters once per step."""
        return 2.0 * 2 * self.n_channels * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class WidthRun:
    """One width of Figure 1: runs at zero training error, iterations of all runs, seconds, and those of compiling."""

    n_channels: int
    zero_error: int
    iterations: int
    seconds: float
    compile_seconds: float


def figure_1(
    n_runs: int = 100,
    repeats: int = 3,
    widths: tuple[int, ...] = CHANNELS,
    progress: Progress = silent,
) -> list[WidthRun]:
    """Train every width to the end; the seconds are those of the median of the repeats, after compilation."""
    found = []
    workloads = [XordWorkload(n_runs, n_channels) for n_channels in widths]
    in_threads(lambda workload: workload.networks, [(workload,) for workload in workloads])  # a program per width
    for place, workload in enumerate(workloads):
        n_channels = workload.n_channels
        progress(place / len(widths), f"{n_channels} channels")
        networks, step_size = on_grid(workload.networks, workload.counts, workload.step_size)
        times, run = [], None
        for _ in range(1 + repeats):
            start = time.perf_counter()
            run = train_patterns(networks, workload.counts, step_size)
            times.append(time.perf_counter() - start)
        assert run is not None
        seconds = float(np.median(times[1:]))
        zero, steps = int((run.train_error == 0).sum()), int(run.steps.sum())
        found.append(WidthRun(n_channels, zero, steps, seconds, max(0.0, times[0] - seconds)))
    return found
