"""Many short trainings at once: batch-1 SGD by an order, or gradient descent on the whole batch.

SGD keeps the pre-activations of all samples and adds to them what an update changes, by inner products of inputs: that
costs n neurons of work instead of n rows of W. The sample that is chosen is always computed afresh, and so is every
sample before a run is called finished.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.losses import SATURATING, Loss, hinge
from widenet.progress import Progress, silent, stretch
from widenet.training.small.networks import PULLS, Inputs, PerRun, SmallNetworks
from widenet.training.small.orders import Choice, NextSample
from widenet.types import Layers, RunStatus

ENTRIES = 2**17
"""About how many pre-activations are held together: enough to hide the interpreter, few enough for the cache."""
PRODUCTS = 2**23
"""The most inner products of inputs that are kept."""
REFRESH = 1000
"""Updates after which the pre-activations are computed afresh, so that what rounding adds to them stays small."""
REPORT = 200
"""Rounds between two reports of progress."""


@dataclass(frozen=True, eq=False)
class Update:
    """One update of each of some runs, as a watch sees it.

    Attributes:
      runs: their numbers.
      updates: how many updates each has made, this one included.
      samples: the chosen samples; None where the whole batch was taken.
      margins: y N(x) before the update, of the chosen samples or of all.
      coefficients: what W gains is c_r x in row r, for the chosen x; the whole gain where the batch was taken.
      networks: after the update.
      preactivations: of all samples, after the update.
    """

    runs: Int[np.ndarray, " run"]
    updates: Int[np.ndarray, " run"]
    samples: Int[np.ndarray, " run"] | None
    margins: Float[np.ndarray, " run"] | Float[np.ndarray, "run sample"]
    coefficients: Float[np.ndarray, "run neuron"] | Float[np.ndarray, "run neuron dim"]
    networks: SmallNetworks
    preactivations: Float[np.ndarray, "run sample neuron"]

    def of(self, some: Bool[np.ndarray, " run"]) -> "Update":
        """The same for some of the runs."""
        return Update(
            self.runs[some],
            self.updates[some],
            None if self.samples is None else self.samples[some],
            self.margins[some],
            self.coefficients[some],
            self.networks.of(some),
            self.preactivations[some],
        )


OnUpdate = Callable[[Update], bool | None]
"""Called after each update; True ends the training of all runs (their budget is spent)."""


@dataclass(frozen=True, eq=False)
class SmallRuns:
    """What the training left.

    Attributes:
      networks: at the end.
      margins: y N(x) there, computed afresh.
      updates: how many steps changed a weight.
      status: a `RunStatus` per run. CONVERGED: every margin is at least 1. STALLED: some is not, and no sample moves a
        weight. FROZEN: a loss that is never 0 pulls less than any number.
      blurred: whether rounding alone could carry a margin across 1.
    """

    networks: SmallNetworks
    margins: Float[np.ndarray, "run sample"]
    updates: Int[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]
    blurred: Bool[np.ndarray, " run"]

    @property
    def ended(self) -> Bool[np.ndarray, " run"]:
        """Whether no sample would make another update, and the weights are numbers."""
        return (self.status != RunStatus.BUDGET_SPENT) & (self.status != RunStatus.DIVERGED)


def train_small(
    networks: SmallNetworks,
    inputs: Inputs,
    labels: Float[np.ndarray, "run sample"],
    *,
    step_size: PerRun,
    max_updates: int | Int[np.ndarray, " run"],
    order: NextSample | None,
    loss: Loss = hinge,
    layers: Layers = Layers.HIDDEN,
    shares: Float[np.ndarray, "run sample"] | None = None,
    watch: OnUpdate | None = None,
    progress: Progress = silent,
) -> SmallRuns:
    """Train all runs until no sample moves a weight, or for `max_updates`.

    Arguments:
      networks: the starts; they are not changed.
      inputs, labels: the points, the same for all runs or each run's own, and their labels, one row per run.
      order: which sample comes next; None takes a step on all samples at once.
      loss: one of `networks.PULLS`.
      shares: the weight of each sample in the loss of the whole batch; 1/n without. Samples of weight 0 are absent.
      watch: called after each update.

    Raises:
      ValueError: shapes that do not fit, a loss that has no NumPy form, or an order that chooses an idle sample.
    """
    _check(networks, inputs, labels, loss, shares, order)
    training = _TrainingState(
        networks.copy(), inputs, labels, step_size, max_updates, order, loss, layers, shares, watch
    )
    n_runs = len(labels)
    size = max(1, ENTRIES // max(1, labels.shape[1] * networks.output.shape[1]))
    for first in range(0, n_runs, size):
        runs = np.arange(first, min(first + size, n_runs))
        training.train(runs, stretch(progress, first / n_runs, (int(runs[-1]) + 1) / n_runs))
    return training.runs()


def _check(
    networks: SmallNetworks,
    inputs: Inputs,
    labels: np.ndarray,
    loss: Loss,
    shares: np.ndarray | None,
    order: NextSample | None,
) -> None:
    if not isinstance(networks, SmallNetworks):
        raise ValueError(f"networks must be SmallNetworks(hidden, output), got {type(networks).__name__}")
    n_runs, _, dim = networks.hidden.shape
    if inputs.shape not in ((labels.shape[-1], dim), (n_runs, labels.shape[-1], dim)) or len(labels) != n_runs:
        raise ValueError(
            f"{n_runs} networks on {dim} inputs do not fit inputs of shape {inputs.shape} with labels {labels.shape}"
        )
    if networks.output.shape != networks.hidden.shape[:2]:
        raise ValueError(
            f"each network needs one output weight per neuron, shape {networks.hidden.shape[:2]}, got"
            f" {networks.output.shape}"
        )
    if loss not in PULLS:
        raise ValueError(f"the small trainer knows {', '.join(each.__name__ for each in PULLS)}, not {loss!r}")
    if shares is not None and (order is not None or shares.shape != labels.shape):
        raise ValueError("shares weigh the samples of a whole batch, one row per run like the labels")


class _TrainingState:
    """The state of all runs; `train` brings some of them to their end."""

    def __init__(
        self,
        networks: SmallNetworks,
        inputs: Inputs,
        labels: np.ndarray,
        step_size: PerRun,
        max_updates: int | np.ndarray,
        order: NextSample | None,
        loss: Loss,
        layers: Layers,
        shares: np.ndarray | None,
        watch: OnUpdate | None,
    ):
        n_runs, n_samples = labels.shape
        self.networks, self.labels, self.order, self.loss, self.layers = networks, labels, order, loss, layers
        self.inputs, self.watch, self.is_stopped = np.asarray(inputs, np.float64), watch, False
        self.step_size = np.broadcast_to(np.asarray(step_size, np.float64), (n_runs,))
        self.max_updates = np.broadcast_to(np.asarray(max_updates), (n_runs,))
        self.shares = np.full(labels.shape, 1 / max(1, n_samples)) if shares is None else shares
        self.updates = np.zeros(n_runs, np.int64)
        self.status = np.full(n_runs, RunStatus.RUNNING, np.int64)
        self.margins = np.zeros(labels.shape)
        self.products = _Products(self.inputs, networks.bias is not None)
        # A sample at the origin moves nothing but biases and, with them, output weights.
        self.present = (self.shares > 0) & ((self.inputs != 0).any(axis=-1) | (networks.bias is not None))
        is_steep = bool((networks.slopes > 0).all() and (networks.at_zeros != 0).all() and (networks.output != 0).all())
        self.always_moves = is_steep and layers is Layers.HIDDEN

    def runs(self) -> SmallRuns:
        """What is left when all have been trained."""
        with np.errstate(over="ignore", invalid="ignore"):
            blurred = self.networks.blurred(self.inputs)
        return SmallRuns(self.networks, self.margins, self.updates, self.status, blurred)

    def inputs_of(self, runs: np.ndarray) -> np.ndarray:
        """The points of some runs."""
        return self.inputs if self.inputs.ndim == 2 else self.inputs[runs]

    def train(self, runs: Int[np.ndarray, " run"], progress: Progress) -> None:
        """Train these runs to their end."""
        with np.errstate(over="ignore", invalid="ignore"):
            group = _Group(self, runs)
            rounds = 0
            while len(group.runs):
                group.look()
                if len(group.runs):
                    group.step_on_all() if self.order is None else group.step_by(self.order)
                rounds += 1
                if rounds % REPORT == 0:
                    share = np.where(self.status[runs] != 0, 1.0, self.updates[runs] / self.max_updates[runs])
                    progress(float(share.mean()), f"{len(runs)} small networks")
            progress(1.0, f"{len(runs)} small networks")


class _Group:
    """Runs that take their updates side by side; those that have ended leave it."""

    def __init__(self, training: _TrainingState, runs: Int[np.ndarray, " run"]):
        self.training, self.runs, self.rounds = training, runs, 0
        self.networks = training.networks.of(runs)
        self.labels, self.step_size = training.labels[runs], training.step_size[runs]
        self.present = training.present[runs]
        self.z = self.networks.preactivations(training.inputs_of(runs))
        self.room = np.empty_like(self.z)
        # Samples that a closer look found idle at the present weights, and their margins.
        self.settled, self.closer = np.zeros(self.labels.shape, bool), np.zeros(self.labels.shape)
        self.margins, self.active, self.any_settled = self.closer, self.settled, False

    def look(self) -> None:
        """Which samples would make an update; runs that have none left, or no update left to make, end here."""
        self._see()
        idle = np.logical_not(self.active.any(axis=1))
        if idle.any() and self.training.order is not None:
            # What was added up may be off in its last digits: look again before a run is called finished.
            self.z[idle] = self.networks.of(idle).preactivations(self.training.inputs_of(self.runs[idle]))
            self._see()
            idle = np.logical_not(self.active.any(axis=1))
        training, runs = self.training, self.runs
        over = idle | (training.updates[runs] >= training.max_updates[runs]) | training.is_stopped
        if over.any():
            self._end(over, idle)

    def step_by(self, order: NextSample) -> None:
        """One sample of each run."""
        training, networks = self.training, self.networks
        samples = order(Choice(self.runs, self.active, self.margins, self.z, networks))
        places = np.arange(len(self.runs))
        if not self.active[places, samples].all():
            raise ValueError("an order must choose among the active samples")
        x = training.inputs[samples] if training.inputs.ndim == 2 else training.inputs[self.runs, samples]
        labels = self.labels[places, samples]
        increment = networks.increment(x, labels, self.step_size, training.loss, training.layers)
        moves = increment.moves
        networks.add(x, increment)
        products = training.products.rows(self.runs, samples, x)
        self.z += np.multiply(products[:, :, None], increment.coefficients[:, None, :], out=self.room)
        training.updates[self.runs] += moves
        self.rounds += 1
        if self.rounds % REFRESH == 0:
            self.z = networks.preactivations(training.inputs_of(self.runs))
        if self.any_settled:
            self.settled[moves] = False
        self.any_settled = not moves.all()
        if self.any_settled:
            rest = ~moves
            self.settled[places[rest], samples[rest]] = True
            self.closer[places[rest], samples[rest]] = increment.margins[rest]
        self._show(moves, samples, increment.margins, increment.coefficients)

    def step_on_all(self) -> None:
        """One step on the whole batch."""
        training, networks = self.training, self.networks
        inputs, margins = training.inputs_of(self.runs), self.margins
        rate = self.step_size[:, None] * training.shares[self.runs] * self.labels * PULLS[training.loss](margins)
        active = rate[:, :, None] * networks.activation(self.z) if training.layers is Layers.BOTH else None
        pulls = rate[:, :, None] * (networks.output[:, None, :] * networks.derivative(self.z))
        gain = pulls.transpose(0, 2, 1) @ inputs
        networks.hidden[...] += gain
        if active is not None:
            networks.output[...] += active.sum(axis=1)
        if networks.bias is not None:
            networks.bias[...] += pulls.sum(axis=1)
        self.z = networks.preactivations(inputs)
        training.updates[self.runs] += 1
        self._show(np.ones(len(self.runs), bool), None, margins, gain)

    def _see(self) -> None:
        training, networks = self.training, self.networks
        margins = self.labels * networks.readout(self.z, self.room)
        if self.any_settled:
            margins = np.where(self.settled, self.closer, margins)
        active = PULLS[training.loss](margins) != 0
        if self.any_settled:
            active &= ~self.settled
        if not training.always_moves:
            active &= networks.movable(self.z, training.layers)
        self.margins, self.active = margins, active & self.present

    def _show(
        self, moves: np.ndarray, samples: np.ndarray | None, margins: np.ndarray, coefficients: np.ndarray
    ) -> None:
        training = self.training
        if training.watch is not None and moves.any():
            updates = training.updates[self.runs]
            update = Update(self.runs, updates, samples, margins, coefficients, self.networks, self.z)
            training.is_stopped |= bool(training.watch(update if moves.all() else update.of(moves)))

    def _end(self, over: Bool[np.ndarray, " run"], idle: Bool[np.ndarray, " run"]) -> None:
        training, runs, networks = self.training, self.runs[over], self.networks.of(over)
        margins = training.labels[runs] * networks.outputs(training.inputs_of(runs))
        margins = np.where(self.settled[over], self.closer[over], margins)
        finite = np.isfinite(margins).all(axis=1) & np.isfinite(networks.hidden).all(axis=(1, 2))
        real = training.shares[runs] > 0
        at_rest = ~((PULLS[training.loss](margins) != 0) & real).any(axis=1)
        done = RunStatus.CONVERGED if training.loss in SATURATING else RunStatus.FROZEN
        status = np.where(idle[over], np.where(at_rest, done, RunStatus.STALLED), RunStatus.BUDGET_SPENT)
        training.status[runs] = np.where(finite, status, RunStatus.DIVERGED)
        training.margins[runs] = margins
        training.networks.hidden[runs], training.networks.output[runs] = networks.hidden, networks.output
        if networks.bias is not None and training.networks.bias is not None:
            training.networks.bias[runs] = networks.bias
        stay = ~over
        self.runs, self.networks, self.z = self.runs[stay], self.networks.of(stay), self.z[stay]
        self.room = self.room[: len(self.runs)]
        for name in ("labels", "step_size", "present", "settled", "closer", "margins", "active"):
            setattr(self, name, getattr(self, name)[stay])


class _Products:
    """Inner products of inputs, computed when they are first asked for and kept where they are few."""

    def __init__(self, inputs: np.ndarray, has_bias: bool):
        self.inputs, self.has_bias = inputs, has_bias
        shape = (*inputs.shape[:-1], inputs.shape[-2])
        self.are_kept = int(np.prod(shape)) <= PRODUCTS
        self.known = np.zeros(shape[:-1] if self.are_kept else (), bool)
        self.table = np.empty(shape if self.are_kept else (0,))

    def rows(self, runs: np.ndarray, samples: np.ndarray, x: np.ndarray) -> Float[np.ndarray, "run sample"]:
        """⟨x, x_i⟩ of the chosen sample of each run with all samples, and 1 more where there are biases."""
        if not self.are_kept:
            return np.stack([self._of(run, one) for run, one in zip(runs, x, strict=True)])
        place = samples if self.inputs.ndim == 2 else (runs, samples)
        for at in np.flatnonzero(~self.known[place]):
            own = samples[at] if self.inputs.ndim == 2 else (runs[at], samples[at])
            self.table[own] = self._of(runs[at], x[at])
            self.known[own] = True
        return self.table[place]

    def _of(self, run: np.integer, x: Float[np.ndarray, " dim"]) -> Float[np.ndarray, " sample"]:
        products = np.einsum("sd,d->s", self.inputs if self.inputs.ndim == 2 else self.inputs[run], x)
        return products + 1 if self.has_bias else products
