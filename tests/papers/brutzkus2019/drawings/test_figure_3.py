"""The drawing of Figure 3 of brutzkus2019."""

import xarray as xr

from widenet.papers.brutzkus2019.drawings.figure_3 import draw
from widenet.plots.style import render


def test_four_discs_and_the_outcomes_of_all_runs(decoy: xr.Dataset) -> None:
    picture = draw(decoy)
    titles = [panel.title for panel in picture.panels]
    assert titles == [
        *("40 filters: start", "40 filters: end", "4 filters: start", "4 filters: end"),
        "How 4 runs of each ended",
    ]
    svg = render(picture.drawing(), "svg").decode()
    assert "zero training error, wrong elsewhere" in svg
    assert ">50\u202f%<" in svg  # two of the four runs are right everywhere
