"""Counting updates in fractions and in float64."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from widenet.papers.brutzkus2018.runs import update_counts
from widenet.papers.brutzkus2018.runs.exact_sgd import fractions, relu_on_basis
from widenet.papers.brutzkus2018.runs.online import OnlineStart
from widenet.papers.brutzkus2018.runs.update_counts import UpdateSetting, run_updates
from widenet.run.records import decode, encode


def setting(**others):
    known = {"n_runs": 10, "dim": 4, "half_width": 7, "delta": 0.5, "entry_bound": "1", "step_size": "3/10"}
    return UpdateSetting(**(known | others))


@pytest.mark.parametrize(
    ("plus", "minus", "step", "updates", "output"),
    [
        (["1/1000"], ["-1"], "3/10", 4, "1201/1000"),
        (["1/1000"], ["1"], "3/5", 2, "1201/1000"),
        (["1/1000"] + ["-1"] * 19, ["2"] * 20, "3/10", 7, "2101/1000"),
        (["1/4"], ["1/2"], "1/8", 6, "1"),
        (["-1"], ["1/2"], "1/4", 2, "0"),
        (["-1", "-1/3"], ["7/10", "1/5"], "3/10", 3, "0"),
        (["0"], ["-1"], "1", 0, "0"),
        (["-1"], ["-1/2"], "1", 0, "0"),
    ],
)
def test_one_point(plus, minus, step, updates, output):
    end = relu_on_basis(1, len(plus)).train(fractions([[z] for z in (*plus, *minus)]), Fraction(step))
    assert (end.updates.tolist(), end.outputs.tolist()) == ([updates], [Fraction(output)])
    assert end.ended
    assert end.solved is (Fraction(output) >= 1)


def test_both_arithmetics_count_alike():
    """The same law of starts; the counts of each stay within the same bound and attain it."""
    exact = run_updates(setting(n_runs=60, half_width=2, exact=True))
    rounded = run_updates(setting(n_runs=60, half_width=2, step_size="0.3"))
    for counts in (exact, rounded):
        assert counts.updates[counts.solvable].max() == 4
        assert counts.ended.all()
        assert counts.excess < 0
    assert isinstance(exact.exact_step, Fraction)
    assert rounded.exact_step == 0.3


def test_what_is_measured_of_the_start(monkeypatch):
    """The entry furthest out is negative; one label is −1, v is 3/2, and the points are not quite orthonormal."""
    weights = np.full((10, 14, 4), 0.125)
    weights[3, 9, 2] = -0.75
    labels = np.ones((10, 4))
    labels[7, 1] = -1
    inputs = np.eye(4)
    inputs[0, 1] = -0.25
    start = OnlineStart(inputs, labels, weights, 0.5, output_weight=1.5, slope=0.2)
    monkeypatch.setattr(update_counts, "basis_start", lambda draw, shape, seed: start)
    counts = run_updates(setting(entry_bound="0.5", step_size="0.5"))
    measures = (counts.excess, counts.gram_error, counts.slope, counts.weight_error, counts.smallest_label)
    assert measures == pytest.approx((0.25, 0.25, 0.2, 0.5, -1))


def test_what_is_measured_of_an_exact_problem(monkeypatch):
    """Nothing is taken for granted in fractions either: what is measured is what is trained on."""
    problem = relu_on_basis(4, 7)
    problem.inputs[0, 1] = Fraction(-1, 4)
    problem.votes[3] = Fraction(3, 2)
    problem.labels[2] = Fraction(-1)
    other = dataclasses.replace(problem, slope=Fraction(1, 5))
    monkeypatch.setattr(update_counts, "relu_on_basis", lambda dim, half_width: other)
    monkeypatch.setattr(update_counts, "exact_starts", lambda *_: fractions(np.full((1, 4, 14), "3/4")))
    counts = run_updates(setting(entry_bound="1/2", step_size="1/2", exact=True))
    measures = (counts.excess, counts.gram_error, counts.slope, counts.weight_error, counts.smallest_label)
    assert measures == (0.25, 0.25, 0.2, 0.5, -1)


def test_a_cell_is_read_as_it_was_written():
    counts = run_updates(setting(exact=True, step_size="2"))
    again = decode(type(counts), *encode(counts))
    assert again.exact_step == 2
    np.testing.assert_array_equal(again.updates, counts.updates)
