"""Gradient flow by many small steps, in the time of the paper: when the loss first falls below log(2)/n."""

from dataclasses import dataclass

import numpy as np

from widenet.claims.experiments import Experiment
from widenet.diagnostics.homogeneous_margins import losses
from widenet.losses import logistic
from widenet.papers.sarussi2021.formulas import LOG_2
from widenet.papers.sarussi2021.runs.problems import PerRun, SgdRuns, SgdSetting, draw_problem
from widenet.papers.sarussi2021.sources import SmallCloud
from widenet.progress import Progress
from widenet.records import Scale
from widenet.training.small import SmallNetworks, train_small


class SmallStepSetting(SgdSetting):
    """How long the flow is followed; its step is 0.2/(2kv²R_x²)."""

    most_steps: int = 60_000


@dataclass(frozen=True, eq=False)
class SmallStepFlows(SgdRuns):
    """When gradient flow arrives."""

    times: PerRun  #: t_0, the first time with nL < log 2; NaN where there is none
    printed_times: PerRun  #: the first with nL < 1
    ended: PerRun  #: the time at which the run was given up


def run_small_steps(setting: SmallStepSetting, progress: Progress) -> SmallStepFlows:
    """Descend on the mean loss until nL < log 2 in every run."""
    problem = draw_problem(setting)
    step = 0.2 / (2 * problem.half_width * problem.output_weight**2 * problem.largest_norm**2)
    levels = np.array([LOG_2, 1.0])
    arrived = np.full((len(step), 2), np.nan)  # after how many steps

    def look(networks: SmallNetworks, n_steps: int) -> bool:
        total = losses(problem.margins(networks)).sum(axis=1, keepdims=True)
        np.copyto(arrived, n_steps, where=np.isnan(arrived) & (total < levels))
        return not np.isnan(arrived).any()

    most = 0 if look(problem.networks, 0) else setting.most_steps
    done = train_small(
        problem.networks,
        problem.inputs,
        problem.labels,
        step_size=step,
        max_updates=most,
        order=None,
        loss=logistic,
        watch=lambda update: look(update.networks, int(update.updates[0])),
        progress=progress,
    )
    return SmallStepFlows(
        times=arrived[:, 0] * step,
        printed_times=arrived[:, 1] * step,
        ended=done.updates * step,
        **problem.columns(visits=np.zeros(len(step))),
    )


def small_step_settings(scale: Scale, seed: int) -> list[SmallStepSetting]:
    """The small cloud of points, from small and from large weights."""
    return [SmallStepSetting(points=SmallCloud(), deviations=(1e-3, 1.0), n_runs=2, seed=seed)]


small_steps = Experiment("sarussi2021.small_steps", small_step_settings, run_small_steps, seconds=2.0)
