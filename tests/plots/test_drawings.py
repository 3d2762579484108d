"""Drawings and plain files, from numbers of the right shape."""

import csv
import json

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex

from widenet.papers import FIGURES
from widenet.plots import DRAWINGS, plain_files, render
from widenet.plots.style import COLOURS, FORMATS
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


def test_figure_1_has_two_named_panels_and_a_line_per_width(numbers: xr.Dataset) -> None:
    drawing = DRAWINGS["brutzkus2018.figure_1"](numbers)
    train, test = drawing.axes
    assert [axes.get_title(loc="left") for axes in (train, test)] == ["(a) Train error", "(b) Test error"]
    for axes, name in ((train, "train_error"), (test, "test_error")):
        assert [to_hex(line.get_color()).upper() for line in axes.lines] == list(COLOURS[:3])
        for line, width in zip(axes.lines, WIDTHS, strict=True):
            expected = numbers[name].sel(width=width).mean("run").values[1:]
            np.testing.assert_allclose(np.asarray(line.get_ydata()), expected)
        assert axes.get_ylim()[0] == 0
        # Lines are not clipped, so they must lie within the axes.
        assert axes.get_ylim()[1] >= float(numbers[name].sel(epoch=slice(1, None)).max())
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == [
        "width 10 (10 runs)",
        "width 100 (10 runs)",
        "width 1000 (2 runs)",
    ]


def test_runs_that_failed_are_counted_under_the_figure(numbers: xr.Dataset) -> None:
    status = numbers["status"].copy()
    status[0, 0] = RunStatus.DIVERGED
    svg = render(DRAWINGS["brutzkus2018.figure_1"](numbers.assign(status=status)), "svg").decode()
    assert "21 of 22 runs reached zero training loss" in svg


def test_a_width_without_runs_is_left_out(numbers: xr.Dataset) -> None:
    without = numbers.where(numbers["width"] != 1000)
    drawing = DRAWINGS["brutzkus2018.figure_1"](without)
    assert len(drawing.axes[0].lines) == 2


def test_one_epoch_can_be_drawn(numbers: xr.Dataset) -> None:
    render(DRAWINGS["brutzkus2018.figure_1"](numbers.isel(epoch=slice(0, 2))), "png")


@pytest.mark.parametrize("form", FORMATS)
def test_equal_numbers_give_equal_bytes(numbers: xr.Dataset, form: str) -> None:
    once, again = (render(DRAWINGS["brutzkus2018.figure_1"](numbers), form) for _ in range(2))
    assert once == again
    assert once.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[form])


def test_text_stays_text_and_nothing_is_stamped(numbers: xr.Dataset) -> None:
    svg = render(DRAWINGS["brutzkus2018.figure_1"](numbers), "svg").decode()
    assert ">epoch</text>" in svg
    assert "<dc:date>" not in svg


def test_every_figure_has_a_drawing() -> None:
    assert {figure.id for figure in FIGURES} == set(DRAWINGS)


def test_the_callers_settings_are_left_alone(numbers: xr.Dataset) -> None:
    with mpl.rc_context({"lines.linewidth": 7.0}):
        drawing = DRAWINGS["brutzkus2018.figure_1"](numbers)
        assert mpl.rcParams["lines.linewidth"] == 7.0
    assert drawing.axes[0].lines[0].get_linewidth() != 7.0


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
