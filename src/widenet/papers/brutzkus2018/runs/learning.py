"""The setting of Section 6.1: samples of one distribution, and SGD that keeps the list of the points it updated on.

The runs are a handful of updates long, so each is one network in NumPy; the list is what a compression scheme needs.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Hypothesis, at_least, at_most, less_than, more_than
from widenet.diagnostics import Separation, find_separator
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.draws import separable_points, unit_rows
from widenet.types import Dataset

ROUNDING = 1e-12
PATIENCE, GIVEN_UP = 1e6, 1000
"""The largest M_k that a run is given time for, and the updates it gets otherwise."""
BLOCK = 10_000
"""How many pre-activations are computed at once."""
Weights = Float[np.ndarray, "neuron dim"]


@dataclass(frozen=True)
class Rule:
    """SGD on a ±v Leaky ReLU network with R = v = 1/√(2k) (Eq. 6).

    Attributes:
      half_width: k.
      slope: α.
      step_size: η.
      max_updates: stop after so many updates, whatever the loss; None to go on to loss 0.
    """

    half_width: int
    slope: float
    step_size: float
    max_updates: int | None = None

    @property
    def scale(self) -> float:
        """R = v = 1/√(2k)."""
        return (2 * self.half_width) ** -0.5

    @functools.cached_property
    def votes(self) -> Float[np.ndarray, " neuron"]:
        """(+v, …, +v, −v, …, −v)."""
        return np.repeat([self.scale, -self.scale], self.half_width)

    def update_bound(self, separator_norm: float) -> float:
        """M_k of Theorem 2."""
        return float(
            max_nonzero_updates(separator_norm, self.slope, self.step_size, self.scale, self.scale, self.half_width)
        )

    def start(self, draw: np.random.Generator, dim: int) -> Weights:
        """W_0, drawn without a look at the sample."""
        return self.scale * unit_rows(draw, 2 * self.half_width, dim)

    def outputs(self, weights: Weights, inputs: Float[np.ndarray, "sample dim"]) -> Float[np.ndarray, " sample"]:
        """N(x) of every point."""
        # σ(z) = αz + (1 − α)max(z, 0), and the linear part needs no row of its own. In blocks that stay in the cache
        # and on one thread, which is ten times as fast as the whole product.
        size = max(1, BLOCK // len(weights))
        blocks = (inputs[first : first + size] for first in range(0, len(inputs), size))
        bent = [np.maximum(block @ weights.T, 0.0) @ self.votes for block in blocks]
        return (1 - self.slope) * np.concatenate([np.zeros(0), *bent]) + self.slope * (inputs @ (self.votes @ weights))

    def step(self, weights: Weights, x: Float[np.ndarray, " dim"], y: float) -> Weights | None:
        """W after one step, or None if y N(x) ≥ 1. Training and replay both decide here, so they cannot disagree."""
        z = weights @ x
        slopes = np.where(z >= 0, 1.0, self.slope)
        if not y * float((z * slopes) @ self.votes) < 1:
            return None
        return weights + np.outer(self.step_size * y * self.votes * slopes, x)


@dataclass(frozen=True)
class Learned:
    """What SGD left: W, the indices of the updated points in their order, and the mean hinge loss on S."""

    weights: Weights
    updated: list[int]
    loss: float

    def unused(self, n_samples: int) -> Bool[np.ndarray, " sample"]:
        """V: the points that made no update."""
        mask = np.ones(n_samples, bool)
        mask[self.updated] = False
        return mask


def learn(
    rule: Rule,
    start: Weights,
    inputs: Float[np.ndarray, "sample dim"],
    labels: Float[np.ndarray, " sample"],
    draw: np.random.Generator,
    most: int,
) -> Learned:
    """SGD with points drawn with replacement, until loss 0, `rule.max_updates`, or `most` updates.

    Draws that make no update change nothing, so they are left out: the next point updated is uniform among those
    with y N(x) < 1, the first such in a random order.
    """
    weights, updated = start, []
    limit = most if rule.max_updates is None else min(rule.max_updates, most)
    while len(updated) < limit:
        found = _first_update(rule, weights, inputs, labels, draw.permutation(len(labels)))
        if found is None:
            break
        weights, index = found
        updated.append(index)
    products = labels * rule.outputs(weights, inputs)
    return Learned(weights, updated, float(np.maximum(1 - products, 0).mean()))


def _first_update(
    rule: Rule,
    weights: Weights,
    inputs: Float[np.ndarray, "sample dim"],
    labels: Float[np.ndarray, " sample"],
    order: Int[np.ndarray, " sample"],
) -> tuple[Weights, int] | None:
    """The first point of this order that makes an update, and W after it; looked for in blocks that grow."""
    first, size = 0, 16
    while first < len(order):
        block = order[first : first + size]
        for index in block[labels[block] * rule.outputs(weights, inputs[block]) < 1]:
            # A matrix product may round a tie to the other side; the step decides.
            after = rule.step(weights, inputs[index], float(labels[index]))
            if after is not None:
                return after, int(index)
        first, size = first + size, 2 * size
    return None


def replay(
    rule: Rule,
    start: Weights,
    inputs: Float[np.ndarray, "sample dim"],
    labels: Float[np.ndarray, " sample"],
    points: Sequence[int],
) -> Weights:
    """B_{W_0}: the weights that the compression points give, in their order, by the same rule."""
    weights = start
    for index in points:
        after = rule.step(weights, inputs[index], float(labels[index]))
        weights = weights if after is None else after
    return weights


@dataclass(frozen=True)
class Samples:
    """Samples of one distribution, one per trial, and fresh points of it.

    Attributes:
      inputs, labels: S of each trial.
      fresh_inputs, fresh_labels: points that no training sees; they measure L_D.
      separator: w*.
      separator_is_given: whether w* belongs to the distribution; False where it was found on data.
    """

    inputs: Float[np.ndarray, "trial sample dim"]
    labels: Float[np.ndarray, "trial sample"]
    fresh_inputs: Float[np.ndarray, "fresh dim"]
    fresh_labels: Float[np.ndarray, " fresh"]
    separator: Float[np.ndarray, " dim"]
    separator_is_given: bool = True

    def __len__(self) -> int:
        """The number of trials."""
        return len(self.labels)

    @property
    def n_samples(self) -> int:
        """n."""
        return self.labels.shape[1]

    @property
    def separator_norm(self) -> float:
        """‖w*‖."""
        return float(np.linalg.norm(self.separator))

    @property
    def smallest_margin(self) -> float:
        """min y⟨w*, x⟩ over every point drawn, fresh ones too: w* must separate the distribution."""
        products = self.labels * (self.inputs @ self.separator)
        return float(
            min(products.min(), (self.fresh_labels * (self.fresh_inputs @ self.separator)).min(initial=np.inf))
        )

    @property
    def largest_norm(self) -> float:
        """max ‖x‖ over every point of the samples."""
        return float(np.sqrt((self.inputs**2).sum(axis=2).max()))


def draw_samples(
    seed: int, trials: int, n_samples: int, separator_norm: float, margin_max: float, *, dim: int = 20, fresh: int = 0
) -> Samples:
    """i.i.d. samples of one separable distribution, whose w* is known."""
    draw = np.random.default_rng(seed)
    used = trials * n_samples
    inputs, labels, separator = separable_points(draw, dim, used + fresh, separator_norm, margin_max)
    return Samples(
        inputs[:used].reshape(trials, n_samples, dim),
        labels[:used].reshape(trials, n_samples),
        inputs[used:],
        labels[used:],
        separator,
    )


def samples_of(
    data: Dataset, n_trials: int, n_samples: int, seed: int = 0, separation: Separation | None = None
) -> Samples:
    """A user's own data: a fixed part held out, and trials that draw from the rest without replacement.

    w* is found on all of it, so what the generalization bounds say about it is a heuristic, and is labelled so.
    """
    draw = np.random.default_rng(seed)
    inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)
    if not 0 < n_samples < len(labels):
        raise ValueError(f"a trial needs from 1 to {len(labels) - 1} of {len(labels)} points, got {n_samples}")
    shuffled = draw.permutation(len(labels))
    held_out = shuffled[: max(1, (len(labels) - n_samples) // 2)]
    rest = shuffled[len(held_out) :]
    chosen = np.stack([draw.permutation(rest)[:n_samples] for _ in range(n_trials)])
    separator = (find_separator(data) if separation is None else separation).separator
    return Samples(
        inputs[chosen],
        labels[chosen],
        inputs[held_out],
        labels[held_out],
        np.zeros(data.dim) if separator is None else separator,
        separator_is_given=False,
    )


@dataclass(frozen=True)
class Learning:
    """Samples and the rule that learns from each."""

    samples: Samples
    rule: Rule
    seed: int = 0

    def start(self, trial: int) -> Weights:
        """W_0 of a trial."""
        return self.rule.start(np.random.default_rng([self.seed, trial]), self.samples.inputs.shape[2])

    @property
    def update_bound(self) -> float:
        """M_k; infinite without a separator."""
        return self.rule.update_bound(self.samples.separator_norm) if self.samples.separator.any() else np.inf

    @property
    def is_waited_for(self) -> bool:
        """Whether a run gets all the updates it is promised to need; otherwise its loss at the end says nothing."""
        return self.update_bound <= PATIENCE

    def run(self, trial: int) -> Learned:
        """The training of one trial, the same bits each time."""
        return learn(
            self.rule,
            self.start(trial),
            self.samples.inputs[trial],
            self.samples.labels[trial],
            np.random.default_rng([self.seed, trial, 1]),
            int(self.update_bound) + 1 if self.is_waited_for else GIVEN_UP,
        )


def setting_of_the_paper(learnings: Sequence[Learning]) -> list[Hypothesis]:
    """Separable points of the unit ball under Eq. 6; each at the trial nearest to breaking it."""
    every = list({id(learning.samples): learning.samples for learning in learnings}.values())
    slopes = [learning.rule.slope for learning in learnings]
    return [
        at_least(
            "separable", "separable: smallest y⟨w*, x⟩", min(s.smallest_margin for s in every), 1, tolerance=ROUNDING
        ),
        at_most(
            "largest_input_norm", "largest input norm ‖x‖", max(s.largest_norm for s in every), 1, tolerance=ROUNDING
        ),
        more_than("smallest_leaky_slope_slope", "smallest Leaky slope α", min(slopes), 0),
        less_than("largest_leaky_slope_slope", "largest Leaky slope α", max(slopes), 1),
        more_than(
            "smallest_step_size_step_size",
            "smallest step size η",
            min(learning.rule.step_size for learning in learnings),
            0,
        ),
    ]


def describe(learnings: Sequence[Learning]) -> list[dict]:
    """What was run, in plain values."""
    return [
        {
            "trials": len(learning.samples),
            "samples": learning.samples.n_samples,
            "dim": learning.samples.inputs.shape[2],
            "neurons": 2 * learning.rule.half_width,
            "slope": learning.rule.slope,
            "step_size": learning.rule.step_size,
            "separator_norm": learning.samples.separator_norm,
            "max_updates": learning.rule.max_updates,
        }
        for learning in learnings
    ]
