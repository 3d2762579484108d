"""The same numbers, moving."""

import xarray as xr

from tests.packages.toy2020.runs.curves import curves
from tests.packages.toy2020.runs.numbers import Numbers, numbers
from widenet.figures.base import Comparison, Figure

CAPTION = "It moves."


def reduce(cells: list[xr.Dataset], runs: list[Numbers]) -> xr.Dataset:
    (curve,) = cells
    return curve.assign(place=("network", [run.place for run in runs]))


def compare(numbers: xr.Dataset) -> list[Comparison]:
    return []


figure_2 = Figure(
    id="toy2020.figure_2",
    title="Errors that move",
    caption=CAPTION,
    reads=(curves, numbers),
    compare=compare,
    reduce=reduce,
    drawing="moving",
)
