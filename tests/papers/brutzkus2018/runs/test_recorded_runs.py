"""What is measured of a trial that is uneven in every respect, and how many updates a run is given."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2018.toys import three_points
from widenet.papers.brutzkus2018.claims.convergence import theorem_2
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs import recorded_runs
from widenet.papers.brutzkus2018.runs.recorded_runs import GIVEN_UP, budget, record_runs
from widenet.types import RunStatus


def test_every_measure_by_hand():
    """No entry of a point is above 1 and its norm is; the longest row is a minus row, the worst label the last one."""
    trial = three_points(
        0.5,
        0.25,
        inputs=np.array([[0.3, 0.4], [0.9, -0.9], [-0.6, 0.8]]),
        labels=np.array([1.0, -1.0, 1.5]),
        hidden=np.array([[0.0, 0.5], [0.1, 0.2], [0.0, 0.1], [-3.0, 4.0]]),
        output=np.array([0.5, 0.25, -0.75, -0.5]),
        at_zero=0.75,
    )
    found = record_runs([trial], most_updates=1)
    expected = {
        "separator_norm": 1.25,
        "slope": 0.5,
        "step_size": 0.25,
        "output_weight": 0.5,
        "row_bound": 0.5,
        "half_width": 2.0,
        "smallest_margin": 0.5,
        "largest_input": 1.62**0.5,
        "relative_row": 10.0,
        "label_error": 0.5,
        "smallest_output": 0.25,
        "output_spread": 0.5,
        "at_zero": 0.75,
    }
    assert {name: getattr(found, name)[0] for name in expected} == pytest.approx(expected, rel=1e-12)


def test_rows_of_zeros_fit_under_a_bound_of_zero_and_no_others_do():
    trial = three_points(0.5, 0.25, row_bound=0.0)
    rows = [np.zeros((4, 2)), np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1e-100], [0.0, 0.0]])]
    found = record_runs([dataclasses.replace(trial, hidden=each) for each in rows], most_updates=1)
    assert found.relative_row.tolist() == [0, np.inf]


def test_a_run_gets_one_update_more_than_it_is_promised_to_need():
    """With ⌊M_k⌋ of them none could break Theorem 2: it would be cut off instead."""
    trial = three_points(0.5, 0.25)
    assert max_nonzero_updates(*trial.parameters) == pytest.approx(109.79102)
    assert budget(trial) == 110
    assert budget(dataclasses.replace(trial, separator=np.zeros(2))) == GIVEN_UP
    assert budget(dataclasses.replace(trial, step_size=1e-6)) == GIVEN_UP


def test_a_run_that_needs_more_than_the_bound_refutes_it(monkeypatch):
    """With a bound of 2.5 the third update is made, seen, and counted against it."""
    monkeypatch.setattr(recorded_runs, "max_nonzero_updates", lambda *parameters: 2.5)
    runs = record_runs([three_points(0.5, 0.25)])
    assert (runs.updates[0], runs.status[0]) == (3, RunStatus.BUDGET_SPENT)
    broken = theorem_2([runs], bound=lambda *parameters: np.full(len(runs), 2.5))
    assert [part.kept for part in broken.parts if part.name.startswith("at most")] == [False]
