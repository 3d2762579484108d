"""Whatever differs between two widths at any time is seen."""

import dataclasses

import pytest

from widenet.papers.brutzkus2018.runs import tied_rows
from widenet.papers.brutzkus2018.runs.sgd import train_trial
from widenet.papers.brutzkus2018.runs.tied_rows import TiedSetting, train_tied

SETTING = TiedSetting(seed=0, n_data_sets=1, half_widths=(1, 4))


def in_the_middle(kept):
    """W_0 moved, and W_T left where it was."""
    hidden = kept.trial.hidden.copy()
    hidden[5] *= 1.2
    return {"trial": dataclasses.replace(kept.trial, hidden=hidden)}


def last_row(kept):
    hidden = kept.hidden.copy()
    hidden[-1] *= 1.2
    return {"hidden": hidden}


@pytest.mark.parametrize(
    "changes",
    [
        lambda kept: {"alignments": 1.2 * kept.alignments},
        lambda kept: {"norms": 1.2 * kept.norms},
        in_the_middle,
        last_row,
    ],
    ids=["F", "G", "W on the way", "W at the end"],
)
def test_a_wider_network_that_goes_elsewhere(changes, monkeypatch):
    assert train_tied(SETTING).difference[0] < 1e-12

    def moved(trial, most):
        kept = train_trial(trial, most)
        return dataclasses.replace(kept, **changes(kept)) if trial.half_width == 4 else kept

    monkeypatch.setattr(tied_rows, "train_trial", moved)
    assert train_tied(SETTING).difference[0] > 1e-3
    assert train_tied(SETTING).same_samples.tolist() == [True]


@pytest.mark.parametrize("row", [1, 5])
def test_a_row_that_is_not_tied_is_seen_in_either_half(row, monkeypatch):
    """One entry of W_0 is 0.3·v off, in the second row of its half."""

    def loosened(trial, most):
        hidden = trial.hidden.copy()
        if trial.half_width == 4:
            hidden[row, 2] += 0.3 * trial.output_weight
        return train_trial(dataclasses.replace(trial, hidden=hidden), most)

    monkeypatch.setattr(tied_rows, "train_trial", loosened)
    assert train_tied(SETTING).untied.tolist() == [0, pytest.approx(0.3)]
