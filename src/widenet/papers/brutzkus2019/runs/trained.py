"""Many networks trained on one training set of XORD by exact gradient descent: the runs behind Section 6.

The same runs serve several statements, so they are kept: one training per width, step, margin and seed.
"""

import functools
import math
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Hypothesis
from widenet.data.xord import SET_LABELS
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.papers.brutzkus2019.claims.start import (
    axes_are_explored,
    deviation_hypothesis,
    draw_filters,
    is_small,
    negative_parts_are_explored,
    positive_cones_are_explored,
)
from widenet.papers.brutzkus2019.formulas import largest_deviation
from widenet.papers.brutzkus2019.runs.training_set import PAIR, TrainingSet
from widenet.training import train_patterns
from widenet.training.patterns import GRID, class_weights
from widenet.types import Progress, RunStatus, silent


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks of one shape before and after gradient descent on one training set, with a leading run axis.

    Attributes:
      step_size: η.
      required_margin: γ.
      points: the training set.
      max_steps: the budget of steps.
      start, final: all filters, the plus half first.
      outputs: N on the 15 pattern sets at the end.
      steps, status, loss: of each run at its end.
    """

    step_size: float
    required_margin: float
    points: TrainingSet
    max_steps: int
    start: Float[np.ndarray, "run filter 2"]
    final: Float[np.ndarray, "run filter 2"]
    outputs: Float[np.ndarray, "run 15"]
    steps: Int[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]
    loss: Float[np.ndarray, " run"]

    @property
    def half_width(self) -> int:
        """The number of filters of each sign, k."""
        return self.start.shape[1] // 2

    @property
    def step_constant(self) -> float:
        """c_η = ηk."""
        return self.step_size * self.half_width

    @property
    def n_runs(self) -> int:
        """How many networks."""
        return len(self.start)

    @property
    def converged(self) -> Bool[np.ndarray, " run"]:
        """Whether the loss is exactly 0."""
        return (self.status == RunStatus.CONVERGED) & (self.loss == 0)

    @property
    def unfinished(self) -> Bool[np.ndarray, " run"]:
        """Whether the budget ran out while the weights still moved."""
        return self.status == RunStatus.BUDGET_SPENT

    @property
    def wrong(self) -> Bool[np.ndarray, "run 15"]:
        """On which pattern sets the sign is wrong; an output of 0 is, and so is one that is not a number."""
        return ~(SET_LABELS * self.outputs > 0)

    @property
    def recovers(self) -> Bool[np.ndarray, " run"]:
        """Zero loss and the right sign on all 15 sets."""
        return self.converged & ~self.wrong.any(axis=1)

    @functools.cached_property
    def small_start(self) -> Bool[np.ndarray, " run"]:
        """The event of Lemma E.3."""
        return is_small(self.start, self.step_size)

    @functools.cached_property
    def axes_explored(self) -> Bool[np.ndarray, " run"]:
        """The events of Lemmas E.2 and E.3."""
        return self.small_start & axes_are_explored(self.start)

    @functools.cached_property
    def explored_for_positive(self) -> Bool[np.ndarray, " run"]:
        """The events of Lemmas E.2, E.3 and E.15."""
        return self.axes_explored & positive_cones_are_explored(self.start)

    @functools.cached_property
    def explored_for_negative(self) -> Bool[np.ndarray, " run"]:
        """The events of Lemmas E.2, E.3 and E.19."""
        return self.axes_explored & negative_parts_are_explored(self.start)

    def small_deviation(self) -> Hypothesis:
        """σ_g ≤ c_η/(16k^{3/2}), measured on the start."""
        return deviation_hypothesis(self.start, self.step_size)

    def summary(self) -> dict:
        """What was run, for the evidence."""
        return {
            "half_width": self.half_width,
            "step_constant": self.step_constant,
            "required_margin": self.required_margin,
            "runs": self.n_runs,
            "converged": int(self.converged.sum()),
            "recover": int(self.recovers.sum()),
            "steps": [int(self.steps.min()), int(self.steps.max())],
        }


def as_networks(filters: Float[np.ndarray, "run filter 2"]) -> ConvMaxPool:
    """Networks with these filters, of which the first half votes +1 and the other −1."""
    votes = np.repeat([1.0, -1.0], filters.shape[1] // 2)
    return ConvMaxPool(jnp.asarray(filters), jnp.asarray(np.tile(votes, (len(filters), 1))))


def train_from(
    filters: Float[np.ndarray, "run filter 2"],
    step_size: float,
    required_margin: float,
    *,
    points: TrainingSet = PAIR,
    max_steps: int,
    progress: Progress = silent,
) -> Trained:
    """Gradient descent from given filters until the update is exactly zero.

    Filters and step size are first moved to the grid on which nothing is rounded (η downwards, by less than 1e-6 of
    itself), so an update that is zero in the paper is zero here.
    """
    counts = np.tile(np.array(points.counts), (len(filters), 1))
    unit = GRID * float(class_weights(counts[:1])[1][0])
    exact_step = math.floor(step_size / unit) * unit
    start = np.round(filters / GRID) * GRID
    run = train_patterns(
        as_networks(start),
        counts,
        exact_step,
        margin=required_margin,
        max_steps=max_steps,
        patience=None,
        progress=progress,
    )
    arrays = (start, np.asarray(run.network.filters), run.outputs, run.steps, run.status, run.loss)
    for array in arrays:
        array.setflags(write=False)  # runs are kept and shared
    return Trained(exact_step, required_margin, points, max_steps, *arrays)


@functools.lru_cache(maxsize=32)
def train_networks(
    seed: int,
    n_runs: int,
    half_width: int,
    step_constant: float,
    required_margin: float,
    *,
    max_steps: int,
    points: TrainingSet = PAIR,
    relative_deviation: float = 1.0,
) -> Trained:
    """Random starts with σ_g at its largest allowed value (times `relative_deviation`), η = c_η/k, trained."""
    deviation = relative_deviation * largest_deviation(step_constant, half_width)
    # Runs of two settings are pooled as independent, so they do not start from the same draws.
    stream = round(1 / step_constant) * 10_000 + round(100 * required_margin)
    filters = draw_filters(seed, n_runs, half_width, deviation, stream)
    return train_from(filters, step_constant / half_width, required_margin, points=points, max_steps=max_steps)
