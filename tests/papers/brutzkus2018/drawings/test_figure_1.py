"""The drawing of Figure 1, from numbers of the right shape."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex

from tests.papers.brutzkus2018.drawings.plausible import WIDTHS, first_layer
from widenet.papers.brutzkus2018.drawings.figure_1 import draw
from widenet.plots.style import COLOURS, render


@pytest.fixture(scope="module")
def numbers() -> xr.Dataset:
    return first_layer()


def test_there_are_two_named_panels_and_a_line_per_width(numbers: xr.Dataset) -> None:
    drawing = draw(numbers)
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


def test_a_width_without_runs_is_left_out(numbers: xr.Dataset) -> None:
    assert len(draw(numbers.where(numbers["width"] != 1000)).axes[0].lines) == 2


def test_one_epoch_can_be_drawn(numbers: xr.Dataset) -> None:
    render(draw(numbers.isel(epoch=slice(0, 2))), "png")
