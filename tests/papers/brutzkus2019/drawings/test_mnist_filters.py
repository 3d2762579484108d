"""The drawing of Figures 4, 7 and 8 of brutzkus2019."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection, QuadMesh

from tests.papers.brutzkus2019.figures.made_up_filters import cell
from widenet.papers.brutzkus2019.drawings.mnist_filters import draw
from widenet.papers.brutzkus2019.figures.mnist_filters import filter_numbers
from widenet.plots.style import render


@pytest.fixture(scope="module")
def numbers() -> xr.Dataset:
    return filter_numbers([cell(500), cell(1000)], 1000)


def test_it_can_be_drawn(numbers: xr.Dataset) -> None:
    picture = draw(numbers)
    assert picture.panels[-1].title == "The same network trained on 1,000 images"
    assert "2 runs diverged" in picture.note
    assert "2 large networks and 3 small runs" in picture.note
    assert "2 of 4 large networks reached training error 0" in picture.note
    assert ">120 channels<" in render(picture.drawing(), "svg").decode()


def test_every_filter_is_a_tile_with_its_own_weights(numbers: xr.Dataset) -> None:
    after = draw(numbers).drawing().subfigs[3].axes[0]
    (mesh,) = (each for each in after.collections if isinstance(each, QuadMesh))
    (frames,) = (each for each in after.collections if isinstance(each, LineCollection))
    assert len(frames.get_segments()) == 120 + 4
    found: Any = mesh.get_array()
    shades = np.ma.filled(found, np.nan)
    assert np.isfinite(shades).sum() == (120 + 4) * 9
    centre = numbers.trained_centres.values[0].reshape(3, 3)
    np.testing.assert_allclose(shades[:3, :3], centre / np.abs(centre).max())
    first = numbers.trained_filters.values[0].reshape(3, 3)
    np.testing.assert_allclose(shades[:3, 4:7], first / np.abs(first).max())
