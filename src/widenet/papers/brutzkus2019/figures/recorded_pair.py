"""What Figures 2, 3 and 6 of brutzkus2019 share: the numbers of a wide and a narrow network, and how runs end."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import xarray as xr

from widenet.data.xord import PATTERN_SETS
from widenet.figures import Comparison
from widenet.figures.statistics import share_interval
from widenet.papers.brutzkus2019.runs.recorded_runs import ShownRuns

NETWORKS = ("wide", "narrow")
TRAINED = "both networks reach zero training error"
ZERO = (0.0, 0.0)
FALSE_ALARM = 5e-7
"""How often a band by an exact law is left by chance, at most; no figure has more than two, so 1e-6 over all rows."""
OUTCOMES = ("train_error", "n_wrong_sets", "final_loss", "last_step", "status")
SET_NAMES = tuple("".join(str(pattern + 1) for pattern in np.flatnonzero(row)) for row in PATTERN_SETS)
"""The 15 pattern sets by the numbers of their patterns: "24" holds p₂ and p₄."""


def both_networks(cells: Sequence[ShownRuns]) -> xr.Dataset:
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
    """Both networks are at zero training error, one wrong nowhere and one somewhere.

    The narrow network is the one that is shown, chosen for its end. The wide one is the first, and may be among the few
    that fail; so the median of all wide runs is compared.
    """
    k_wide, k_narrow = half_widths(numbers)
    wide, narrow = (numbers.sel(network=name) for name in NETWORKS)
    shown = narrow.isel(run=int(narrow.shown_run))
    median = "the paper shows one run; the median of all runs does not depend on which one that is"
    chosen = "the network that is shown is the first that ends so"
    return [
        _paper_row(f"training error of the median run, k = {k_wide}", TRAINED, wide.train_error.median(), ZERO, median),
        _paper_row(
            f"pattern sets of 15 on which the median run is wrong, k = {k_wide}",
            "learns f* exactly",
            wide.n_wrong_sets.median(),
            ZERO,
            median,
        ),
        _paper_row(f"training error of the network shown, k = {k_narrow}", TRAINED, shown.train_error, ZERO, chosen),
        _paper_row(
            f"pattern sets of 15 on which the network shown is wrong, k = {k_narrow}",
            "misclassifies certain data points",
            shown.n_wrong_sets,
            (1.0, 15.0),
            chosen,
        ),
    ]


def _paper_row(name: str, reported: str, measured: xr.DataArray, band: tuple[float, float], basis: str) -> Comparison:
    return Comparison(name=name, reported=reported, measured=float(measured), interval=None, band=band, basis=basis)


def exact_band(n_runs: int, rate: float) -> tuple[float, float]:
    """The shares that so many runs leave, at both ends together, with probability `FALSE_ALARM` or less."""
    law = scipy.stats.binom(n_runs, rate)
    return float(law.ppf(FALSE_ALARM / 2)) / n_runs, float(law.isf(FALSE_ALARM / 2)) / n_runs


def share_row(
    numbers: xr.Dataset,
    network: str,
    ending: str,
    words: str,
    band: tuple[float, float],
    basis: str,
    moved: str = "",
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
        moved=moved,
    )
