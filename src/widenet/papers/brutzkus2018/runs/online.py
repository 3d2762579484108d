"""Batch-1 SGD for many small ±v networks at once, in numpy.

The networks of Sections 6.2 and 7 have a dozen neurons: compiling a program for each shape would take longer than
running it. The rule is the one of the training engine, and a test compares the two.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

Weights = Float[np.ndarray, "run neuron dim"]
Labels = Float[np.ndarray, "run sample"]
Outputs = Float[np.ndarray, "run sample"]


@dataclass(frozen=True, eq=False)
class OnlineStart:
    """Networks before training and the points they will see.

    Attributes:
      inputs: the points, the same for every run.
      labels: ±1, one row per run.
      weights: W_0 of each run; the first half of the neurons votes +v, the second half −v.
      step_size: η.
      output_weight: v.
      slope: 0 for ReLU, α for Leaky ReLU.
      entry_bound: C, a bound on the size of every entry of W_0.
      seed: where the order of the samples comes from.
    """

    inputs: Float[np.ndarray, "sample dim"]
    labels: Labels
    weights: Weights
    step_size: float
    output_weight: float = 1.0
    slope: float = 0.0
    entry_bound: float = 1.0
    seed: int = 0

    @property
    def half_width(self) -> int:
        """k, half the number of neurons."""
        return self.weights.shape[1] // 2

    @property
    def votes(self) -> Float[np.ndarray, " neuron"]:
        """(+v, …, +v, −v, …, −v)."""
        return votes(self.half_width, self.output_weight)

    def derivative(self, z: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """σ'(z) with the paper's choices at 0: 0 for ReLU, 1 for Leaky ReLU."""
        on = z > 0 if self.slope == 0 else z >= 0
        return np.where(on, 1.0, self.slope)

    def outputs(self, weights: Weights) -> Outputs:
        """N(x) of every run at every point."""
        z = weights @ self.inputs.T
        return np.einsum("n,rns->rs", self.votes, z * self.derivative(z))

    def loss(self, weights: Weights) -> Float[np.ndarray, " run"]:
        """The mean hinge loss of every run."""
        return mean_hinge(self.outputs(weights), self.labels)

    def gradient(self, weights: Weights) -> Weights:
        """∂L/∂W of every run, with σ'(0) as in `derivative`."""
        pull = np.where(self.labels * self.outputs(weights) < 1, self.labels, 0.0) / self.labels.shape[1]
        slopes = self.derivative(weights @ self.inputs.T)
        return -self.votes[:, None] * ((slopes * pull[:, None, :]) @ self.inputs)

    def would_update(self, weights: Weights) -> Bool[np.ndarray, "run sample"]:
        """Where a step would change the weights: y N(x) < 1 and some neuron has a derivative other than 0."""
        moves = (self.derivative(weights @ self.inputs.T) != 0).any(axis=1)
        return (self.labels * self.outputs(weights) < 1) & moves

    def stuck(self, weights: Weights, labels: Float[np.ndarray, "..."] | None = None) -> Bool[np.ndarray, "run sample"]:
        """The set K: points at which every neuron that votes for the label is off, ⟨w, x⟩ ≤ 0.

        `labels` are the run's own unless given; a control reads K from the wrong half.
        """
        off = weights @ self.inputs.T <= 0
        half = self.half_width
        return np.where(
            np.asarray(self.labels if labels is None else labels) > 0, off[:, :half].all(1), off[:, half:].all(1)
        )


@dataclass(frozen=True, eq=False)
class OnlineRuns:
    """What the training of an `OnlineStart` left behind.

    Attributes:
      weights: W at the end of each run.
      outputs: N(x) there.
      updates: how often each point made a non-zero update.
      ended: whether no point would make another one.
      entered: after how many updates a point was in the set K that was not in it before; None if not watched.
      left: after how many updates a point was no longer in it.
    """

    weights: Weights
    outputs: Outputs
    updates: Int[np.ndarray, "run sample"]
    ended: Bool[np.ndarray, " run"]
    entered: Int[np.ndarray, " run"] | None = None
    left: Int[np.ndarray, " run"] | None = None


def train_online(start: OnlineStart, *, max_passes: int = 2000, watch_stuck: bool = False) -> OnlineRuns:
    """SGD with points drawn uniformly with replacement, until no point of a run would make an update."""
    draw = np.random.default_rng([start.seed, 1])
    n_runs, n_samples = start.labels.shape
    final = start.weights.copy()
    updates = np.zeros((n_runs, n_samples), int)
    entered, left = np.zeros(n_runs, int), np.zeros(n_runs, int)
    alive = np.flatnonzero(start.would_update(final).any(axis=1))
    for _ in range(max_passes):
        if not len(alive):
            break
        weights = final[alive]
        part = dataclasses.replace(start, labels=start.labels[alive], weights=weights)
        before = part.stuck(weights) if watch_stuck else None
        for chosen in draw.integers(n_samples, size=(n_samples, len(alive))):
            updates[alive, chosen] += _step(part, weights, chosen)
            if before is not None:
                now = part.stuck(weights)
                entered[alive] += (now & ~before).any(axis=1)
                left[alive] += (before & ~now).any(axis=1)
                before = now
        final[alive] = weights
        alive = alive[part.would_update(weights).any(axis=1)]
    ended = np.ones(n_runs, bool)
    ended[alive] = False
    watched = (entered, left) if watch_stuck else (None, None)
    return OnlineRuns(final, start.outputs(final), updates, ended, *watched)


def mean_hinge(outputs: Outputs, labels: Labels) -> Float[np.ndarray, " run"]:
    """The mean of max(1 − yN(x), 0) of every run."""
    return np.maximum(1 - labels * outputs, 0).mean(axis=1)


def votes(half_width: int, output_weight: float = 1.0) -> Float[np.ndarray, " neuron"]:
    """(+v, …, +v, −v, …, −v)."""
    return np.repeat([output_weight, -output_weight], half_width)


def _step(part: OnlineStart, weights: Weights, chosen: Int[np.ndarray, " run"]) -> Bool[np.ndarray, " run"]:
    """One step of every run, in place; returns which runs moved."""
    points, labels = part.inputs[chosen], part.labels[np.arange(len(chosen)), chosen]
    z = (weights @ points[:, :, None])[:, :, 0]
    slopes = part.derivative(z)
    active = labels * ((z * slopes) @ part.votes) < 1
    change = (part.step_size * labels * active)[:, None] * part.votes * slopes
    weights += change[:, :, None] * points[:, None, :]
    return active & (slopes != 0).any(axis=1)
