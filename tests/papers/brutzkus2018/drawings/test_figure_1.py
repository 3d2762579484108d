"""The drawing of Figure 1, from numbers of the right shape."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex

from tests.papers.brutzkus2018.drawings.plausible import WIDTHS, first_layer
from widenet.papers.brutzkus2018.drawings.figure_1 import draw
from widenet.plots.marks import ramp
from widenet.plots.style import PROMISE, render


@pytest.fixture(scope="module")
def numbers() -> xr.Dataset:
    return first_layer()


def test_there_are_curves_of_both_errors_and_a_line_per_width(numbers: xr.Dataset) -> None:
    train, test = (part.axes[0] for part in draw(numbers).drawing().subfigs[:2])
    for axes, name in ((train, "train_error"), (test, "test_error")):
        assert [to_hex(line.get_color()) for line in axes.lines] == ramp(3)
        for line, width in zip(axes.lines, WIDTHS, strict=True):
            expected = numbers[name].sel(width=width).mean("run").values[1:]
            np.testing.assert_allclose(np.asarray(line.get_ydata()), expected)
        assert axes.get_ylim()[0] == 0
        # Lines are not clipped, so they must lie within the axes.
        assert axes.get_ylim()[1] >= float(numbers[name].sel(epoch=slice(1, None)).max())
        assert {text.get_text() for text in axes.texts} == {"width 10", "width 100", "width 1,000"}


def test_the_bound_is_a_line_of_ink_above_the_updates(numbers: xr.Dataset) -> None:
    axes = draw(numbers).drawing().subfigs[2].axes[0]
    (bound,) = (line for line in axes.lines if line.get_color() == PROMISE)
    np.testing.assert_array_equal(np.asarray(bound.get_ydata()), numbers["update_bound"].values)
    assert axes.get_ylim()[1] > float(numbers["update_bound"].max())


def test_without_curves_the_ends_of_the_runs_are_drawn(numbers: xr.Dataset) -> None:
    picture = draw(numbers.drop_vars(["train_error", "test_error"]))
    assert len(picture.panels) == 2
    assert "Line:" not in picture.note
    render(picture.drawing(), "png")


def test_a_width_without_runs_is_left_out(numbers: xr.Dataset) -> None:
    few = draw(numbers.where(numbers["width"] != 1000)).drawing()
    assert len(few.subfigs[0].axes[0].lines) == 2
    render(few, "png")


def test_one_epoch_can_be_drawn(numbers: xr.Dataset) -> None:
    render(draw(numbers.isel(epoch=slice(0, 2))).drawing(), "png")
