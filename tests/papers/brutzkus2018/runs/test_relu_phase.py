"""ReLU networks on orthonormal points, trained in full."""

import dataclasses

import numpy as np

from widenet.papers.brutzkus2018.runs import relu_phase
from widenet.papers.brutzkus2018.runs.online import OnlineRuns
from widenet.papers.brutzkus2018.runs.relu_phase import PhaseSetting, run_phase
from widenet.progress import silent


def test_runs_end_as_the_start_says():
    column = run_phase(PhaseSetting(dim=4, half_widths=(1, 8), n_runs=30), silent)
    np.testing.assert_array_equal(column.reached, column.predicted)
    assert (column.disagree == 0).all()
    assert (column.unfinished == 0).all()
    assert column.reached[0] < 10 < column.reached[1]


def test_runs_that_end_otherwise_are_counted_either_way(monkeypatch):
    """Left where they start, no run is at loss 0 though K_0 is empty; moved far out, all are though it is not."""
    starts = []

    def left_alone(start):
        starts.append(start)
        return OnlineRuns(start.weights, start.outputs(start.weights), np.zeros((30, 4), int), np.ones(30, bool))

    monkeypatch.setattr(relu_phase, "train_online", left_alone)
    setting = PhaseSetting(dim=4, half_widths=(2,), n_runs=30)
    at_rest = run_phase(setting, silent)
    assert at_rest.reached[0] == 0 < at_rest.predicted[0] == at_rest.disagree[0] < 30
    weights = starts[0].weights
    assert (-1 <= weights.min() < -0.95, 0.95 < weights.max() <= 1) == (True, True)
    monkeypatch.setattr(
        relu_phase,
        "train_online",
        lambda start: dataclasses.replace(
            left_alone(start), weights=np.ones_like(start.weights) * np.array([2.0, 2, -1, -1])[:, None]
        ),
    )
    far_out = run_phase(setting, silent)
    assert far_out.reached[0] == 30
    assert far_out.disagree[0] == 30 - at_rest.predicted[0]


def test_a_width_does_not_depend_on_the_others():
    both = run_phase(PhaseSetting(dim=4, half_widths=(1, 2), n_runs=10), silent)
    alone = run_phase(PhaseSetting(dim=4, half_widths=(2,), n_runs=10), silent)
    assert both.reached[1] == alone.reached[0]
