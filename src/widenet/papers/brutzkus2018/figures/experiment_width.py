"""Updates against the width on one data set: what Corollary 3 promises, measured. The paper draws no such figure."""

from collections.abc import Sequence

import numpy as np
import scipy
import xarray as xr

from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2018.claims.width_trend import FLAT, Widths
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.draws import separable_points
from widenet.types import Progress, RunStatus, Scale, silent

NORMALIZATIONS = {"1/√(2k)": lambda half: (2 * half) ** -0.5, "1/(2k)": lambda half: 1 / (2 * half)}
"""R = v as a function of the half-width k: Eq. 6, and one whose updates grow with the width."""


def compute_experiment_width(
    seed: int,
    progress: Progress = silent,
    *,
    half_widths: Sequence[int] = (1, 4, 16, 64, 256),
    n_runs: int = 20,
    other_half_widths: Sequence[int] = (1, 4, 16),
    slope: float = 0.2,
    step_size: float = 1.0,
) -> xr.Dataset:
    """Non-zero updates until loss 0, from random starts at several widths, and M_k.

    n = 60 points in dimension 10, ‖w*‖ = 5, margins between 0.2 and 0.4. R = v = 1/√(2k), and 1/(2k) for contrast at
    the narrower widths, where it can be waited for.
    """
    points = separable_points(np.random.default_rng(seed), 10, 60, 5.0, 0.4)
    data = Widths(*points, tuple(half_widths), n_runs, slope, step_size, seed)
    shape = (len(NORMALIZATIONS), len(half_widths), n_runs)
    updates, status = np.full(shape, np.nan), np.full(shape, -1)
    bounds = np.full(shape[:2], np.nan)
    cells = [
        (row, column, half)
        for row, name in enumerate(NORMALIZATIONS)
        for column, half in enumerate(half_widths)
        if name == "1/√(2k)" or half in other_half_widths
    ]
    for number, (row, column, half) in enumerate(cells):
        size = list(NORMALIZATIONS.values())[row](half)
        bounds[row, column] = float(max_nonzero_updates(5.0, slope, step_size, size, size, half))
        for run in range(n_runs):
            ledger = data.run(half, size, run)
            updates[row, column, run], status[row, column, run] = ledger.updates, ledger.end
        progress((number + 1) / len(cells), f"runs of {2 * half} neurons")
    axes = ("normalization", "half_width", "run")
    return xr.Dataset(
        {"updates": (axes, updates), "status": (axes, status), "update_bound": (axes[:2], bounds)},
        coords={"normalization": list(NORMALIZATIONS), "half_width": list(half_widths), "run": np.arange(n_runs)},
        attrs={"slope": slope, "step_size": step_size, "separator_norm": 5.0, "n_train": 60, "dim": 10, "seed": seed},
    )


def compare_experiment_width(numbers: xr.Dataset) -> list[Comparison]:
    """Corollary 3 bounds the updates at every width; that they are level themselves is a reading of it."""
    ours = numbers.sel(normalization="1/√(2k)")
    slope, interval = growth(ours)
    done = int((ours.status == RunStatus.CONVERGED).sum())
    return [
        Comparison(
            name="share of runs at zero training loss",
            reported="1 (Theorem 2)",
            measured=done / ours.status.size,
            interval=None,
            band=(1.0, 1.0),
        ),
        Comparison(
            name="slope of log(updates) against log(width)",
            reported="the bound is independent of the width (Corollary 3)",
            measured=slope,
            interval=interval,
            band=(-FLAT, FLAT),
            basis=f"the paper says it of the bound; of the updates it is measured here, and ±{FLAT} is called level",
        ),
        Comparison(
            name="largest updates / M_k",
            reported="at most 1 (Theorem 2)",
            measured=float((ours.updates / ours.update_bound).max(skipna=False)),
            interval=None,
            band=(0.0, 1.0),
        ),
    ]


def growth(runs: xr.Dataset) -> tuple[float, tuple[float, float] | None]:
    """The least-squares slope of log(updates) against log(width) over single runs, and its 95 % interval."""
    table = runs.updates.stack(each=("half_width", "run")).dropna("each")
    if not (runs.status.stack(each=("half_width", "run")).sel(each=table.each) == RunStatus.CONVERGED).all():
        return np.nan, None
    fit = scipy.stats.linregress(np.log(2.0 * table.half_width.values), np.log(np.maximum(table.values, 1)))
    slope, _, _, _, error = np.asarray(fit, float)
    reach = float(scipy.stats.t.ppf(0.975, table.size - 2)) * error
    return float(slope), (float(slope - reach), float(slope + reach))


experiment_width = Figure(
    id="brutzkus2018.experiment_width",
    title="Updates until zero loss against the width, with R = v = 1/√(2k) and with 1/(2k)",
    caption=(
        "The paper states that M_k does not depend on the width under Eq. 6 and draws no such figure. One separable "
        "data set of 60 points in dimension 10 (‖w*‖ = 5), samples drawn with replacement, slope 0.2, step size 1. "
        "Under R = v = 1/(2k) bound and updates grow with the width: the normalization is what keeps them level."
    ),
    compute=compute_experiment_width,
    compare=compare_experiment_width,
    sizes={
        Scale.QUICK: {"half_widths": (1, 4, 16, 64, 256), "n_runs": 10, "other_half_widths": (1, 4, 16)},
        Scale.PAPER: {"half_widths": (1, 4, 16, 64, 256, 1024), "n_runs": 20, "other_half_widths": (1, 4, 16)},
    },
)
