"""Section 5.1: the measured number of updates does not grow with the width."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, Part, claim
from widenet.claims.cases import derived
from widenet.claims.given import separable
from widenet.claims.implication import Promise
from widenet.claims.sides import Sides
from widenet.claims.statistics import CONFIDENCE
from widenet.papers.brutzkus2018.hypotheses import EQUAL_SCALE, input_norm
from widenet.papers.brutzkus2018.runs.widths import WidthRuns, width_runs
from widenet.types import RunStatus

FLAT = 0.05
"""Slopes of log T against log k up to this are called flat: 32 times the width, a fifth more updates."""
RESAMPLES = 4000
FEWEST_RUNS, FEWEST_WIDTHS = 5, 3
"""Fewer than these decide nothing."""


class Trained(WidthRuns):
    """Runs, with whether they reached zero loss."""

    unfinished: Bool[np.ndarray, " run"] = derived(lambda runs: runs.status != RunStatus.CONVERGED)


class Trend(Sides):
    """A slope beside the largest one called flat, decided by its limits and not by itself."""

    def __init__(self, slope: float, lower: float, upper: float, flat: float, **how: Any):
        """Limits that lie on both sides of `flat` decide nothing."""
        super().__init__(slope, flat, **how)
        self.limits = lower, upper

    def part(self, name: str) -> Part:
        """With its limits."""
        lower, upper = self.limits
        flat, open_ = self.promised[0], self.undecided[0]
        kept = None if open_ else True if upper <= flat else False if lower > flat else None
        shown = Sides(self.measured, self.promised, quantity=self.quantity).part(name)
        answers = {"kept": kept, "broken": int(kept is False), "undecided": int(kept is None)}
        return shown.model_copy(update={"interval": self.limits, **answers})


@claim(
    "brutzkus2018.corollary_3_width_free",
    Kind.TREND,
    "Corollary 3 and the remark after it, Section 5.1",
    reads=width_runs,
    given=[separable, input_norm, *EQUAL_SCALE],
    title="Wider networks do not make more updates",
)
def corollary_3_width_free(runs: Trained, *, flat: float = FLAT) -> Promise:
    """With $R = v = 1/√(2k)$ the measured number of non-zero updates does not grow with the width: the slope of $log T$
    against $log k$ is at most $0.05$.

    The slope of log(mean T), with bootstrap limits: flat if the upper limit says so, growing if the lower limit does,
    else undecided.
    """
    counts = np.split(runs.updates.astype(np.float64), np.cumsum(runs.count(True))[:-1])
    enough = len(counts) >= FEWEST_WIDTHS and min(map(len, counts)) >= FEWEST_RUNS
    logs = np.log(runs.per("cell").half_width)
    slope, lower, upper = slope_with_limits(logs, counts, runs.cells[0].setting.seed) if len(runs) else (np.nan,) * 3
    trend = Trend(
        slope,
        lower,
        upper,
        flat,
        undecided=not enough or runs.unfinished.any(),
        text="$T$ does not grow with $k$",
        quantity="slope of log(mean updates) against log k, and the largest one called flat",
    )
    return Promise({"flat": trend}, details=lambda: _details(runs, counts))


def _details(runs: Trained, counts: Sequence[np.ndarray]) -> dict[str, Any]:
    setting = runs.cells[0].setting
    return {
        "half_widths": runs.per("cell").half_width,
        "mean_updates": [count.mean() for count in counts],
        "seeds_per_width": min(map(len, counts)),
        "alpha": setting.slope,
        "eta": setting.step_size,
        "separator_norm": setting.separator_norm,
        "limits": f"bootstrap over starts and orders, one-sided, {CONFIDENCE:.0%} each",
    }


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
