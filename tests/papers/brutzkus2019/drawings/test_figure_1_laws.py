"""The drawing of the choices around Figure 1 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_1_laws import draw
from widenet.plots.style import render


def test_a_panel_per_width_and_a_row_per_choice() -> None:
    laws = xr.Dataset(
        {"solved": (("choice", "channels"), [[60, 95], [10, 50]])},
        coords={"choice": ["one", "two"], "channels": [4, 8]},
        attrs={"n_runs": 100},
    )
    drawing = draw(laws)
    assert [len(axes.lines) for axes in drawing.axes] == [5, 5]  # two intervals, two marks, the reported count
    assert "8 channels" in render(drawing, "svg").decode()
