"""The Huberized ReLU on a grid: what Figure 1 shows."""

import numpy as np
import xarray as xr

from widenet.claims.experiments import Experiment
from widenet.diagnostics.huberized import huberized, huberized_slope
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class ActivationSetting(ClosedModel):
    """The bandwidth h, and how many points of [−1, 3]."""

    bandwidth: float = 1.0
    nodes: int = 401


def run_activations(setting: ActivationSetting, progress: Progress) -> xr.Dataset:
    """φ and φ' on the grid."""
    z = np.linspace(-1.0, 3.0, setting.nodes)
    return xr.Dataset(
        {
            "value": ("z", huberized(z, setting.bandwidth)),
            "slope": ("z", huberized_slope(z, setting.bandwidth)),
        },
        coords={"z": z},
        attrs={"bandwidth": setting.bandwidth},
    )


def one_bandwidth(scale: Scale, seed: int) -> list[ActivationSetting]:
    """h = 1."""
    return [ActivationSetting()]


activations = Experiment("chatterji2021.activations", one_bandwidth, run_activations, seconds=0.1)
