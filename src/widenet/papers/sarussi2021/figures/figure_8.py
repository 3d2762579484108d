"""Figure 8 of sarussi2021: the share of neurons in perfect agreement, in R^50."""

import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.sarussi2021.figures.comparisons import OURS, added, beside
from widenet.papers.sarussi2021.runs.curves import curves, high_dimension

SAID = "the network enters the PAR"


def compare_figure_8(numbers: xr.Dataset) -> list[Comparison]:
    """Both shares reach 1; that they start at 0, and when they rise, the paper does not say in words."""
    smaller = numbers[["plus_right", "minus_right"]].to_array().min("variable")
    return [
        beside("mean share after 100 epochs", SAID, float(smaller.sel(epoch=100).mean()), (0.99, 1.0), OURS),
        added("largest share before training", float(smaller.sel(epoch=0).max()), (0.0, 0.0), OURS),
        added("smallest share after 5 epochs", float(smaller.sel(epoch=5).min()), (0.5, 1.0), OURS),
        added("smallest share after 20 epochs", float(smaller.sel(epoch=20).min()), (0.9, 1.0), OURS),
    ]


figure_8 = Figure(
    id="sarussi2021.figure_8",
    title="Two Gaussians in R^50: neurons in the regime of perfect agreement",
    caption=(
        "400 points, 50 neurons of each sign, batch-1 SGD with step 0.001, as printed. Ours: means ±4e₁, spread 1, "
        "margin 1, slope 0.1, v = 0.1, initial deviation 0.01."
    ),
    setting=(
        "“400 data points from two antipodal separable Gaussians (one for each label)” in R^50; “100 neurons (50 of "
        "each type)”; “SGD with batch size 1 with learning rate” η = 0.001."
    ),
    claims=("theorem_6_2_region", "theorem_6_2_state", "definition_6_3"),
    reads=(curves.at(high_dimension),),
    compare=compare_figure_8,
)
