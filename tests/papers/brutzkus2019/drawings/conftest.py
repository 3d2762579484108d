"""Made-up numbers of the right shape for drawings: nothing is trained here."""

import numpy as np
import pytest
import xarray as xr

from widenet.data.xord import PATTERNS, SET_LABELS
from widenet.papers.brutzkus2019.figures.recorded_pair import both_networks
from widenet.papers.brutzkus2019.runs.recorded_runs import ShownRun, ShownRuns, ShownRunSetting


def recording(n_channels: int, wrong: list[int]) -> ShownRun:
    """Filters that grow along their nearest pattern; right everywhere but on the listed sets."""
    rng = np.random.default_rng(n_channels)
    start = 1e-5 * rng.standard_normal((n_channels, 2))
    steps = np.array([0, 1, 2, 5, 20, 70])
    nearest = PATTERNS[np.argmax(start @ PATTERNS.T, axis=1)]
    outputs = np.where(np.isin(np.arange(15), wrong), -1.0, 1.0) * SET_LABELS
    return ShownRun(
        steps,
        np.stack([start + 1e-3 * step * nearest for step in steps]),
        np.linspace(6, 0, 6),
        np.stack([*(0 * outputs for _ in steps[1:]), outputs]),
    )


def runs(half_width: int, wrong: list[int], *, xor: bool) -> ShownRuns:
    """Four runs, of which two are right everywhere."""
    setting = ShownRunSetting(seed=0, half_width=half_width, xor=xor, margin=5.0, n_runs=4)
    return ShownRuns(
        setting,
        train_error=np.array([0.0, 0.0, 0.5, 0.0]),
        n_wrong_sets=np.array([0, 3, 2, 0]),
        final_loss=np.zeros(4),
        last_step=np.full(4, 70),
        status=np.ones(4, int),
        shown=1,
        recording=recording(2 * half_width, wrong),
    )


@pytest.fixture(scope="session")
def decoy() -> xr.Dataset:
    return both_networks([runs(20, [], xor=False), runs(2, [0], xor=False)])


@pytest.fixture(scope="session")
def xor() -> xr.Dataset:
    return both_networks([runs(20, [], xor=True), runs(2, [0], xor=True)])
