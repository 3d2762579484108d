"""What Figures 2, 3 and 6 of brutzkus2019 share: the numbers of a wide and a narrow network, and how runs end."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from widenet.data.xord import PATTERN_SETS
from widenet.figures import Comparison
from widenet.figures.statistics import share_interval
from widenet.papers.brutzkus2019.runs.recorded_runs import RecordedRuns

NETWORKS = ("wide", "narrow")
OUTCOMES = ("train_error", "n_wrong_sets", "final_loss", "last_step", "status")
SET_NAMES = tuple("".join(str(pattern + 1) for pattern in np.flatnonzero(row)) for row in PATTERN_SETS)
"""The 15 pattern sets by the numbers of their patterns: "24" holds p₂ and p₄."""


def both_networks(cells: Sequence[RecordedRuns]) -> xr.Dataset:
    """Both networks in one data set: outcomes by network and run, recordings by network name and step."""
    variables: dict[str, Any] = {
        name: (("network", "run"), np.stack([getattr(cell, name) for cell in cells])) for name in OUTCOMES
    }
    setting = cells[0].setting
    coords: dict[str, Any] = {
        "network": list(NETWORKS),
        "run": np.arange(setting.n_runs),
        "set": list(SET_NAMES),
        "axis": ["first", "second"],
    }
    variables["half_width"] = ("network", [cell.setting.half_width for cell in cells])
    variables["shown_run"] = ("network", [cell.shown for cell in cells])
    variables["n_training_points"] = ("set", setting.counts)
    variables["asked"] = ("set", setting.asked)
    for name, cell in zip(NETWORKS, cells, strict=True):
        recording = cell.recording
        coords[f"{name}_step"] = recording.steps
        variables[f"{name}_filters"] = ((f"{name}_step", f"{name}_channel", "axis"), recording.filters)
        variables[f"{name}_loss"] = (f"{name}_step", recording.loss)
        variables[f"{name}_outputs"] = ((f"{name}_step", "set"), recording.outputs)
    attributes = {"margin": setting.margin, "step_constant": setting.step_constant, "seed": setting.seed}
    return xr.Dataset(variables, coords, attributes)


def shares(numbers: xr.Dataset, network: str) -> dict[str, tuple[int, int]]:
    """How many of the runs end in each way, and how many there are."""
    of = numbers.sel(network=network)
    solved = of.train_error.values == 0
    right = of.n_wrong_sets.values == 0
    counted = {
        "recovers": solved & right,
        "zero training error, wrong elsewhere": solved & ~right,
        "training error left": ~solved,
    }
    return {name: (int(chosen.sum()), len(chosen)) for name, chosen in counted.items()}


def half_widths(numbers: xr.Dataset) -> tuple[int, int]:
    """k of the wide and of the narrow network."""
    wide, narrow = (int(numbers.half_width.sel(network=name)) for name in NETWORKS)
    return wide, narrow


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
        interval=share_interval(count, n_runs),
        band=band,
        basis=basis,
    )
