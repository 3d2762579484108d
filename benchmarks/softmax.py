"""Mini-batch softmax as a workload: the setting of li2018, what every peer is given.

Ten classes of points around a centre each, unit norm; wide ReLU networks with a fixed Gaussian second layer, one per
run; cross-entropy of the softmax; the mean gradient of a mini-batch per step.
"""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from widenet.losses import cross_entropy
from widenet.networks import TwoLayer, relu
from widenet.training import SGD, Permutation, Recipe
from widenet.types import Dataset

SPREAD = 0.5
"""How far points lie from the centre of their class, before they are brought to norm 1."""


@dataclass(frozen=True)
class SoftmaxWorkload:
    """Runs side by side on one data set, each with its own network and order."""

    n_runs: int
    n_neurons: int
    batch_size: int
    n_classes: int = 10
    dim: int = 784
    n_samples: int = 1024
    dtype: str = "float32"

    @property
    def name(self) -> str:
        """On the command line."""
        return f"softmax_{self.batch_size}"

    @property
    def closeness(self) -> str:
        """How near the weights of the peers must be."""
        return self.dtype

    @property
    def step_size(self) -> float:
        """The curvature grows with the number of neurons."""
        return 1.0 / self.n_neurons

    @property
    def sizes(self) -> dict[str, int]:
        """What the times depend on."""
        return {
            "runs": self.n_runs,
            "batch": self.batch_size,
            "neurons": self.n_neurons,
            "inputs": self.dim,
            "classes": self.n_classes,
            "samples": self.n_samples,
        }

    @property
    def steps_per_epoch(self) -> int:
        """An epoch's order is drawn at its first step."""
        return self.n_samples // self.batch_size

    @functools.cached_property
    def keys(self) -> jax.Array:
        """One key per run."""
        return jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(9), jnp.arange(self.n_runs))

    @functools.cached_property
    def data(self) -> Dataset:
        """As many points of every class as of any other, one more at most."""
        draw = np.random.default_rng(0)
        centres = draw.normal(size=(self.n_classes, self.dim))
        labels = np.arange(self.n_samples) % self.n_classes
        inputs = centres[labels] + SPREAD * draw.normal(size=(self.n_samples, self.dim))
        inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
        return Dataset(jnp.asarray(inputs, self.dtype), jnp.asarray(labels, self.dtype))

    @functools.cached_property
    def networks(self) -> TwoLayer:
        """What the peers start from: hidden weights of variance 1/neurons, output weights of variance 1."""
        draws = [np.random.default_rng([1, run]) for run in range(self.n_runs)]
        rows = [draw.normal(size=(self.n_neurons, self.dim)) * self.n_neurons**-0.5 for draw in draws]
        votes = [draw.normal(size=(self.n_classes, self.n_neurons)) for draw in draws]
        return TwoLayer(jnp.asarray(np.stack(rows), self.dtype), jnp.asarray(np.stack(votes), self.dtype), None, relu())

    def recipe(self, steps: int, kernel: str = "auto") -> Recipe:
        """How widenet is told to train: as many steps as this, and a look at the training set only before and after."""
        size, batch = self.step_size, self.batch_size
        return Recipe(cross_entropy, SGD(size, batch_size=batch, kernel=kernel), steps, check_every=steps)

    def orders(self, steps: int) -> np.ndarray:
        """The samples of the first steps, (run, step, place in the batch): those that `Permutation` hands out."""
        epochs = jnp.arange(-(-steps // self.steps_per_epoch), dtype=jnp.int32)

        def epoch(key, number):
            return Permutation().epoch(key, number, self.n_samples, self.batch_size)

        drawn = jax.jit(jax.vmap(jax.vmap(epoch, (None, 0)), (0, None)))(self.keys, epochs)
        return np.asarray(drawn).reshape(self.n_runs, -1, self.batch_size)[:, :steps]

    @property
    def product_shape(self) -> tuple[int, int, int]:
        """Rows, inner size and columns of the product of a batch with the weights."""
        return self.batch_size, self.dim, self.n_neurons

    def products_per_step(self, active: float) -> float:
        """X Wᵀ, and W + Cᵀ X."""
        return 1 + active

    @property
    def bytes_per_step(self) -> float:
        """Reading and writing the weights once."""
        return 2.0 * self.n_neurons * self.dim * np.dtype(self.dtype).itemsize
