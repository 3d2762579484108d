"""What the comparisons of Figures 2 to 4 share: losses of many runs at steps 0 to 100, in four readings of the text."""

import numpy as np
import xarray as xr

from widenet.figures.base import ANY, Comparison
from widenet.papers.chatterji2021.runs.simulations import READING, READINGS

REFERENCE = {
    ("xor", "A"): (0.0118, 0.0183),
    ("xor", "B"): (0.035, 0.088),
    ("xor", "C"): (0.0008, 0.0009),
    ("xor", "D"): (0.0016, 0.0025),
    ("shoulders", "A"): (0.222, 0.356),
    ("shoulders", "B"): (0.289, 0.431),
    ("shoulders", "C"): (0.0125, 0.0237),
    ("shoulders", "D"): (0.029, 0.078),
}
"""Of the last loss: the quantiles 0.05 and 0.95 over 40 pilot runs with the Huberized ReLU."""
SHOWN = 5
"""Runs that are drawn one by one, as in the paper."""
OURS = "the paper prints no numbers; from pilot runs"
CHOSEN = "reading D; the paper prints no numbers"
MEASURED = "a measurement of ours, without a band: the paper's sentence is compared in reading D"
FIRST_BAND = "First: the next row, at most 1."
"""Figures 2 and 3 were to be judged by the largest t·L_t of the last half, which is no statement about most runs."""
IN_WORDS = {
    name: f"loss of {'2f' if scale == 2 else 'f'}, {'with' if bias else 'without'} biases"
    for name, (scale, bias) in READINGS.items()
}


def summary(cell: xr.Dataset) -> xr.Dataset:
    """What the figures keep of a cell: numbers per reading and run, medians, and the curves that are drawn."""
    losses, half, last = cell.loss, int(cell.step[-1]) // 2, int(cell.step[-1])
    products = losses * losses.step
    late = losses.sel(step=slice(half, None))
    logs = np.log(late.values).reshape(-1, late.sizes["step"]).T
    slopes = np.polyfit(np.log(late.step.values), logs, 1)[0].reshape(late.shape[:2])
    return xr.Dataset(
        {
            "first": losses.sel(step=0, drop=True),
            "middle": losses.sel(step=half, drop=True),
            "near_last": losses.sel(step=last - 10, drop=True),
            "last": losses.sel(step=last, drop=True),
            "peak_before": products.sel(step=slice(1, half)).max("step"),
            "peak_after": products.sel(step=slice(half, None)).max("step"),
            "rise": (losses.shift(step=-1) / losses).max("step") - 1,
            "slope": (("reading", "run"), slopes),
            "error": cell.error.sel(step=last, drop=True),
            "median": losses.median("run"),
            "shown": losses.sel(reading=READING, drop=True).isel(run=slice(0, SHOWN)).rename(run="curve"),
        },
        attrs={"data": cell.attrs["data"], "last": last, "runs": cell.sizes["run"]},
    )


def falls(runs: xr.Dataset) -> float:
    """The share of runs whose last loss is below the first."""
    return float((runs["last"] < runs["first"]).mean())


def rate_ratio(runs: xr.Dataset) -> float:
    """t·L_t at the last step over that halfway, in the run where it is largest: below 1 it falls faster than 1/t."""
    return float((2 * runs["last"] / runs["middle"]).max())


def peak_ratio(runs: xr.Dataset) -> float:
    """The largest t·L_t of the last half over the largest before, in the run where it is largest."""
    return float((runs["peak_after"] / runs["peak_before"]).max())


def in_band(runs: xr.Dataset, data: str, reading: str) -> float:
    """The share of runs whose last loss is between half of the low quantile and twice the high one."""
    low, high = REFERENCE[data, reading]
    return float(((runs["last"] >= low / 2) & (runs["last"] <= 2 * high)).mean())


def row(name: str, reported: str, measured: float, band: tuple[float, float], *, basis: str = OURS, moved: str = "",
        added: bool = False, interval: tuple[float, float] | None = None) -> Comparison:  # fmt: skip
    """A comparison."""
    return Comparison(
        name=name,
        reported=reported,
        measured=measured,
        interval=interval,
        band=band,
        basis=basis,
        moved=moved,
        added=added,
    )


def decrease_rows(numbers: xr.Dataset, said: str, moved: str) -> list[Comparison]:
    """What the paper says of a figure with losses alone, in reading D; and measurements of the other readings.

    `moved` is what came out under the first band of D, and why it was replaced.
    """
    rows = []
    for reading in (READING, *(name for name in READINGS if name != READING)):
        runs, ours = numbers.sel(reading=reading), reading != READING
        reported = "—" if ours else said
        rows += [
            row(f"{reading}: share of runs that end lower than they began", reported, falls(runs), (1.0, 1.0),
                basis=OURS if ours else CHOSEN, added=ours),
            row(f"{reading}: t·L_t at step 100 over that at step 50, largest of all runs", reported, rate_ratio(runs),
                ANY if ours else (0.0, 1.0), basis=MEASURED if ours else CHOSEN,
                moved="" if ours else f"{FIRST_BAND} {moved}", added=ours),
            row(f"{reading}: largest t·L_t from step 50 on over that before, largest of all runs", "—",
                peak_ratio(runs), ANY, basis=MEASURED, added=True),
        ]  # fmt: skip
    return rows


def band_rows(numbers: xr.Dataset) -> list[Comparison]:
    """The last losses of every reading against the pilot's."""
    data = str(numbers.attrs["data"])
    return [
        row(f"{reading} ({IN_WORDS[reading]}): share of runs with L_100 in the pilot's band", "—",
            in_band(numbers.sel(reading=reading), data, reading), (1.0, 1.0), added=True)
        for reading in READINGS
    ]  # fmt: skip
