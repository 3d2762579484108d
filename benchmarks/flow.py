"""Gradient flow as a workload: dW/dt = −∇L(W) up to a fixed time, leaky networks, logistic loss, float64.

Ours is adaptive and locates kinks; the plain peers step over them, so that all can only agree to the accuracy of the
plainest. How far each one is from a much finer solution is said beside its time.
"""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from widenet.losses import logistic
from widenet.networks import TwoLayer, leaky_relu
from widenet.networks.two_layer import plus_minus
from widenet.training import Flow, LinearClock, Recipe
from widenet.types import Dataset

TOLERANCE, FINE = 1e-8, 1e-11
"""Of the solver that is timed, and of the solution that errors are measured against."""


@dataclass(frozen=True)
class FlowWorkload:
    """Runs side by side, one data set for all.

    Attributes:
      tick: the time of one step.
      per_tick: steps of the plain Runge-Kutta method in it.
    """

    n_runs: int
    n_neurons: int = 50
    n_points: int = 64
    dim: int = 10
    tick: float = 1.0
    per_tick: int = 16
    slope: float = 0.2
    name: str = "flow"
    dtype: str = "float64"

    @property
    def closeness(self) -> str:
        """How near the weights of the peers must be."""
        return "flow"

    @property
    def sizes(self) -> dict[str, int]:
        """What the times depend on."""
        return {"runs": self.n_runs, "neurons": self.n_neurons, "points": self.n_points, "inputs": self.dim}

    @functools.cached_property
    def keys(self) -> jax.Array:
        """There is nothing random in a flow; the engine asks for keys all the same."""
        return jax.random.split(jax.random.key(0), self.n_runs)

    @functools.cached_property
    def data(self) -> Dataset:
        """Points of norm 1, labelled by a random direction."""
        draw = np.random.default_rng(4)
        inputs = draw.normal(size=(self.n_points, self.dim))
        inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
        labels = np.where(inputs @ draw.normal(size=self.dim) > 0, 1.0, -1.0)
        return Dataset(jnp.asarray(inputs), jnp.asarray(labels))

    @functools.cached_property
    def networks(self) -> TwoLayer:
        """What the peers start from."""
        rows = np.random.default_rng(5).normal(size=(self.n_runs, self.n_neurons, self.dim))
        votes = plus_minus(self.n_neurons, self.n_neurons**-0.5)
        return TwoLayer(
            jnp.asarray(rows * self.dim**-0.5),
            jnp.tile(votes, (self.n_runs, 1)),
            None,
            leaky_relu(self.slope),
        )

    def recipe(self, steps: int, tolerance: float = TOLERANCE) -> Recipe:
        """How widenet is told to train: so many ticks, and a look at the training set only before and after."""
        method = Flow(LinearClock(self.tick), tolerance=tolerance)
        return Recipe(logistic, method=method, max_steps=steps, check_every=steps)

    @property
    def product_shape(self) -> tuple[int, int, int]:
        """Rows, inner size and columns of the product of all points with the weights."""
        return self.n_points, self.dim, self.n_neurons

    def products_per_step(self, active: float) -> float:
        """Forth and back, in four stages of each plain step."""
        return 8.0 * self.per_tick

    @property
    def bytes_per_step(self) -> float:
        """Reading and writing the weights once in every stage of a plain step."""
        return 8.0 * self.per_tick * self.n_neurons * self.dim * np.dtype(self.dtype).itemsize
