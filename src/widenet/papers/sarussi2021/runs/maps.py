"""The same trainings over slopes, steps and initial scales at once: whether a figure rests on one choice of them."""

import itertools

import numpy as np
import xarray as xr

from widenet.claims.experiments import Experiment
from widenet.papers.sarussi2021.runs.curves import (
    HARD_PAIR,
    all_points,
    digit_points,
    measured,
    n_training,
    start_rows,
    trained,
)
from widenet.papers.sarussi2021.sources import OutlierCloud, PointsSetting
from widenet.progress import Progress
from widenet.records import Scale

AXES = ("slope", "step_size", "deviation", "run")


class MapSetting(PointsSetting):
    """One run per slope, step, deviation of the initial weights, and initialization; all on the same points."""

    slopes: tuple[float, ...]
    step_sizes: tuple[float, ...]
    deviations: tuple[float, ...]
    n_runs: int
    looks: tuple[int, ...]
    half_width: int = 50
    output_weight: float = 0.1
    data_seed: int = 0
    seed: int = 0


def run_maps(setting: MapSetting, progress: Progress) -> xr.Dataset:
    """Train all combinations side by side, and measure them at every look."""
    points, n = all_points(setting.points, setting.data_seed), n_training(setting.points)
    axes = (setting.slopes, setting.step_sizes, setting.deviations, range(setting.n_runs))
    slopes, steps, deviations, runs = (np.array(each) for each in zip(*itertools.product(*axes), strict=True))
    rows = [start_rows(1000 * setting.seed + run, setting.half_width, points[0].shape[1]) for run in axes[3]]
    weights = trained(
        (points[0][:n], points[1][:n]),
        deviations[:, None, None] * np.stack(rows)[runs],
        (1000 * setting.seed + runs).tolist(),
        setting.output_weight,
        slopes,
        steps,
        setting.looks,
        progress,
    )
    found = [measured(each, points, n, slope) for each, slope in zip(weights, slopes.tolist(), strict=True)]
    shape = [len(each) for each in (*axes, setting.looks)]
    return xr.Dataset(
        {name: ((*AXES, "epoch"), np.stack([row[name] for row in found]).reshape(shape)) for name in found[0]},
        coords={
            "slope": list(setting.slopes),
            "step_size": list(setting.step_sizes),
            "deviation": list(setting.deviations),
            "epoch": list(setting.looks),
        },
    )


def digit_map(scale: Scale, seed: int) -> list[MapSetting]:
    """Figure 2: 3 against 5, where the choice matters most."""
    points = digit_points(HARD_PAIR, scale)
    if scale is Scale.QUICK:
        points = points.model_copy(update={"n_samples": 200, "n_test": 500})
    runs, looks = (1, (0, 1, 20)) if scale is Scale.QUICK else (2, (0, 1, 60))
    return [
        MapSetting(
            points=points,
            slopes=(0.1, 0.3, 0.5),
            step_sizes=(1e-3, 1e-2, 1e-1),
            deviations=(1e-5, 1e-3, 1e-1),
            n_runs=runs,
            looks=looks,
            data_seed=seed,
            seed=seed,
        )
    ]


def outlier_map(scale: Scale, seed: int) -> list[MapSetting]:
    """Figure 9: around the printed step 0.01 and deviation 1e-4."""
    runs = 3 if scale is Scale.QUICK else 5
    return [
        MapSetting(
            points=OutlierCloud(),
            slopes=(0.1, 0.3, 0.5),
            step_sizes=(1e-3, 1e-2, 1e-1),
            deviations=(1e-5, 1e-4, 1e-2),
            n_runs=runs,
            looks=(0, 1, 3, 10, 30, 60),
            seed=seed,
        )
    ]


maps = Experiment("sarussi2021.maps", digit_map, run_maps, seconds=10.0)
