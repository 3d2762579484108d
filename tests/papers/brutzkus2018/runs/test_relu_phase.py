"""ReLU networks on orthonormal points, trained in full."""

import numpy as np

from widenet.papers.brutzkus2018.runs.relu_phase import PhaseSetting, run_phase
from widenet.progress import silent


def test_runs_end_as_the_start_says():
    column = run_phase(PhaseSetting(dim=4, half_widths=(1, 8), n_runs=30), silent)
    np.testing.assert_array_equal(column.reached, column.predicted)
    assert (column.disagree == 0).all()
    assert (column.unfinished == 0).all()
    assert column.reached[0] < 10 < column.reached[1]


def test_a_width_does_not_depend_on_the_others():
    both = run_phase(PhaseSetting(dim=4, half_widths=(1, 2), n_runs=10), silent)
    alone = run_phase(PhaseSetting(dim=4, half_widths=(2,), n_runs=10), silent)
    assert both.reached[1] == alone.reached[0]
