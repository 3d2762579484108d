"""Updates against the step size, on the basis sequence of Theorem 4 and on random data. Not a figure of the paper."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.brutzkus2018.formulas import width_free_bound
from widenet.papers.brutzkus2018.runs.lower_bound import basis_sequence, third_of_squares
from widenet.papers.brutzkus2018.runs.step_sizes import StepSizeRuns, StepSizeSetting, step_size_runs
from widenet.types import RunStatus

DATA = ("basis sequence", "random data")


def reduce_updates_by_step_size(cells: Sequence[StepSizeRuns]) -> xr.Dataset:
    """T and the bound of Corollary 3 for η = 2^power under Eq. 6; on the basis also the lower bound."""
    (runs,) = cells
    setting = runs.setting
    updates = np.stack([np.full(runs.updates.shape, np.nan), runs.updates])
    status = np.stack([np.full(runs.status.shape, -1), runs.status])
    updates[0, :, 0], status[0, :, 0] = runs.basis_updates, RunStatus.CONVERGED  # one run: nothing is random there
    norm, axes = setting.separator_norm, ("data", "step_size", "run")
    return xr.Dataset(
        {
            "updates": (axes, updates),
            "status": (axes, status),
            "update_bound": ("step_size", width_free_bound(norm, setting.slope, np.asarray(setting.step_sizes))),
            "lower_bound": ("step_size", _lower_bounds(setting)),
        },
        coords={"data": list(DATA), "step_size": setting.step_sizes, "run": np.arange(setting.n_runs)},
        attrs={
            "dim": setting.dim,
            "slope": setting.slope,
            "half_width": setting.half_width,
            "one_pass_from": (1 + (1 + setting.slope) / (2 * norm)) / setting.slope,
            "seed": setting.seed,
        },
    )


def _lower_bounds(setting: StepSizeSetting) -> list[float]:
    """⅓(‖w*‖²/η + ‖w*‖²)."""
    slope = Fraction(setting.slope)
    return [
        float(third_of_squares(basis_sequence(setting.dim, slope, Fraction(2) ** power))) for power in setting.powers
    ]


def compare_updates_by_step_size(numbers: xr.Dataset, *, small: tuple[float, float] = (0.0, 0.1)) -> list[Comparison]:
    """Theorems 2 and 4 around the counts; on the basis T falls like 1/η, then stays at d. A control moves `small`."""
    basis = numbers.updates.sel(data="basis sequence").isel(run=0)
    eta, threshold = numbers.step_size, numbers.attrs["one_pass_from"]
    few = basis.sel(step_size=(eta >= small[0]) & (eta <= small[1]))
    slope = np.polyfit(np.log(few.step_size.values), np.log(few.values), 1)[0] if few.size > 1 else np.nan
    plateau = basis.sel(step_size=eta >= threshold) / numbers.attrs["dim"]
    exists = numbers.status >= 0
    done = int(((numbers.status == RunStatus.CONVERGED) & exists).sum())
    derived = "derived from the sequence of Theorem 10; not printed in the paper"
    return [
        Comparison(
            name="share of runs at zero training loss",
            reported="1 (Theorem 2)",
            measured=done / int(exists.sum()),
            interval=None,
            band=(1.0, 1.0),
            basis="Theorem 2 is about every run",
        ),
        Comparison(
            name="slope of log T against log η on the basis, small η",
            reported="T grows like ‖w*‖²/η (Theorem 4 prints ‖w*‖/η)",
            measured=float(slope),
            interval=None,
            band=(-1.1, -0.9),
            basis=derived,
            added=True,
        ),
        Comparison(
            name="largest T/d on the basis for η ≥ (1 + (1 + α)/(2√d))/α",
            reported="1: each point is updated once",
            measured=float(plateau.max()) if plateau.size else np.nan,
            interval=None,
            band=(1.0, 1.0),
            basis=derived,
            added=True,
        ),
        Comparison(
            name="smallest T / ⅓(‖w*‖²/η + ‖w*‖²) on the basis",
            reported="T = Ω(‖w*‖/η + ‖w*‖²) (Theorem 4)",
            measured=float((basis / numbers.lower_bound).min(skipna=False)),
            interval=None,
            band=(1.0, np.inf),
            basis=derived,
            added=True,
        ),
        Comparison(
            name="largest T / M over both data sets",
            reported="at most 1 (Corollary 3)",
            measured=float((numbers.updates / numbers.update_bound).max()),
            interval=None,
            band=(0.0, 1.0),
            basis="Corollary 3: at most 1",
        ),
    ]


updates_by_step_size = Figure(
    id="brutzkus2018.updates_by_step_size",
    title="Updates until zero loss against the step size: the basis sequence, random data, and both bounds",
    caption=(
        "The paper draws no such figure. R = v = 1/√(2k); basis sequence: d = 16 unit vectors in fractions, so that no "
        "rounding decides whether a margin has reached 1; random data: 100 points with the same ‖w*‖ = 4."
    ),
    claims=("corollary_3", "remark_1", "theorem_4", "theorem_4_sharp", "theorem_4_large_steps", "gap_between_bounds"),
    reads=(step_size_runs,),
    reduce=reduce_updates_by_step_size,
    compare=compare_updates_by_step_size,
)
