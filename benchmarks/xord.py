"""Full-batch gradient descent on XORD as a workload, and Figure 1 of brutzkus2019 at its size.

Everybody gets the same points, initial filters and steps, in float64: 200 channels, 6 + 6 points of 8 patches. The
margin is 100, so that no run is done before the last step. Ours sees the points only through their pattern sets.
"""

import functools
import statistics
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.measure import seconds_of
from benchmarks.threads import in_threads
from widenet.data import count_sets, make_xord
from widenet.networks import ConvMaxPool, make_conv_maxpool
from widenet.papers.brutzkus2019.runs.sampled_runs import CHANNELS
from widenet.progress import Progress, silent
from widenet.training import on_grid, train_patterns
from widenet.training.xord import PatternTrajectory
from widenet.types import Dataset

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

    def products_per_step(self, active: float) -> float:
        """That one."""
        return 1.0

    @property
    def closeness(self) -> str:
        """How near the weights of the peers must be."""
        return self.dtype

    @property
    def bytes_per_step(self) -> float:
        """Reading and writing the filters once per step."""
        return 2.0 * 2 * self.n_channels * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class WidthRun:
    """One width of Figure 1: runs at zero training error, iterations of all runs, and seconds after compilation."""

    n_channels: int
    zero_error: int
    iterations: int
    seconds: float


def figure_1(
    n_runs: int = 100,
    repeats: int = 3,
    widths: tuple[int, ...] = CHANNELS,
    progress: Progress = silent,
) -> tuple[list[WidthRun], float]:
    """Train every width to the end: what came out, with the medians of the repeats, and the seconds of compiling.

    Each width is a program of its own; as many are compiled at a time as there are cores.
    """
    workloads = [XordWorkload(n_runs, n_channels) for n_channels in widths]
    progress(0.0, f"first calls of {len(widths)} widths")

    def begin(each):
        return on_grid(each.networks, each.counts, each.step_size)

    starts = in_threads(begin, [(workload,) for workload in workloads])

    def train(place: int) -> PatternTrajectory:
        networks, step_size = starts[place]
        return train_patterns(networks, workloads[place].counts, step_size)

    first = seconds_of(lambda: in_threads(train, [(place,) for place in range(len(widths))]))
    found = []
    for place, workload in enumerate(workloads):
        progress((1 + place) / (1 + len(widths)), f"{workload.n_channels} channels")
        runs: list[PatternTrajectory] = []

        def once(place=place, runs=runs):
            return runs.append(train(place))

        seconds = statistics.median(seconds_of(once) for _ in range(repeats))
        zero, steps = int((runs[-1].train_error == 0).sum()), int(runs[-1].steps.sum())
        found.append(WidthRun(workload.n_channels, zero, steps, seconds))
    return found, max(0.0, first - sum(each.seconds for each in found))
