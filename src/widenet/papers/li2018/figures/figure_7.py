"""Figure 7 of li2018: synthetic data with several numbers of components per class."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.li2018.figures.figure_1 import MOMENTS, TARGET
from widenet.papers.li2018.figures.summaries import mixtures_of, ours, over, rank_correlation, row, with_all
from widenet.papers.li2018.runs.curves import Curves, curves, synthetic_components

SAID_ACCURACY = "the test accuracy decreases with increasing number of components ℓ in each class"
SAID_TIME = "it takes longer time to get a good solution"
SAID_COUPLING = "a larger ℓ leads to more significant coupling … at the same time step"
SAID_DISTANCE = "and smaller relative distances at the same time step"
EARLY = 20
TIES = 0.005
"""A rise of the accuracy at step 20 that counts as none."""


def reduce_figure_7(cells: Sequence[Curves]) -> xr.Dataset:
    """All l with points of norm 1 and as drawn."""
    return over(cells, "components", [data.per_class for data in mixtures_of(cells)], TARGET, MOMENTS)


def compare_figure_7(numbers: xr.Dataset) -> list[Comparison]:
    """Accuracy, time, patterns and distance against l; with points of norm 1, and then as drawn."""
    rows = statements(numbers.sel(reading="norm 1"), "norm 1")
    rows += statements(numbers.sel(reading="as drawn"), "as drawn", added=True)
    for reading in numbers.reading.values.tolist():
        own = numbers.distance_mean.sel(reading=reading)
        rows.append(
            ours(f"{reading}: first step from which the most components are farthest away", crossover(own),
                 basis="of the largest and the smallest l; before it the order is the printed one")
        )  # fmt: skip
    return rows


def statements(numbers: xr.Dataset, reading: str, *, added: bool = False) -> list[Comparison]:
    """What Appendix D.3 says of the figure."""
    early = numbers.accuracy_at_moments.sel(moment=EARLY).mean("run")
    steps = with_all(numbers.steps_to, int(numbers.attrs["last"])).values
    last = int(numbers.moment[-1])
    flips = max(trend(numbers.flips_at_moments.sel(moment=moment)) for moment in numbers.moment.values.tolist())
    rows = [
        row(f"{reading}: accuracy at step {EARLY}, fewest components less most", SAID_ACCURACY,
            float(early[0] - early[-1]), (0.1, 1.0), basis="no time is printed; ours", added=added),
        row(f"{reading}: largest rise of accuracy at step {EARLY} from one l to the next", SAID_ACCURACY,
            float(early.diff("components").max()), (-1.0, TIES), basis="no time is printed; ours", added=added),
        row(f"{reading}: steps to 98 %, most components over fewest", SAID_TIME, float(steps[-1] / steps[0]),
            (1.5, np.inf), basis="longer: half as many steps again at least, ours", added=added),
        row(f"{reading}: largest rank correlation of l and changed patterns at steps 20, 100 and {last}",
            SAID_COUPLING, flips, (-1.0, -0.9), basis="a fall from nearly every l to the next; ours", added=added),
    ]  # fmt: skip
    opposite = "; of the end the text says that weights are farther away, which holds (section_6_components)"
    for moment in (EARLY, last):
        correlation = trend(numbers.distance_at_moments.sel(moment=moment))
        rows.append(
            row(f"{reading}: rank correlation of l and distance at step {moment}", SAID_DISTANCE, correlation,
                (-1.0, -0.7), basis=f"l = 1 and 2 may tie; ours{opposite if moment == last else ''}", added=added)
        )  # fmt: skip
    return rows


def trend(values: xr.DataArray) -> float:
    """Spearman's correlation of l and the mean over runs."""
    return rank_correlation(values.components, values.mean("run"))


def crossover(distances: xr.DataArray) -> float:
    """The first kept step from which networks for the most components stay farther away; NaN if there is none."""
    behind = distances.isel(components=-1) <= distances.isel(components=0)
    steps = distances.step.values
    if bool(behind[-1]):
        return float("nan")
    return float(steps[np.flatnonzero(behind.values)[-1] + 1]) if behind.any() else float(steps[0])


figure_7 = Figure(
    id="li2018.figure_7",
    title="Synthetic data: one to seven components per class",
    caption=(
        "As Figure 1 with l from 1 to 7 (at quick scale 1, 2, 4 and 7). Not printed: the width (here 1000, at quick "
        "scale 250), T, B and η (here as in Figure 1), whether points have norm 1 (here both), and the "
        "time of each statement. More components go with smaller distances early on only: later those networks go on "
        "moving, and at T the order is the opposite one. The data do not meet (A1)."
    ),
    setting="The synthetic data of Figure 1: “Here we vary” l “from 1 to 7”. The width, T, B and η are not printed.",
    claims=("section_6_components", "theorem_4_1"),
    reads=(curves.at(synthetic_components),),
    reduce=reduce_figure_7,
    compare=compare_figure_7,
)
