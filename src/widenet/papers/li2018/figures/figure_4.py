"""Figure 4 of li2018: the number of steps after which a given accuracy is reached, against the width."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from widenet.figures.base import Comparison, Figure
from widenet.papers.li2018.figures.summaries import (
    READINGS,
    UNSAID,
    mean_row,
    reached,
    row,
    slopes,
    spread_of_means,
    widths_of,
)
from widenet.papers.li2018.runs.curves import Curves, curves, mnist_widths, synthetic_widths

TARGETS = {"synthetic": 0.98, "mnist": 0.95}
SAID = "They are roughly the same for different number of hidden nodes"
ROUGHLY = {"synthetic": 2.0, "mnist": 1.7}
"""The largest mean number of steps over the smallest."""
FLAT = (-0.2, 0.2)
PILOT_STEPS = (150.0, 900.0)


def crossings(synthetic: Sequence[Curves], mnist: Sequence[Curves], what: str, every: int = 1) -> xr.Dataset:
    """Steps (`steps_to`) or distances (`distance_at`) at the accuracies of the caption, of every run.

    With `every`, as they are seen by looks at multiples of so many steps.
    """
    place = ("steps_to", "distance_at").index(what)
    found = xr.Dataset(attrs={f"{key}_target": target for key, target in TARGETS.items()})
    for norm, reading in READINGS.items():
        own = [cell for cell in synthetic if cell.setting.data.unit_norm is norm]
        if own:
            values = np.stack([reached(cell, TARGETS["synthetic"], every)[place] for cell in own])
            found[reading] = (("width", "run"), values)
            found = found.assign_coords(width=widths_of(own))
    if synthetic:
        names = [name for name in READINGS.values() if name in found]
        found = found.assign(synthetic=found[names].to_array("reading")).drop_vars(names)
    values = np.stack([reached(cell, TARGETS["mnist"], every)[place] for cell in mnist])
    found["mnist"] = (("mnist_width", "mnist_run"), values)
    return found.assign_coords(mnist_width=widths_of(mnist))


def reduce_figure_4(synthetic: Sequence[Curves], mnist: Sequence[Curves]) -> xr.Dataset:
    """Steps of every run, by data and width."""
    return crossings(synthetic, mnist, "steps_to")


def compare_figure_4(numbers: xr.Dataset) -> list[Comparison]:
    """The most steps over the fewest, and the power of m; a run that never got there makes them NaN."""
    mnist = numbers.mnist.rename(mnist_width="width", mnist_run="run")
    rows = same("synthetic, norm 1", "synthetic", numbers.synthetic.sel(reading="norm 1"))
    rows += same("MNIST, norm 1", "mnist", mnist)
    rows += same("synthetic, as drawn", "synthetic", numbers.synthetic.sel(reading="as drawn"), added=True)
    steps = mnist.mean("width", skipna=False)
    rows.append(
        mean_row("MNIST, norm 1: mean steps to 95 %", UNSAID, steps, PILOT_STEPS,
                 basis="set after pilot runs of this project: 350 to 480", added=True)
    )  # fmt: skip
    return rows


def same(name: str, key: str, values: xr.DataArray, *, added: bool = False) -> list[Comparison]:
    """What "roughly the same" means here."""
    return [
        row(f"{name}: most / fewest mean steps across widths", SAID, spread_of_means(values), (1.0, ROUGHLY[key]),
            basis=f"roughly the same: within a factor of {ROUGHLY[key]:g}, ours", added=added),
        mean_row(f"{name}: slope of log steps in log m", UNSAID, slopes(values), FLAT, basis="0 ± 0.2; ours",
                 added=True),
    ]  # fmt: skip


figure_4 = Figure(
    id="li2018.figure_4",
    title="Steps to 98 % and 95 % test accuracy, by width",
    caption=(
        "The first look with 98 % test accuracy on synthetic data and 95 % on MNIST; looks after every step (MNIST at "
        "quick scale: every 20). T, B, η and the data of Figures 1 and 2; the step size falls like 1/m. Not printed: "
        "widths, whether inputs have norm 1, whether 98 % is test accuracy. Theory asks for norm 1 (A2), and synthetic "
        "points are also run as drawn."
    ),
    setting=(
        "The data, T, B and η of Figures 1 and 2; the steps to 98 % on synthetic data and to 95 % test accuracy on "
        "MNIST, against the number of hidden nodes."
    ),
    claims=("section_4_width_free", "theorem_4_1"),
    reads=(curves.at(synthetic_widths), curves.at(mnist_widths)),
    reduce=reduce_figure_4,
    compare=compare_figure_4,
)
