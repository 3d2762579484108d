"""The drawing of Figure 3 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_3 import draw
from widenet.plots.style import render


def test_four_discs_and_the_outcomes_of_all_runs(decoy: xr.Dataset) -> None:
    drawing = draw(decoy)
    titles = [axes.get_title(loc="left") for axes in drawing.axes]
    assert titles == ["(a) k = 20, start", "(b) k = 20, end", "(c) k = 2, start", "(d) k = 2, end", ""]
    svg = render(drawing, "svg").decode()
    assert "zero training error, wrong elsewhere" in svg
    assert ">50 %<" in svg  # two of the four runs are right everywhere
