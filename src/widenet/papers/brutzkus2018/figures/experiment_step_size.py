"""Updates against the step size, on the basis sequence of Theorem 4 and on random data. Not a figure of the paper."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import xarray as xr

from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2018.formulas import width_free_bound
from widenet.papers.brutzkus2018.runs.draws import plus_minus_weights, separable_points, unit_rows
from widenet.papers.brutzkus2018.runs.ledger import Start, keep_ledger
from widenet.papers.brutzkus2018.runs.lower_bound import basis_sequence, third_of_squares
from widenet.training import WithReplacement
from widenet.types import Progress, RunStatus, Scale, silent

DATA = ("basis sequence", "random data")


def compute_experiment_step_size(
    seed: int,
    progress: Progress = silent,
    *,
    powers: Sequence[int] = tuple(range(-8, 9)),
    dim: int = 16,
    slope: float = 0.5,
    half_width: int = 8,
    n_runs: int = 5,
) -> xr.Dataset:
    """T and the bound of Corollary 3 for η = 2^power under Eq. 6; the basis sequence in exact fractions.

    The random data has the dimension and the ‖w*‖ = √d of the basis, 100 points, samples drawn with replacement.
    """
    norm = dim**0.5
    points = separable_points(np.random.default_rng(seed), dim, 100, norm)
    updates = np.full((2, len(powers), n_runs), np.nan)
    status = np.full(updates.shape, -1)
    lower = []
    for column, power in enumerate(powers):
        sequence = basis_sequence(dim, Fraction(slope), Fraction(2) ** power)
        # Nothing is random there: one run, which ends by Theorem 2.
        updates[0, column, 0], status[0, column, 0] = sequence.updates(), RunStatus.CONVERGED
        lower.append(float(third_of_squares(sequence)))
        for run in range(n_runs):
            ledger = _random_run(points, half_width, slope, 2.0**power, np.random.default_rng([seed, column, run]))
            updates[1, column, run], status[1, column, run] = ledger
        progress((column + 1) / len(powers), "step sizes")
    step_sizes = [2.0**power for power in powers]
    axes = ("data", "step_size", "run")
    return xr.Dataset(
        {
            "updates": (axes, updates),
            "status": (axes, status),
            "update_bound": ("step_size", width_free_bound(norm, slope, np.asarray(step_sizes))),
            "lower_bound": ("step_size", lower),
        },
        coords={"data": list(DATA), "step_size": step_sizes, "run": np.arange(n_runs)},
        attrs={
            "dim": dim,
            "slope": slope,
            "half_width": half_width,
            "one_pass_from": (1 + (1 + slope) / (2 * norm)) / slope,
            "seed": seed,
        },
    )


def _random_run(
    points: tuple[np.ndarray, np.ndarray, np.ndarray],
    half: int,
    slope: float,
    step_size: float,
    draw: np.random.Generator,
) -> tuple[int, RunStatus]:
    size = (2 * half) ** -0.5
    rows = size * unit_rows(draw, 2 * half, points[0].shape[1])
    inputs, labels, separator = points
    start = Start(inputs, labels, separator, rows, plus_minus_weights(half, size), slope, step_size, size)
    ledger = keep_ledger(start, WithReplacement(), 100_000, int(draw.integers(2**31)))
    return ledger.updates, ledger.end


def compare_experiment_step_size(numbers: xr.Dataset, *, small: tuple[float, float] = (0.0, 0.1)) -> list[Comparison]:
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
        ),
        Comparison(
            name="slope of log T against log η on the basis, small η",
            reported="T grows like ‖w*‖²/η (Theorem 4 prints ‖w*‖/η)",
            measured=float(slope),
            interval=None,
            band=(-1.1, -0.9),
            basis=derived,
        ),
        Comparison(
            name="largest T/d on the basis for η ≥ (1 + (1 + α)/(2√d))/α",
            reported="1: each point is updated once",
            measured=float(plateau.max()) if plateau.size else np.nan,
            interval=None,
            band=(1.0, 1.0),
            basis=derived,
        ),
        Comparison(
            name="smallest T / ⅓(‖w*‖²/η + ‖w*‖²) on the basis",
            reported="T = Ω(‖w*‖/η + ‖w*‖²) (Theorem 4)",
            measured=float((basis / numbers.lower_bound).min(skipna=False)),
            interval=None,
            band=(1.0, np.inf),
            basis=derived,
        ),
        Comparison(
            name="largest T / M over both data sets",
            reported="at most 1 (Corollary 3)",
            measured=float((numbers.updates / numbers.update_bound).max()),
            interval=None,
            band=(0.0, 1.0),
        ),
    ]


experiment_step_size = Figure(
    id="brutzkus2018.experiment_step_size",
    title="Updates until zero loss against the step size: the basis sequence, random data, and both bounds",
    caption=(
        "The paper draws no such figure. R = v = 1/√(2k); basis sequence: d = 16 unit vectors in fractions, so that no "
        "rounding decides whether a margin has reached 1; random data: 100 points with the same ‖w*‖ = 4."
    ),
    compute=compute_experiment_step_size,
    compare=compare_experiment_step_size,
    sizes={
        Scale.QUICK: {"powers": tuple(range(-7, 8)), "n_runs": 5},
        Scale.PAPER: {"powers": tuple(range(-8, 9)), "n_runs": 20},
    },
)
