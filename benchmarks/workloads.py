"""Stochastic gradient descent as a workload: what every peer is given, whatever it is written in."""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from widenet.losses import Loss, hinge, logistic
from widenet.networks import leaky_relu, make_two_layer
from widenet.networks.two_layer import TwoLayer
from widenet.training import SGD, Permutation, Recipe, ensemble
from widenet.types import Dataset

ROWS = 64
"""Steps between two visits of the weights in the blocked algorithm; the unit of the limits."""


@dataclass(frozen=True)
class SgdWorkload:
    """One sample per step, leaky networks with a fixed ±v second layer, one per run, and one data set for all.

    Attributes:
      name: on the command line.
      loss: `logistic` or `hinge`.
      separation: how far the classes are pushed apart along a random direction.
      contradictions: the share of samples that have a twin with the other label. They keep a hinge loss moving for
        ever, at a steady rate.
      epochs_before: how many epochs of training lie before the weights that the peers start from.
    """

    name: str
    loss: Loss
    n_runs: int
    n_neurons: int = 100
    dim: int = 784
    n_samples: int = 4096
    step_size: float = 0.05
    slope: float = 0.1
    dtype: str = "float32"
    separation: float = 0.05
    contradictions: float = 0.0
    epochs_before: int = 0

    @property
    def sizes(self) -> dict[str, int]:
        """What the times depend on."""
        return {
            "runs": self.n_runs,
            "neurons": self.n_neurons,
            "inputs": self.dim,
            "samples": self.n_samples,
        }

    @functools.cached_property
    def keys(self) -> jax.Array:
        """One key per run; run i is the same whatever `n_runs` is."""
        return _keys(7, self.n_runs)

    @functools.cached_property
    def data(self) -> Dataset:
        """Gaussian points, pushed apart along a random direction, the contradicting twins first."""
        draw = np.random.default_rng(0)
        direction = draw.normal(size=self.dim)
        direction /= np.linalg.norm(direction)
        inputs = draw.normal(size=(self.n_samples, self.dim)) / self.dim**0.5
        labels = np.where(inputs @ direction > 0, 1.0, -1.0)
        inputs += self.separation * labels[:, None] * direction
        pairs = round(self.contradictions * self.n_samples / 2)
        inputs[pairs : 2 * pairs] = inputs[:pairs]
        labels[pairs : 2 * pairs] = -labels[:pairs]
        return Dataset(jnp.asarray(inputs, self.dtype), jnp.asarray(labels, self.dtype))

    @functools.cached_property
    def networks(self) -> TwoLayer:
        """What the peers start from, one network per run."""
        networks = _networks(self.keys, self.n_neurons, self.dim, self.slope, self.dtype)
        if not self.epochs_before:
            return networks
        # By a kernel that is not measured: the measured one would be compiled before its first call.
        recipe = self.recipe(self.epochs_before * self.n_samples, "plain")
        return ensemble(networks, self.data, recipe, _keys(8, self.n_runs)).network

    def recipe(self, steps: int, kernel: str = "auto") -> Recipe:
        """How widenet is told to train: as many steps as this, and a look at the training set only before and after."""
        return Recipe(self.loss, SGD(self.step_size, kernel=kernel), steps, check_every=steps)

    def orders(self, steps: int) -> np.ndarray:
        """The sample indices of the first steps, one row per run: those that `Permutation` hands out."""
        epochs = np.arange(-(-steps // self.n_samples), dtype=np.int32)
        return np.asarray(_orders(self.keys, epochs, self.n_samples)).reshape(self.n_runs, -1)[:, :steps]

    @property
    def closeness(self) -> str:
        """How near the weights of the peers must be."""
        return self.dtype

    @property
    def steps_per_epoch(self) -> int:
        """An epoch's order is drawn at its first step."""
        return self.n_samples

    @property
    def product_shape(self) -> tuple[int, int, int]:
        """Rows, inner size and columns of the product of a block with the weights."""
        return ROWS, self.dim, self.n_neurons

    def products_per_step(self, active: float) -> float:
        """What a step cannot do without, as a part of that product: W x, and W + c xᵀ for the active share of steps."""
        return (1 + active) / ROWS

    @property
    def bytes_per_step(self) -> float:
        """Reading and writing the weights once per block of `ROWS` steps."""
        return 2 * self.n_neurons * self.dim * np.dtype(self.dtype).itemsize / ROWS


def logistic_sgd(n_runs: int, **others) -> SgdWorkload:
    """Logistic loss: every step moves something."""
    return SgdWorkload("logistic_sgd", logistic, n_runs, **others)


def late_hinge(n_runs: int, **others) -> SgdWorkload:
    """Hinge loss late in training: one step in twenty moves something, and this stays so."""
    setting = {"separation": 0.5, "contradictions": 0.05, "epochs_before": 1} | others
    return SgdWorkload("late_hinge", hinge, n_runs, **setting)


@functools.partial(jax.jit, static_argnums=(1, 2, 3, 4))
def _networks(keys: jax.Array, n_neurons: int, dim: int, slope: float, dtype: str) -> TwoLayer:
    """One network per key, in a program that workloads of one size share."""

    def make(key):
        return make_two_layer(key, n_neurons, dim, leaky_relu(slope), radius=0.03, dtype=jnp.dtype(dtype))

    return jax.vmap(make)(keys)


@functools.partial(jax.jit, static_argnums=2)
def _orders(keys: jax.Array, epochs: jax.Array, n_samples: int) -> jax.Array:
    """The order of every epoch of every run."""

    def draw(key):
        return jax.vmap(lambda epoch: Permutation().epoch(key, epoch, n_samples, 1))(epochs)

    return jax.vmap(draw)(keys)


def _keys(seed: int, n_runs: int) -> jax.Array:
    return jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(seed), jnp.arange(n_runs))
