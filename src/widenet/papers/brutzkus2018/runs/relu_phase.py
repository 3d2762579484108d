"""Theorem 9: ReLU networks on orthonormal points, trained in full at many widths."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.runs.online import OnlineStart, train_online
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale


class PhaseSetting(ClosedModel):
    """Runs of one dimension d: n_runs at each half-width k, with η = step_size."""

    dim: int
    half_widths: tuple[int, ...]
    n_runs: int
    step_size: float = 0.6
    seed: int = 0


@dataclass(frozen=True, eq=False)
class PhaseColumn:
    """How the runs of one dimension ended, counted per half-width."""

    setting: PhaseSetting
    reached: Int[np.ndarray, " half_width"]  #: runs at loss 0
    predicted: Int[np.ndarray, " half_width"]  #: runs whose K_0 is empty
    disagree: Int[np.ndarray, " half_width"]  #: runs that end otherwise than K_0 says
    unfinished: Int[np.ndarray, " half_width"]  #: runs that were cut off


def phase_settings(scale: Scale, seed: int) -> list[PhaseSetting]:
    """Seven dimensions, twelve widths."""
    n_runs = 100 if scale is Scale.QUICK else 400
    return [
        PhaseSetting(dim=dim, half_widths=tuple(range(1, 13)), n_runs=n_runs, seed=seed)
        for dim in (2, 4, 8, 16, 32, 64, 128)
    ]


def run_phase(setting: PhaseSetting, progress: Progress) -> PhaseColumn:
    """Data e_1, …, e_d labelled +1, output weights ±1, entries of W_0 uniform on [−1, 1]."""
    counts = []
    for half in over(setting.half_widths, progress, f"widths in dimension {setting.dim}"):
        draw = np.random.default_rng([setting.seed, half, setting.dim])
        weights = draw.uniform(-1, 1, (setting.n_runs, 2 * half, setting.dim))
        labels = np.ones((setting.n_runs, setting.dim))
        start = OnlineStart(np.eye(setting.dim), labels, weights, setting.step_size, seed=setting.seed)
        runs = train_online(start)
        at_zero, free = start.loss(runs.weights) == 0, ~start.stuck(weights).any(axis=1)
        counts.append([each.sum() for each in (at_zero, free, at_zero != free, ~runs.ended)])
    return PhaseColumn(setting, *np.asarray(counts).T)


relu_phase = Experiment("brutzkus2018.relu_phase", phase_settings, run_phase, seconds=0.6)
