"""Curves along epochs, and maps of them over slopes, steps and scales."""

import numpy as np

from widenet.papers.sarussi2021.runs.curves import ClusteringSetting, run_curves
from widenet.papers.sarussi2021.runs.maps import MapSetting, run_maps
from widenet.papers.sarussi2021.sources import OutlierCloud
from widenet.progress import silent


def test_curves_on_a_toy():
    setting = ClusteringSetting(points=OutlierCloud(), deviation=1e-4, n_runs=2, looks=(0, 1), half_width=3, slope=0.3)
    numbers = run_curves(setting, silent)
    assert numbers.sizes == {"run": 2, "epoch": 2, "neuron": 6, "dim": 2, "point": 99, "pair": 4}
    assert (numbers.ratio.isel(epoch=1) < numbers.ratio.isel(epoch=0)).all()
    assert np.isfinite(numbers.separator_norm).all()


def test_a_map_on_a_toy():
    """Its runs are those of the curves with the same slope, step and scale."""
    cloud, looks = OutlierCloud(), (0, 1)
    setting = MapSetting(points=cloud, slopes=(0.1, 0.3), step_sizes=(1e-3, 1e-2), deviations=(1e-4, 1.0), n_runs=1,
                         looks=looks, half_width=3)  # fmt: skip
    mapped = run_maps(setting, silent)
    assert mapped.sizes == {"slope": 2, "step_size": 2, "deviation": 2, "run": 1, "epoch": 2}
    alone = ClusteringSetting(points=cloud, deviation=1e-4, n_runs=1, looks=looks, half_width=3, slope=0.3, data_seed=0)
    one = run_curves(alone, silent)
    same = mapped.sel(slope=0.3, step_size=1e-2, deviation=1e-4)
    for name in ("ratio", "angle", "nonlinear", "plus_right"):
        np.testing.assert_allclose(same[name], one[name], rtol=1e-9, err_msg=name)
    assert not np.allclose(mapped.sel(slope=0.3, step_size=1e-2, deviation=1.0).ratio, one.ratio)
