"""Section 5.1: the measured number of updates does not grow with the width."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Part, Runs, at_most, claim, separable
from widenet.claims.sides import Sides, evidence
from widenet.claims.statistics import CONFIDENCE
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2018.runs.widths import Normalization, WidthRuns, width_runs
from widenet.types import RunStatus

FLAT = 0.05
"""Slopes of log T against log k up to this are called flat: 32 times the width, a fifth more updates."""
RESAMPLES = 4000
FEWEST_RUNS, FEWEST_WIDTHS = 5, 3
"""Fewer than these decide nothing."""


@claim(
    "brutzkus2018.corollary_3_width_free",
    Kind.TREND,
    "Corollary 3 and the remark after it, Section 5.1",
    reads=width_runs,
)
def corollary_3_width_free(widths: Sequence[WidthRuns], *, flat: float = FLAT) -> Evidence:
    """With R = v = 1/√(2k) the number of non-zero updates SGD really makes does not grow with the width: the slope of
    log T against log k is at most 0.05.

    The slope of log(mean T), with bootstrap limits: flat if the upper limit says so, growing if the lower limit does,
    else undecided.
    """
    half_widths = np.asarray([runs.half_width for runs in widths], np.float64)
    counts = [runs.updates.astype(np.float64) for runs in widths]
    weights, radii = (
        max(abs(getattr(runs, name) / Normalization.EQUATION_6.size(runs.half_width) - 1) for runs in widths)
        for name in ("output_weight", "row_bound")
    )
    status = np.concatenate([runs.status for runs in widths])
    setting = widths[0].setting
    return evidence(
        {"T does not grow with k": _trend(half_widths, counts, status, flat, setting.seed)},
        (
            separable(runs.smallest_margin for runs in widths),
            at_most(
                "input_norm",
                "largest input norm ‖x‖",
                max(runs.largest_input for runs in widths),
                1,
                tolerance=ROUNDING,
            ),
            at_most("normalized_output", "v against 1/√(2k): relative difference", weights, 0, tolerance=ROUNDING),
            at_most("normalized_rows", "R against 1/√(2k): relative difference", radii, 0, tolerance=ROUNDING),
        ),
        runs=Runs(tried=len(status), unfinished=int((status != RunStatus.CONVERGED).sum())),
        details={
            "half_widths": [runs.half_width for runs in widths],
            "mean_updates": [float(count.mean()) for count in counts],
            "seeds_per_width": min(len(count) for count in counts),
            "alpha": setting.slope,
            "eta": setting.step_size,
            "separator_norm": setting.separator_norm,
            "limits": f"bootstrap over starts and orders, one-sided, {CONFIDENCE:.0%} each",
        },
    )


def _trend(
    half_widths: Float[np.ndarray, " width"],
    counts: Sequence[Float[np.ndarray, " _run"]],
    status: np.ndarray,
    flat: float,
    seed: int,
) -> Part:
    """The slope beside the largest one called flat, decided by its limits and not by itself."""
    slope, lower, upper = slope_with_limits(np.log(half_widths), counts, seed)
    enough = min(len(count) for count in counts) >= FEWEST_RUNS and len(half_widths) >= FEWEST_WIDTHS
    if not enough or (status != RunStatus.CONVERGED).any():
        kept = None
    else:
        kept = True if upper <= flat else False if lower > flat else None
    words = "slope of log(mean updates) against log k, and the largest one called flat"
    part = Sides(slope, flat, quantity=words).part("T does not grow with k")
    return part.model_copy(
        update={
            "kept": kept,
            "interval": (lower, upper),
            "broken": int(kept is False),
            "undecided": int(kept is None),
        }
    )


def slope_with_limits(
    logs: Float[np.ndarray, " width"], counts: Sequence[Float[np.ndarray, " _run"]], seed: int
) -> tuple[float, float, float]:
    """Least-squares slope of log(mean count), and its bootstrap limits."""
    centred = logs - logs.mean()
    weights = centred / max(float(centred @ centred), np.finfo(float).tiny)
    fewest = min(len(count) for count in counts)
    table = np.stack([count[:fewest] for count in counts])
    draw = np.random.default_rng(seed)
    chosen = draw.integers(table.shape[1], size=(RESAMPLES, *table.shape))
    means = np.take_along_axis(np.broadcast_to(table, chosen.shape), chosen, axis=2).mean(axis=2)
    lower, upper = np.quantile(np.log(np.maximum(means, 1)) @ weights, (1 - CONFIDENCE, CONFIDENCE))
    return float(np.log(np.maximum(table.mean(axis=1), 1)) @ weights), float(lower), float(upper)
