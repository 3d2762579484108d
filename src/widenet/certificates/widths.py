"""Networks of one width, each trained on most of your points and tried on the rest, as `WideClassifier` trains them."""

import enum
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.certificates.preparation import DIFFERENT_UNITS, NEGLIGIBLE
from widenet.claims.experiments import Experiment
from widenet.data.own import recall
from widenet.losses import cross_entropy, logistic
from widenet.networks.arrays import outputs_by_blocks
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training.engine.memory import cores
from widenet.training.epochs import NetworkWeights, WeightedPasses
from widenet.types import Layers

BATCH, STEP_SIZE, INIT_SCALE = 4, 0.1, 1.0
"""Samples per step, η, and the length of each neuron's first weights, where points have length 1 in the mean square."""
SETTLING, SMALLER = 4, 10
"""The last of so many equal shares of the passes takes steps so many times smaller: large ones leave noise."""
FITTED_LOSS = 0.01
"""A pass whose mean loss is no larger is the last one."""
SPLITS, STARTS, ORDERS = range(21, 24)
"""What a random stream is for."""
NOWHERE = -1
"""The part of a point that no network is tried on."""


class Ending(enum.IntEnum):
    """Why a network was not trained any further."""

    FITTED = 0
    """The mean loss of a pass was at most `FITTED_LOSS`."""
    SPENT = 1
    """It made all the passes that the work allows."""
    DIVERGED = 2
    """Weights became infinite."""


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
class PointScale:
    """What points are reduced by and then divided by.

    Attributes:
      unit: infinite for a column that is constant where the scale comes from: what it is elsewhere must not matter.
      is_by_column: whether columns are divided by their own standard deviations, and not all by one number.
    """

    centre: Float[np.ndarray, " dim"]
    unit: Float[np.ndarray, " dim"]
    is_by_column: bool

    def __call__(self, inputs: Float[np.ndarray, "sample dim"]) -> Float[np.ndarray, "sample dim"]:
        """The points in this scale."""
        return (inputs - self.centre) / self.unit

    @property
    def n_constant(self) -> int:
        """The number of columns that are left out."""
        return int(np.isinf(self.unit).sum())


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """One network, and what it does to points before it sees them.

    Attributes:
      weights: at the end, with a leading axis of one run.
      scale: of its training points alone.
      losses: the mean loss that the steps of each pass saw.
      ending: why it was not trained any further.
      seconds: how long training took.
    """

    weights: NetworkWeights
    scale: PointScale
    slope: float
    losses: Float[np.ndarray, " pass"]
    ending: Ending
    seconds: float

    def outputs(self, inputs: Float[np.ndarray, "sample dim"]) -> Float[np.ndarray, "sample output"]:
        """What the network says about points as they were given, in float64."""
        hidden, output, bias = (np.asarray(part[0], np.float64) for part in self.weights if part is not None)
        return outputs_by_blocks(hidden, output, self.scale(inputs), self.slope, bias)

    def predicted(self, inputs: Float[np.ndarray, "sample dim"]) -> Int[np.ndarray, " sample"]:
        """The number of the class of each point; −1, which is no class, from a network that diverged."""
        if self.ending is Ending.DIVERGED:
            return np.full(len(inputs), -1)
        found = self.outputs(inputs)
        return (found[:, 0] > 0).astype(int) if found.shape[1] == 1 else found.argmax(axis=1)

    def scores(self, inputs: Float[np.ndarray, "sample dim"]) -> Float[np.ndarray, " sample"]:
        """Of two classes, the output that ranks points; 0, which ranks none, from a network that diverged."""
        return np.zeros(len(inputs)) if self.ending is Ending.DIVERGED else self.outputs(inputs)[:, 0]


@dataclass(frozen=True, eq=False)
class StudiedWidth:
    """What the networks of one width did.

    Attributes:
      parts: the number of the network (from 0) that each point is held out from; −1 for one that all are trained on.
      predicted: the number of the class that this network names for it; −1 without one, and where it diverged.
      scores: of two classes, what this network ranks it by, see `TrainedNetwork`; NaN without one, and of more classes.
      train_error: the share of its training points that each network gets wrong at the end.
      passes: how many it made over the data.
      losses: the mean loss that the steps of each pass saw; NaN after the last pass.
      endings: why each was not trained any further, as numbers of `Ending`.
      seconds: how long each was trained.
      trained_on: the number of training points of each.
      by_column, n_constant: of the scale of each, see `PointScale`.
      hidden, bias, output, centre, unit: of the first network; see `TrainedNetwork`.
    """

    setting: StudiedWidthSetting
    parts: Int[np.ndarray, " sample"]
    predicted: Int[np.ndarray, " sample"]
    scores: Float[np.ndarray, " sample"]
    train_error: Float[np.ndarray, " network"]
    passes: Int[np.ndarray, " network"]
    losses: Float[np.ndarray, "network pass"]
    endings: Int[np.ndarray, " network"]
    seconds: Float[np.ndarray, " network"]
    trained_on: Int[np.ndarray, " network"]
    by_column: Bool[np.ndarray, " network"]
    n_constant: Int[np.ndarray, " network"]
    hidden: Float[np.ndarray, "neuron dim"]
    bias: Float[np.ndarray, " neuron"]
    output: Float[np.ndarray, "output neuron"]
    centre: Float[np.ndarray, " dim"]
    unit: Float[np.ndarray, " dim"]

    @property
    def first(self) -> TrainedNetwork:
        """The first network."""
        weights = NetworkWeights(self.hidden[None], self.output[None], self.bias[None])
        scale = PointScale(self.centre, self.unit, bool(self.by_column[0]))
        losses, ending = self.losses[0, : self.passes[0]], Ending(int(self.endings[0]))
        return TrainedNetwork(weights, scale, self.setting.slope, losses, ending, float(self.seconds[0]))

    @property
    def diverged(self) -> Bool[np.ndarray, " network"]:
        """Which networks did."""
        return self.endings == Ending.DIVERGED

    @property
    def fits(self) -> Bool[np.ndarray, " network"]:
        """Which networks get every training point right."""
        return (self.train_error == 0) & ~self.diverged


def held_out_parts(
    inputs: Float[np.ndarray, "sample dim"], labels: Int[np.ndarray, " sample"], parts: int, seed: int
) -> Int[np.ndarray, " sample"]:
    """The network that each point is held out from, by its number; −1 for points that every network is trained on.

    Equal points are held out together, or a network would have seen what it is tried on. Of each class every part gets
    as many points as that allows. The points of a class that has only one different point are in no part.
    """
    _, group = np.unique(_as_bytes(inputs), return_inverse=True)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    kinds = [sorted(set(labels[rows].tolist())) for rows in members]
    different = Counter(kind for own in kinds for kind in own)
    found, held = np.full(len(labels), NOWHERE), [Counter[int]() for _ in range(parts)]
    for place in _large_first(members, np.random.default_rng([seed, SPLITS])):
        rows, own = members[place], kinds[place]
        if all(different[kind] > 1 for kind in own):
            # Where there are fewest points of these classes so far; of all classes, where that is no difference.
            part = min(range(parts), key=lambda one: (sum(held[one][kind] for kind in own), held[one].total()))
            found[rows] = part
            held[part].update(labels[rows].tolist())
    return found


def _as_bytes(inputs: Float[np.ndarray, "sample dim"]) -> np.ndarray:
    """Points as values of one kind, which are equal where all their numbers are: −0 is 0."""
    rows = np.ascontiguousarray(inputs + 0.0)
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


def _large_first(members: Sequence[np.ndarray], draw: np.random.Generator) -> Int[np.ndarray, " group"]:
    """Groups in an order by chance, but those of many points first, so that the others can even out what they leave."""
    order = draw.permutation(len(members))
    return order[np.argsort([-len(members[place]) for place in order], kind="stable")]


def scaling_of(inputs: Float[np.ndarray, "sample dim"], *, scales: bool) -> PointScale:
    """The scale in which points have length 1 in the mean square, around their centre.

    Columns are divided by their standard deviations first if these are very different.
    """
    centre, spread = inputs.mean(axis=0), inputs.std(axis=0)
    varies = spread > NEGLIGIBLE * np.abs(inputs).max(axis=0, initial=0.0)
    if not varies.any():
        return PointScale(centre, np.full(inputs.shape[1], np.inf), is_by_column=False)
    own = np.sort(spread[varies])
    by_column = bool(scales and own[-1] > DIFFERENT_UNITS * own[(len(own) - 1) // 2])
    if not by_column:
        spread = np.full(inputs.shape[1], np.sqrt(np.mean(own**2)))
    return PointScale(centre, np.where(varies, spread * np.sqrt(varies.sum()), np.inf), by_column)


def train_network(
    inputs: Float[np.ndarray, "sample dim"],
    labels: Int[np.ndarray, " sample"],
    setting: StudiedWidthSetting,
    number: int,
) -> TrainedNetwork:
    """Train one network on these points: the `number` (from 0) chooses its start and its orders."""
    began, course = time.perf_counter(), _Course(inputs, labels, setting, number)
    ending = course.go_on(STEP_SIZE, large_passes(setting.passes))
    # Small steps are the same share of all, whoever fits early and whoever spends the work.
    settling = min(-(-len(course.losses) // (SETTLING - 1)), setting.passes - len(course.losses))
    if ending is not Ending.DIVERGED:
        end = course.go_on(STEP_SIZE / SMALLER, settling, to_the_end=True)
        ending = end if end is Ending.DIVERGED else ending
    seconds, losses = time.perf_counter() - began, np.array(course.losses)
    return TrainedNetwork(jax.device_get(course.weights), course.scale, setting.slope, losses, ending, seconds)


def large_passes(passes: int) -> int:
    """How many of so many passes take large steps, if none of them fits the points."""
    return passes - passes // SETTLING


class _Course:
    """Training of one network, in stages.

    Attributes:
      weights: after the last pass that left them finite.
      losses: the mean loss that the steps of each pass saw.
    """

    def __init__(self, inputs: np.ndarray, labels: np.ndarray, setting: StudiedWidthSetting, number: int):
        self.setting, self.number = setting, number
        self.scale = scaling_of(inputs, scales=setting.scales)
        self.points = self.scale(inputs)
        self.is_pair = setting.n_classes == 2
        self.labels = 2 * labels - 1 if self.is_pair else labels
        self.weights, self.losses = start_of(setting, inputs.shape[1], number), list[float]()

    def go_on(self, step_size: float, passes: int, *, to_the_end: bool = False) -> Ending:
        """So many passes; fewer if weights become infinite or, unless `to_the_end`, if the points are fitted."""
        loss = logistic if self.is_pair else cross_entropy
        trained = WeightedPasses(loss, step_size, BATCH, self.setting.slope, Layers.BOTH)
        first, count = len(self.losses), len(self.labels)
        orders = (_order(self.setting, count, self.number, place) for place in range(first, first + passes))
        for weights, sums in trained.train(self.weights, self.points, self.labels, np.ones(count), orders):
            loss = float(sums[0]) / count
            if not np.isfinite(loss):
                return Ending.DIVERGED
            self.weights = weights
            self.losses.append(loss)
            if loss <= FITTED_LOSS and not to_the_end:
                return Ending.FITTED
        return Ending.SPENT


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
    parts, done = held_out_parts(inputs, labels, setting.n_networks, setting.seed), []

    def one(number: int) -> tuple[TrainedNetwork, float]:
        kept = parts != number
        network = train_network(inputs[kept], labels[kept], setting, number)
        done.append(number)
        progress(len(done) / setting.n_networks, f"training networks of {setting.n_neurons:,} neurons")
        return network, float(np.mean(network.predicted(inputs[kept]) != labels[kept]))

    with ThreadPoolExecutor(min(cores(), setting.n_networks)) as pool:
        networks, errors = zip(*pool.map(one, range(setting.n_networks)), strict=True)
    losses, predicted = np.full((len(networks), setting.passes), np.nan), np.full(len(labels), -1)
    scores = np.full(len(labels), np.nan)
    for number, network in enumerate(networks):
        losses[number, : len(network.losses)] = network.losses
        predicted[parts == number] = network.predicted(inputs[parts == number])
        if setting.n_classes == 2:
            scores[parts == number] = network.scores(inputs[parts == number])
    hidden, output, bias = (np.asarray(part[0], np.float64) for part in networks[0].weights)
    return StudiedWidth(
        setting=setting,
        parts=parts,
        predicted=predicted,
        scores=scores,
        train_error=np.array(errors),
        passes=np.array([len(network.losses) for network in networks]),
        losses=losses,
        endings=np.array([network.ending for network in networks]),
        seconds=np.array([network.seconds for network in networks]),
        trained_on=np.array([int((parts != number).sum()) for number in range(setting.n_networks)]),
        by_column=np.array([network.scale.is_by_column for network in networks]),
        n_constant=np.array([network.scale.n_constant for network in networks]),
        hidden=hidden,
        bias=bias,
        output=output,
        centre=networks[0].scale.centre,
        unit=networks[0].scale.unit,
    )


def _no_settings(scale: Scale, seed: int) -> tuple[StudiedWidthSetting, ...]:
    return ()


widths = Experiment("certificate.widths", _no_settings, run_width, seconds=10.0)
