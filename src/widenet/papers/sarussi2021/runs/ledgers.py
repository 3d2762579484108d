"""Every update of SGD written down: one training for all inequalities of Section 9 about single updates and epochs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.special
from jaxtyping import Float, Int

from widenet.claims.applicability import NotApplicable
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.diagnostics.sign_clusters import cluster_radius
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.sarussi2021.runs.problems import (
    PerRun,
    Problem,
    SgdRuns,
    SgdSetting,
    draw_problem,
    missed_visits,
)
from widenet.papers.sarussi2021.sources import SmallCloud
from widenet.papers.sarussi2021.user_data import epochs_allowed, own_runs, reason_in_training
from widenet.progress import Progress
from widenet.records import Scale
from widenet.training.small import Recorder
from widenet.training.small.networks import times

Updates = Float[np.ndarray, "run update"]


class LedgerSetting(SgdSetting):
    """How many epochs are written down."""

    n_epochs: int = 100


@dataclass(frozen=True, eq=False)
class Ledger(SgdRuns):
    """Runs of SGD, update by update."""

    margins: Updates  #: q_t, before the update
    pushes: Updates  #: |ℓ'_t|, before the update
    cross: Updates  #: 2⟨W, ΔW⟩
    scales: Updates  #: 2η|ℓ'|·vΣ|σ(z)|, the size of `cross` without cancellation
    squares: Updates  #: ‖ΔW‖²
    gains: Updates  #: ⟨ΔW, W*⟩
    norms: Updates  #: G_t, after the update
    alignments: Updates  #: F_t
    distances: Updates  #: ‖W_t − W_0‖
    plus_growth: Updates  #: the smallest (row_t − row_0)·w* of a row that votes plus
    minus_growth: Updates  #: the smallest −(row_t − row_0)·w* of the others
    plus_drifts: Updates  #: how much a difference of two plus rows moved; NaN where they do not agree on x_t
    minus_drifts: Updates  #: the same of minus rows
    radius_drifts: Updates  #: how much r changed; NaN where the rows of either sign do not agree


def keep_ledger(problem: Problem, orders: Iterator[Int[np.ndarray, "run point"]], n_epochs: int) -> Ledger:
    """Train, and write down every update.

    Not by `train_small`, which leaves out the visits whose update is 0: here they have an entry like all others.
    """
    k, start, networks, separator = problem.half_width, problem.networks, problem.networks.copy(), problem.separator
    signs, kept, visits = plus_minus_weights(k), Recorder(), np.zeros(len(start))
    for _ in range(n_epochs):
        order = next(orders)
        visits = np.maximum(visits, missed_visits(order))
        for samples in order.T:
            inputs, step = problem.next_step(networks, samples)
            before, products = networks.hidden.copy(), times(networks.hidden, inputs)
            networks.add(inputs, step)
            weights, pushes = networks.hidden, scipy.special.expit(-step.margins)
            change = step.coefficients[:, :, None] * inputs[:, None, :]
            sizes = np.abs(networks.activation(products)).sum(axis=1)
            drifts = [_drift(products[:, half], change[:, half]) for half in (slice(k), slice(k, None))]
            changed = np.abs(_radius(weights, k) - _radius(before, k))
            along = np.einsum("rjd,rd->rj", weights - start.hidden, separator)
            kept.add(
                np.arange(len(start)),
                margins=step.margins,
                pushes=pushes,
                cross=2 * (before * change).sum(axis=(1, 2)),
                scales=2 * problem.step_size * pushes * problem.output_weight * sizes,
                squares=(change**2).sum(axis=(1, 2)),
                gains=np.einsum("rjd,rd,j->r", change, separator, signs),
                norms=np.linalg.norm(weights, axis=(1, 2)),
                alignments=problem.alignments(networks),
                distances=np.linalg.norm(weights - start.hidden, axis=(1, 2)),
                plus_growth=along[:, :k].min(axis=1),
                minus_growth=-along[:, k:].max(axis=1),
                plus_drifts=drifts[0],
                minus_drifts=drifts[1],
                radius_drifts=np.where(np.isnan(drifts[0] + drifts[1]), np.nan, changed),
            )
    updates = {name: np.stack(values, axis=1) for name, values in kept.columns.items()}
    return Ledger(**problem.columns(visits), **updates)


def _drift(products: Float[np.ndarray, "run neuron"], change: Float[np.ndarray, "run neuron dim"]) -> PerRun:
    """How much differences of rows moved in this update; NaN where the rows do not agree on the point."""
    together = (products > 0).all(axis=1) | (products <= 0).all(axis=1)
    return np.where(together, np.abs(change - change[:, :1]).max(axis=(1, 2)), np.nan)


def _radius(weights: Float[np.ndarray, "run both dim"], k: int) -> PerRun:
    """r, the larger of the radii of the two clusters."""
    return np.maximum(cluster_radius(weights[:, :k]), cluster_radius(weights[:, k:]))


def run_ledger(setting: LedgerSetting, progress: Progress) -> Ledger:
    """Draw the runs of a setting and train them."""
    problem = draw_problem(setting)
    ledger = keep_ledger(problem, problem.epochs(), setting.n_epochs)
    progress(1.0, "updates of SGD")
    return ledger


def ledger_settings(scale: Scale, seed: int) -> list[LedgerSetting]:
    """From tiny to large initial weights; one wider network in more dimensions."""
    small = SmallCloud()
    runs, epochs = (2, 100) if scale is Scale.QUICK else (10, 400)
    return [
        LedgerSetting(points=small, n_runs=runs, n_epochs=epochs, seed=seed),
        LedgerSetting(
            points=SmallCloud(n_samples=30, dim=6),
            n_runs=runs,
            n_epochs=epochs // 4,
            half_width=20,
            slope=0.1,
            step_size=0.5,
            output_weight=0.3,
            seed=seed,
        ),
    ]


def ledgers_on(user_data: UserData) -> list[LedgerSetting] | NotApplicable:
    """Some epochs of networks of the chosen width and step on your data."""
    if (reason := reason_in_training(user_data)) is not None:
        return reason
    most = max(1, min(100, 4000 // len(user_data.labels)))
    return [LedgerSetting(**own_runs(user_data), n_epochs=epochs_allowed(user_data, most))]


ledgers = Experiment("sarussi2021.ledgers", ledger_settings, run_ledger, seconds=1.0, on=ledgers_on)
