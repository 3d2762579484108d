"""The drawing of updates against the step size, from runs that were never trained."""

import numpy as np

from widenet.papers.brutzkus2018.drawings.updates_by_step_size import draw
from widenet.papers.brutzkus2018.figures.updates_by_step_size import reduce_updates_by_step_size
from widenet.papers.brutzkus2018.runs.step_sizes import StepSizeRuns, StepSizeSetting
from widenet.plots.style import render
from widenet.types import RunStatus


def test_both_data_sets_are_drawn_between_their_bounds() -> None:
    setting = StepSizeSetting(powers=(-1, 0, 3), n_runs=2)
    updates = np.array([[90, 100], [50, 60], [20, 25]])
    runs = StepSizeRuns(setting, np.array([96, 48, 16]), updates, np.full((3, 2), RunStatus.CONVERGED))
    svg = render(draw(reduce_updates_by_step_size([runs])).drawing(), "svg").decode()
    assert "updates, basis sequence" in svg
    assert "updates, random data" in svg
    assert ">at most M<" in svg
