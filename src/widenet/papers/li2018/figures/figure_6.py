"""Figure 6 of li2018: synthetic data with several variances within components."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures.base import ANY, Comparison, Figure
from widenet.papers.li2018.figures.figure_1 import MOMENTS, TARGET, smallest
from widenet.papers.li2018.figures.summaries import mixtures_of, ours, over, rank_correlation, row, with_all
from widenet.papers.li2018.runs.curves import Curves, curves, synthetic_spreads

SAID_ACCURACY = "the test accuracy decreases with increasing variance σ"
SAID_TIME = "it takes longer time to get a good solution"
SAID_TRENDS = "an increasing variance does not change the trends for activation patterns, distance, and the rank"
EARLY = 20
FROM_SPREAD = 2.0
"""Below this σ every accuracy at step 20 is near 1."""
TO_SPREAD = 5.0
"""Up to this σ pilot runs showed a fall after the 20th singular value."""
LONGER, DROP = 1.1, 2.0
"""How much longer it takes at least, and how far the singular values fall after the 20th."""


def reduce_figure_6(cells: Sequence[Curves]) -> xr.Dataset:
    """All σ with points of norm 1 and as drawn."""
    return over(cells, "spread", [data.spread for data in mixtures_of(cells)], TARGET, MOMENTS)


def compare_figure_6(numbers: xr.Dataset) -> list[Comparison]:
    """Accuracy and time against σ, and what stays; with points of norm 1, and then as drawn."""
    rows = statements(numbers.sel(reading="norm 1"), "norm 1")
    rows += statements(numbers.sel(reading="as drawn"), "as drawn", added=True)
    for reading in numbers.reading.values.tolist():
        end = numbers.accuracy_at_moments.sel(reading=reading).isel(moment=-1)
        fall = end.isel(spread=0) - end.isel(spread=-1)
        far = numbers.distance_at_moments.sel(reading=reading).isel(moment=-1).mean("run")
        rows += [
            ours(f"{reading}: smallest mean accuracy at T", smallest(end),
                 (0.98, 1.0) if reading == "norm 1" else ANY, basis="in the end every σ is learned"),
            ours(f"{reading}: accuracy at T, smallest σ less largest", float(fall.mean()),
                 basis="who reads the first statement as one about T does not find it here"),
            ours(f"{reading}: distance at T, largest σ over smallest", float(far.isel(spread=-1) / far.isel(spread=0)),
                 basis="the curves rise alike, and end apart"),
        ]  # fmt: skip
    return rows


def statements(numbers: xr.Dataset, reading: str, *, added: bool = False) -> list[Comparison]:
    """What Appendix D.2 says of the figure."""
    wide = numbers.sel(spread=numbers.spread >= FROM_SPREAD)
    early = wide.accuracy_at_moments.sel(moment=EARLY).mean("run")
    steps = with_all(wide.steps_to, int(numbers.attrs["last"])).values
    seen = numbers.sel(spread=numbers.spread <= TO_SPREAD)
    return [
        row(f"{reading}: largest change of accuracy at step {EARLY} from one σ to the next, σ ≥ {FROM_SPREAD:g}",
            SAID_ACCURACY, float(early.diff("spread").max()), (-1.0, -0.05),
            basis="no time is printed; at T there is no such decrease, and below σ = 2 all are near 1 at step 20",
            added=added),
        row(f"{reading}: smallest factor of steps to 98 % from one σ to the next, σ ≥ {FROM_SPREAD:g}", SAID_TIME,
            float((steps[1:] / steps[:-1]).min()), (LONGER, np.inf),
            basis="a run that never gets there counts with T steps; ours", added=added),
        row(f"{reading}: smallest rank correlation of step and changed patterns, all σ", SAID_TRENDS,
            rising(numbers.flips_mean), (0.9, 1.0), basis="a curve that rises nearly throughout; ours", added=added),
        row(f"{reading}: smallest rank correlation of step and distance, all σ", SAID_TRENDS,
            rising(numbers.distance_mean), (0.9, 1.0), basis="a curve that rises nearly throughout; ours", added=added),
        row(f"{reading}: smallest mean σ_20/σ_21 of the update, σ ≤ {TO_SPREAD:g}", SAID_TRENDS,
            smallest(seen["drop"]), (DROP, np.inf),
            basis="a fall by half at least, up to the σ at which pilot runs showed one; ours", added=added),
    ]  # fmt: skip


def rising(curves: xr.DataArray) -> float:
    """The smallest Spearman correlation of a mean curve with the step."""
    other = [axis for axis in curves.dims if axis != "step"]
    places = range(curves.sizes[other[0]])
    return min(rank_correlation(curves.step, curves.isel({other[0]: place})) for place in places)


figure_6 = Figure(
    id="li2018.figure_6",
    title="Synthetic data: components of several variances",
    caption=(
        "As Figure 1 with σ₀ = 5 and several σ. Not printed: σ (here 1, 2, 5 and 10), the width (here 1000, at quick "
        "scale 250), T, B and η (here as in Figure 1), whether points have norm 1 (here both), and the "
        'time at which the accuracy decreases with σ: at step 20 it does, at T all σ are learned. "Covariance σ/√d '
        'I" is read as a standard deviation of σ/√d. No σ shown here meets (A1).'
    ),
    setting=(
        "The synthetic data of Figure 1: “Here we fix σ₀ = 5 and vary σ”. The values of σ, the width, T, B and η are "
        "not printed."
    ),
    claims=("theorem_4_1", "assumption_a1"),
    reads=(curves.at(synthetic_spreads),),
    reduce=reduce_figure_6,
    compare=compare_figure_6,
)
