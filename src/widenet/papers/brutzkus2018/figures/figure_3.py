"""Figure 3 of brutzkus2018: both layers trained, with a step size per width that keeps the output weights' signs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from widenet.claims.statistics import clopper_pearson
from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2018.formulas import both_layers_bound
from widenet.papers.brutzkus2018.runs.mnist_runs import (
    PILOT_BASIS,
    READING,
    Split,
    describe,
    finished,
    level_rows,
    load_split,
    train_widths,
    zero_error_share,
)
from widenet.types import Layers, Progress, Scale, silent

PILOT_RUN = 5000
"""Number of the first pilot run: pilots are other runs than those of the figure."""


def compute_figure_3(
    seed: int,
    progress: Progress = silent,
    *,
    widths: Sequence[int] = (10, 100, 1000),
    n_runs: Sequence[int] = (40, 40, 40),
    step_sizes: Sequence[float] = (1.0, 0.3, 0.1, 0.03),
    n_pilot: int = 3,
    reference_step_size: float = 1.0,
    slope: float = 0.2,
    max_epochs: int = 400,
    n_train: int = 3000,
    n_test: int = 1000,
    dtype: str = "float32",
) -> xr.Dataset:
    """Errors and v_t/v_0 per epoch at each width's own step size, and the final test errors of Figure 2's runs.

    The step size of a width is the largest of the list at which every pilot run keeps c > 0 and reaches zero loss; if
    there is none, the smallest.
    """
    split = load_split(n_train, n_test, dtype)
    common: dict[str, Any] = {"slope": slope, "max_epochs": max_epochs, "layers": Layers.BOTH, "dtype": dtype}
    pilots = [
        scan_step_sizes(
            split,
            seed,
            lambda done, words, index=index: progress((index + done) / len(widths) / 3, words),
            width=width,
            step_sizes=step_sizes,
            n_pilot=n_pilot,
            **common,
        )
        for index, width in enumerate(widths)
    ]
    chosen = [pilot.attrs["chosen"] for pilot in pilots]
    own, reference = (
        train_widths(
            split,
            seed,
            lambda done, words, low=low: progress((low + done) / 3, words),
            widths=widths,
            n_runs=n_runs,
            step_sizes=etas,
            **common,
        )
        for low, etas in ((1, chosen), (2, [reference_step_size] * len(widths)))
    )
    own["chosen_step_size"] = ("width", chosen)
    for name in ("pilot_c", "pilot_C"):
        own[name] = xr.concat([pilot[name] for pilot in pilots], xr.Variable("width", list(widths)))
    own["reference_test_error"] = reference.test_error.isel(epoch=-1, drop=True)
    own["reference_status"] = reference.status
    own["update_bound"] = _bounds(own, split, slope)
    describe(own, split, n_pilot=n_pilot, slope=slope, max_epochs=max_epochs, dtype=dtype, seed=seed)
    return own


def scan_step_sizes(
    split: Split,
    seed: int,
    progress: Progress = silent,
    *,
    width: int,
    step_sizes: Sequence[float],
    n_pilot: int,
    max_epochs: int,
    **common: Any,
) -> xr.Dataset:
    """c and C of the pilot runs at each step size, the largest first, until one keeps all signs; NaN beyond it.

    Where a sign changes in the first epoch already, the rest of the run is spared, and C is that of the first epoch.
    """
    smallest, largest = np.full(len(step_sizes), np.nan), np.full(len(step_sizes), np.nan)
    chosen = None
    for index, eta in enumerate(step_sizes):
        passed = False
        for epochs in (1, max_epochs):
            pilot = train_widths(
                split,
                seed,
                widths=[width],
                n_runs=[n_pilot],
                step_sizes=[eta],
                max_epochs=epochs,
                first_run=PILOT_RUN,
                **common,
            )
            smallest[index], largest[index] = float(pilot.c.min(skipna=False)), float(pilot.C.max(skipna=False))
            passed = smallest[index] > 0
            if not passed:
                break
        progress((index + 1) / len(step_sizes), f"pilot runs of width {width}")
        if passed and bool(finished(pilot).all()):
            chosen = eta
            break
    return xr.Dataset(
        {"pilot_c": ("step_size", smallest), "pilot_C": ("step_size", largest)},
        {"step_size": list(step_sizes)},
        {"chosen": step_sizes[-1] if chosen is None else chosen},
    )


def _bounds(numbers: xr.Dataset, split: Split, slope: float) -> tuple[tuple[str, str], np.ndarray]:
    """Eq. 13 with the c and C of each run; NaN where it says nothing: c ≤ 0, or no separator."""
    width = numbers.width.values[:, None].astype(float)
    bounds = both_layers_bound(
        split.separation.norm_upper if split.separation.separable else np.nan,
        slope,
        numbers.chosen_step_size.values[:, None],
        width**-0.5,
        width**-0.5,
        width / 2,
        numbers.c.values,
        numbers.C.values,
    )
    return ("width", "run"), np.where(np.isfinite(bounds), bounds, np.nan)


def compare_figure_3(numbers: xr.Dataset) -> list[Comparison]:
    """The paper says that no sign changes and that c and C behave alike across widths, and prints no number."""
    exists = numbers.status >= 0
    total, kept = int(exists.sum()), int(((numbers.c > 0) & exists).sum())
    low, high = clopper_pearson(total - kept, total)
    # A run that overflowed has no c and no C; leaving it out would make the others look better.
    broken = ((numbers.c.isnull() | numbers.C.isnull()) & exists).any("run")
    means = numbers.C.mean("run").where(~broken)
    return [
        Comparison(
            name="share of runs in which no output weight changes sign (c > 0)",
            reported="these values remain above zero: no sign flips",
            measured=kept / total,
            interval=(1 - high, 1 - low),
            band=(1.0, 1.0),
        ),
        Comparison(
            name="smallest c over all runs",
            reported="remains above zero",
            measured=np.nan if bool(broken.any()) else float(numbers.c.where(exists).min()),
            interval=None,
            band=(0.0, 1.0),
        ),
        Comparison(
            name="largest / smallest mean C across widths",
            reported="they behave similarly for different network sizes",
            measured=float(means.max(skipna=False) / means.min(skipna=False)),
            interval=None,
            band=(1.0, 4.0),
            basis=PILOT_BASIS,
        ),
        zero_error_share(numbers, "similar training performance as in Figure 2", (0.95, 1.0)),
        *level_rows(numbers, "similar generalization performance as in Figure 2", "Figure 2"),
        Comparison(
            name="largest updates / bound of Eq. 13 with the run's own c and C, where c > 0",
            reported="at most 1 (Eq. 13)",
            measured=float((numbers.updates / numbers.update_bound).max()),
            interval=None,
            band=(0.0, 1.0),
            basis=READING,
        ),
    ]


figure_3 = Figure(
    id="brutzkus2018.figure_3",
    title="MNIST 3 against 5, both layers trained with signs kept: errors, and the ratios v_t/v_0",
    caption=(
        "As Figure 2, with a step size per width. The paper does not print the step sizes; here the largest of 1, 0.3, "
        "0.1, 0.03 at which three pilot runs keep every v_t/v_0 above 0 and reach zero loss. c and C are the smallest "
        "and the largest v_t/v_0 over neurons; panel (c) shows them once per epoch, the comparison uses every update."
    ),
    compute=compute_figure_3,
    compare=compare_figure_3,
    sizes={
        Scale.QUICK: {
            "widths": (10, 100),
            "n_runs": (4, 3),
            "n_pilot": 3,
            "step_sizes": (1.0, 0.3, 0.1, 0.03),
            "max_epochs": 400,
            "dtype": "float32",
        },
        Scale.PAPER: {
            "n_runs": (40, 40, 40),
            "n_pilot": 3,
            "step_sizes": (1.0, 0.3, 0.1, 0.03),
            "max_epochs": 400,
            "dtype": "float32",
        },
    },
)
