"""What Figures 1 to 3 share: runs at several widths as one set of numbers, and the comparisons made of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison
from widenet.figures.statistics import mean_interval, share_interval
from widenet.papers.brutzkus2018.runs.mnist import MnistRuns, MnistSeparator
from widenet.types import RunStatus

PILOT_BASIS = "the paper prints a curve and no number; the band was set by this project from pilot runs"
UNSAID = "nothing about this"
"""What the paper says of a row that its results imply, or that this project added: such rows are counted apart."""


def over_widths(cells: Sequence[MnistRuns]) -> xr.Dataset:
    """One data set for all widths; where a width has fewer runs, NaN and status −1."""
    longest = max(cells, key=lambda runs: len(runs.epochs))
    shape = (len(cells), max(len(runs.status) for runs in cells))
    per_look = [_curves(runs) for runs in cells]
    per_run = [_totals(runs) for runs in cells]
    numbers: dict[str, Any] = {
        name: (("width", "run", "epoch"), np.full((*shape, len(longest.epochs)), np.nan)) for name in per_look[0]
    }
    numbers |= {name: (("width", "run"), np.full(shape, np.nan)) for name in per_run[0]}
    numbers["status"] = (("width", "run"), np.full(shape, -1))
    for row, runs in enumerate(cells):
        count, looks = runs.train_error.shape
        for name, values in per_look[row].items():
            # After its last look every run of a width keeps its last values.
            numbers[name][1][row, :count] = values[:, np.minimum(np.arange(len(longest.epochs)), looks - 1)]
        for name, values in per_run[row].items():
            numbers[name][1][row, :count] = values
        numbers["status"][1][row, :count] = runs.status
    coords = {"width": [runs.setting.width for runs in cells], "run": np.arange(shape[1]), "epoch": longest.epochs}
    return xr.Dataset(numbers, coords)


def _curves(runs: MnistRuns) -> dict[str, np.ndarray]:
    curves = {"train_error": runs.train_error, "test_error": runs.test_error}
    if runs.ratios is not None:
        curves |= {"smallest_ratio": runs.ratios.smallest, "largest_ratio": runs.ratios.largest}
    return curves


def _totals(runs: MnistRuns) -> dict[str, np.ndarray]:
    totals = {"updates": runs.updates, "zero_loss_epoch": runs.zero_loss_epoch}
    if runs.ratios is not None:
        totals |= {"c": runs.ratios.smallest_ever, "C": runs.ratios.largest_ever}
    return totals


def add_reference(numbers: xr.Dataset, references: Sequence[MnistRuns]) -> None:
    """How the runs of another figure ended that have the same widths and numbers, from the same starts."""
    by_width = {runs.setting.width: runs for runs in references}
    counts = (numbers.status >= 0).sum("run")
    beside = over_widths([by_width[int(width)].first(int(counts.sel(width=width))) for width in numbers.width])
    numbers["reference_test_error"] = beside.test_error.isel(epoch=-1, drop=True)
    numbers["reference_status"] = beside.status


def describe(numbers: xr.Dataset, runs: MnistRuns, separator: MnistSeparator, **others: Any) -> None:
    """Write what was run into the attributes."""
    setting = runs.setting
    numbers.attrs.update(
        n_train=setting.n_train,
        n_test=setting.n_test,
        separator_norm=separator.norm if separator.separable else "none found",
        **others,
        slope=setting.slope,
        max_epochs=setting.max_epochs,
        dtype=setting.dtype,
        seed=setting.seed,
    )


def finished(numbers: xr.Dataset) -> xr.DataArray:
    """Which runs reached zero training loss."""
    return numbers.status == RunStatus.CONVERGED


def zero_loss_share(numbers: xr.Dataset, reported: str, band: tuple[float, float], basis: str = "") -> Comparison:
    """The share of all runs at zero training loss, with its exact interval."""
    total, solved = int((numbers.status >= 0).sum()), int(finished(numbers).sum())
    return Comparison(
        name="share of runs at zero training loss",
        reported=reported,
        measured=solved / total,
        interval=share_interval(solved, total),
        band=band,
        basis=basis,
    )


def largest_train_error(numbers: xr.Dataset) -> Comparison:
    """The worst run's final training error, which is 0 at a global minimum."""
    return Comparison(
        name="largest final training error",
        reported=UNSAID,
        measured=float(numbers.train_error.isel(epoch=-1).max()),
        interval=None,
        band=(0.0, 0.0),
        basis="a global minimum has training error 0",
        added=True,
    )


def mean_test_errors(numbers: xr.Dataset, reported: str, band: tuple[float, float]) -> list[Comparison]:
    """The mean final test error of each width, with its interval."""
    final = numbers.test_error.isel(epoch=-1)
    return [
        Comparison(
            name=f"mean final test error, width {int(width)}",
            reported=reported,
            measured=float(final.sel(width=width).mean("run")),
            interval=mean_interval(final.sel(width=width).values),
            band=band,
            basis=PILOT_BASIS,
        )
        for width in numbers.width.values
    ]


def zero_error_share(numbers: xr.Dataset, reported: str, band: tuple[float, float]) -> Comparison:
    """The share of all runs without a training error at the end, with its exact interval."""
    exists = numbers.status >= 0
    final = numbers.train_error.isel(epoch=-1)
    # A network that overflowed is no solution, whatever its signs.
    total, solved = int(exists.sum()), int(((final == 0) & exists & (numbers.status != RunStatus.DIVERGED)).sum())
    return Comparison(
        name="share of runs at zero training error",
        reported=reported,
        measured=solved / total,
        interval=share_interval(solved, total),
        band=band,
        basis=PILOT_BASIS,
    )


def level_rows(numbers: xr.Dataset, reported: str, other: str) -> list[Comparison]:
    """The mean final test error of each width beside that of another figure's runs; ±0.015 counts as similar.

    Runs of either kind that diverged have no test error, and then nothing agrees.
    """
    final = numbers.test_error.isel(epoch=-1).where(numbers.status != RunStatus.DIVERGED)
    reference = numbers.reference_test_error.where(numbers.reference_status != RunStatus.DIVERGED)
    rows = []
    for index, width in enumerate(numbers.width.values):
        exists = numbers.status.values[index] >= 0
        ours, theirs = (float(values.values[index][exists].mean()) for values in (final, reference))
        rows.append(
            Comparison(
                name=f"mean final test error, width {int(width)}",
                reported=f"{reported} ({theirs:.4f} here)",
                measured=ours,
                interval=mean_interval(final.values[index][exists]),
                band=(theirs - 0.015, theirs + 0.015),
                basis=f"{PILOT_BASIS}, around the mean of {other}'s runs from the same starts",
            )
        )
    return rows
