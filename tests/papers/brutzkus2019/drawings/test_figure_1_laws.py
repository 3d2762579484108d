"""The drawing of the choices around Figure 1 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_1_laws import draw
from widenet.plots.style import BROKEN, MEASURED, render


def test_a_panel_per_width_and_a_row_per_choice() -> None:
    laws = xr.Dataset(
        {"solved": (("choice", "channels"), [[60, 95], [10, 50]])},
        coords={"choice": ["one", "two"], "channels": [4, 8]},
        attrs={"n_runs": 100},
    )
    drawing = draw(laws).drawing()
    panels = drawing.subfigs[0].axes
    assert [len(axes.lines) for axes in panels] == [4, 4]  # the reported count and its diamond, two marks
    assert [line.get_color() for line in panels[0].lines[1:3]] == [MEASURED, BROKEN]
    assert "8 channels" in render(drawing, "svg").decode()
