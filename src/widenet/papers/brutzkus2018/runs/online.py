"""Batch-1 SGD for many ±v networks of a dozen neurons (Sections 6.2 and 7), and the loss around them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.networks.arrays import plus_minus_weights
from widenet.training.small import SmallNetworks, Update, train_small, with_replacement
from widenet.types import Layers

Weights = Float[np.ndarray, "run neuron dim"]
Labels = Float[np.ndarray, "run sample"]
Outputs = Float[np.ndarray, "run sample"]


@dataclass(frozen=True, eq=False)
class OnlineStart:
    """Networks before training and the points they will see."""

    inputs: Float[np.ndarray, "sample dim"]  #: the points, the same for every run
    labels: Labels  #: ±1, one row per run
    weights: Weights  #: W_0 of each run; the first half of the neurons votes +v, the second half −v
    step_size: float  #: η
    output_weight: float = 1.0  #: v
    slope: float = 0.0  #: 0 for ReLU, α for Leaky ReLU
    entry_bound: float = 1.0  #: C, a bound on the size of every entry of W_0
    seed: int = 0  #: where the order of the samples comes from

    @property
    def half_width(self) -> int:
        """k, half the number of neurons."""
        return self.weights.shape[1] // 2

    @property
    def votes(self) -> Float[np.ndarray, " neuron"]:
        """(+v, …, +v, −v, …, −v)."""
        return plus_minus_weights(self.half_width, self.output_weight)

    def networks(self, weights: Weights) -> SmallNetworks:
        """Networks with these W, and the paper's choices at 0: σ'(0) is 0 for ReLU, 1 for Leaky ReLU."""
        output = np.broadcast_to(self.votes, weights.shape[:2])
        return SmallNetworks(weights, output, self.slope, 0.0 if self.slope == 0 else 1.0)

    def outputs(self, weights: Weights) -> Outputs:
        """N(x) of every run at every point."""
        return self.networks(weights).outputs(self.inputs)

    def loss(self, weights: Weights) -> Float[np.ndarray, " run"]:
        """The mean hinge loss of every run."""
        return mean_hinge(self.outputs(weights), self.labels)

    def gradient(self, weights: Weights) -> Weights:
        """∂L/∂W of every run, apart from the trainer."""
        networks = self.networks(weights)
        pull = np.where(self.labels * self.outputs(weights) < 1, self.labels, 0.0) / self.labels.shape[1]
        slopes = networks.derivative(networks.preactivations(self.inputs))
        return -self.votes[:, None] * ((slopes * pull[:, :, None]).transpose(0, 2, 1) @ self.inputs)

    def would_update(self, weights: Weights) -> Bool[np.ndarray, "run sample"]:
        """Where a step would change the weights: y N(x) < 1 and some neuron has a derivative other than 0."""
        networks = self.networks(weights)
        z = networks.preactivations(self.inputs)
        return (self.labels * networks.readout(z) < 1) & networks.movable(z, Layers.HIDDEN)

    def stuck(self, weights: Weights, labels: Float[np.ndarray, "..."] | None = None) -> Bool[np.ndarray, "run sample"]:
        """The set K: points at which every neuron that votes for the label is off, ⟨w, x⟩ ≤ 0.

        `labels` are the run's own unless given; a control reads K from the wrong half.
        """
        return _all_off(self.networks(weights).preactivations(self.inputs), self.labels if labels is None else labels)


@dataclass(frozen=True, eq=False)
class OnlineRuns:
    """What the training of an `OnlineStart` left behind."""

    weights: Weights  #: W at the end of each run
    outputs: Outputs  #: N(x) there
    updates: Int[np.ndarray, "run sample"]  #: how often each point made a non-zero update
    ended: Bool[np.ndarray, " run"]  #: whether no point would make another one
    #: after how many updates a point was in the set K that was not in it before; None if not watched
    entered: Int[np.ndarray, " run"] | None = None
    left: Int[np.ndarray, " run"] | None = None  #: after how many updates a point was no longer in it


def train_online(start: OnlineStart, *, max_passes: int = 2000, watch_stuck: bool = False) -> OnlineRuns:
    """SGD with points drawn uniformly with replacement, until no point of a run would make an update.

    Runs get as many updates as `max_passes` passes have points.
    """
    n_runs, n_samples = start.labels.shape
    watch = _UpdateWatch(start, watch_stuck)
    trained = train_small(
        start.networks(start.weights),
        start.inputs,
        start.labels,
        step_size=start.step_size,
        max_updates=max_passes * n_samples,
        order=with_replacement([[start.seed, 1, run] for run in range(n_runs)]),
        watch=watch,
    )
    final = trained.networks.hidden
    watched = (watch.entered, watch.left) if watch_stuck else (None, None)
    return OnlineRuns(final, start.outputs(final), watch.updates, trained.ended, *watched)


class _UpdateWatch:
    """Counts the updates on each point, and those after which a point has entered or left K."""

    def __init__(self, start: OnlineStart, watch_stuck: bool):
        self.updates = np.zeros(start.labels.shape, int)
        self.entered, self.left = np.zeros((2, len(start.labels)), int)
        self.labels, self.stuck = start.labels, start.stuck(start.weights) if watch_stuck else None

    def __call__(self, update: Update) -> None:
        runs = update.runs
        self.updates[runs, update.samples] += 1
        if self.stuck is not None:
            before, now = self.stuck[runs], _all_off(update.preactivations, self.labels[runs])
            self.entered[runs] += (now & ~before).any(axis=1)
            self.left[runs] += (before & ~now).any(axis=1)
            self.stuck[runs] = now


def _all_off(
    preactivations: Float[np.ndarray, "run sample neuron"], labels: Float[np.ndarray, "..."]
) -> Bool[np.ndarray, "run sample"]:
    """Where every neuron that votes for the label has ⟨w, x⟩ ≤ 0."""
    off, half = preactivations <= 0, preactivations.shape[2] // 2
    return np.where(np.asarray(labels) > 0, off[:, :, :half].all(axis=2), off[:, :, half:].all(axis=2))


def mean_hinge(outputs: Outputs, labels: Labels) -> Float[np.ndarray, " run"]:
    """The mean of max(1 − yN(x), 0) of every run."""
    return np.maximum(1 - labels * outputs, 0).mean(axis=1)
