"""Made-up numbers of the shape of Figures 4, 7 and 8 of brutzkus2019."""

from typing import Any

import numpy as np
import xarray as xr

from widenet.papers.brutzkus2019.runs.mnist_filters import FROZEN


def made_up(
    centres: float = 0.06, angle: float = 45.0, n_wide: int = 5, n_runs: int = 20, filter_side: int = 3
) -> xr.Dataset:
    """Errors of 8 % learned, 5 % wide and the given one on centres; angles around the given one and 60°."""
    rng = np.random.default_rng(0)
    frozen = np.array([centres, centres, 0.082, 0.083])

    def noisy(mean, *shape):
        return mean + 0.002 * rng.standard_normal(shape)

    def angles(mean):
        return ("wide_run", "channel"), mean + 12 * rng.standard_normal((n_wide, 120))

    return xr.Dataset(
        {
            "learned_error": (("size", "pair", "run"), noisy(np.array([[[0.1], [0.08]]]), 1, 2, n_runs)),
            "frozen_error": (("size", "filters", "run"), noisy(frozen[:, None], 1, 4, n_runs)),
            "wide_error": (("size", "wide_run"), noisy(0.05, 1, n_wide)),
            "trained_angle": angles(angle),
            "untrained_angle": angles(60.0),
            "other_untrained_angle": angles(60.0),
        },
        coords={"size": [2000], "filters": list(FROZEN)},
        attrs={"filter_side": filter_side},
    )


def cell(size: int, seed: int = 0) -> xr.Dataset:
    """What a cell of one training-set size holds: the numbers above without their size, and drawn filters."""
    rng = np.random.default_rng(seed + size)
    numbers = made_up(n_wide=2, n_runs=3).isel(size=0, drop=True).assign_coords(size=size)
    drawn: dict[str, Any] = {}
    for name in ("trained", "untrained"):
        drawn[f"{name}_filters"] = (("channel", "pixel"), rng.standard_normal((120, 9)))
        drawn[f"{name}_centres"] = (("cluster", "pixel"), rng.standard_normal((4, 9)))
        drawn[f"{name}_cluster"] = ("channel", np.sort(rng.integers(0, 4, 120)))
    numbers = numbers.assign(
        wide_train_error=("wide_run", [0.0, 0.1]), diverged=1, **{name: drawn[name] for name in drawn}
    )
    return numbers.assign_attrs(filter_side=3, n_test=100, seed=seed)
