"""Many trials, recorded: one training for Theorem 2, Corollary 3, Eq. 13 and every step of their proofs."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.papers.brutzkus2018.formulas import (
    max_nonzero_updates,
)
from widenet.papers.brutzkus2018.runs.sgd import RecordedRun, train_trials
from widenet.papers.brutzkus2018.sources import (
    ADVERSARIAL,
    BasisTrial,
    Fan,
    OnePoint,
    OwnTrials,
    RandomTrials,
    SampleOrder,
    SmallSteps,
    TiedWidths,
    Trial,
    TrialSource,
    equal_scale,
)
from widenet.papers.brutzkus2018.user_data import reason_in_labels
from widenet.progress import Progress, silent
from widenet.records import ClosedModel, Scale
from widenet.types import Layers

PATIENCE, GIVEN_UP = 1e6, 2_000
"""The largest M_k that a run is given time for, and the updates it gets otherwise, or without a promise."""
HAS_SEPARATOR = 0.5
"""A smallest margin y⟨w*, x⟩ below this is no rounding error: w* does not separate, and nothing is promised."""


class RecordedSetting(ClosedModel):
    """Which trials, in which orders, with which layers."""

    trials: TrialSource
    own_order: bool = True  #: whether each trial is run in its own order
    adversarial: bool = True  #: whether it is also run in the three orders that look at the network
    layers: Layers = Layers.HIDDEN
    most_updates: int | None = None  #: None gives each run one update more than M_k


PerRun = Float[np.ndarray, " run"]
Updates = Float[np.ndarray, " update"]
Times = Float[np.ndarray, " time"]


@dataclass(frozen=True, eq=False)
class RecordedRuns(Cases):
    """What many runs wrote down. Runs are of unequal length: updates and times of all runs follow each other."""

    lengths: ClassVar = {"update": lambda runs: runs.updates, "time": lambda runs: runs.updates + 1}

    separator_norm: PerRun  #: ‖w*‖
    slope: PerRun  #: α
    step_size: PerRun  #: η
    output_weight: PerRun  #: v
    row_bound: PerRun  #: R
    half_width: PerRun  #: k
    smallest_margin: PerRun  #: min y⟨w*, x⟩
    largest_input: PerRun  #: max ‖x‖
    relative_row: PerRun  #: the largest row of W_0 over R
    label_error: PerRun  #: the largest distance of a label from ±1
    smallest_output: PerRun  #: the smallest of the signed output weights (+v, …, −v)
    output_spread: PerRun  #: how far they are apart
    at_zero: PerRun  #: σ'(0)
    last_margin: PerRun  #: min y N(x) at the end
    updates: Int[np.ndarray, " run"]  #: T
    status: Int[np.ndarray, " run"]  #: why the run ended
    blurred: Bool[np.ndarray, " run"]  #: whether rounding alone could move a margin across 1 at the end
    margins: Updates  #: y_t N_{t−1}(x_t)
    alignment_gains: Updates  #: what the identity adds to F
    norm_gains: Updates  #: what the identity adds to G²
    alignments: Times  #: F_t, from t = 0 on
    norms: Times  #: G_t
    smallest_ratios: Times  #: the smallest v_t/v_0 so far
    largest_ratios: Times  #: the largest

    @property
    def parameters(self) -> tuple[PerRun, PerRun, PerRun, PerRun, PerRun, PerRun]:
        """The arguments of `formulas.max_nonzero_updates`, in its order."""
        return self.separator_norm, self.slope, self.step_size, self.output_weight, self.row_bound, self.half_width

    @property
    def has_separator(self) -> Bool[np.ndarray, " run"]:
        """Whether w* separates the data, up to rounding."""
        return self.smallest_margin >= HAS_SEPARATOR

    @property
    def starts(self) -> Int[np.ndarray, " run"]:
        """The place of t = 0 of each run along the axis of times."""
        return np.cumsum(self.updates + 1) - (self.updates + 1)

    @property
    def update_number(self) -> Updates:
        """t of each update, from 1 in each run."""
        first = np.cumsum(self.updates) - self.updates
        return np.arange(1.0, self.updates.sum() + 1) - np.repeat(first, self.updates)

    def after(self, values: Times) -> Updates:
        """A quantity per time, right after each update."""
        return np.delete(values, self.starts)

    def before(self, values: Times) -> Updates:
        """A quantity per time, right before each update."""
        return np.delete(values, self.starts + self.updates)


def record_runs(
    trials: Sequence[Trial],
    progress: Progress = silent,
    *,
    layers: Layers = Layers.HIDDEN,
    most_updates: int | None = None,
) -> RecordedRuns:
    """Train every trial and write everything down."""
    budgets = [budget(trial) if most_updates is None else most_updates for trial in trials]
    kept = train_trials(trials, budgets, layers, progress)
    return as_table(kept)


def budget(trial: Trial) -> int:
    """Updates that decide Theorem 2: one more than M_k, if anybody can wait for them; `GIVEN_UP` otherwise."""
    bound = float(max_nonzero_updates(*trial.parameters)) if trial.smallest_margin >= HAS_SEPARATOR else np.inf
    return int(bound) + 1 if bound <= PATIENCE else GIVEN_UP


def as_table(kept: Sequence[RecordedRun]) -> RecordedRuns:
    """RecordedRuns of single runs, put one after the other."""
    per_run = np.array([_measures(run) for run in kept], np.float64).reshape(len(kept), 14)

    def flat(name: str) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(getattr(run, name) for run in kept)])

    flats = ("margins", "alignment_gains", "norm_gains", "alignments", "norms", "smallest_ratios", "largest_ratios")
    columns = [
        *per_run.T,
        np.array([run.updates for run in kept], np.int64),
        np.array([run.end for run in kept], np.int64),
        np.array([run.is_blurred for run in kept], bool),
        *(flat(name) for name in flats),
    ]
    names = [field.name for field in dataclasses.fields(RecordedRuns)]
    return RecordedRuns(**dict(zip(names, columns, strict=True)))


def _measures(run: RecordedRun) -> tuple[float | int, ...]:
    """What the hypotheses and the bounds speak of, in the order of the fields of `RecordedRuns`."""
    trial = run.trial
    signed = trial.output * trial.votes
    rows = float(np.linalg.norm(trial.hidden, axis=1).max())
    # R = 0 allows rows of zeros and no others.
    relative = (
        0.0 if rows == trial.row_bound == 0 else float(np.divide(rows, trial.row_bound)) if trial.row_bound else np.inf
    )
    return (
        *trial.parameters,
        trial.smallest_margin,
        float(np.linalg.norm(trial.inputs, axis=1).max()),
        relative,
        float(np.abs(np.abs(trial.labels) - 1).max()),
        float(signed.min()),
        # An odd number of neurons has no two equal halves.
        float(np.ptp(signed)) if len(signed) % 2 == 0 else np.inf,
        trial.at_zero,
        run.last_margin,
    )


def run_recorded(setting: RecordedSetting, progress: Progress) -> RecordedRuns:
    """One cell."""
    drawn = setting.trials.draw()
    chosen = [trial for trial in drawn for trial in _in_orders(trial, setting)]
    return record_runs(chosen, progress, layers=setting.layers, most_updates=setting.most_updates)


def _in_orders(trial: Trial, setting: RecordedSetting) -> list[Trial]:
    orders: tuple[SampleOrder, ...] = (trial.order,) * setting.own_order + ADVERSARIAL * setting.adversarial
    return [dataclasses.replace(trial, order=order) for order in orders]


NEARLY_ATTAINED = RecordedSetting(trials=BasisTrial(dim=100, half_width=1, slope=0.99, step_size=100.0))
"""A sequence on which M_k is nearly attained: 100 of 108 updates."""
ATTAINED = RecordedSetting(trials=BasisTrial(dim=1, half_width=1, slope=0.999, step_size=1e9), adversarial=False)
"""M_k = 1.002, and one update is made."""


def proof_settings(scale: Scale, seed: int) -> list[RecordedSetting]:
    """Random trials, and basis sequences: there the inequalities of the proof are nearly equalities."""
    batches, each, max_bound = (5, 8, 1e4) if scale is Scale.QUICK else (40, 25, 3e4)
    sequences = (
        BasisTrial(dim=25, half_width=4, slope=0.5, step_size=5.3),
        BasisTrial(dim=4, half_width=1, slope=0.9, step_size=1.0001, output_weight=0.5**0.5, row_bound=50.0),
        BasisTrial(dim=1, half_width=1, slope=0.5, step_size=0.1),
        BasisTrial(dim=1, half_width=1, slope=0.5, step_size=0.1, row_bound=0.0),  # M_0 = M_R = M_k
        OnePoint(slope=0.5, step_size=10.0, output_weight=1.0, plus_rows=(2.999,), minus_rows=(2.0,)),  # Eq. 11
        OnePoint(slope=0.25, step_size=0.5, output_weight=0.5, plus_rows=(-0.1, -0.1), minus_rows=(-0.1, -0.1)),
    )
    drawn = RandomTrials(seed=seed, n_batches=batches, per_batch=each, max_bound=max_bound)
    return [
        RecordedSetting(trials=drawn),
        *(RecordedSetting(trials=each) for each in sequences),
        NEARLY_ATTAINED,
        ATTAINED,
    ]


def fans(scale: Scale) -> list[RecordedSetting]:
    """Thousands of updates near M_k: where its second term decides (0.95 of it), its fourth (0.68), and Eq. 6 (0.69).

    Closer at paper scale: 0.97 and 0.79.
    """
    fast, far = (0.05, 50.0) if scale is Scale.QUICK else (0.02, 200.0)
    chosen = (
        Fan(separator_norm=10.0, n_points=401, slope=0.999, step_size=fast),
        Fan(separator_norm=10.0, n_points=201, slope=0.999, step_size=0.5, row_bound=far),
        Fan(separator_norm=5.0, n_points=201, slope=0.99, step_size=0.02, row_bound=equal_scale(1)),
    )
    return [RecordedSetting(trials=fan, adversarial=False) for fan in chosen]


def theorem_2_settings(scale: Scale, seed: int) -> list[RecordedSetting]:
    """Random trials in blind orders, some in orders chosen against the theorem, and where M_k is nearly attained.

    `ATTAINED` is left out: one update of 1.002 allowed would be the closest run, and says little.
    """
    batches, each, max_bound = (4, 50, 3e4) if scale is Scale.QUICK else (40, 50, 3e5)
    n_hard, each_hard, max_hard = (1, 10, 3e3) if scale is Scale.QUICK else (10, 20, 3e4)
    blind = RandomTrials(seed=seed, n_batches=batches, per_batch=each, max_bound=max_bound)
    hard = RandomTrials(seed=seed + 1, n_batches=n_hard, per_batch=each_hard, max_bound=max_hard)
    return [
        RecordedSetting(trials=blind, adversarial=False),
        RecordedSetting(trials=hard, own_order=False),
        NEARLY_ATTAINED,
        *fans(scale),
    ]


RUNS_ON_A_SPECIMEN = 3


def recorded_on(user_data: UserData) -> list[RecordedSetting] | NotApplicable:
    """Networks of the chosen width and step on the reader's data; every claim about the proof reads them too."""
    if (reason := reason_in_labels(user_data)) is not None:
        return reason
    chosen = user_data.choices
    trials = OwnTrials(
        own_data=user_data.digest,
        n_runs=chosen.n_runs or RUNS_ON_A_SPECIMEN,
        n_neurons=chosen.n_neurons,
        slope=chosen.slope,
        step_size=chosen.step_size,
        seed=chosen.seed,
        init_scale=chosen.init_scale,
        output_weight=chosen.output_weight,
        order=chosen.order or SampleOrder.PERMUTATION,
    )
    return [RecordedSetting(trials=trials, adversarial=False, most_updates=chosen.max_updates)]


MOST_UPDATES = 20_000


def both_layers_settings(scale: Scale, seed: int) -> list[RecordedSetting]:
    """Three widths, small steps, in the trials' own orders."""
    trials = SmallSteps(seed=seed, per_width=7 if scale is Scale.QUICK else 20)
    return [RecordedSetting(trials=trials, adversarial=False, layers=Layers.BOTH, most_updates=MOST_UPDATES)]


def corollary_3_settings(scale: Scale, seed: int) -> list[RecordedSetting]:
    """The same data trained at four widths, and sequences that nearly attain M_k."""
    widths = TiedWidths(seed=seed, n_data_sets=3 if scale is Scale.QUICK else 50)
    return [NEARLY_ATTAINED, ATTAINED, RecordedSetting(trials=widths)]


recorded_runs = Experiment("brutzkus2018.recorded_runs", proof_settings, run_recorded, seconds=0.5, on=recorded_on)
both_layers_runs = Experiment("brutzkus2018.recorded_runs", both_layers_settings, run_recorded, seconds=0.5)
"""Training of both layers says nothing about your data: the bound needs signs that stay."""
