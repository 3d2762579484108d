"""Section 5.1: SGD stops after a bounded number of non-zero updates, with loss exactly 0."""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Runs
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.errors import InputError
from widenet.networks import TwoLayer
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.adversary import against
from widenet.papers.brutzkus2018.runs.lower_bound import basis_trials
from widenet.papers.brutzkus2018.runs.trials import Trials, hypotheses, random_trials
from widenet.types import Progress, RunStatus, Scale, silent

UpdateBound = Callable[..., np.ndarray]


def check_theorem_2(
    batches: Trials | Sequence[Trials], progress: Progress = silent, *, bound: UpdateBound = max_nonzero_updates
) -> Evidence:
    """T ≤ M_k in every trial, and the loss is 0 when the updates end.

    `bound` is M_k; a control passes a wrong one. The budget of a trial is one pass more than M_k passes: a pass
    without an update means loss 0, so a permuted or cyclic run that spends it has broken the bound.
    """
    batches = [batches] if isinstance(batches, Trials) else batches
    if not batches:
        raise InputError("there are no trials to check; make some with trials_on(data).")
    conditions = hypotheses(batches)
    updates, promised, statuses, blurred = [], [], [], []
    for index, trials in enumerate(batches):
        limits = bound(
            trials.separator_norms,
            trials.slopes,
            trials.step_sizes,
            trials.output_weights,
            trials.row_bounds,
            trials.half_width,
        )
        limits = np.where(trials.min_margins >= 0.5, limits, np.inf)  # no separator, no promise
        share = functools.partial(_share, progress, index, len(batches))
        run = trials.train(_budget(limits, trials.data.n_samples), share)
        updates.append(run.updates)
        promised.append(limits)
        statuses.append(run.status)
        blurred.append(_margins_are_blurred(run.network))
    counts, limits, ends = np.concatenate(updates), np.concatenate(promised), np.concatenate(statuses)
    over = counts > np.floor(limits * (1 + 1e-12))
    failed = over | (ends == RunStatus.STALLED)
    # Overflow and margins below the rounding of float64 are this program's limits, not the theorem's; and where the
    # hypotheses are met, an infinite promise is one that float64 could not compute.
    lost = (ends == RunStatus.DIVERGED) | np.concatenate(blurred)
    if all(condition.met for condition in conditions):
        lost = lost | ~np.isfinite(limits)
    unfinished = ((ends == RunStatus.BUDGET_SPENT) | lost) & ~failed
    conclusion = False if failed.any() else None if unfinished.any() else True
    tightness = np.where(np.isfinite(limits), counts / limits, -1.0)
    worst = int(np.argmax(tightness))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(
            tried=len(counts), diverged=int((ends == RunStatus.DIVERGED).sum()), unfinished=int(unfinished.sum())
        ),
        conclusion=conclusion,
        quantity="non-zero updates in the tightest run",
        promised=float(limits[worst]),
        measured=float(counts[worst]),
        tightness=ratio(float(counts[worst]), float(limits[worst])),
        vacuous=bool(np.isinf(limits).all()),
        config=_describe(batches, counts, limits),
        note=_note(tightness, over, ends, unfinished),
    )


def _margins_are_blurred(network: TwoLayer) -> np.ndarray:
    """Per trial: are the outputs so large that rounding alone could move a margin across 1?"""
    rows = np.linalg.norm(np.asarray(network.hidden_weights), axis=2).max(axis=1)
    size = np.abs(np.asarray(network.output_weights)).sum(axis=1) * rows
    return ~(size * np.finfo(np.float64).eps < 1e-3)


def _budget(limits: np.ndarray, n_samples: int, most: int = 20_000_000, otherwise: int = 2_000_000) -> int:
    """Steps that decide, if there are at most `most`; `otherwise` no budget could refute, but a run may still end."""
    finite = limits[np.isfinite(limits)]
    steps = (np.floor(finite).max() + 2 if len(finite) else 1000) * n_samples
    return int(steps) if steps <= most else otherwise


def _share(progress: Progress, index: int, total: int, fraction: float, words: str) -> None:
    progress((index + fraction) / total, f"{words}, batch {index + 1} of {total}")


def _describe(batches: Sequence[Trials], counts: np.ndarray, limits: np.ndarray) -> dict:
    shapes = [
        {
            "trials": len(trials),
            "samples": trials.data.n_samples,
            "dim": trials.data.dim,
            "neurons": trials.networks.n_neurons,
            "order": type(trials.order).__name__,
        }
        for trials in batches
    ]
    finite = np.isfinite(limits)
    return {
        "dtype": "float64",
        "loss": "hinge",
        "batches": shapes,
        "median_tightness": float(np.median(counts[finite] / limits[finite])) if finite.any() else None,
        "largest_update_count": int(counts.max()),
    }


def _note(tightness: np.ndarray, over: np.ndarray, ends: np.ndarray, unfinished: np.ndarray) -> str:
    parts = [
        (int(over.sum()), "made more updates than the bound"),
        (int((ends == RunStatus.STALLED).sum()), "stalled at a positive loss"),
        (int((ends == RunStatus.DIVERGED).sum()), "overflowed"),
        (int(((ends == RunStatus.BUDGET_SPENT) & ~over).sum()), "spent their steps before the loss was 0"),
    ]
    troubles = ", ".join(f"{count} {what}" for count, what in parts if count)
    if troubles:
        return f"Of {len(ends)} runs, {troubles}."
    promised = tightness >= 0
    if not promised.all() or len(ends) < 2:
        return ""
    return f"The median tightness of the {len(ends)} runs is {np.median(tightness):.2g}."


def _setting(scale: Scale, seed: int) -> list[Trials]:
    """Random trials, some also in orders chosen against the theorem, and the sequence that nearly attains the bound."""
    batches, each, max_bound = (4, 50, 3e4) if scale is Scale.QUICK else (40, 50, 3e5)
    drawn = random_trials(seed, batches, each, max_bound, max_nonzero_updates)
    n_hard, each_hard, max_hard = (1, 10, 3e3) if scale is Scale.QUICK else (10, 20, 3e4)
    hard = random_trials(seed + 1, n_hard, each_hard, max_hard, max_nonzero_updates)
    return [*drawn, *map(against, hard), basis_trials(100, 1, 0.99, 100.0)]


theorem_2 = Claim(
    id="brutzkus2018.theorem_2",
    kind=Kind.MAIN,
    statement=(
        "SGD with the hinge loss makes at most M_k non-zero updates, whatever the order of the samples, and then "
        "the training loss is exactly 0. M_k = ‖w*‖²/α² + ‖w*‖²/(kηv²α²) + √(R(8k²η²v² + 8ηk))·‖w*‖^1.5/"
        "(2k(ηvα)^1.5) + 2R‖w*‖/(ηvα)."
    ),
    where="Theorem 2, Section 5.1",
    judge=check_theorem_2,
    draws=_setting,
)
