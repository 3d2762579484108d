"""Pairs of runs, followed step by step."""

import numpy as np

from widenet.papers.brutzkus2019.runs.sign_flips import SignFlips, flip, flip_setting, follow, run
from widenet.papers.brutzkus2019.runs.trained import train_from
from widenet.papers.brutzkus2019.sources import draw_filters
from widenet.run.records import decode, encode


def some_filters():
    return draw_filters(0, 4, 2, 2e-4)


def test_flipping_twice_is_nothing():
    filters = some_filters()
    assert (flip(flip(filters)) == filters).all()
    assert (flip(filters) != filters).sum() == 8
    assert (flip(filters)[:, 2] == -filters[:, 2]).all()  # u^(1), after the two w's


def test_following_step_by_step_is_training():
    pairs = follow(some_filters(), 1 / 82, 1.0, max_steps=300)
    for twin, start in enumerate((some_filters(), flip(some_filters()))):
        for steps in (1, 2, 7, 300):
            at_once = train_from(start, 1 / 82, 1.0, max_steps=steps)
            assert (pairs.paths[twin, min(steps, pairs.paths.shape[1] - 1)] == at_once.final).all()
        assert (pairs.steps[twin] == at_once.steps).all()
        assert (pairs.status[twin] == at_once.status).all()
    assert not pairs.unfinished.any()


def test_runs_that_were_cut_off_are_known():
    pairs = follow(some_filters(), 1 / 82, 1.0, max_steps=5)
    assert pairs.paths.shape[1] == 6
    assert pairs.unfinished.any()


def test_a_cell_is_read_as_it_was_written_and_progress_is_told():
    told = []
    pairs = run(
        flip_setting(3, 2, 1.0).model_copy(update={"max_steps": 4}), lambda fraction, words: told.append(fraction)
    )
    read = decode(SignFlips, *encode(pairs))
    assert np.array_equal(read.paths, pairs.paths)
    assert (read.half_width, len(read)) == (2, 2)
    assert told == sorted(told)
    assert len(told) == 3
