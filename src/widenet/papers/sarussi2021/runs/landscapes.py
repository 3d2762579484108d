"""Two neurons on the square [−1, 1]²: the network of Figures 4 and 5, with a Leaky ReLU and with a ReLU."""

import numpy as np
import xarray as xr

from widenet.claims.experiments import Experiment
from widenet.papers.sarussi2021.sources import SignedNetwork
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class LandscapeSetting(ClosedModel):
    """The slopes, and the nodes per side of an even grid, which has none at 0."""

    slopes: tuple[float, ...] = (0.1, 0.0)
    nodes: int = 80


def run_landscapes(setting: LandscapeSetting, progress: Progress) -> xr.Dataset:
    """N on the grid for w = (1, 0), u = (0, 1), v = 1."""
    side = np.linspace(-1, 1, setting.nodes)
    points = np.stack([each.ravel() for each in np.meshgrid(side, side)], axis=1)
    outputs = []
    for slope in setting.slopes:
        network = SignedNetwork(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 1.0, slope)
        outputs.append(network.outputs(points).reshape(setting.nodes, setting.nodes))
    progress(1.0, "landscapes")
    return xr.Dataset(
        {"output": (("slope", "x2", "x1"), np.stack(outputs))},
        coords={"slope": list(setting.slopes), "x1": side, "x2": side},
        attrs={"nodes": setting.nodes},
    )


def landscape_settings(scale: Scale, seed: int) -> list[LandscapeSetting]:
    """Nothing here is random."""
    return [LandscapeSetting()]


landscapes = Experiment("sarussi2021.landscapes", landscape_settings, run_landscapes, seconds=0.1)
