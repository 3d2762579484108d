"""Figure 5 of sarussi2021: the sign of a network can be linear although its value is not."""

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.sarussi2021.figures.comparisons import added, beside
from widenet.papers.sarussi2021.formulas import fit_of_the_value
from widenet.papers.sarussi2021.runs.landscapes import landscapes

SAID = "the sign of the network output is a linear classifier but the network output itself is not linear"
READING = "computed from the weights, which are ours"


def compare_figure_5(numbers: xr.Dataset) -> list[Comparison]:
    """The sign against a line, and the best affine fit of the value."""
    leaky = numbers.output.sel(slope=0.1).values
    first, second = np.meshgrid(numbers.x1.values, numbers.x2.values)
    differ = float((np.sign(leaky) != np.sign(first - second)).mean())
    expected = float(fit_of_the_value(0.1))
    return [
        beside("share of nodes where the sign is not that of x₁ − x₂", SAID, differ, (0.0, 0.0), READING),
        beside(
            "R² of the best affine fit of the value",
            SAID,
            affine_fit(numbers),
            (0.0, 0.99),
            f"a linear output has R² = 1; {READING}",
        ),
        added(
            "the same R² against its closed form",
            affine_fit(numbers),
            (expected - 5e-3, expected + 5e-3),
            f"4(1 + α)²/(4(1 + α)² + (1 − α)²) = {expected:.5f} on the square",
        ),
    ]


def affine_fit(numbers: xr.Dataset, slope: float = 0.1) -> float:
    """R² of the best affine function of (x₁, x₂)."""
    first, second = np.meshgrid(numbers.x1.values, numbers.x2.values)
    design = np.stack([np.ones(first.size), first.ravel(), second.ravel()], axis=1)
    values = numbers.output.sel(slope=slope).values.ravel()
    left = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(1 - left.var() / values.var())


figure_5 = Figure(
    id="sarussi2021.figure_5",
    title="Two neurons: the sign of the output, and the output",
    caption="The network of Figure 4; the paper does not print the weights of this one. Slope 0.1.",
    setting="“A two neuron leaky ReLU network”; its weights are not printed.",
    claims=("corollary_6_1",),
    reads=(landscapes,),
    compare=compare_figure_5,
)
