"""SGD until an epoch is clean: when the loss first falls below a level, and what a clean epoch does to the outputs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Count
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.papers.sarussi2021.formulas import LOG_2, clean_level
from widenet.papers.sarussi2021.runs.problems import Problem, SgdRuns, SgdSetting, draw_problem, missed_visits
from widenet.papers.sarussi2021.sources import SmallCloud
from widenet.papers.sarussi2021.user_data import epochs_allowed, own_runs, reason_in_training
from widenet.progress import Progress
from widenet.records import Scale
from widenet.training.small import SmallNetworks

ORDER_LEVELS = (0.4, 0.2, 0.1, 0.05)
"""ε at which the slopes of Theorem 4.1 are measured."""
MOST_EPOCHS = 100_000
"""After which a run gives up. The largest sampled loss falls like c/t with c up to about 100, and the smallest ε_0 of
these clouds is about 0.003, so the slowest runs need some 30,000 epochs."""
LARGE = 100
"""From this many points on, the loss is looked at after epochs only; a hit is then found up to n − 1 updates late."""


class EpochSetting(SgdSetting):
    """What is waited for.

    Attributes:
      levels: ε of Theorem 4.1; for each the loss must fall below ε, and an epoch be clean at its ε_0.
      hit_levels: further ε, as multiples of 1/n, that the loss must fall below.
      clean_levels: further ε_0 whose first clean epoch is looked for.
      most_epochs: after which a run gives up.
    """

    levels: tuple[float, ...] = (0.1,)
    hit_levels: tuple[float, ...] = (LOG_2,)
    clean_levels: tuple[float, ...] = (0.5, 0.1, 0.05, 0.01)
    most_epochs: int = 6000


@dataclass(frozen=True, eq=False)
class Epochs(SgdRuns):
    """Runs of SGD, epoch by epoch.

    Levels of the loss, ε, are those of the setting and then further ones; levels of clean epochs, ε_0, are those that
    belong to the former and then further ones.
    """

    levels: Float[np.ndarray, " level"]  #: ε of the setting
    hit_levels: Float[np.ndarray, " hit"]  #: these, and the further ones
    clean_levels: Float[np.ndarray, "run clean"]  #: ε_0
    hits: Int[np.ndarray, "run hit"]  #: the first update count t with L(W_t) < ε; −1 if none
    clean: Int[np.ndarray, "run clean"]  #: the first epoch, from 1, whose sampled losses are at most ε_0; 0 if none
    clean_margins: Float[np.ndarray, "run clean state point"]  #: y N(x) before, inside and after it; NaN without one
    sampled: Float[np.ndarray, "run clean point"]  #: the losses sampled in it
    clean_scales: Float[np.ndarray, "run clean"]  #: the largest v Σ|σ(z_j)| at its end, which margins are rounded by
    largest_losses: Float[np.ndarray, "run epoch"]  #: the largest sampled loss
    alignments: Float[np.ndarray, "run epoch"]  #: F at the end
    updates: Count  #: how many were made


def follow_epochs(
    problem: Problem, orders: Iterator[Int[np.ndarray, "run point"]], setting: EpochSetting, progress: Progress
) -> Epochs:
    """Train until every level is reached, or the epochs are spent.

    Not by `train_small`, which leaves out the visits whose update is 0: an epoch visits every point.
    """
    networks, updates = problem.networks.copy(), 0
    n, runs = problem.n_samples, len(networks)
    own = [
        clean_level(level, n, problem.step_size, problem.output_weight, problem.half_width, problem.largest_norm)
        for level in setting.levels
    ]
    clean_levels = np.array([*own, *(np.full(runs, level) for level in setting.clean_levels)]).reshape(-1, runs).T
    hit_levels = np.array([*setting.levels, *(level / n for level in setting.hit_levels)])
    hits = np.where(_loss(problem, networks) < hit_levels, 0, -1)
    clean = np.zeros(clean_levels.shape, int)
    clean_margins = np.full((*clean_levels.shape, n + 1 if n <= LARGE else 2, n), np.nan)
    sampled, scales = np.full((*clean_levels.shape, n), np.nan), np.full(clean_levels.shape, np.nan)
    largest, alignments, visits = [], [], np.zeros(runs)
    for _ in range(setting.most_epochs):
        order = next(orders)
        visits = np.maximum(visits, missed_visits(order))
        before, losses = networks.copy(), np.zeros((runs, n))
        for place, samples in enumerate(order.T):
            inputs, step = problem.next_step(networks, samples)
            losses[:, place] = np.logaddexp(0, -step.margins)
            networks.add(inputs, step)
            updates += 1
            if (hits < 0).any() and (n <= LARGE or place == n - 1):
                hits = np.where((hits < 0) & (_loss(problem, networks) < hit_levels), updates, hits)
        worst = losses.max(axis=1)
        fresh = (clean == 0) & (worst[:, None] <= clean_levels)
        if fresh.any():
            states = _replay(problem, before, order)[:: 1 if n <= LARGE else n]
            clean[fresh] = len(largest) + 1
            activated = networks.activation(networks.preactivations(problem.inputs))
            sizes = problem.output_weight * np.abs(activated).sum(axis=2).max(axis=1)
            scales = np.where(fresh, sizes[:, None], scales)
            for run, level in zip(*np.nonzero(fresh), strict=True):
                clean_margins[run, level], sampled[run, level] = states[:, run], losses[run]
        largest.append(worst)
        alignments.append(problem.alignments(networks))
        if (clean > 0).all() and (hits >= 0).all():
            break
        if len(largest) % 100 == 0:
            progress(len(largest) / setting.most_epochs, "epochs of SGD")
    return Epochs(
        levels=np.array(setting.levels),
        hit_levels=hit_levels,
        clean_levels=clean_levels,
        hits=hits,
        clean=clean,
        clean_margins=clean_margins,
        sampled=sampled,
        clean_scales=scales,
        largest_losses=np.stack(largest, axis=1),
        alignments=np.stack(alignments, axis=1),
        updates=updates,
        **problem.columns(visits),
    )


def _loss(problem: Problem, networks: SmallNetworks) -> Float[np.ndarray, "run 1"]:
    return np.logaddexp(0, -problem.margins(networks)).mean(axis=1, keepdims=True)


def _replay(
    problem: Problem, networks: SmallNetworks, order: Int[np.ndarray, "run point"]
) -> Float[np.ndarray, "state run point"]:
    """The margins before, inside and after one epoch."""
    states = [problem.margins(networks)]
    for samples in order.T:
        networks.add(*problem.next_step(networks, samples))
        states.append(problem.margins(networks))
    return np.stack(states)


def run_epochs(setting: EpochSetting, progress: Progress) -> Epochs:
    """Draw the runs of a setting and train them."""
    problem = draw_problem(setting)
    found = follow_epochs(problem, problem.epochs(), setting, progress)
    progress(1.0, "epochs of SGD")
    return found


def epoch_settings(scale: Scale, seed: int) -> list[EpochSetting]:
    """The small cloud of points, from tiny to large initial weights."""
    n_runs = 3 if scale is Scale.QUICK else 20
    return [EpochSetting(points=SmallCloud(), n_runs=n_runs, most_epochs=MOST_EPOCHS, seed=seed)]


def order_settings(scale: Scale, seed: int) -> list[EpochSetting]:
    """When the loss first falls below a few levels, on ever more points; no epoch need be clean."""
    runs = 3 if scale is Scale.QUICK else 10
    return [
        EpochSetting(
            points=SmallCloud(n_samples=n),
            deviations=(1e-3,),
            levels=(),
            hit_levels=tuple(level * n for level in ORDER_LEVELS),
            clean_levels=(),
            n_runs=runs,
            seed=seed,
        )
        for n in (10, 20, 40, 80)
    ]


def lifted_epoch_settings(scale: Scale, seed: int) -> list[EpochSetting]:
    """A few points with a coordinate for biases."""
    points = SmallCloud(n_samples=8, lifted=True)
    return [EpochSetting(points=points, deviations=(0.1,), levels=(0.5,), clean_levels=(), n_runs=2, seed=seed)]


def epochs_on(user_data: UserData) -> list[EpochSetting] | NotApplicable:
    """Networks of the chosen width and step on your data, for as many epochs as a few seconds allow."""
    if (reason := reason_in_training(user_data)) is not None:
        return reason
    most = max(2, min(6000, 20_000 // len(user_data.labels)))
    return [EpochSetting(**own_runs(user_data), clean_levels=(), most_epochs=epochs_allowed(user_data, most))]


epochs = Experiment("sarussi2021.epochs", epoch_settings, run_epochs, seconds=6.0, on=epochs_on)
# About clouds of ever more points, and of points with biases; not about your data.
growing_clouds = Experiment("sarussi2021.epochs", order_settings, run_epochs, seconds=0.3)
lifted_epochs = Experiment("sarussi2021.epochs", lifted_epoch_settings, run_epochs, seconds=0.3)
