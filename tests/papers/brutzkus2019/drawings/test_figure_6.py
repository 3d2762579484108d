"""The drawing of Figure 6 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_6 import draw
from widenet.plots.style import render


def test_figure_6_has_both_maps(decoy: xr.Dataset) -> None:
    maps = xr.Dataset(
        {
            "recovery_by_width": (("map_margin", "map_half_width"), [[0.0, 0.12], [0.5, 0.97]]),
            "recovery_by_share": (("map_margin", "single_share"), [[1.0, 0.31], [0.5, 0.0]]),
        },
        coords={"map_margin": [1.0, 2.0], "map_half_width": [2, 100], "single_share": [0.0, 1 / 6]},
    )
    svg = render(draw(decoy.merge(maps).assign_attrs(map_runs=60)).drawing(), "svg").decode()
    for shown in (">97<", ">31<", "margin γ", ">16.7<"):
        assert shown in svg
