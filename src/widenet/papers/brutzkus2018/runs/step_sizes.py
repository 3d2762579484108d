"""Updates until zero loss at many step sizes: on the basis sequence of Theorem 4, and on random data like it."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Int

from widenet.claims.experiments import Experiment
from widenet.data.points import separable_points, unit_rows
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.runs.lower_bound import basis_sequence
from widenet.papers.brutzkus2018.runs.sgd import train_trials
from widenet.papers.brutzkus2018.sources import SampleOrder, Trial, equal_scale
from widenet.progress import Progress, over, stretch
from widenet.records import ClosedModel, Scale

MOST_UPDATES = 100_000


class StepSizeSetting(ClosedModel):
    """Step sizes η = 2^power under Eq. 6."""

    powers: tuple[int, ...]
    n_runs: int
    dim: int = 16  #: d, a square; the random data has the same dimension and the same ‖w*‖ = √d
    #: α and k
    slope: float = 0.5
    half_width: int = 8
    #: random points, and starts and orders on them
    n_samples: int = 100
    seed: int = 0

    @property
    def separator_norm(self) -> float:
        """‖w*‖ = √d."""
        return self.dim**0.5

    @property
    def step_sizes(self) -> list[float]:
        """η."""
        return [2.0**power for power in self.powers]


@dataclass(frozen=True, eq=False)
class StepSizeRuns:
    """What the runs left behind."""

    setting: StepSizeSetting
    #: T on the basis sequence, in exact fractions: nothing is random there, and it ends by Theorem 2
    basis_updates: Int[np.ndarray, " step"]
    #: T and a `RunStatus` of each run on the random data
    updates: Int[np.ndarray, "step run"]
    status: Int[np.ndarray, "step run"]


def step_size_settings(scale: Scale, seed: int) -> list[StepSizeSetting]:
    """One setting for all step sizes."""
    largest, n_runs = (7, 5) if scale is Scale.QUICK else (8, 20)
    return [StepSizeSetting(powers=tuple(range(-largest, largest + 1)), n_runs=n_runs, seed=seed)]


def run_step_sizes(setting: StepSizeSetting, progress: Progress) -> StepSizeRuns:
    """Both kinds of data at every step size; samples of the random data are drawn with replacement."""
    points = separable_points(
        np.random.default_rng(setting.seed), setting.dim, setting.n_samples, setting.separator_norm
    )
    size = equal_scale(setting.half_width)
    basis, trials = [], []
    for row, power in enumerate(over(setting.powers, stretch(progress, 0.0, 0.1), "step sizes")):
        basis.append(basis_sequence(setting.dim, Fraction(setting.slope), Fraction(2) ** power).updates())
        for run in range(setting.n_runs):
            draw = np.random.default_rng([setting.seed, row, run])
            rows = size * unit_rows(draw, 2 * setting.half_width, setting.dim)
            outputs, order = plus_minus_weights(setting.half_width, size), SampleOrder.WITH_REPLACEMENT
            seed = int(draw.integers(2**31))
            trials.append(Trial(*points, rows, outputs, setting.slope, 2.0**power, size, order, seed))
    runs = train_trials(trials, [MOST_UPDATES] * len(trials), progress=stretch(progress, 0.1, 1.0))
    ends = np.array([(run.updates, run.end) for run in runs]).reshape(len(basis), setting.n_runs, 2)
    return StepSizeRuns(setting, np.array(basis), ends[..., 0], ends[..., 1])


step_size_runs = Experiment("brutzkus2018.step_sizes", step_size_settings, run_step_sizes, seconds=0.8)
