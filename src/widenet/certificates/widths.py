"""Networks of one width, each trained on most of your points and tried on the rest, as `WideClassifier` trains them."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.certificates.preparation import DIFFERENT_UNITS, NEGLIGIBLE
from widenet.claims.experiments import Experiment
from widenet.data.own import recall
from widenet.losses import cross_entropy, logistic
from widenet.networks.arrays import leaky
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training.engine.memory import cores
from widenet.training.epochs import NetworkWeights, WeightedPasses
from widenet.types import Layers

BATCH, STEP_SIZE, INIT_SCALE = 4, 0.1, 1.0
"""Samples per step, η, and the length of each neuron's first weights, where points have length 1 in the mean square."""
SETTLING, SMALLER = 4, 10
"""One pass in so many, at the end, takes steps so many times smaller: large ones leave noise."""
FITTED_LOSS = 0.01
"""A pass whose mean loss is no larger is the last one."""
SPLITS, STARTS, ORDERS = range(21, 24)
"""What a random stream is for."""
BLOCK = 1 << 22
"""Pre-activations that are held at a time when outputs are computed."""


class StudiedWidthSetting(ClosedModel):
    """Networks Σ_r a_r σ(⟨w_r, x⟩ + b_r) of one width, all weights trained by SGD with the logistic loss.

    Attributes:
      own_data: the digest of your points, with the numbers of their classes from 0.
      n_classes: how many there are.
      n_neurons: the width.
      n_networks: how many; each has its own start, its own orders and its own held-out points.
      passes: over the data, at most.
      slope: of the Leaky ReLU.
      scales: whether columns of different units are divided by their standard deviations.
      dtype: "float32" or "float64".
      seed: of held-out points, starts and orders.
    """

    own_data: str
    n_classes: int
    n_neurons: int
    n_networks: int
    passes: int
    slope: float
    scales: bool
    dtype: str = "float32"
    seed: int = 0


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """One network, and what it does to points before it sees them.

    Attributes:
      weights: at the end, with a leading axis of one run.
      centre, unit: what points are reduced by and then divided by, found from training points alone.
      losses: the mean loss that the steps of each pass saw.
      has_diverged: whether weights became infinite.
      seconds: how long training took.
    """

    weights: NetworkWeights
    centre: Float[np.ndarray, " dim"]
    unit: Float[np.ndarray, " dim"]
    slope: float
    losses: Float[np.ndarray, " pass"]
    has_diverged: bool
    seconds: float

    def outputs(self, inputs: Float[np.ndarray, "sample dim"]) -> Float[np.ndarray, "sample output"]:
        """What the network says about points as they were given, in float64."""
        hidden, output, bias = (np.asarray(part[0], np.float64) for part in self.weights if part is not None)
        points, size = (inputs - self.centre) / self.unit, max(1, BLOCK // len(hidden))
        blocks = (points[first : first + size] for first in range(0, max(len(points), 1), size))
        return np.concatenate([leaky(block @ hidden.T + bias, self.slope) @ output.T for block in blocks])

    def predicted(self, inputs: Float[np.ndarray, "sample dim"]) -> Int[np.ndarray, " sample"]:
        """The number of the class of each point; −1, which is no class, from a network that diverged."""
        if self.has_diverged:
            return np.full(len(inputs), -1)
        found = self.outputs(inputs)
        return (found[:, 0] > 0).astype(int) if found.shape[1] == 1 else found.argmax(axis=1)


@dataclass(frozen=True, eq=False)
class StudiedWidth:
    """What the networks of one width did.

    Attributes:
      held_out: the points (from 0) that each network was not trained on; no point is held out twice.
      predicted: the numbers of the classes that it names for them.
      train_error: the share of its training points that each network gets wrong at the end.
      passes: how many it made over the data.
      losses: the mean loss that the steps of each pass saw; NaN after the last pass.
      diverged: which networks did.
      seconds: how long each was trained.
      trained_on: the number of training points.
      hidden, bias, output, centre, unit: of the first network; see `TrainedNetwork`.
    """

    setting: StudiedWidthSetting
    held_out: Int[np.ndarray, "network point"]
    predicted: Int[np.ndarray, "network point"]
    train_error: Float[np.ndarray, " network"]
    passes: Int[np.ndarray, " network"]
    losses: Float[np.ndarray, "network pass"]
    diverged: Bool[np.ndarray, " network"]
    seconds: Float[np.ndarray, " network"]
    trained_on: int
    hidden: Float[np.ndarray, "neuron dim"]
    bias: Float[np.ndarray, " neuron"]
    output: Float[np.ndarray, "output neuron"]
    centre: Float[np.ndarray, " dim"]
    unit: Float[np.ndarray, " dim"]

    @property
    def first(self) -> TrainedNetwork:
        """The first network."""
        weights = NetworkWeights(self.hidden[None], self.output[None], self.bias[None])
        return TrainedNetwork(
            weights, self.centre, self.unit, self.setting.slope, self.losses[0], bool(self.diverged[0]),
            float(self.seconds[0]),
        )  # fmt: skip


def held_out_points(labels: Int[np.ndarray, " sample"], parts: int, seed: int) -> Int[np.ndarray, "part point"]:
    """Parts of one size that have no point in common, with the same number of points of each class in every part.

    A few points, fewer than `parts` of each class, are in none: every network is trained on them.
    """
    draw, found = np.random.default_rng([seed, SPLITS]), []
    for kind in np.unique(labels):
        own = draw.permutation(np.flatnonzero(labels == kind))
        size = len(own) // parts
        found.append(own[: parts * size].reshape(parts, size))
    return np.sort(np.concatenate(found, axis=1), axis=1)


def scaling_of(
    inputs: Float[np.ndarray, "sample dim"], *, scales: bool
) -> tuple[Float[np.ndarray, " dim"], Float[np.ndarray, " dim"]]:
    """What to subtract from points and to divide them by, so that these have length 1 in the mean square.

    Columns are divided by their standard deviations first if these are very different.
    """
    centre, spread = inputs.mean(axis=0), inputs.std(axis=0)
    varies = spread > NEGLIGIBLE * np.abs(inputs).max(axis=0, initial=0.0)
    if not varies.any():
        return centre, np.full(inputs.shape[1], np.inf)
    own = np.sort(spread[varies])
    if not (scales and own[-1] > DIFFERENT_UNITS * own[(len(own) - 1) // 2]):
        spread = np.full(inputs.shape[1], np.sqrt(np.mean(own**2)))
    # A column that is constant here says nothing: what it is elsewhere must not matter either.
    return centre, np.where(varies, spread * np.sqrt(varies.sum()), np.inf)


def train_network(
    inputs: Float[np.ndarray, "sample dim"],
    labels: Int[np.ndarray, " sample"],
    setting: StudiedWidthSetting,
    number: int,
) -> TrainedNetwork:
    """Train one network on these points: the `number` (from 0) chooses its start and its orders."""
    began, course = time.perf_counter(), _Course(inputs, labels, setting, number)
    settling = max(1, setting.passes // SETTLING)
    course.go_on(STEP_SIZE, setting.passes - settling)
    # Who fits early settles as briefly.
    course.go_on(STEP_SIZE / SMALLER, min(settling, -(-len(course.losses) // SETTLING)), to_the_end=True)
    seconds = time.perf_counter() - began
    losses = np.array(course.losses)
    return TrainedNetwork(
        jax.device_get(course.weights), course.centre, course.unit, setting.slope, losses, course.has_diverged, seconds
    )


class _Course:
    """Training of one network, in stages.

    Attributes:
      weights: after the last pass that left them finite.
      losses: the mean loss that the steps of each pass saw.
    """

    def __init__(self, inputs: np.ndarray, labels: np.ndarray, setting: StudiedWidthSetting, number: int):
        self.setting, self.number = setting, number
        self.centre, self.unit = scaling_of(inputs, scales=setting.scales)
        self.points, self.has_diverged = (inputs - self.centre) / self.unit, False
        self.is_pair = setting.n_classes == 2
        self.labels = 2 * labels - 1 if self.is_pair else labels
        self.weights, self.losses = start_of(setting, inputs.shape[1], number), list[float]()

    def go_on(self, step_size: float, passes: int, *, to_the_end: bool = False) -> None:
        """So many passes; fewer if weights become infinite or, unless `to_the_end`, if the points are fitted."""
        loss = logistic if self.is_pair else cross_entropy
        trained = WeightedPasses(loss, step_size, BATCH, self.setting.slope, Layers.BOTH)
        first, count = len(self.losses), len(self.labels)
        orders = (_order(self.setting, count, self.number, place) for place in range(first, first + passes))
        for weights, sums in trained.train(self.weights, self.points, self.labels, np.ones(count), orders):
            loss = float(sums[0]) / count
            self.has_diverged = self.has_diverged or not np.isfinite(loss)
            if self.has_diverged:
                return
            self.weights = weights
            self.losses.append(loss)
            if loss <= FITTED_LOSS and not to_the_end:
                return


def start_of(setting: StudiedWidthSetting, dim: int, number: int) -> NetworkWeights:
    """A network before training: rows uniform on a sphere, votes ±1/√width by a fair coin, biases 0."""
    draws = np.random.default_rng([setting.seed, STARTS, number, setting.n_neurons])
    rows = draws.standard_normal((setting.n_neurons, dim))
    rows *= INIT_SCALE / np.linalg.norm(rows, axis=1, keepdims=True)
    outputs = 1 if setting.n_classes == 2 else setting.n_classes
    votes = np.where(draws.random((outputs, setting.n_neurons)) < 0.5, 1.0, -1.0) * setting.n_neurons**-0.5
    bias = np.zeros((1, setting.n_neurons), setting.dtype)
    return NetworkWeights(rows[None].astype(setting.dtype), votes[None].astype(setting.dtype), bias)


def _order(setting: StudiedWidthSetting, samples: int, number: int, place: int) -> Int[np.ndarray, "1 position"]:
    draws = np.random.default_rng([setting.seed, ORDERS, number, place])
    return draws.permutation(samples).astype(np.int32)[None]


def run_width(setting: StudiedWidthSetting, progress: Progress) -> StudiedWidth:
    """Train all networks of a width, each on the points that are not held out from it."""
    data = recall(setting.own_data)
    inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels).astype(int)
    held_out, done = held_out_points(labels, setting.n_networks, setting.seed), []

    def one(number: int) -> tuple[TrainedNetwork, float]:
        kept = np.setdiff1d(np.arange(len(labels)), held_out[number])
        network = train_network(inputs[kept], labels[kept], setting, number)
        done.append(number)
        progress(len(done) / setting.n_networks, f"training networks of {setting.n_neurons:,} neurons")
        return network, float(np.mean(network.predicted(inputs[kept]) != labels[kept]))

    with ThreadPoolExecutor(min(cores(), setting.n_networks)) as pool:
        networks, errors = zip(*pool.map(one, range(setting.n_networks)), strict=True)
    losses = np.full((len(networks), setting.passes), np.nan)
    for row, network in zip(losses, networks, strict=True):
        row[: len(network.losses)] = network.losses
    hidden, output, bias = (np.asarray(part[0], np.float64) for part in networks[0].weights)
    return StudiedWidth(
        setting=setting,
        held_out=held_out,
        predicted=np.stack([own.predicted(inputs[rows]) for own, rows in zip(networks, held_out, strict=True)]),
        train_error=np.array(errors),
        passes=np.array([len(network.losses) for network in networks]),
        losses=losses,
        diverged=np.array([network.has_diverged for network in networks]),
        seconds=np.array([network.seconds for network in networks]),
        trained_on=len(labels) - held_out.shape[1],
        hidden=hidden,
        bias=bias,
        output=output,
        centre=networks[0].centre,
        unit=networks[0].unit,
    )


def _no_settings(scale: Scale, seed: int) -> tuple[StudiedWidthSetting, ...]:
    return ()


widths = Experiment("certificate.widths", _no_settings, run_width, seconds=10.0)
