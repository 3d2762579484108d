"""The numbers of a figure as plain files, from numbers of the right shape."""

import csv
import json

import numpy as np
import pytest
import xarray as xr

from tests.papers.brutzkus2018.drawings.plausible import LAST_EPOCH, RUNS_PER_WIDTH, WIDTHS, first_layer
from widenet.plots import plain_files


@pytest.fixture(scope="module")
def numbers() -> xr.Dataset:
    return first_layer().assign_attrs(step_size=np.float64(1.0))


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
