"""The drawing of Figure 2 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_2 import draw
from widenet.plots.style import render


def test_xor_speaks_of_points(xor: xr.Dataset) -> None:
    svg = render(draw(xor).drawing(), "svg").decode()
    assert "right on all four points" in svg
    assert "wrong elsewhere" not in svg
