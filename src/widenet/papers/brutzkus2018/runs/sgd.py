"""Training runs that write down what the proofs speak of, at every non-zero update.

The proof of Theorem 2 follows two numbers, F_t = ⟨W_t, W*⟩ and G_t = ‖W_t‖, where W* stacks k copies of w* over k
copies of −w*. A `RecordedRun` has both after every update, and what each update should have added to them by the exact
identities

  F_t − F_{t−1}  = η y⟨w*, x⟩ Σ_r |a_r| p_r,
  G_t² − G_{t−1}² = 2η y N_{t−1}(x) + η²‖x‖² Σ_r a_r² p_r²,

with a the output weights and p_r = σ'(⟨w_r, x⟩).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.networks.arrays import leaky
from widenet.papers.brutzkus2018.sources import SampleOrder, Trial
from widenet.progress import Progress, parts, silent
from widenet.training.small import (
    Choice,
    NextSample,
    Recorder,
    SmallNetworks,
    Update,
    cyclic,
    permutations,
    train_small,
    with_replacement,
)
from widenet.types import Layers, RunStatus


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """What a run wrote down."""

    trial: Trial
    samples: Int[np.ndarray, " update"]  #: which sample made each update
    margins: Float[np.ndarray, " update"]  #: y_t N_{t−1}(x_t) at each update
    #: F_t and G_t, from t = 0
    alignments: Float[np.ndarray, " time"]
    norms: Float[np.ndarray, " time"]
    #: what the identities say each update adds to F and to G²
    alignment_gains: Float[np.ndarray, " update"]
    norm_gains: Float[np.ndarray, " update"]
    #: running extremes of v_t/v_0 over the neurons, from t = 0 (c and C)
    smallest_ratios: Float[np.ndarray, " time"]
    largest_ratios: Float[np.ndarray, " time"]
    #: the weights at the end
    hidden: Float[np.ndarray, "neuron dim"]
    output: Float[np.ndarray, " neuron"]
    last_margin: float  #: min y N(x) over all samples at the end; the training loss is 0 where it is at least 1
    end: RunStatus  #: why the run ended
    is_blurred: bool  #: whether rounding alone could carry a margin across 1 at the end

    @property
    def updates(self) -> int:
        """T, the number of non-zero updates."""
        return len(self.samples)


def update_of(
    hidden: np.ndarray,
    output: np.ndarray,
    x: np.ndarray,
    y: float,
    slope: float,
    step_size: float,
    at_zero: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """What a sample with y N(x) < 1 adds to (W, a), by Eq. 10: ηy a_r p_r x to row r, and ηy σ(⟨w_r, x⟩) to a_r."""
    z = hidden @ x
    pulls = SmallNetworks(hidden[None], output[None], slope, at_zero).derivative(z[None])[0]
    return step_size * y * np.outer(output * pulls, x), step_size * y * leaky(z, slope)


def train_trial(trial: Trial, max_updates: int, layers: Layers = Layers.HIDDEN) -> RecordedRun:
    """Batch-1 SGD with the hinge loss, until no sample has y N(x) < 1 or `max_updates` are made."""
    return train_trials([trial], [max_updates], layers)[0]


def train_trials(
    trials: Sequence[Trial],
    max_updates: Sequence[int],
    layers: Layers = Layers.HIDDEN,
    progress: Progress = silent,
) -> list[RecordedRun]:
    """Train many trials; those of one shape and order are trained side by side."""
    groups: dict[tuple, list[int]] = {}
    for number, trial in enumerate(trials):
        groups.setdefault((trial.inputs.shape, trial.output.shape, trial.order), []).append(number)
    kept: dict[int, RecordedRun] = {}
    for numbers, part in parts(list(groups.values()), progress):
        together = [trials[number] for number in numbers]
        runs = _train_alike(together, np.array([max_updates[number] for number in numbers]), layers, part)
        kept |= dict(zip(numbers, runs, strict=True))
    return [kept[number] for number in range(len(trials))]


def _train_alike(
    trials: list[Trial], max_updates: Int[np.ndarray, " run"], layers: Layers, progress: Progress
) -> list[RecordedRun]:
    """Trials of one shape and one order."""
    shared = all(trial.inputs is trials[0].inputs for trial in trials)
    start = SmallNetworks(
        np.stack([trial.hidden for trial in trials]),
        np.stack([trial.output for trial in trials]),
        np.array([trial.slope for trial in trials]),
        np.array([trial.at_zero for trial in trials]),
    )
    inputs = trials[0].inputs if shared else np.stack([trial.inputs for trial in trials])
    writer = _Writer(trials, start.output)
    trained = train_small(
        start,
        inputs,
        np.stack([trial.labels for trial in trials]),
        step_size=np.array([trial.step_size for trial in trials]),
        max_updates=max_updates,
        order=_order(trials),
        layers=layers,
        watch=writer.write,
        progress=progress,
    )
    last, networks = trained.margins.min(axis=1), trained.networks
    ends = zip(networks.hidden, networks.output, last, trained.status, trained.blurred, strict=True)
    columns = (
        (trial, *columns, hidden, output, float(margin), RunStatus(status), bool(blurred))
        for trial, columns, (hidden, output, margin, status, blurred) in zip(trials, writer.read(), ends, strict=True)
    )
    return list(itertools.starmap(RecordedRun, columns))


class _Writer:
    """Writes down F and G, what the identities add to them, and the extremes of a_t/a_0."""

    def __init__(self, trials: list[Trial], first: Float[np.ndarray, "run neuron"]):
        self.trials, self.first, self.recorder = trials, first, Recorder()
        self.votes = trials[0].votes
        self.along = np.stack([trial.separator for trial in trials])
        self.shares = np.stack([trial.inputs @ trial.separator for trial in trials])
        self.squares = np.stack([(trial.inputs**2).sum(axis=1) for trial in trials])
        self.step_size = np.array([trial.step_size for trial in trials])

    def write(self, update: Update) -> bool:
        """One update of some runs; True when there is room for no more."""
        runs, samples, pulls = update.runs, update.samples, update.coefficients
        ratios = update.networks.output / self.first[runs]
        return self.recorder.add(
            runs,
            samples=np.asarray(samples),
            margins=update.margins,
            **dict(zip(("alignments", "norms"), self._potentials(update.networks.hidden, runs), strict=True)),
            alignment_gains=self.shares[runs, samples] * (pulls @ self.votes),
            norm_gains=2 * self.step_size[runs] * update.margins + self.squares[runs, samples] * (pulls**2).sum(axis=1),
            smallest_ratios=ratios.min(axis=1),
            largest_ratios=ratios.max(axis=1),
        )

    def _potentials(self, hidden: np.ndarray, runs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _aligned(self.votes, hidden, self.along[runs]), np.sqrt(np.einsum("rnd,rnd->r", hidden, hidden))

    def read(self) -> list[tuple[np.ndarray, ...]]:
        """What was written about each run, in the order of the fields of `RecordedRun`."""
        names = ("samples", "margins", "alignments", "norms", "alignment_gains", "norm_gains")
        n_runs = len(self.trials)
        columns = {name: self.recorder.by_run(name, n_runs) for name in (*names, "smallest_ratios", "largest_ratios")}
        with np.errstate(over="ignore", invalid="ignore"):
            first = self._potentials(np.stack([trial.hidden for trial in self.trials]), np.arange(n_runs))
        ones = np.ones(n_runs)
        before = {"alignments": first[0], "norms": first[1], "smallest_ratios": ones, "largest_ratios": ones}
        for name, values in before.items():
            columns[name] = [np.r_[value, later] for value, later in zip(values, columns[name], strict=True)]
        columns["samples"] = [rows.astype(np.int64) for rows in columns["samples"]]
        columns["smallest_ratios"] = [np.minimum.accumulate(rows) for rows in columns["smallest_ratios"]]
        columns["largest_ratios"] = [np.maximum.accumulate(rows) for rows in columns["largest_ratios"]]
        return list(zip(*columns.values(), strict=True))


def _aligned(
    votes: Float[np.ndarray, " neuron"],
    hidden: Float[np.ndarray, "run neuron dim"],
    along: Float[np.ndarray, "run dim"],
) -> Float[np.ndarray, " run"]:
    """F = ⟨W, W*⟩."""
    return np.einsum("rd,rd->r", np.einsum("n,rnd->rd", votes, hidden), along)


def _order(trials: list[Trial]) -> NextSample:
    """The order of these trials, which is one."""
    seeds = [trial.seed for trial in trials]
    match trials[0].order:
        case SampleOrder.CYCLIC:
            return cyclic()
        case SampleOrder.PERMUTATION:
            return permutations(seeds)
        case SampleOrder.WITH_REPLACEMENT:
            return with_replacement(seeds)
        case SampleOrder.HARDEST:
            return lambda look: np.where(look.active, look.margins, np.inf).argmin(axis=1)
        case SampleOrder.EASIEST:
            return lambda look: np.where(look.active, look.margins, -np.inf).argmax(axis=1)
        case SampleOrder.SLOWEST:
            return _slowest(trials)


def _slowest(trials: list[Trial]) -> NextSample:
    """The smallest F/G after the update, from the identities above (‖W*‖ is the same for all samples)."""
    votes, along = trials[0].votes, np.stack([trial.separator for trial in trials])
    shares = np.stack([trial.labels * (trial.inputs @ trial.separator) for trial in trials])
    squares = np.stack([(trial.inputs**2).sum(axis=1) for trial in trials])
    steps = np.array([trial.step_size for trial in trials])

    def choose(look: Choice) -> Int[np.ndarray, " run"]:
        networks, runs = look.networks, look.runs
        pulls = networks.output[:, None, :] * networks.derivative(look.preactivations)
        eta = steps[runs, None]
        aligned = _aligned(votes, networks.hidden, along[runs])[:, None]
        aligned = aligned + eta * shares[runs] * np.einsum("rsn,n->rs", pulls, votes)
        square = np.einsum("rnd,rnd->r", networks.hidden, networks.hidden)[:, None] + 2 * eta * look.margins
        square = square + eta**2 * squares[runs] * (pulls**2).sum(axis=2)
        return np.where(look.active, aligned / np.sqrt(square), np.inf).argmin(axis=1)

    return choose
