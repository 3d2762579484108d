"""Starts that are drawn in pieces, and the first of them trained."""

import numpy as np

from widenet.papers.brutzkus2018.runs import initializations as module
from widenet.papers.brutzkus2018.runs.initializations import InitializationSetting, run_initializations
from widenet.progress import silent

SETTING = InitializationSetting(dim=6, delta=0.3, half_width=2, n_starts=500, n_trained=20, seed=1)


def test_the_pieces_are_counted_together(monkeypatch):
    whole = run_initializations(SETTING, silent)
    monkeypatch.setattr(module, "PIECE", 77)
    parts = run_initializations(SETTING, silent)
    assert len(whole.solvable) == len(parts.solvable) == 500
    assert whole.solvable.tolist() == parts.solvable.tolist()
    assert (whole.imbalance, whole.correlation) == (parts.imbalance, parts.correlation)


def test_the_trained_ones_end_as_their_start_says():
    found = run_initializations(SETTING, silent)
    assert found.ended.all()
    np.testing.assert_array_equal(found.reached, found.solvable[:20])
    assert found.reached.any()
    assert not found.reached.all()
