"""Gradient descent with steps that depend on the loss, as a workload: the setting of chatterji2021.

The whole set per step, α_t = Q₁ log²(1/L_t), logistic loss, networks with biases and a fixed ±1 second layer, float64.
A peer keeps the bias as one more column of the weights, and the inputs have a 1 there.
"""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from widenet.losses import logistic
from widenet.networks import TwoLayer, relu
from widenet.training import GradientDescent, LogSquared, Recipe
from widenet.types import Dataset

SPREAD = 0.1
"""Standard deviation of each coordinate around the centre of a cluster."""


@dataclass(frozen=True)
class DescentWorkload:
    """Runs side by side, one data set and one network each: four clusters in the place of XOR."""

    n_runs: int
    n_neurons: int = 200
    n_points: int = 128
    dim: int = 2
    name: str = "descent"
    dtype: str = "float64"

    @property
    def closeness(self) -> str:
        """How near the weights of the peers must be."""
        return self.dtype

    @property
    def factor(self) -> float:
        """Q₁ is one over the neurons of a class."""
        return 2.0 / self.n_neurons

    @property
    def sizes(self) -> dict[str, int]:
        """What the times depend on."""
        return {"runs": self.n_runs, "neurons": self.n_neurons, "points": self.n_points, "inputs": self.dim}

    @functools.cached_property
    def keys(self) -> jax.Array:
        """There is nothing random in a step; the engine asks for keys all the same."""
        return jax.random.split(jax.random.key(0), self.n_runs)

    @functools.cached_property
    def data(self) -> Dataset:
        """The points of each run: the class is that of the cluster, opposite clusters have the same."""
        draw = np.random.default_rng(2)
        cluster = np.tile(np.arange(4), (self.n_runs, -(-self.n_points // 4)))[:, : self.n_points]
        centres = np.zeros((4, self.dim))
        centres[:2, 0], centres[2:, 1] = [1, -1], [1, -1]
        inputs = centres[cluster] + SPREAD * draw.normal(size=(*cluster.shape, self.dim))
        return Dataset(jnp.asarray(inputs), jnp.asarray(np.where(cluster < 2, 1.0, -1.0)))

    @functools.cached_property
    def networks(self) -> TwoLayer:
        """What the peers start from."""
        draw, scale = np.random.default_rng(3), (2.0 * self.n_neurons) ** -0.625
        rows = scale * draw.normal(size=(self.n_runs, self.n_neurons, self.dim + 1))
        votes = np.tile(np.repeat([1.0, -1.0], self.n_neurons // 2), (self.n_runs, 1))
        return TwoLayer(jnp.asarray(rows[..., :-1]), jnp.asarray(votes), jnp.asarray(rows[..., -1]), relu())

    @property
    def weights(self) -> jax.Array:
        """The biases as a last column of the weights."""
        return with_bias(self.networks)

    @property
    def inputs(self) -> jax.Array:
        """The points with a 1 after them."""
        inputs = self.data.inputs
        return jnp.concatenate([inputs, jnp.ones_like(inputs[..., :1])], axis=-1)

    def recipe(self, steps: int) -> Recipe:
        """How widenet is told to train: as many steps as this, and a look at the training set only before and after."""
        return Recipe(logistic, method=GradientDescent(LogSquared(self.factor)), max_steps=steps, check_every=steps)

    @property
    def product_shape(self) -> tuple[int, int, int]:
        """Rows, inner size and columns of the product of all points with the weights."""
        return self.n_points, self.dim + 1, self.n_neurons

    def products_per_step(self, active: float) -> float:
        """Forth and back."""
        return 2.0

    @property
    def bytes_per_step(self) -> float:
        """Reading and writing the weights once."""
        return 2.0 * self.n_neurons * (self.dim + 1) * np.dtype(self.dtype).itemsize


def with_bias(network: TwoLayer) -> jax.Array:
    """Hidden weights and biases in one array."""
    if network.bias is None:
        raise ValueError("this network has no biases")
    return jnp.concatenate([network.hidden_weights, network.bias[..., None]], axis=-1)
