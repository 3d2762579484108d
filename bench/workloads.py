"""What every peer is given: data, initial weights and sample orders, as plain NumPy arrays."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from widenet.networks import leaky_relu, make_two_layer
from widenet.networks.two_layer import TwoLayer
from widenet.training import Permutation
from widenet.types import Dataset


@dataclass(frozen=True)
class Workload:
    """Batch-1 logistic SGD on leaky networks with a fixed ±v second layer, one per run, and one data set for all."""

    name: str
    n_runs: int
    n_neurons: int
    dim: int
    n_samples: int
    step_size: float = 0.05
    slope: float = 0.1
    dtype: str = "float32"

    @property
    def keys(self) -> jax.Array:
        """One key per run; run i is the same whatever `n_runs` is."""
        return jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(7), jnp.arange(self.n_runs))

    def data(self) -> Dataset:
        """Gaussian points, pushed apart along a random direction."""
        draw = np.random.default_rng(0)
        direction = draw.normal(size=self.dim)
        direction /= np.linalg.norm(direction)
        inputs = draw.normal(size=(self.n_samples, self.dim)) / self.dim**0.5
        labels = np.where(inputs @ direction > 0, 1.0, -1.0)
        inputs += 0.05 * labels[:, None] * direction
        return Dataset(jnp.asarray(inputs, self.dtype), jnp.asarray(labels, self.dtype))

    def networks(self) -> TwoLayer:
        """One network per run."""
        make = lambda key: make_two_layer(  # noqa: E731
            key, self.n_neurons, self.dim, leaky_relu(self.slope), radius=0.03, dtype=jnp.dtype(self.dtype)
        )
        return jax.jit(jax.vmap(make))(self.keys)

    def orders(self, steps: int) -> np.ndarray:
        """The sample indices of the first steps, one row per run: those that `Permutation` hands out."""
        order = Permutation()
        length = order.steps_per_epoch(self.n_samples, 1)
        epochs = jnp.arange(-(-steps // length), dtype=jnp.int32)
        draw = lambda key: jax.vmap(lambda epoch: order.epoch(key, epoch, self.n_samples, 1))(epochs)  # noqa: E731
        return np.asarray(jax.jit(jax.vmap(draw))(self.keys)).reshape(self.n_runs, -1)[:, :steps]

    @property
    def flops_per_step(self) -> int:
        """Multiplications and additions that one step of one run cannot do without: W x, and W + c xᵀ."""
        return 4 * self.n_neurons * self.dim


def logistic_sgd(n_runs: int, n_neurons: int = 100, dim: int = 784, n_samples: int = 4096, **others) -> Workload:
    """The size of the figures to reach; fewer runs on a small machine."""
    return Workload("logistic_sgd", n_runs, n_neurons, dim, n_samples, **others)
