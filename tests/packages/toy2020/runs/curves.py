"""The numbers of both figures, in one cell."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from tests.packages.toy2020.runs.numbers import write_log
from widenet.claims.experiments import Experiment
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class CurvesSetting(ClosedModel):
    """How long the curves are."""

    epochs: int
    seed: int


def run(setting: CurvesSetting, progress: Progress) -> xr.Dataset:
    """Errors that fall."""
    write_log("start curves")
    progress(1.0, "all epochs")
    error = np.broadcast_to(0.5 / np.arange(1, setting.epochs + 2), (3, 2, setting.epochs + 1))
    return xr.Dataset(
        {
            "train_error": (("width", "run", "epoch"), error),
            "test_error": (("width", "run", "epoch"), error + 0.02),
            "updates": (("width", "run"), np.full((3, 2), 2600 + setting.seed)),
        },
        coords={"width": [10, 100, 1000], "epoch": np.arange(setting.epochs + 1)},
    )


def settings(scale: Scale, seed: int) -> Sequence[CurvesSetting]:
    return [CurvesSetting(epochs=8 if scale is Scale.QUICK else 16, seed=seed)]


curves = Experiment("toy2020.curves", settings, run, seconds=0.1)
