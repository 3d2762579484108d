"""Starts that are drawn in pieces, and the first of them trained."""

import numpy as np
import pytest

from widenet.papers.brutzkus2018.runs import initializations as module
from widenet.papers.brutzkus2018.runs.initializations import InitializationSetting, StartLaw, run_initializations
from widenet.progress import silent

SETTING = InitializationSetting(dim=6, delta=0.3, half_width=2, n_starts=500, n_trained=20, seed=1)


def test_the_pieces_are_counted_together(monkeypatch):
    whole = run_initializations(SETTING, silent)
    monkeypatch.setattr(module, "PIECE", 77)
    parts = run_initializations(SETTING, silent)
    assert len(whole.solvable) == len(parts.solvable) == 500
    assert whole.solvable.tolist() == parts.solvable.tolist()
    assert (whole.imbalance, whole.correlation) == (parts.imbalance, parts.correlation)


@pytest.mark.parametrize(
    ("law", "least", "most"), [("EQUAL_ENTRIES", 1, 1), ("EQUAL_ROWS", 1, 1), ("INDEPENDENT", 0, 0.3)]
)
def test_signs_that_go_together_are_seen_along_rows_and_along_columns(law, least, most):
    found = run_initializations(SETTING.model_copy(update={"law": StartLaw[law]}), silent)
    assert least <= found.correlation <= most


@pytest.mark.parametrize("sizes", [(3, 2, 1), (1, 3, 2), (1, 2, 3)])
def test_the_largest_entry_is_that_of_all_pieces(sizes, monkeypatch):
    left = list(sizes)
    monkeypatch.setitem(
        module.ENTRIES, StartLaw.INDEPENDENT, lambda draw, shape: left.pop(0) * draw.choice([-1.0, 1.0], shape)
    )
    monkeypatch.setattr(module, "PIECE", 240)
    assert run_initializations(SETTING, silent).largest_entry == 3


def test_the_trained_ones_end_as_their_start_says():
    found = run_initializations(SETTING, silent)
    assert found.ended.all()
    np.testing.assert_array_equal(found.reached, found.solvable[:20])
    assert found.reached.any()
    assert not found.reached.all()
