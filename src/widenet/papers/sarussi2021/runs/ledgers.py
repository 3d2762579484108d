"""Every update of SGD written down: one training for all inequalities of Section 9 about single updates and epochs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.claims.silence import Silence
from widenet.claims.specimen import Specimen
from widenet.diagnostics.sign_clusters import cluster_radius
from widenet.papers.sarussi2021.runs.problems import Problem, Runs, SgdSetting, draw_problem, next_move
from widenet.papers.sarussi2021.settings import SmallCloud, lengths
from widenet.papers.sarussi2021.specimens import epochs_allowed, own_runs, silence_over_training
from widenet.progress import Progress
from widenet.records import Scale

Updates = Float[np.ndarray, "run update"]


class LedgerSetting(SgdSetting):
    """How many epochs are written down."""

    n_epochs: int = 100


@dataclass(frozen=True, eq=False)
class Ledger(Cases):
    """Runs of SGD, update by update."""

    separator_norm: Runs  #: ‖w*‖; NaN where nothing separates the data
    largest_norm: Runs  #: R_x
    row_bound: Runs  #: R_0
    smallest_margin: Runs  #: min y⟨w*, x⟩
    relative_input: Runs  #: the largest ‖x‖ over R_x
    relative_row: Runs  #: the largest initial row over R_0
    label_error: Runs  #: the largest distance of a label from ±1
    visits: Runs  #: by how much a point was visited more or less often than once in an epoch
    start_norm: Runs  #: G_0
    start_alignment: Runs  #: F_0
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
    slope: Number  #: α
    step_size: Number  #: η
    output_weight: Number  #: v
    half_width: Count  #: k
    n_samples: Count  #: n


def keep_ledger(problem: Problem, orders: Iterator[Int[np.ndarray, "run point"]], n_epochs: int) -> Ledger:
    """Train, and write down every update."""
    k, start, weights = problem.half_width, problem.weights, problem.weights.copy()
    separator = problem.separator
    kept: dict[str, list[np.ndarray]] = {}
    visits = np.zeros(problem.n_runs)
    for _ in range(n_epochs):
        order = next(orders)
        counts = np.stack([np.bincount(each, minlength=problem.n_samples) for each in order])
        visits = np.maximum(visits, np.abs(counts - 1).max(axis=1))
        for samples in order.T:
            move = next_move(problem, weights, samples)
            change = move.change
            activated = np.where(move.products > 0, 1.0, problem.slope) * move.products
            before, weights = weights, weights + change
            drifts = [_drift(move.products[:, half], change[:, half]) for half in (slice(k), slice(k, None))]
            changed = np.abs(_radius(weights, k) - _radius(before, k))
            along = np.einsum("rjd,rd->rj", weights - start, separator)
            seen = {
                "margins": move.margins,
                "pushes": move.pushes,
                "cross": 2 * (before * change).sum(axis=(1, 2)),
                "scales": 2 * problem.step_size * move.pushes * problem.output_weight * np.abs(activated).sum(axis=1),
                "squares": (change**2).sum(axis=(1, 2)),
                "gains": np.einsum("rjd,rd,j->r", change, separator, problem.signs),
                "norms": np.sqrt((weights**2).sum(axis=(1, 2))),
                "alignments": np.einsum("rjd,rd,j->r", weights, separator, problem.signs),
                "distances": np.sqrt(((weights - start) ** 2).sum(axis=(1, 2))),
                "plus_growth": along[:, :k].min(axis=1),
                "minus_growth": -along[:, k:].max(axis=1),
                "plus_drifts": drifts[0],
                "minus_drifts": drifts[1],
                "radius_drifts": np.where(np.isnan(drifts[0] + drifts[1]), np.nan, changed),
            }
            for name, values in seen.items():
                kept.setdefault(name, []).append(values)
    return Ledger(
        separator_norm=np.linalg.norm(separator, axis=1),
        largest_norm=problem.largest_norm,
        row_bound=problem.row_bound,
        smallest_margin=problem.smallest_margin,
        relative_input=lengths(problem.inputs).max(axis=1) / problem.largest_norm,
        relative_row=relative_rows(problem),
        label_error=np.abs(np.abs(problem.labels) - 1).max(axis=1),
        visits=visits,
        start_norm=np.sqrt((start**2).sum(axis=(1, 2))),
        start_alignment=np.einsum("rjd,rd,j->r", start, separator, problem.signs),
        slope=problem.slope,
        step_size=problem.step_size,
        output_weight=problem.output_weight,
        half_width=k,
        n_samples=problem.n_samples,
        **{name: np.stack(values, axis=1) for name, values in kept.items()},
    )


def relative_rows(problem: Problem) -> Runs:
    """The largest initial row over R_0; 1 where both are 0."""
    rows = np.linalg.norm(problem.weights, axis=2).max(axis=1)
    return np.divide(rows, problem.row_bound, out=np.ones_like(rows), where=rows > 0)


def _drift(products: Float[np.ndarray, "run neuron"], change: Float[np.ndarray, "run neuron dim"]) -> Runs:
    """How much differences of rows moved in this update; NaN where the rows do not agree on the point."""
    together = (products > 0).all(axis=1) | (products <= 0).all(axis=1)
    return np.where(together, np.abs(change - change[:, :1]).max(axis=(1, 2)), np.nan)


def _radius(weights: Float[np.ndarray, "run both dim"], k: int) -> Runs:
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


def ledgers_on(specimen: Specimen) -> list[LedgerSetting] | Silence:
    """Some epochs of networks of the chosen width and step on the reader's data."""
    if (reason := silence_over_training(specimen)) is not None:
        return reason
    most = max(1, min(100, 4000 // len(specimen.labels)))
    return [LedgerSetting(**own_runs(specimen), n_epochs=epochs_allowed(specimen, most))]


ledgers = Experiment("sarussi2021.ledgers", ledger_settings, run_ledger, seconds=1.0, on=ledgers_on)
