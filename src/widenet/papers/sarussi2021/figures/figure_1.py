"""Figure 1 of sarussi2021: boundary and directions of neurons in the plane, from large and from small weights."""

from collections.abc import Sequence

import xarray as xr

from widenet.diagnostics.rays import bend, boundary_rays, disagreement
from widenet.diagnostics.sign_clusters import mean_difference
from widenet.figures.base import Comparison, Figure
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.sarussi2021.figures.comparisons import OURS, beside
from widenet.papers.sarussi2021.runs.curves import curves, large_start, small_start


def reduce_figure_1(small: Sequence[xr.Dataset], large: Sequence[xr.Dataset]) -> xr.Dataset:
    """The last look of every run, with its boundary; `start` is the standard deviation of the initial weights."""
    parts = []
    for (numbers,) in (small, large):
        rows, k = numbers.weights.values, numbers.sizes["neuron"] // 2
        outputs, slope = plus_minus_weights(k), float(numbers.attrs["slope"])
        bends = [min(bend(boundary_rays(each, outputs, slope)), 360.0) for each in rows]
        differ = [disagreement(each, outputs, slope, mean_difference(each[:k], each[k:])) for each in rows]
        last = numbers[["ratio", "angle", "train_error"]].isel(epoch=-1, drop=True)
        part = last.assign(
            weights=numbers.weights,
            inputs=numbers.inputs,
            labels=numbers.labels,
            bend=("run", bends),
            differ=("run", differ),
        )
        parts.append(part.expand_dims(start=[float(numbers.attrs["deviation"])]))
    return xr.concat(parts, "start").assign_attrs(small[0].attrs, epochs=int(small[0].epoch.values[-1]))


def compare_figure_1(numbers: xr.Dataset) -> list[Comparison]:
    """Straight and clustered from small weights, bent and spread from large ones, in every run."""
    small, large = numbers.sel(start=1e-3), numbers.sel(start=30.0)
    linear, bent = (
        "small initialization leads to a linear boundary",
        "large initialization leads to a non-linear boundary",
    )
    tight = "small initialization leads to two tight clusters of neurons"
    loose = "large initialization does not lead to clustering"
    rows = (
        ("small: largest share of directions off the line", linear, float(small.differ.max()), (0.0, 0.002)),
        ("small: widest angle between neurons of one sign", tight, float(small.angle.max()), (0.0, 3.0)),
        ("large: share of runs whose rays bend by more than 1°", bent, float((large.bend > 1).mean()), (0.75, 1.0)),
        ("large: median share of directions off the line", bent, float(large.differ.median()), (0.01, 1.0)),
        ("large: smallest widest angle of one sign", loose, float(large.angle.min()), (150.0, 180.0)),
        ("large: smallest r/‖w̄ − ū‖", loose, float(large.ratio.min()), (2.0, float("inf"))),
    )
    return [beside(name, said, value, band, OURS) for name, said, value, band in rows]


figure_1 = Figure(
    id="sarussi2021.figure_1",
    title="Two Gaussians in the plane: boundaries and neurons from small and from large weights",
    caption=(
        "100 neurons and standard deviations 0.001 and 30, as printed. Ours: 100 points around ±(2, 2) with margin "
        "0.5, slope 0.1, v = 0.1, step 0.01, the same number of epochs for both. Without biases a boundary is a set of "
        "rays."
    ),
    setting=(
        "“The network has 100 neurons, initialized from a Gaussian with standard deviation 0.001 for small "
        "initialization and 30 for large initialization.” Linearly separable data in two dimensions."
    ),
    claims=("theorem_5_1", "corollary_6_1", "corollary_6_2"),
    reads=(curves.at(small_start), curves.at(large_start)),
    reduce=reduce_figure_1,
    compare=compare_figure_1,
)
