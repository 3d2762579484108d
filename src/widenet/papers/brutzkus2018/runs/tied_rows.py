"""Runs whose rows are tied: all plus rows are v·a and all minus rows v·b, at several widths on the same data."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.data.points import separable_points, unit_rows
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.runs.sgd import RecordedRun, train_trial, update_of
from widenet.papers.brutzkus2018.sources import Trial, equal_scale
from widenet.progress import Progress, over, silent
from widenet.records import ClosedModel, Scale

MOST_UPDATES = 20_000


class TiedSetting(ClosedModel):
    """How many data sets, at which half-widths k."""

    seed: int
    n_data_sets: int
    half_widths: tuple[int, ...] = (1, 4, 16, 256)


@dataclass(frozen=True, eq=False)
class TiedRuns(Cases):
    """Runs (one per data set and width), and comparisons of each with the first width of its data set."""

    half_width: Float[np.ndarray, " run"]  #: k
    output_weight: Float[np.ndarray, " run"]  #: v
    row_bound: Float[np.ndarray, " run"]  #: R
    updates: Int[np.ndarray, " run"]  #: T
    status: Int[np.ndarray, " run"]  #: why the run ended
    same_samples: Bool[np.ndarray, " pair"]  #: whether the same samples made the updates
    #: the largest relative difference of F/(kv), G/(√k·v) or a row of W/v after any update; NaN where other samples did
    difference: Float[np.ndarray, " pair"]
    untied: Float[np.ndarray, " run"]  #: the largest distance of two plus rows, or two minus rows, of W_0/v


def train_tied(
    setting: TiedSetting, progress: Progress = silent, *, normalization: Callable[[int], float] = equal_scale
) -> TiedRuns:
    """Train every data set at every width; `normalization` gives the common value of R and v."""
    draw = np.random.default_rng(setting.seed)
    trials: list[Trial] = []
    for _ in range(setting.n_data_sets):
        points = separable_points(draw, 8, 40, float(draw.uniform(2, 8)))
        plus_row, minus_row = unit_rows(draw, 2, 8)
        slope, eta = float(draw.uniform(0.1, 0.9)), float(np.exp(draw.uniform(-2, 2)))
        for half in setting.half_widths:
            size = normalization(half)
            rows = size * np.concatenate([np.tile(plus_row, (half, 1)), np.tile(minus_row, (half, 1))])
            trials.append(Trial(*points, rows, plus_minus_weights(half, size), slope, eta, size))
    runs = [train_trial(trial, MOST_UPDATES) for trial in over(trials, progress, "data sets at every width")]
    n_widths = len(setting.half_widths)
    pairs = [(run, runs[number - number % n_widths]) for number, run in enumerate(runs) if number % n_widths]
    same = [np.array_equal(run.samples, reference.samples) for run, reference in pairs]
    differences = [_difference(*pair) if is_same else np.nan for pair, is_same in zip(pairs, same, strict=True)]
    return TiedRuns(
        np.array([run.trial.half_width for run in runs], np.float64),
        np.array([run.trial.output_weight for run in runs]),
        np.array([run.trial.row_bound for run in runs]),
        np.array([run.updates for run in runs], np.int64),
        np.array([run.end for run in runs], np.int64),
        np.array(same, bool),
        np.array(differences, np.float64),
        np.array([_untied(run) for run in runs]),
    )


def _difference(run: RecordedRun, reference: RecordedRun) -> float:
    pairs = zip(_in_units_of_v(run), _in_units_of_v(reference), strict=True)
    # np.maximum hands a NaN on, where Python's max would lose it.
    return float(
        functools.reduce(np.maximum, [np.abs(ours - theirs).max() / np.abs(theirs).max() for ours, theirs in pairs])
    )


def _in_units_of_v(run: RecordedRun) -> tuple[np.ndarray, ...]:
    """F/(kv) and G/(√k·v) over time, and over all plus rows and all minus rows the extremes of W/v over time."""
    k, v = run.trial.half_width, run.trial.output_weight
    return run.alignments / (k * v), run.norms / (k**0.5 * v), _extremes(run) / v


def _extremes(run: RecordedRun) -> Float[np.ndarray, "time 2 2 dim"]:
    """The smallest and the largest entry over the rows of each half, after every update; the last ones as trained."""
    trial, hidden, path = run.trial, run.trial.hidden, []
    for sample in run.samples:
        path.append(hidden)
        x, y = trial.inputs[sample], float(trial.labels[sample])
        hidden = hidden + update_of(hidden, trial.output, x, y, trial.slope, trial.step_size, trial.at_zero)[0]
    halves = np.stack([*path, run.hidden]).reshape(len(path) + 1, 2, trial.half_width, -1)
    return np.stack([halves.min(axis=2), halves.max(axis=2)], axis=2)


def _untied(run: RecordedRun) -> float:
    trial = run.trial
    return float(np.ptp(trial.hidden.reshape(2, trial.half_width, -1), axis=1).max() / trial.output_weight)


def tied_settings(scale: Scale, seed: int) -> list[TiedSetting]:
    """One cell."""
    return [TiedSetting(seed=seed, n_data_sets=4 if scale is Scale.QUICK else 50)]


tied_runs = Experiment("brutzkus2018.tied_rows", tied_settings, train_tied, seconds=0.3)
