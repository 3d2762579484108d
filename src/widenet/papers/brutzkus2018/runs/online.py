"""Batch-1 SGD for many small ±v networks at once, in numpy.

The networks of Sections 6.2 and 7 have a dozen neurons: compiling a program for each shape would take longer than
running it. The rule is the one of the training engine, and a test compares the two.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

Weights = Float[np.ndarray, "run neuron dim"]
Labels = Float[np.ndarray, "run sample"]
Outputs = Float[np.ndarray, "run sample"]


@dataclass(frozen=True, eq=False)
class Start:
    """Networks before training and the points they will see. Compared by identity, so that a training is shared.

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
        return np.maximum(1 - self.labels * self.outputs(weights), 0).mean(axis=1)

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
    """What the training of a `Start` left behind.

    Attributes:
      weights: W at the end of each run.
      updates: how often each point made a non-zero update.
      ended: whether no point would make another one.
      stuck_changes: after how many updates the set K differed from the K before; −1 where it was not watched.
    """

    weights: Weights
    updates: Int[np.ndarray, "run sample"]
    ended: Bool[np.ndarray, " run"]
    stuck_changes: Int[np.ndarray, " run"]


def train_online(start: Start, *, max_passes: int = 2000, watch_stuck: bool = False) -> OnlineRuns:
    """SGD with points drawn uniformly with replacement, until no point of a run would make an update."""
    draw = np.random.default_rng([start.seed, 1])
    n_runs, n_samples = start.labels.shape
    final = start.weights.copy()
    updates = np.zeros((n_runs, n_samples), int)
    changes = np.full(n_runs, 0 if watch_stuck else -1)
    alive = np.flatnonzero(start.would_update(final).any(axis=1))
    for _ in range(max_passes):
        if not len(alive):
            break
        weights, labels = final[alive], start.labels[alive]
        part = Start(start.inputs, labels, weights, start.step_size, start.output_weight, start.slope)
        before = part.stuck(weights) if watch_stuck else None
        for chosen in draw.integers(n_samples, size=(n_samples, len(alive))):
            moved = _step(part, weights, chosen)
            updates[alive, chosen] += moved
            if before is not None:
                now = part.stuck(weights)
                changes[alive] += (now != before).any(axis=1)
                before = now
        final[alive] = weights
        alive = alive[part.would_update(weights).any(axis=1)]
    ended = np.ones(n_runs, bool)
    ended[alive] = False
    return OnlineRuns(final, updates, ended, changes)


def flat_ball(
    start: Start, weights: Float[np.ndarray, "neuron dim"]
) -> tuple[float, Float[np.ndarray, "2 neuron dim"]]:
    """The radius in which the ReLU loss around one W is constant, and the directions that come closest to breaking it.

    A neuron off at an active point stays off while its row moves by less than |z|/‖x‖. A solved point stays solved
    while the whole of W moves by less than (yN − 1)/(v√(2k)‖x‖). The radius is the smallest of these. The labels are
    those of the first run.
    """
    z = weights @ start.inputs.T
    margins = start.labels[0] * (start.votes @ (z * start.derivative(z)))
    norms = np.linalg.norm(start.inputs, axis=1)
    active = margins < 1
    off = np.where(active, np.abs(z) / norms, np.inf)
    room = np.where(active, np.inf, (margins - 1) / (np.linalg.norm(start.votes) * norms))
    neuron, point = np.unravel_index(np.argmin(off), off.shape)
    switch = np.zeros_like(weights)
    switch[neuron] = (-1 if z[neuron, point] > 0 else 1) * start.inputs[point]
    solved = int(np.argmin(room))
    lower = -start.labels[0, solved] * np.outer(start.votes, start.inputs[solved])
    return float(min(off.min(), room.min())), np.stack([switch, lower])


def votes(half_width: int, output_weight: float = 1.0) -> Float[np.ndarray, " neuron"]:
    """(+v, …, +v, −v, …, −v)."""
    return np.repeat([output_weight, -output_weight], half_width)


def _step(part: Start, weights: Weights, chosen: Int[np.ndarray, " run"]) -> Bool[np.ndarray, " run"]:
    """One step of every run, in place; returns which runs moved."""
    points, labels = part.inputs[chosen], part.labels[np.arange(len(chosen)), chosen]
    z = (weights @ points[:, :, None])[:, :, 0]
    slopes = part.derivative(z)
    active = labels * ((z * slopes) @ part.votes) < 1
    change = (part.step_size * labels * active)[:, None] * part.votes * slopes
    weights += change[:, :, None] * points[:, None, :]
    return active & (slopes != 0).any(axis=1)
