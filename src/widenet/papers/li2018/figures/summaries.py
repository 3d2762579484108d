"""What the figures keep of runs: curves as mean and deviation, numbers per run, and laws in the width."""

from collections.abc import Sequence

import numpy as np
import scipy.stats
import xarray as xr
from jaxtyping import Float

from widenet.diagnostics.spectra import effective_rank
from widenet.figures.base import ANY, Comparison
from widenet.figures.statistics import mean_interval
from widenet.papers.li2018.runs.curves import Curves
from widenet.papers.li2018.sources import Gaussians

UNSAID = "nothing about this"
READINGS = {True: "norm 1", False: "as drawn"}
"""Whether points were brought to norm 1; the paper does not say."""
SHOWN_STEPS, SHOWN_VALUES = 60, 80
"""About how many steps of a curve are kept, and how many singular values."""
DROPS = (5, 40)
"""Between these places a drop of the singular values is looked for."""
EARLY = 20
"""Steps over which the accuracy is averaged."""
CURVES = ("accuracy", "flips", "distance")
ROUNDING = 1e-9
"""Of an accuracy, which is a count over a number of points."""


def row(
    name: str,
    said: str,
    measured: float,
    band: tuple[float, float] = ANY,
    *,
    basis: str,
    moved: str = "",
    added: bool = False,
    interval: tuple[float, float] | None = None,
    printed: float | tuple[float, float] | None = None,
) -> Comparison:
    """A comparison. `printed` is the number of the paper, or its range, where its words hold one."""
    return Comparison(
        name=name,
        reported=said,
        measured=measured,
        interval=interval,
        band=band,
        basis=basis,
        moved=moved,
        added=added,
        reported_value=printed,
    )


def ours(name: str, measured: float, band: tuple[float, float] = ANY, *, basis: str) -> Comparison:
    """A row of which the paper says nothing."""
    return row(name, UNSAID, measured, band, basis=basis, added=True)


def mean_row(name: str, said: str, values: xr.DataArray, band: tuple[float, float] = ANY, *,
             basis: str, moved: str = "", added: bool = False, printed: float | None = None) -> Comparison:  # fmt: skip
    """The mean of one number per run, with its interval. A run without the number makes it NaN, which never agrees."""
    numbers = values.values
    interval, mean = mean_interval(numbers), float(numbers.mean())
    return row(name, said, mean, band, basis=basis, moved=moved, added=added, interval=interval, printed=printed)


def reached(cell: Curves, target: float, every: int = 1) -> tuple[Float[np.ndarray, " run"], Float[np.ndarray, " run"]]:
    """The first look of each run at which the accuracy is at least the target: its step and its distance, or NaN.

    With `every`, only looks at multiples of so many steps count.
    """
    there = (cell.accuracy >= target - ROUNDING) & (cell.steps % every == 0)
    first, found = there.argmax(axis=1), there.any(axis=1)
    runs = np.arange(len(first))
    return np.where(found, cell.steps[first], np.nan), np.where(found, cell.distance[runs, first], np.nan)


def shown_looks(cell: Curves, moments: Sequence[int]) -> np.ndarray:
    """The looks that are kept: evenly spaced in the logarithm of the step, the moments and both ends among them."""
    wanted = np.geomspace(1, cell.steps[-1], SHOWN_STEPS)
    nearest = np.abs(cell.steps[:, None] - wanted).argmin(axis=0)
    return np.unique([0, *nearest, *np.searchsorted(cell.steps, moments), len(cell.steps) - 1])


def drops(values: Float[np.ndarray, "run place"]) -> Float[np.ndarray, "run drop"]:
    """σ_j/σ_{j+1} for the places j of `DROPS`."""
    first, last = DROPS
    return values[:, first - 1 : last] / values[:, first : last + 1]


def summary(cell: Curves, target: float, moments: Sequence[int], components: int = 0) -> xr.Dataset:
    """One setting. `components` is kl, after which the singular values of the update should fall."""
    steps_to, distance_at = reached(cell, target)
    looks = shown_looks(cell, moments)
    at = np.searchsorted(cell.steps, moments)
    update, weights = cell.update_values, cell.weight_values
    found: dict[str, object] = {
        "steps_to": ("run", steps_to),
        "distance_at": ("run", distance_at),
        "early_accuracy": ("run", cell.accuracy[:, cell.steps <= EARLY].mean(axis=1)),
        "largest_flips": ("run", cell.flips.max(axis=1)),
        "changed": ("run", cell.changed[:, -1]),
        "drop_place": ("run", DROPS[0] + drops(update).argmax(axis=1)),
        "fall": ("run", drops(update).max(axis=1)),
        "weight_drop": ("run", drops(weights).max(axis=1)),
        "update_rank": ("run", np.array([effective_rank(values) for values in update])),
        "weight_rank": ("run", np.array([effective_rank(values) for values in weights])),
    }
    if components:
        found["drop"] = ("run", update[:, components - 1] / update[:, components])
    for name in CURVES:
        values = getattr(cell, name)
        found[f"{name}_at_moments"] = (("run", "moment"), values[:, at])
        found[f"{name}_mean"] = ("step", values[:, looks].mean(axis=0))
        found[f"{name}_std"] = ("step", values[:, looks].std(axis=0, ddof=1))
    for name, values in (("update", update), ("weight", weights)):
        kept = (values / values[:, :1])[:, :SHOWN_VALUES]
        found[f"{name}_values_mean"] = ("place", kept.mean(axis=0))
        found[f"{name}_values_std"] = ("place", kept.std(axis=0, ddof=1))
    coordinates = {
        "step": cell.steps[looks],
        "moment": list(moments),
        "place": np.arange(1, min(SHOWN_VALUES, update.shape[1]) + 1),
    }
    return xr.Dataset(found, coords=coordinates)


def over(
    cells: Sequence[Curves], axis: str, values: Sequence[float | int], target: float, moments: Sequence[int]
) -> xr.Dataset:
    """Cells side by side: `reading` is whether points had norm 1, and `axis` what varies besides."""
    parts = []
    readings = [norm for norm in READINGS if any(cell.setting.data.unit_norm is norm for cell in cells)]
    for norm in readings:
        own = [(value, cell) for value, cell in zip(values, cells, strict=True) if cell.setting.data.unit_norm is norm]
        each = [summary(cell, target, moments, n_components(cell)) for _, cell in own]
        parts.append(xr.concat(each, axis, join="inner").assign_coords({axis: [value for value, _ in own]}))
    together = xr.concat(parts, "reading").assign_coords(reading=[READINGS[norm] for norm in readings])
    return together.assign_attrs(runs=cells[0].setting.n_runs, last=cells[0].setting.n_steps, target=target)


def n_components(cell: Curves) -> int:
    """kl of Gaussians; images have none that are known."""
    data = cell.setting.data
    return data.n_classes * data.per_class if isinstance(data, Gaussians) else 0


def mixtures_of(cells: Sequence[Curves]) -> list[Gaussians]:
    """The Gaussians of each cell."""
    return [cell.setting.data for cell in cells if isinstance(cell.setting.data, Gaussians)]


def rank_correlation(first: xr.DataArray, second: xr.DataArray) -> float:
    """Spearman's."""
    return float(np.asarray(scipy.stats.spearmanr(first.values, second.values))[0])


def widths_of(cells: Sequence[Curves]) -> list[int]:
    """m of each cell."""
    return [cell.setting.width for cell in cells]


def with_all(steps: xr.DataArray, last: int) -> xr.DataArray:
    """Mean numbers of steps, where a run that never got there counts with all of them."""
    return steps.fillna(last).mean("run")


def slopes(values: xr.DataArray, axis: str = "width") -> xr.DataArray:
    """Of log values against log width, run by run: runs of one number share their data across widths."""
    logs = np.log(values.transpose(axis, "run").values)
    powers = np.log(values[axis].values.astype(float))
    centred = (powers - powers.mean())[:, None]
    return xr.DataArray((centred * logs).sum(axis=0) / (centred**2).sum(), dims="run")


def spread_of_means(values: xr.DataArray) -> float:
    """The largest mean over the runs of a width, over the smallest."""
    means = values.mean("run", skipna=False)
    return float(means.max("width", skipna=False) / means.min("width", skipna=False))
