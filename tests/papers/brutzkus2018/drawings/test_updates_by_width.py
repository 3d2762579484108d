"""The drawing of updates against the width, from runs that were never trained."""

import numpy as np

from widenet.papers.brutzkus2018.drawings.updates_by_width import draw
from widenet.papers.brutzkus2018.figures.updates_by_width import reduce_updates_by_width
from widenet.papers.brutzkus2018.runs.widths import Normalization, WidthRuns, WidthSetting
from widenet.plots.style import render
from widenet.types import RunStatus


def test_both_normalizations_are_drawn_with_their_bounds() -> None:
    cells = [
        WidthRuns(
            WidthSetting(half_width=half, normalization=kind, n_runs=2),
            np.array([40, 50]),
            np.full(2, RunStatus.CONVERGED),
            kind.size(half),
            kind.size(half),
            1.0,
            1.0,
        )
        for kind, half in ((Normalization.EQUATION_6, 1), (Normalization.EQUATION_6, 4), (Normalization.SMALLER, 1))
    ]
    picture = draw(reduce_updates_by_width(cells))
    titles = [panel.title for panel in picture.panels]
    assert titles == ["R = v = 1/√(2k): updates do not grow", "R = v = 1/(2k): updates do not grow"]
    assert render(picture.drawing(), "svg").decode().count(">at most Mₖ<") == 2
    assert "mean of 2 runs per width" in picture.note
