"""The numbers of a figure as plain files, from numbers of the right shape."""

import csv
import json

import numpy as np
import pytest
import xarray as xr

from widenet.plots import plain_files
from widenet.types import RunStatus

WIDTHS, RUNS_PER_WIDTH, LAST_EPOCH = (10, 100, 1000), (10, 10, 2), 90


def plausible_numbers(seed: int = 0) -> xr.Dataset:
    """Curves that fall like the measured ones: half wrong before training, then to zero and to a plateau."""
    rng = np.random.default_rng(seed)
    epoch = np.arange(LAST_EPOCH + 1)
    shape = (len(WIDTHS), max(RUNS_PER_WIDTH), len(epoch))
    train, test = np.full(shape, np.nan), np.full(shape, np.nan)
    zero_loss, status = np.full(shape[:2], -1), np.full(shape[:2], int(RunStatus.RUNNING))
    for row, n_runs in enumerate(RUNS_PER_WIDTH):
        for run in range(n_runs):
            end = rng.integers(36, 80)
            noise = 1 + 0.25 * rng.standard_normal(len(epoch)) / np.sqrt(row + 1)
            train[row, run] = np.where(epoch < end, 0.06 * noise / np.maximum(epoch, 1) ** 0.8, 0)
            test[row, run] = (0.022 + 0.09 / np.maximum(epoch, 1)) * (1 + 0.1 * rng.standard_normal(len(epoch)))
            train[row, run, 0] = test[row, run, 0] = 0.5
            test[row, run, end:] = test[row, run, end]
            zero_loss[row, run], status[row, run] = end, RunStatus.CONVERGED
    return xr.Dataset(
        {
            "train_error": (("width", "run", "epoch"), np.clip(train, 0, 1)),
            "test_error": (("width", "run", "epoch"), np.clip(test, 0, 1)),
            "updates": (("width", "run"), rng.integers(2500, 4000, shape[:2])),
            "zero_loss_epoch": (("width", "run"), zero_loss),
            "status": (("width", "run"), status),
            "update_bound": (("width",), np.full(len(WIDTHS), 4.1e6)),
        },
        coords={"width": list(WIDTHS), "epoch": epoch},
        attrs={"step_size": np.float64(1.0)},
    )


@pytest.fixture(scope="module")
def numbers() -> xr.Dataset:
    return plausible_numbers()


def test_plain_files_hold_every_number_once(numbers: xr.Dataset) -> None:
    files = plain_files("x.figure_1", numbers, {"id": "x.figure_1"})
    assert set(files) == {
        "x.figure_1.json",
        "x.figure_1.width-run-epoch.csv",
        "x.figure_1.width-run.csv",
        "x.figure_1.width.csv",
    }
    content = json.loads(files["x.figure_1.json"])
    assert content["id"] == "x.figure_1"
    assert content["attributes"] == {"step_size": 1.0}
    assert content["coordinates"]["width"] == list(WIDTHS)
    assert content["quantities"]["train_error"]["axes"] == ["width", "run", "epoch"]
    assert content["quantities"]["train_error"]["values"][2][9][0] is None  # this run does not exist

    curves = list(csv.DictReader(files["x.figure_1.width-run-epoch.csv"].decode().splitlines()))
    assert len(curves) == sum(RUNS_PER_WIDTH) * (LAST_EPOCH + 1)
    row = next(row for row in curves if (row["width"], row["run"], row["epoch"]) == ("100", "3", "5"))
    assert float(row["test_error"]) == float(numbers["test_error"].sel(width=100, epoch=5)[3])


def test_infinities_stay_valid_json() -> None:
    numbers = xr.Dataset({"bound": ("width", [1.0, np.inf, np.nan])}, coords={"width": [1, 2, 3]})
    content = json.loads(plain_files("x", numbers, {})["x.json"])
    assert content["quantities"]["bound"]["values"] == [1.0, "Infinity", None]
