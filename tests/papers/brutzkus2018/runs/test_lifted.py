"""What is measured of runs with a bias and of their lifted twins."""

import numpy as np
import pytest

from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.runs import lifted
from widenet.papers.brutzkus2018.runs.lifted import BiasedCase, lift, train_biased
from widenet.papers.brutzkus2018.runs.sgd import train_trial
from widenet.papers.brutzkus2018.sources import Trial


def two_points() -> BiasedCase:
    """x = ½ and −½ with w = 4 and b = ½, which have the margins 2½ and 1½."""
    inputs, affine = np.array([[0.5], [-0.5]]), np.array([4.0, 0.5])
    trial = Trial(
        lift(inputs),
        np.array([1.0, -1.0]),
        2**0.5 * affine,
        np.zeros((2, 2)),
        plus_minus_weights(1, 1.0),
        0.5,
        0.25,
        0.0,
    )
    return BiasedCase(inputs, affine, trial)


def test_the_measures_by_hand():
    runs = train_biased([two_points()])
    measures = (runs.smallest_margin, runs.largest_input, runs.affine_square, runs.separator_norm)
    assert [values.item() for values in measures] == pytest.approx([1.5, 0.625**0.5, 16.25, 32.5**0.5], rel=1e-12)
    assert runs.updates[0] > 2
    assert runs.last_margin[0] >= 1
    assert runs.same_samples.tolist() == [True]


@pytest.mark.parametrize("place", [(0, 0), (1, 1)])
def test_a_weight_or_a_bias_that_differs_is_seen(place, monkeypatch):
    def moved(trial, most):
        kept = train_trial(trial, most)
        if trial.step_size == 0.125:
            kept.hidden[place] += 0.5
        return kept

    monkeypatch.setattr(lifted, "train_trial", moved)
    assert train_biased([two_points()]).difference[0] > 0.05
