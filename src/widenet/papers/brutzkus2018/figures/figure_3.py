"""Figure 3 of brutzkus2018: both layers trained, with a step size per width that keeps the output weights' signs."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.figures.statistics import share_interval
from widenet.papers.brutzkus2018.claims.output_signs import ALIKE
from widenet.papers.brutzkus2018.figures.mnist_errors import (
    PILOT_BASIS,
    UNSAID,
    add_reference,
    describe,
    level_rows,
    over_widths,
    training_rows,
    zero_error_share,
)
from widenet.papers.brutzkus2018.formulas import both_layers_bound
from widenet.papers.brutzkus2018.runs.mnist import (
    MnistRuns,
    MnistSeparator,
    mnist,
    mnist_both_layers_settings,
    mnist_separator,
)
from widenet.papers.brutzkus2018.runs.sign_scan import SignScan, sign_scan

SIMILAR = "SGD exhibits similar training and generalization performance as in Figure 2"
STEPS = " (step size 1 there, one for each width here)"


def reduce_figure_3(
    scans: Sequence[SignScan], references: Sequence[MnistRuns], separators: Sequence[MnistSeparator]
) -> xr.Dataset:
    """Errors and v_t/v_0 per epoch at each width's own step size, and the final test errors of Figure 2's runs.

    The step size of a width is the largest of the list at which every pilot run keeps c > 0 and reaches zero loss; if
    there is none, the smallest.
    """
    (separator,) = separators
    setting = scans[0].setting
    numbers = over_widths([scan.runs for scan in scans])
    numbers["chosen_step_size"] = ("width", [scan.runs.setting.step_size for scan in scans])
    numbers = numbers.assign_coords(step_size=list(setting.step_sizes))
    axes = ("width", "step_size")
    numbers["pilot_c"] = (axes, np.stack([scan.smallest_ratios.min(axis=1) for scan in scans]))
    numbers["pilot_C"] = (axes, np.stack([scan.largest_ratios.max(axis=1) for scan in scans]))
    add_reference(numbers, references)
    numbers["update_bound"] = (("width", "run"), _bounds(numbers, separator, setting.slope))
    describe(numbers, scans[0].runs, separator, n_pilot=setting.n_pilot)
    return numbers


def _bounds(numbers: xr.Dataset, separator: MnistSeparator, slope: float) -> np.ndarray:
    """Eq. 13 with the c and C of each run; NaN where it says nothing: c ≤ 0, or no separator."""
    width = numbers.width.values[:, None].astype(float)
    bounds = both_layers_bound(
        separator.norm if separator.separable else np.nan,
        slope,
        numbers.chosen_step_size.values[:, None],
        width**-0.5,
        width**-0.5,
        width / 2,
        numbers.c.values,
        numbers.C.values,
    )
    return np.where(np.isfinite(bounds), bounds, np.nan)


def compare_figure_3(numbers: xr.Dataset) -> list[Comparison]:
    """The paper says that no sign changes and that c and C behave alike across widths, and prints no number."""
    exists = numbers.status >= 0
    total, kept = int(exists.sum()), int(((numbers.c > 0) & exists).sum())
    # A run that overflowed has no c and no C; leaving it out would make the others look better.
    broken = ((numbers.c.isnull() | numbers.C.isnull()) & exists).any("run")
    return [
        Comparison(
            name="share of runs in which no output weight changes sign (c > 0)",
            reported="these values remain above zero, which implies that the weights do not flip signs",
            measured=kept / total,
            interval=share_interval(kept, total),
            band=(1.0, 1.0),
            basis="all runs",
        ),
        Comparison(
            name="smallest c over all runs",
            reported="these values remain above zero",
            measured=np.nan if bool(broken.any()) else float(numbers.c.where(exists).min()),
            interval=None,
            band=(1e-9, 1.0),
            basis="above 0; it is 1 at the start",
        ),
        *(
            Comparison(
                name=f"largest / smallest mean {name} across widths",
                reported="they behave similarly for different network sizes",
                measured=_spread(numbers[name].mean("run").where(~broken)),
                interval=None,
                band=(1.0, ALIKE),
                basis=PILOT_BASIS if name == "C" else "the band of C",
            )
            for name in ("C", "c")
        ),
        zero_error_share(numbers, SIMILAR, (0.95, 1.0)),
        *level_rows(numbers, SIMILAR, "Figure 2", STEPS),
        *training_rows(numbers, "Figure 2", STEPS),
        Comparison(
            name="largest updates / bound of Eq. 13 with the run's own c and C, where c > 0",
            reported=UNSAID,
            measured=float((numbers.updates / numbers.update_bound).max()),
            interval=None,
            band=(0.0, 1.0),
            basis="Eq. 13: at most 1",
            added=True,
        ),
    ]


def _spread(means: xr.DataArray) -> float:
    """The largest over the smallest; NaN where one is not known or not positive."""
    return float(means.max(skipna=False) / means.min(skipna=False)) if bool((means > 0).all()) else np.nan


figure_3 = Figure(
    id="brutzkus2018.figure_3",
    title="MNIST 3 against 5, both layers trained with signs kept: errors, and the ratios v_t/v_0",
    caption=(
        "As Figure 2, with a step size per width. The paper does not print the step sizes; here the largest of 1, 0.3, "
        "0.1, 0.03 at which three pilot runs keep every v_t/v_0 above 0 and reach zero loss. c and C are the smallest "
        "and the largest v_t/v_0 over neurons; panel (c) shows them once per epoch, the comparison uses every update."
    ),
    setting=(
        "“The setting of Figure 2 is implemented, but here a different learning rate is chosen for each network "
        "size, in order to satisfy the conditions of the proof in Section 9.1.2.”"
    ),
    claims=("equation_13", "section_5_3_signs"),
    reads=(sign_scan, mnist.at(mnist_both_layers_settings), mnist_separator),
    reduce=reduce_figure_3,
    compare=compare_figure_3,
)
