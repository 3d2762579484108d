"""What Figures 1 to 3 share: runs at several widths as one set of numbers, and the comparisons made of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from widenet.figures.base import ANY, Comparison
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
    numbers["reference_zero_loss_epoch"] = beside.zero_loss_epoch
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


def zero_loss_share(numbers: xr.Dataset, reported: str, band: tuple[float, float], basis: str) -> Comparison:
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


def mean_test_errors(numbers: xr.Dataset, reported: str, band: tuple[float, float], moved: str) -> list[Comparison]:
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
            moved=moved,
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


def level_rows(numbers: xr.Dataset, reported: str, other: str, steps: str) -> list[Comparison]:
    """The mean final test error of each width beside that of another figure's runs; ±0.015 counts as similar.

    The difference itself, run by run, stands in a row of its own: that a mean lies in so wide a band does not say that
    nothing has changed. Runs of either kind that diverged have no test error, and then nothing agrees.
    """
    final, reference = _final_errors(numbers)
    rows = []
    for index, width in enumerate(numbers.width.values):
        ours, theirs = final[index], reference[index]
        centre = float(theirs.mean())
        rows += [
            Comparison(
                name=f"mean final test error, width {int(width)}",
                reported=reported,
                measured=float(ours.mean()),
                interval=mean_interval(ours),
                band=(centre - 0.015, centre + 0.015),
                basis=f"{PILOT_BASIS}: ±0.015 around {centre:.4f}, the mean of {other}'s runs from these starts{steps}",
            ),
            Comparison(
                name=f"mean test error of {other}'s runs minus that of these, width {int(width)}",
                reported=UNSAID,
                measured=float((theirs - ours).mean()),
                interval=mean_interval(theirs - ours),
                band=ANY,
                basis=f"run by run from the same starts{steps}; an interval without 0 means that the two differ",
                added=True,
            ),
        ]
    return rows


def _final_errors(numbers: xr.Dataset) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Final test errors of the runs of each width, and of their counterparts; NaN where either diverged."""
    final = numbers.test_error.isel(epoch=-1).where(numbers.status != RunStatus.DIVERGED)
    reference = numbers.reference_test_error.where(numbers.reference_status != RunStatus.DIVERGED)
    exists = numbers.status.values >= 0
    ours, theirs = ([values.values[row][exists[row]] for row in range(len(exists))] for values in (final, reference))
    return ours, theirs


def training_rows(numbers: xr.Dataset, other: str, steps: str) -> list[Comparison]:
    """How long training takes: against another figure's runs, and across widths. Runs without an end are left out."""
    done = finished(numbers)
    epochs = numbers.zero_loss_epoch.where(done).mean("run")
    theirs = numbers.reference_zero_loss_epoch.where(numbers.reference_status == RunStatus.CONVERGED).mean("run")
    rows = [
        Comparison(
            name=f"mean epochs to zero loss, {other} / here, width {int(width)}",
            reported=UNSAID,
            measured=float((theirs / epochs).sel(width=width)),
            interval=None,
            band=ANY,
            basis=f"1 would be equally fast{steps}",
            added=True,
        )
        for width in numbers.width.values
    ]
    return [*rows, updates_across_widths(numbers)]


def updates_across_widths(numbers: xr.Dataset) -> Comparison:
    """Mean updates at the largest width over those at the smallest, of runs that reach zero loss."""
    means = numbers.updates.where(finished(numbers)).mean("run")
    first, last = int(numbers.width[0]), int(numbers.width[-1])
    return Comparison(
        name=f"mean updates to zero loss, width {last} / width {first}",
        reported=UNSAID,
        measured=float(means.isel(width=-1) / means.isel(width=0)),
        interval=None,
        band=ANY,
        basis="1 would be independent of the width, as M_k is when the first layer alone is trained (Corollary 3)",
        added=True,
    )
