"""Figure 5 of brutzkus2019: a larger margin γ on positive points gives a smaller test error on XORD."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import xarray as xr

from widenet.figures import Comparison, Figure
from widenet.papers.brutzkus2019.runs.sampled_runs import SampledRuns, SampledSetting, sampled_runs, sampled_settings
from widenet.records import Scale

MARGINS = (1.0, 5.0)
N_RUNS = 400
"""Per width and margin, for the paired test; the cells of narrow networks hold more."""
PAPER_RUNS = 100
"""Over how many runs the paper averages."""

LARGEST_P = 0.01
WIDE = 20
"""From this number of channels on, the paired test is asked for at every width."""


def margin_settings(scale: Scale, seed: int) -> list[SampledSetting]:
    """The runs of Figure 1 with both margins."""
    return [setting for margin in MARGINS for setting in sampled_settings(scale, seed, margin=margin)]


def figure_5_numbers(cells: Sequence[SampledRuns], n_runs: int = N_RUNS) -> xr.Dataset:
    """Exact test errors; a run has the same training set and the same initial filters for every margin."""
    found = {(cell.setting.margin, cell.setting.n_channels): cell for cell in cells}
    margins, widths = sorted({margin for margin, _ in found}), sorted({width for _, width in found})
    axes = ("margin", "channels", "run")
    return xr.Dataset(
        {
            name: (axes, [[getattr(found[margin, width], name)[:n_runs] for width in widths] for margin in margins])
            for name in ("test_error", "train_error")
        },
        coords={"margin": margins, "channels": widths, "run": np.arange(n_runs)},
        attrs={"seed": cells[0].setting.seed},
    )


def compare_figure_5(numbers: xr.Dataset) -> list[Comparison]:
    """γ = 5 errs less than γ = 1: on average and at every width from 20 channels on, over as many runs as in the paper.

    A paired test over more runs stands beside it.
    """
    gain = numbers.test_error.isel(margin=0) - numbers.test_error.isel(margin=-1)
    small, large = (numbers.test_error.isel(margin=place, run=slice(PAPER_RUNS)) for place in (0, -1))
    names = f"with γ = {float(large.margin):g} / with γ = {float(small.margin):g}"
    below_one = (0.0, float(np.nextafter(1, 0)))
    reported = "setting γ = 5 gives better performance than setting γ = 1"
    basis = "the paper shows an image without numbers; any ratio below 1 agrees"
    rows = [
        Comparison(
            name=f"mean test error {names}, all widths together",
            reported=reported,
            measured=float(large.mean() / small.mean()),
            interval=None,
            band=below_one,
            basis=basis,
        )
    ]
    for width in numbers.channels.values[numbers.channels.values >= WIDE]:
        pairs = gain.sel(channels=width).values
        rows += [
            Comparison(
                name=f"mean test error {names}, {width} channels",
                reported=reported,
                measured=float(large.sel(channels=width).mean() / small.sel(channels=width).mean()),
                interval=None,
                band=below_one,
                basis=basis,
            ),
            Comparison(
                name=f"p-value of the paired test that γ = {float(large.margin):g} errs less, {width} channels",
                reported="not in the paper",
                measured=paired_p(pairs),
                interval=None,
                band=(0.0, LARGEST_P),
                basis=f"Wilcoxon's signed-rank test, one-sided, {len(pairs)} runs paired by data and initial filters",
                added=True,
            ),
        ]
    return rows


def paired_p(gains: np.ndarray) -> float:
    """One-sided: how likely gains like these are if neither margin is better. 1 where all pairs are equal."""
    if not np.any(gains):
        return 1.0
    found: Any = scipy.stats.wilcoxon(gains, alternative="greater")
    return float(found.pvalue)


figure_5 = Figure(
    id="brutzkus2019.figure_5",
    title="XORD: test error with margins γ = 1 and γ = 5, 4 to 200 channels",
    caption=(
        "The setting of Figure 1, all runs, with two margins γ on positive points; each run has the same training set "
        "and the same initial filters for both. As in the paper 100 runs per point are averaged; a paired test over "
        "400 stands beside them. Law of the non-diverse points as in figure_1, an assumption."
    ),
    setting=(
        "“The setting is similar to the setting of Section A”, which is that of Figure 1. “Each point is an average "
        "test error of 100 runs.” γ = 1 and γ = 5."
    ),
    claims=("theorem_6_3", "theorem_6_4"),
    reads=(sampled_runs.at(margin_settings),),
    compare=compare_figure_5,
    reduce=figure_5_numbers,
)
