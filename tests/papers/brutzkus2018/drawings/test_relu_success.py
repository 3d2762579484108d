"""The phase diagram, from runs that were never trained."""

import numpy as np

from widenet.papers.brutzkus2018.drawings.relu_success import draw
from widenet.papers.brutzkus2018.figures.relu_success import reduce_relu_success
from widenet.papers.brutzkus2018.runs.relu_phase import PhaseColumn, PhaseSetting
from widenet.plots.style import render


def test_the_phase_diagram_has_its_thresholds() -> None:
    reached, none = np.array([1, 5]), np.zeros(2, int)
    columns = [
        PhaseColumn(PhaseSetting(dim=dim, half_widths=(1, 3), n_runs=5), reached, reached, none, none) for dim in (2, 4)
    ]
    picture = draw(reduce_relu_success(columns))
    svg = render(picture.drawing(), "svg").decode()
    assert "k = log₂(2d/δ): at least 90\u202f% succeed" in svg
    assert "k = log₂(d/ln(1/δ)): at most 10\u202f%" in svg
    assert "5 runs per cell" in picture.note
