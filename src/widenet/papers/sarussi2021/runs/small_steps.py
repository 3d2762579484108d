"""Gradient flow by many small steps, in the time of the paper: when the loss first falls below log(2)/n."""

from dataclasses import dataclass

import numpy as np
import scipy.special

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.diagnostics.homogeneous_margins import losses
from widenet.papers.sarussi2021.formulas import LOG_2
from widenet.papers.sarussi2021.runs.problems import Runs, SgdSetting, draw_problem
from widenet.papers.sarussi2021.settings import SmallCloud
from widenet.progress import Progress
from widenet.records import Scale


class SmallStepSetting(SgdSetting):
    """How long the flow is followed; its step is 0.2/(2kv²R_x²)."""

    most_steps: int = 60_000


@dataclass(frozen=True, eq=False)
class SmallSteps(Cases):
    """When gradient flow arrives."""

    times: Runs  #: t_0, the first time with nL < log 2; NaN where there is none
    printed_times: Runs  #: the first with nL < 1
    ended: Runs  #: the time at which the run was given up
    separator_norm: Runs  #: ‖w*‖
    smallest_margin: Runs  #: min y⟨w*, x⟩
    start_norm: Runs  #: ‖W_0‖
    slope: Number  #: α
    output_weight: Number  #: v
    half_width: Count  #: k
    n_samples: Count  #: n


def run_small_steps(setting: SmallStepSetting, progress: Progress) -> SmallSteps:
    """Descend on the mean loss until nL < log 2 in every run."""
    problem = draw_problem(setting)
    n, k, v = problem.n_samples, problem.half_width, problem.output_weight
    step = 0.2 / (2 * k * v**2 * problem.largest_norm**2)
    weights, signs = problem.weights.copy(), v * problem.signs
    times, printed = np.full(problem.n_runs, np.nan), np.full(problem.n_runs, np.nan)
    made = 0
    for made in range(setting.most_steps):
        total = losses(problem.margins(weights)).sum(axis=1)
        times = np.where(np.isnan(times) & (total < LOG_2), made * step, times)
        printed = np.where(np.isnan(printed) & (total < 1), made * step, printed)
        if not np.isnan(times).any():
            break
        products = np.matmul(problem.inputs, weights.transpose(0, 2, 1))
        slopes = np.where(products > 0, 1.0, problem.slope)
        outputs = (slopes * products) @ signs
        pushes = problem.labels * scipy.special.expit(-problem.labels * outputs) / n
        weights = weights + step[:, None, None] * np.einsum("rn,rnj,j,rnd->rjd", pushes, slopes, signs, problem.inputs)
        if made % 5000 == 0:
            progress(made / setting.most_steps, "small steps")
    progress(1.0, "small steps")
    return SmallSteps(
        times=times,
        printed_times=printed,
        ended=made * step,
        separator_norm=np.linalg.norm(problem.separator, axis=1),
        smallest_margin=problem.smallest_margin,
        start_norm=np.sqrt((problem.weights**2).sum(axis=(1, 2))),
        slope=problem.slope,
        output_weight=v,
        half_width=k,
        n_samples=n,
    )


def small_step_settings(scale: Scale, seed: int) -> list[SmallStepSetting]:
    """The small cloud of points, from small and from large weights."""
    return [SmallStepSetting(points=SmallCloud(), deviations=(1e-3, 1.0), n_runs=2, seed=seed)]


small_steps = Experiment("sarussi2021.small_steps", small_step_settings, run_small_steps, seconds=2.0)
