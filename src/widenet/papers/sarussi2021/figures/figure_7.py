"""Figure 7 of sarussi2021: two measures of clustering against the epoch."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures.base import ANY, Comparison, Figure
from widenet.papers.sarussi2021.figures.comparisons import OURS, added, beside
from widenet.papers.sarussi2021.figures.figure_2 import stacked
from widenet.papers.sarussi2021.runs.curves import curves, from_large, from_small

SAID = "both measures converge to zero"
MEASURES = {"ratio": "r/‖w̄ − ū‖", "angle": "widest angle between neurons of one sign"}


def reduce_figure_7(small: Sequence[xr.Dataset], large: Sequence[xr.Dataset]) -> xr.Dataset:
    """Both measures, and r/‖w̄ − ū‖ with the last r in place of each: how it falls once r is frozen."""
    numbers = stacked(small, large)[["ratio", "angle", "radius"]]
    return numbers.assign(frozen=numbers.radius.isel(epoch=-1) * numbers.ratio / numbers.radius)


def compare_figure_7(numbers: xr.Dataset) -> list[Comparison]:
    """Both at most half of what they were after one epoch, on every data set, and never rising from epoch 2 on."""
    rows, settled = [], numbers.epoch.values >= 2
    for name, words in MEASURES.items():
        curve = numbers[name].sel(start="small").mean("run")
        rows.append(
            beside(
                f"{words}: largest part that is left after the last epoch of that after one",
                SAID,
                float((curve.isel(epoch=-1) / curve.sel(epoch=1)).max()),
                (0.0, 0.5),
                f"{OURS}; it falls like 1/log t",
            )
        )
    for name, words in MEASURES.items():
        curve = numbers[name].sel(start="small").mean("run")
        late = curve.isel(epoch=settled)
        rows.append(
            added(
                f"{words}: largest step up from epoch 2 on, as a factor",
                float((late.shift(epoch=-1) / late).max()),
                (0.0, 1.05),
                OURS,
            )
        )
    rows.append(
        added(
            "r from epoch 2 on: largest change, relative to its last value",
            float(np.abs(numbers.ratio / numbers.frozen - 1).sel(start="small").isel(epoch=settled).max()),
            ANY,
            "where the neurons agree on every point r is frozen",
        )
    )
    apart = numbers.ratio.sel(start="large").isel(epoch=-1)
    rows.append(
        added(
            "large weights: smallest r/‖w̄ − ū‖ after the last epoch",
            float(apart.min()),
            (1.0, float("inf")),
            "a control: from large weights there are no clusters",
        )
    )
    return rows


figure_7 = Figure(
    id="sarussi2021.figure_7",
    title="Two measures of clustering in training from small weights",
    caption=(
        "The paper prints neither data nor setting; here the runs of Figure 2. The ratio falls because the distance of "
        "the means grows, like log t in the end; r itself changes little, and not at all where neurons agree."
    ),
    setting=(
        "The largest distance of a row from its mean beside the distance of the means, and the largest angle of two "
        "rows of one sign. Data and setting are not printed."
    ),
    claims=("theorem_6_1", "section_13_differences"),
    reads=(curves.at(from_small), curves.at(from_large)),
    reduce=reduce_figure_7,
    compare=compare_figure_7,
)
