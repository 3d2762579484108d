"""One data set trained at several widths: the updates until zero loss, under Eq. 6 and under another normalization."""

import enum
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.data.points import separable_points, unit_rows
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.runs.sgd import train_trials
from widenet.papers.brutzkus2018.sources import SampleOrder, Trial, equal_scale
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale

MOST_UPDATES = 100_000


class Normalization(enum.StrEnum):
    """R = v as a function of the half-width k."""

    EQUATION_6 = "1/√(2k)"
    SMALLER = "1/(2k)"
    """Bound and updates grow with the width."""

    def size(self, half_width: int) -> float:
        """The common value of R and v."""
        return equal_scale(half_width) if self is Normalization.EQUATION_6 else 1 / (2 * half_width)


class WidthSetting(ClosedModel):
    """Runs of one width. The data depends on the seed and on its own fields alone, so all widths share it."""

    half_width: int  #: k
    normalization: Normalization
    n_runs: int  #: random starts and orders; a run depends on the seed, on k and on its number
    #: α and η
    slope: float = 0.2
    step_size: float = 1.0
    #: n, d and ‖w*‖ of the points, whose margins begin at 1/‖w*‖
    n_samples: int = 60
    dim: int = 10
    separator_norm: float = 5.0
    largest_margin: float = 0.4
    seed: int = 0


@dataclass(frozen=True, eq=False)
class WidthRuns(Cases):
    """What the runs of one width left behind."""

    setting: WidthSetting
    updates: Int[np.ndarray, " run"]  #: T
    status: Int[np.ndarray, " run"]  #: a `RunStatus`
    output_weight: Number  #: v as the starts have it: the largest output weight
    row_bound: Number  #: R as the starts have it: the longest row
    smallest_margin: Number  #: min y⟨w*, x⟩
    largest_input: Number  #: max ‖x‖

    @column
    def half_width(self) -> Count:
        """k."""
        return self.setting.half_width


def width_settings(scale: Scale, seed: int) -> list[WidthSetting]:
    """Enough runs under Eq. 6 for a trend."""
    half_widths, n_runs = (1, 4, 16, 64, 256), 20 if scale is Scale.QUICK else 100
    return [
        WidthSetting(half_width=half, normalization=Normalization.EQUATION_6, n_runs=n_runs, seed=seed)
        for half in half_widths
    ]


def contrast_settings(scale: Scale, seed: int) -> list[WidthSetting]:
    """The same (and a wider network at paper scale), and the other normalization where it can be waited for."""
    wider, n_runs = ((), 10) if scale is Scale.QUICK else ((1024,), 20)
    return [
        *width_settings(scale, seed),
        *(
            WidthSetting(half_width=half, normalization=kind, n_runs=n_runs, seed=seed)
            for kind, halves in ((Normalization.EQUATION_6, wider), (Normalization.SMALLER, (1, 4, 16)))
            for half in halves
        ),
    ]


def run_width(setting: WidthSetting, progress: Progress) -> WidthRuns:
    """Rows on the sphere of radius R = v; samples drawn uniformly with replacement."""
    points = inputs, labels, separator = separable_points(
        np.random.default_rng(setting.seed),
        setting.dim,
        setting.n_samples,
        setting.separator_norm,
        setting.largest_margin,
    )
    half, size = setting.half_width, setting.normalization.size(setting.half_width)
    trials = []
    for number in range(setting.n_runs):
        draw = np.random.default_rng((setting.seed, half, number))
        rows = size * unit_rows(draw, 2 * half, setting.dim)
        outputs, order = plus_minus_weights(half, size), SampleOrder.WITH_REPLACEMENT
        seed = int(draw.integers(2**31))
        trials.append(Trial(*points, rows, outputs, setting.slope, setting.step_size, size, order, seed))
    runs = train_trials(trials, [MOST_UPDATES] * len(trials), progress=progress)
    margin = float((labels * (inputs @ separator)).min())
    updates, status = np.array([(run.updates, run.end) for run in runs]).reshape(-1, 2).T
    weight = max((float(np.abs(trial.output).max()) for trial in trials), default=size)
    longest = max((float(np.linalg.norm(trial.hidden, axis=1).max()) for trial in trials), default=size)
    return WidthRuns(setting, updates, status, weight, longest, margin, float(np.linalg.norm(inputs, axis=1).max()))


width_runs = Experiment("brutzkus2018.widths", width_settings, run_width, seconds=0.2)
