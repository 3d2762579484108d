"""Errors against the epoch."""

import xarray as xr

from tests.packages.toy2020.runs.curves import curves
from widenet.figures.base import Comparison, Figure


def compare(numbers: xr.Dataset) -> list[Comparison]:
    return [
        Comparison(
            name="final test error",
            reported="good for all widths [a, b]",
            measured=float(numbers["test_error"][0, 0, -1]),
            interval=(0.05, 0.09),
            band=(0.0, 0.1),
            basis="pilot",
        ),
        Comparison(name="updates", reported="alike", measured=5.0, interval=None, band=(0.5, 2.0)),
    ]


figure_1 = Figure(
    id="toy2020.figure_1",
    title="Train and test error against the epoch",
    caption="The step size is not stated in the paper.",
    setting="“Three neurons”, and 64 points.",
    claims=("theorem_2",),
    reads=(curves,),
    compare=compare,
)
