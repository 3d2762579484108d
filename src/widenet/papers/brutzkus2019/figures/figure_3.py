"""Figure 3 of brutzkus2019: the filters of a wide and a narrow network on a decoy training set of XORD."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.claims.statistics import clopper_pearson
from widenet.data.xord import PATTERNS
from widenet.diagnostics.clustering import angles_to_own
from widenet.diagnostics.exploration import cones, plus_and_minus
from widenet.papers.base import Comparison, Figure
from widenet.papers.brutzkus2019.runs.recorded_runs import as_dataset, decoy_counts, shares, train_and_record
from widenet.papers.brutzkus2019.runs.sampled_runs import (
    INITIAL_SCALE,
    STEP_CONSTANT,
    draw_networks,
    part_of,
    run_keys,
)
from widenet.types import Progress, Scale, silent


def compute_figure_3(
    seed: int,
    progress: Progress = silent,
    *,
    half_widths: Sequence[int] = (100, 2),
    n_runs: int = 200,
    margin: float = 5.0,
    n_single: int = 0,
    n_times: int = 90,
) -> xr.Dataset:
    """Both networks on 6 diverse positives and 6 negatives, of which `n_single` (1 in Figure 6) hold p₂ alone."""
    counts = decoy_counts(n_single)
    asked, found = np.ones(15, bool), []
    for index, half_width in enumerate(half_widths):
        networks = draw_networks(run_keys(seed, 2 * half_width, n_runs), 2 * half_width, INITIAL_SCALE)
        found.append(
            train_and_record(
                networks,
                counts,
                STEP_CONSTANT / half_width,
                margin=margin,
                patience=20,
                asked=asked,
                failing=index > 0,
                n_times=n_times,
                progress=part_of(progress, index, len(half_widths)),
            )
        )
    attributes = {"margin": margin, "step_constant": STEP_CONSTANT, "n_single": n_single, "seed": seed}
    return as_dataset(half_widths, found, counts, asked, **attributes)


def compare_figure_3(numbers: xr.Dataset) -> list[Comparison]:
    """The wide network recovers f*; the narrow one fits the training set and is wrong elsewhere."""
    k_wide, k_narrow = (int(numbers.half_width.sel(network=name)) for name in ("wide", "narrow"))
    exact = "the paper shows one run; Theorem 6.4 proves at least 33/48, which is exact for γ ≥ 2; band for 200 runs"
    return [
        *shown_rows(numbers),
        share_row(numbers, "wide", "recovers", f"f* recovered, k = {k_wide}", (0.97, 1.0), "by this project's pilots"),
        share_row(
            numbers,
            "narrow",
            "zero training error, wrong elsewhere",
            f"zero training error and wrong elsewhere, k = {k_narrow}",
            (0.60, 0.77),
            exact,
        ),
        Comparison(
            name=f"largest angle of a w to the positive pattern it starts nearest to, degrees, k = {k_wide}",
            reported="converges to clustered weights",
            measured=_largest_angle(numbers),
            interval=None,
            band=(0.0, 2.0),
            basis="the paper shows arrows and no numbers; the band was set by this project from pilot runs",
        ),
    ]


def shown_rows(numbers: xr.Dataset) -> list[Comparison]:
    """The two networks of the picture: both at zero training error, one wrong nowhere and one somewhere."""
    rows = []
    for name, band in (("wide", (0.0, 0.0)), ("narrow", (1.0, 15.0))):
        half_width, shown = (int(numbers[each].sel(network=name)) for each in ("half_width", "shown_run"))
        run = numbers.sel(network=name).isel(run=shown)
        rows += [
            Comparison(
                name=f"training error of the network shown, k = {half_width}",
                reported="both networks reach zero training error",
                measured=float(run.train_error),
                interval=None,
                band=(0.0, 0.0),
            ),
            Comparison(
                name=f"pattern sets of 15 on which the network shown is wrong, k = {half_width}",
                reported="learns f* exactly" if name == "wide" else "misclassifies certain data points",
                measured=float(run.n_wrong_sets),
                interval=None,
                band=band,
            ),
        ]
    return rows


def share_row(
    numbers: xr.Dataset, network: str, ending: str, words: str, band: tuple[float, float], basis: str
) -> Comparison:
    """How often runs end in this way."""
    count, n_runs = shares(numbers, network)[ending]
    return Comparison(
        name=f"share of runs: {words}",
        reported="the larger network learns f*, the smaller does not",
        measured=count / n_runs,
        interval=clopper_pearson(count, n_runs),
        band=band,
        basis=basis,
    )


def _largest_angle(numbers: xr.Dataset) -> float:
    plus = plus_and_minus(numbers.wide_filters.values)[0]
    near = cones(plus[0])[:, ::2]
    return float(np.nanmax(angles_to_own(plus[-1], PATTERNS[::2], near)))


figure_3 = Figure(
    id="brutzkus2019.figure_3",
    title="XORD, a decoy training set: filters before and after training, k = 100 and k = 2",
    caption=(
        "6 positive points with all four patterns and 6 negative ones with both negative patterns. The paper states "
        "neither γ nor the step size nor the initial scale of this figure; here γ = 5 (with γ = 1 the wide network "
        "recovers f* in a few percent of runs only), and step size, scale and stopping rule of Appendix A. Shown: the "
        "first run for k = 100, and for k = 2 the first one with zero training error that is wrong elsewhere; the bars "
        "count all 200."
    ),
    compute=compute_figure_3,
    compare=compare_figure_3,
    sizes={
        Scale.QUICK: {"half_widths": (100, 2), "n_runs": 200, "margin": 5.0, "n_single": 0, "n_times": 90},
        Scale.PAPER: {"half_widths": (100, 2), "n_runs": 200, "margin": 5.0, "n_single": 0, "n_times": 90},
    },
)
