"""Three networks with zero training loss on the same data, and their test errors. The paper draws no such figure."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.figures.statistics import mean_interval
from widenet.papers.brutzkus2018.runs.bad_global_minimum import SOLUTIONS, BadMinimum, bad_minimum


def reduce_three_zero_losses(cells: Sequence[BadMinimum]) -> xr.Dataset:
    """Training loss and test error of each solution, per width and data set."""
    (found,) = cells
    setting, axes = found.setting, ("solution", "multiple", "run")
    return xr.Dataset(
        {
            "train_loss": (axes, found.train_loss),
            "test_error": (axes, found.test_error),
            "half_width": ("multiple", setting.half_widths),
        },
        coords={"solution": list(SOLUTIONS), "multiple": list(setting.multiples), "run": np.arange(setting.n_sets)},
        attrs={
            "n_train": setting.n_train,
            "n_test": setting.n_test,
            "dim": setting.dim,
            "slope": setting.slope,
            "seed": setting.seed,
        },
    )


def compare_three_zero_losses(numbers: xr.Dataset) -> list[Comparison]:
    """Section 6.2: zero training loss alone promises nothing; the zero-loss solutions of SGD generalize."""
    built = numbers.test_error.sel(solution=SOLUTIONS[0])
    sgd = numbers.test_error.sel(solution=SOLUTIONS[2])
    return [
        Comparison(
            name="largest training loss of all three solutions",
            reported="0 (global minima)",
            measured=float(numbers.train_loss.max(skipna=False)),
            interval=None,
            band=(0.0, 0.0),
            basis="a global minimum has training loss 0",
        ),
        Comparison(
            name="smallest test error of the built minimum",
            reported="global minima with arbitrarily bad generalization exist (Section 6.2)",
            measured=float(built.min(skipna=False)),
            interval=None,
            band=(1.0, 1.0),
            basis="1 by construction: the test labels are fitted with the wrong sign",
            added=True,
        ),
        Comparison(
            name="mean test error of SGD",
            reported="SGD converges to a global minimum that generalizes",
            measured=float(sgd.mean()),
            interval=mean_interval(sgd.mean("multiple").values),
            band=(0.0, 0.1),
            basis="the paper prints a statement; the band was set by this project from pilot runs",
        ),
    ]


three_zero_losses = Figure(
    id="brutzkus2018.three_zero_losses",
    title="Three networks with zero training loss on the same data",
    caption=(
        "The paper states in Section 6.2 that bad global minima exist and draws no such figure. 50 training and 150 "
        "test points of dimension 20, margins 0.1 to 0.3; the built networks solve the linear system behind Theorem 7 "
        "(least squares), once on all points with the test labels flipped, once on the training points alone."
    ),
    claims=("section_6_2_bad_global", "theorem_7"),
    reads=(bad_minimum,),
    reduce=reduce_three_zero_losses,
    compare=compare_three_zero_losses,
)
