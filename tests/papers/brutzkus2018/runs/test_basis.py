"""Batches of runs on e_1, …, e_d: small ones that are known exactly, and cells that survive the store."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.runs.basis import (
    BasisBatch,
    BasisSetting,
    BasisShape,
    run_basis,
    stuck_balls,
    train_batch,
)
from widenet.papers.brutzkus2018.runs.online import OnlineRuns, OnlineStart
from widenet.progress import silent
from widenet.run.records import decode, encode


def batch_of(plus, minus, labels, step_size):
    weights = np.array([[plus, minus]], float)
    start = OnlineStart(np.eye(len(plus)), np.array([labels], float), weights, step_size)
    return train_batch(start, perturbations=20)


def test_the_end_of_a_stuck_run():
    batch = batch_of([-0.5, 0.2], [0.3, -0.1], [1, 1], 0.25)
    assert batch.runs.updates.tolist() == [[2, 4]]
    np.testing.assert_allclose(batch.runs.weights[0], [[-0.5, 1.2], [-0.2, -0.1]], atol=1e-15)
    assert batch.losses.tolist() == [0.5]
    assert batch.balls is not None
    assert batch.balls.radius[0] == pytest.approx(0.141421356237, rel=1e-11)
    assert batch.balls.changed.tolist() == [0]
    assert batch.balls.moving.tolist() == [0]


def test_a_stuck_point_with_label_minus():
    """K_0 is read from the neurons that vote for the label: from u on e_1 here."""
    batch = batch_of([0.5, 0.25], [-1, -1], [-1, 1], 0.25)
    assert batch.stuck.tolist() == [[True, False]]
    assert batch.runs.updates.tolist() == [[2, 3]]
    assert batch.losses.tolist() == [0.5]


def test_points_that_still_move_are_those_of_the_stuck_runs():
    """The first run is solved and has no ball; the second is said to have ended where e_1 would make an update."""
    weights = np.array([[[2.0, 2.0], [-1.0, -1.0]], [[0.5, -1.0], [-1.0, -1.0]]])
    start = OnlineStart(np.eye(2), np.ones((2, 2)), weights, 0.25)
    runs = OnlineRuns(weights, start.outputs(weights), np.zeros((2, 2), int), np.ones(2, bool))
    balls = stuck_balls(BasisBatch(start, runs), 5)
    assert (balls.run.tolist(), balls.moving.tolist()) == ([1], [1])


def test_a_cell_is_read_as_it_was_written():
    shapes = (BasisShape(n_runs=3, dim=4, half_width=1, step_size=0.3),)
    for mixed in (False, True):
        runs = run_basis(BasisSetting(shapes=shapes, mixed_labels=mixed, perturbations=0 if mixed else 5), silent)
        again = decode(type(runs), *encode(runs))
        assert (again.cases[0].balls is None) == mixed
        np.testing.assert_array_equal(again.cases[0].runs.weights, runs.cases[0].runs.weights)
        np.testing.assert_array_equal(again.cases[0].losses, runs.cases[0].losses)
