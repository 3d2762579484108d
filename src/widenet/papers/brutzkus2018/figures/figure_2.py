"""Figure 2 of brutzkus2018: as Figure 1, with both layers trained."""

from collections.abc import Sequence

import xarray as xr

from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2018.runs.mnist_runs import (
    describe,
    level_rows,
    load_split,
    train_widths,
    zero_error_share,
)
from widenet.types import Layers, Progress, Scale, silent


def compute_figure_2(
    seed: int,
    progress: Progress = silent,
    *,
    widths: Sequence[int] = (10, 100, 1000),
    n_runs: Sequence[int] = (40, 40, 40),
    step_size: float = 1.0,
    first_layer_step_size: float = 1.0,
    slope: float = 0.2,
    max_epochs: int = 400,
    first_layer_max_epochs: int = 1000,
    n_train: int = 3000,
    n_test: int = 1000,
    dtype: str = "float32",
) -> xr.Dataset:
    """Train and test error per epoch with both layers trained, and the final test errors of Figure 1's runs.

    A run and its counterpart with a fixed second layer have the same start and the same order of samples.
    """
    split = load_split(n_train, n_test, dtype)
    both, first = (
        train_widths(
            split,
            seed,
            lambda done, words, low=low: progress(low + done / 2, words),
            widths=widths,
            n_runs=n_runs,
            step_sizes=[eta] * len(widths),
            slope=slope,
            max_epochs=epochs,
            layers=layers,
            dtype=dtype,
        )
        for low, eta, epochs, layers in (
            (0.0, step_size, max_epochs, Layers.BOTH),
            (0.5, first_layer_step_size, first_layer_max_epochs, Layers.HIDDEN),
        )
    )
    both["reference_test_error"] = first.test_error.isel(epoch=-1, drop=True)
    both["reference_status"] = first.status
    describe(
        both,
        split,
        step_size=step_size,
        first_layer_step_size=first_layer_step_size,
        slope=slope,
        max_epochs=max_epochs,
        dtype=dtype,
        seed=seed,
    )
    return both


def compare_figure_2(numbers: xr.Dataset) -> list[Comparison]:
    """The paper says that the performance is close to that of Figure 1, and prints no number."""
    return [
        zero_error_share(numbers, "training performance similar to Figure 1", (0.9, 1.0)),
        *level_rows(numbers, "generalization performance similar to Figure 1", "Figure 1"),
    ]


figure_2 = Figure(
    id="brutzkus2018.figure_2",
    title="MNIST 3 against 5, both layers trained: train and test error at widths 10, 100 and 1000",
    caption=(
        "Both layers trained by batch-1 SGD with the hinge loss, both gradients at the old weights, the output weights "
        "from ±1/√(2k); otherwise as Figure 1. The paper does not state the step size; here 1, the largest power of "
        "ten at which pilot runs converged. The output weights may change sign here."
    ),
    compute=compute_figure_2,
    compare=compare_figure_2,
    sizes={
        Scale.QUICK: {
            "widths": (10, 100),
            "n_runs": (4, 4),
            "step_size": 1.0,
            "first_layer_step_size": 10.0,
            "max_epochs": 400,
            "dtype": "float32",
        },
        Scale.PAPER: {
            "n_runs": (40, 40, 40),
            "step_size": 1.0,
            "first_layer_step_size": 1.0,
            "max_epochs": 400,
            "dtype": "float32",
        },
    },
)
