"""Plain gradient descent on points of XORD, by automatic differentiation of the network.

Nothing here knows about pattern sets or diverse points; the statements about them are checked against it.
"""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from widenet.claims.base import Hypothesis
from widenet.data.xord import PATTERNS, pattern_set
from widenet.errors import DataError
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.papers.brutzkus2019.formulas import largest_deviation
from widenet.papers.brutzkus2019.runs.training_set import from_data
from widenet.types import Dataset

CHUNK = 128
MAX_STEPS = 64 * CHUNK
Path = Float[np.ndarray, " time run channel 2"]


@dataclass(frozen=True, eq=False)
class XordRuns:
    """Training points, and networks that start on them.

    Attributes:
      data: a training set of XORD, or a reader's own.
      filters: initial weights, the w's before the u's.
      step_size: η.
      margin: γ.
    """

    data: Dataset
    filters: Float[np.ndarray, "run channel 2"]
    step_size: float
    margin: float

    @property
    def half_width(self) -> int:
        """k."""
        return self.filters.shape[1] // 2

    def one_of(self, label: float) -> Float[np.ndarray, " dim"]:
        """The first point with this label."""
        labels = np.asarray(self.data.labels)
        if not (labels == label).any():
            raise DataError(f"these statements need a point of each class, and no point has the label {label:+g}.")
        return np.asarray(self.data.inputs)[np.argmax(labels == label)]

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What Section 6 assumes about the training set, measured."""
        return from_data(self.data).hypotheses()


def runs_on(
    data: Dataset,
    *,
    half_width: int = 16,
    step_constant: float = 1 / 41,
    margin: float = 8.0,
    n_runs: int = 4,
    seed: int = 0,
) -> XordRuns:
    """Networks of this width on a reader's own training points, with η = c_η/k and the largest σ_g."""
    deviation = largest_deviation(step_constant, half_width)
    filters = np.random.default_rng([seed, half_width]).normal(0, deviation, (n_runs, 2 * half_width, 2))
    return XordRuns(data, filters, step_constant / half_width, margin)


def diverse_points(seed: int, per_class: int = 6, n_patches: int = 7) -> Dataset:
    """Random diverse points: every pattern of the class at least once, the rest at random, shuffled."""
    draw = np.random.default_rng([seed, per_class, n_patches])
    words = [
        draw.permutation(np.concatenate([held, draw.choice(held, n_patches - len(held))]))
        for held in ([0, 1, 2, 3], [1, 3])
        for _ in range(per_class)
    ]
    inputs = PATTERNS[np.array(words)].reshape(2 * per_class, -1)
    return Dataset(jnp.asarray(inputs), jnp.asarray(np.repeat([1.0, -1.0], per_class)))


def diverse_part(data: Dataset) -> Dataset:
    """The diverse points of a data set, as many of each class: what Section 6 can speak about."""
    held, labels = np.asarray(pattern_set(data.inputs)), np.asarray(data.labels)
    positive = np.flatnonzero(held.all(axis=1) & (labels == 1))
    negative = np.flatnonzero((held == [False, True, False, True]).all(axis=1) & (labels == -1))
    size = min(len(positive), len(negative))
    return data[np.concatenate([positive[:size], negative[:size]])]


def responses(
    filters: Float[np.ndarray, "*batch channel 2"], x: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "*batch channel"]:
    """max_i σ(⟨w, x_i⟩) of every filter on one point."""
    return np.maximum(filters @ x.reshape(-1, 2).T, 0).max(axis=-1)


def outputs(
    filters: Float[np.ndarray, "*batch channel 2"], x: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "*batch"]:
    """N(x) of networks with as many w's as u's."""
    answers = responses(filters, x)
    half = answers.shape[-1] // 2
    return np.asarray(answers[..., :half].sum(axis=-1) - answers[..., half:].sum(axis=-1))


@functools.lru_cache(maxsize=8)
def descend(runs: XordRuns, n_steps: int | None = None) -> Path:
    """The weights at every t; without a number of steps, until nothing has moved for `CHUNK` steps.

    A run that still moves after `MAX_STEPS` is left as it is: its last two weights differ.
    """
    filters, parts, done = jnp.asarray(runs.filters), [], 0
    limit = MAX_STEPS if n_steps is None else n_steps + 1
    while done < limit:
        filters, seen = _chunk(filters, runs.data, jnp.asarray(runs.step_size), jnp.asarray(runs.margin))
        parts.append(np.asarray(seen))
        done += CHUNK
        if n_steps is None and np.array_equal(parts[-1][0], parts[-1][-1]):
            break
    return np.concatenate(parts)[:limit]


@jax.jit
def _chunk(
    filters: Float[Array, "run channel 2"], data: Dataset, step_size: Float[Array, ""], margin: Float[Array, ""]
):
    half = filters.shape[1] // 2
    votes = jnp.where(jnp.arange(2 * half) < half, 1.0, -1.0)
    positive = data.labels > 0
    # The loss times the least common multiple of the class sizes: whole numbers cancel exactly where thirds would not.
    sizes = jnp.maximum(jnp.sum(positive), 1), jnp.maximum(jnp.sum(~positive), 1)
    whole = jnp.lcm(*sizes)
    shares = jnp.where(positive, whole // sizes[0], whole // sizes[1])

    def loss(filters):
        values = jax.vmap(ConvMaxPool(filters, votes))(data.inputs)
        slack = jnp.where(positive, margin, 1.0) - data.labels * values
        return jnp.sum(shares * jnp.where(slack > 0, slack, 0.0))

    def step(filters, _):
        return filters - (step_size / whole) * jax.vmap(jax.grad(loss))(filters), filters

    return jax.lax.scan(step, filters, length=CHUNK)
