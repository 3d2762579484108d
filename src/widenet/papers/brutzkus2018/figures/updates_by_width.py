"""Updates against the width on one data set: what Corollary 3 promises, measured. The paper draws no such figure."""

from collections.abc import Sequence

import numpy as np
import scipy
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.figures.statistics import t_reach
from widenet.papers.brutzkus2018.claims.width_trend import FLAT
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.widths import Normalization, WidthRuns, contrast_settings, width_runs
from widenet.types import RunStatus


def reduce_updates_by_width(cells: Sequence[WidthRuns]) -> xr.Dataset:
    """Non-zero updates until loss 0, from as many random starts at every width, and M_k.

    1/(2k) is there for contrast, at the narrower widths, where it can be waited for.
    """
    n_runs = min(len(runs.updates) for runs in cells)
    half_widths = sorted({runs.half_width for runs in cells})
    shape = (len(Normalization), len(half_widths), n_runs)
    updates, status = np.full(shape, np.nan), np.full(shape, -1)
    bounds = np.full(shape[:2], np.nan)
    for runs in cells:
        place = list(Normalization).index(runs.setting.normalization), half_widths.index(runs.half_width)
        updates[place], status[place] = runs.updates[:n_runs], runs.status[:n_runs]
        bounds[place] = max_nonzero_updates(
            runs.setting.separator_norm,
            runs.setting.slope,
            runs.setting.step_size,
            runs.output_weight,
            runs.row_bound,
            runs.half_width,
        )
    axes, setting = ("normalization", "half_width", "run"), cells[0].setting
    return xr.Dataset(
        {"updates": (axes, updates), "status": (axes, status), "update_bound": (axes[:2], bounds)},
        coords={
            "normalization": [each.value for each in Normalization],
            "half_width": half_widths,
            "run": np.arange(n_runs),
        },
        attrs={
            "slope": setting.slope,
            "step_size": setting.step_size,
            "separator_norm": setting.separator_norm,
            "n_train": setting.n_samples,
            "dim": setting.dim,
            "seed": setting.seed,
        },
    )


def compare_updates_by_width(numbers: xr.Dataset) -> list[Comparison]:
    """Corollary 3 bounds the updates at every width; that they are level themselves is a reading of it."""
    ours = numbers.sel(normalization=Normalization.EQUATION_6.value)
    slope, interval = growth(ours)
    done = int((ours.status == RunStatus.CONVERGED).sum())
    return [
        Comparison(
            name="share of runs at zero training loss",
            reported="1 (Theorem 2)",
            measured=done / ours.status.size,
            interval=None,
            band=(1.0, 1.0),
            basis="Theorem 2 is about every run",
        ),
        Comparison(
            name="slope of log(updates) against log(width)",
            reported="the bound is independent of the width (Corollary 3)",
            measured=slope,
            interval=interval,
            band=(-FLAT, FLAT),
            basis=f"the paper says it of the bound; of the updates it is measured here, and ±{FLAT} is called level",
            added=True,
        ),
        Comparison(
            name="largest updates / M_k",
            reported="at most 1 (Theorem 2)",
            measured=float((ours.updates / ours.update_bound).max(skipna=False)),
            interval=None,
            band=(0.0, 1.0),
            basis="Theorem 2: at most 1",
        ),
    ]


def growth(runs: xr.Dataset) -> tuple[float, tuple[float, float] | None]:
    """The least-squares slope of log(updates) against log(width) over single runs, and its 95 % interval."""
    table = runs.updates.stack(each=("half_width", "run")).dropna("each")
    if not (runs.status.stack(each=("half_width", "run")).sel(each=table.each) == RunStatus.CONVERGED).all():
        return np.nan, None
    fit = scipy.stats.linregress(np.log(2.0 * table.half_width.values), np.log(np.maximum(table.values, 1)))
    slope, _, _, _, error = np.asarray(fit, float)
    reach = t_reach(table.size - 2) * error
    return float(slope), (float(slope - reach), float(slope + reach))


updates_by_width = Figure(
    id="brutzkus2018.updates_by_width",
    title="Updates until zero loss against the width, with R = v = 1/√(2k) and with 1/(2k)",
    caption=(
        "The paper states that M_k does not depend on the width under Eq. 6 and draws no such figure. One separable "
        "data set of 60 points in dimension 10 (‖w*‖ = 5), samples drawn with replacement, slope 0.2, step size 1. "
        "Under R = v = 1/(2k) bound and updates grow with the width: the normalization is what keeps them level."
    ),
    claims=("theorem_2", "corollary_3", "corollary_3_width_free"),
    reads=(width_runs.at(contrast_settings),),
    reduce=reduce_updates_by_width,
    compare=compare_updates_by_width,
)
