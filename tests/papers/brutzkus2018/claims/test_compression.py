"""The trained network is made of the points that updated it; fewer points or another start give another one."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, spared
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import compression
from widenet.papers.brutzkus2018.claims.compression import (
    compression_replay,
    compression_replay_as_printed,
    section_6_1_unused_points,
)
from widenet.papers.brutzkus2018.runs import learning as learning_module
from widenet.papers.brutzkus2018.runs.exact_sgd import fractions
from widenet.papers.brutzkus2018.runs.learning import Learning, LearningRule, LearningRuns, learn_all, learning_settings
from widenet.papers.brutzkus2018.runs.sgd import train_trial
from widenet.papers.brutzkus2018.runs.two_samples import TwoSamples, opposite_labels, two_samples
from widenet.papers.brutzkus2018.sources import DrawnSamples, OnePoint
from widenet.records import Scale


def drawn(seed, trials, n_samples, separator_norm, largest_margin):
    return DrawnSamples(
        seed=seed, trials=trials, n_samples=n_samples, separator_norm=separator_norm, largest_margin=largest_margin
    ).draw()


HARD = Learning(drawn(3, 4, 100, 5.0, 0.4), LearningRule(half_width=5, slope=0.5, step_size=1.0))


@pytest.mark.parametrize("claim", [compression_replay, section_6_1_unused_points], ids=lambda claim: claim.id)
def test_it_holds(claim):
    rules = [setting.rule for setting in learning_settings(Scale.QUICK, 0)[:3]]
    evidence = claim([learn_all(Learning(drawn(0, 2, 100, 3.0, 0.5), rule), replayed=True) for rule in rules])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 6
    assert not evidence.vacuous


def test_points_repeat_and_are_fewer_than_the_bound():
    evidence = compression_replay([learn_all(HARD, replayed=True)])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.measured is not None
    assert evidence.promised is not None
    assert 20 < evidence.measured < evidence.promised


@pytest.mark.parametrize(
    "change",
    [
        {"keep": lambda updated: updated[1:]},
        # Without their order and repetitions the points are no compression of the run.
        {"keep": lambda updated: sorted(set(updated))},
        {"start": lambda learning, trial: learning.start(trial + 1)},
    ],
    ids=["the first update is forgotten", "only distinct points", "another start"],
)
def test_control_another_replay(change):
    evidence = compression_replay([learn_all(HARD, replayed=True, **change)])
    assert evidence.verdict is Verdict.VIOLATED
    assert [part.kept for part in evidence.parts] == [True, False]
    assert "ended elsewhere" in evidence.note


def test_replays_before_the_loss_is_zero_decide_nothing():
    runs = learn_all(HARD, replayed=True, keep=lambda updated: updated[1:])
    unfinished = dataclasses.replace(runs, loss=runs.loss + 0.1)
    assert compression_replay([unfinished]).parts[1].kept is None


def test_a_difference_that_no_float_can_show_is_one():
    (pair,) = opposite_labels(Scale.QUICK, 0)
    other = dataclasses.replace(pair.first, weights=pair.first.weights + Fraction(1, 10**400))
    found = dataclasses.replace(pair, second=other)
    assert found.difference == 0
    assert compression_replay_as_printed([found]).parts[0].kept is False


def test_nothing_is_replayed_where_nothing_was_updated():
    runs = learn_all(HARD, replayed=True)
    assert compression_replay([dataclasses.replace(runs, updates=0 * runs.updates)]).conclusion is None


def stopped_early():
    """‖w*‖ = 20, margins from .05 to .1, four updates: nearly half of the other points are wrong."""
    rule = LearningRule(half_width=5, slope=0.2, step_size=1.0, max_updates=4)
    return learn_all(Learning(drawn(0, 3, 500, 20.0, 0.1), rule))


def test_control_unused_points_are_wrong_before_the_loss_is_zero():
    evidence = section_6_1_unused_points([stopped_early()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 0.2
    assert [h.key for h in evidence.hypotheses if not h.met] == ["loss_zero"]


def test_nothing_outside_the_compression_set_is_no_evidence():
    one_point = Learning(drawn(0, 2, 1, 2.0, 0.7), LearningRule(half_width=1, slope=0.5, step_size=1.0))
    evidence = section_6_1_unused_points([learn_all(one_point)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["unused_points"]


RUNS = learn_all(HARD, replayed=True)
SIZE = RUNS.compression_size
ONCE_OFF = np.arange(4) != 2


def cells(**fields):
    """A cell with these fields between two that are sound."""
    return [RUNS, RUNS.replace(**fields), RUNS]


def test_a_run_without_updates_replays_as_well_as_others():
    assert compression_replay(cells(updates=np.where(ONCE_OFF, SIZE, 0))).verdict is Verdict.HOLDS


def test_without_a_separator_no_number_of_points_is_promised():
    evidence = compression_replay(cells(separator_norm=0.0))
    assert (evidence.parts[0].kept, evidence.parts[0].n_cases) == (True, 8)


def test_an_error_on_no_points_is_none():
    none = cells(n_unused=np.where(ONCE_OFF, 1, 0), unused_error=np.where(ONCE_OFF, 0.0, 1.0))
    evidence = section_6_1_unused_points(none)
    assert (evidence.parts[0].kept, evidence.parts[0].n_cases) == (True, 11)


def test_c_k_is_the_floor_of_the_bound():
    """‖w*‖ = 2, α = 0.9, η = 10: M = 7.993, c_k = 7; without a separator there is none."""
    rule = LearningRule(half_width=5, slope=0.9, step_size=10.0)
    assert dataclasses.replace(RUNS, rule=rule, separator_norm=2.0).compression_size == 7
    assert dataclasses.replace(RUNS, rule=rule, separator_norm=0.0).compression_size == 0


@pytest.mark.parametrize(
    "what", ["one label is flipped", "two points are exchanged", "one bit", "one point of padding"]
)
def test_control_a_replay_that_is_a_little_off(monkeypatch, what):
    """Labels, order, the last bit and the padding all matter: a padding point of margin below 1 makes an update."""
    honest = learning_module.replay

    def off(rule, start, inputs, labels, points):
        match what:
            case "one label is flipped":
                labels = np.where(np.arange(len(labels)) == points[0], -labels, labels)
            case "two points are exchanged":
                first = next(place for place in range(len(points)) if points[place] != points[0])
                points = [points[first], *points[1:first], points[0], *points[first + 1 :]]
            case "one point of padding":
                inputs = np.concatenate([inputs, inputs[:1] * 1e-3])
                points, labels = [*points, len(labels)], np.append(labels, labels[0])
        weights = honest(rule, start, inputs, labels, points)
        return np.nextafter(weights, np.inf) if what == "one bit" else weights

    monkeypatch.setattr(learning_module, "replay", off)
    assert broken_in(compression_replay([learn_all(HARD, replayed=True)])) == ["replay"]


def test_the_points_without_their_labels_do_not_determine_the_network():
    """One update each, on the same point: w = 1, u = −1 and N(1) = 1 + ½, or w = −1, u = 1 and N(1) = −½ − 1."""
    (pair,) = opposite_labels(Scale.QUICK, 0)
    assert [end.weights.tolist() for end in pair.ends] == [[[1], [-1]], [[-1], [1]]]
    assert [end.outputs.tolist() for end in pair.ends] == [[Fraction(3, 2)], [Fraction(-3, 2)]]
    assert [end.updates.tolist() for end in pair.ends] == [[1], [1]]
    evidence = compression_replay_as_printed([pair])
    assert (evidence.verdict, evidence.measured) == (Verdict.VIOLATED, 3)
    assert "compression_replay_as_printed" in compression_replay([RUNS]).note


def test_the_same_two_runs_in_float64():
    """A second derivation: one recorded trial with either label."""
    ends = []
    for label in (1.0, -1.0):
        (trial,) = OnePoint(slope=0.5, step_size=1.0, output_weight=1.0, plus_rows=(0.0,), minus_rows=(0.0,)).draw()
        ends.append(train_trial(dataclasses.replace(trial, labels=np.array([label]), separator=np.array([label])), 9))
    assert [end.samples.tolist() for end in ends] == [[0], [0]]
    assert [end.hidden.ravel().tolist() for end in ends] == [[1.0, -1.0], [-1.0, 1.0]]


def test_the_map_without_labels_is_compared_in_fractions():
    pair = two_samples(1, 1)
    nearly = dataclasses.replace(pair.first, weights=pair.first.weights + Fraction(1, 10**20))
    evidence = compression_replay_as_printed([dataclasses.replace(pair, second=nearly)])
    assert evidence.verdict is Verdict.VIOLATED


def changed(**problem):
    """The pair with another problem in its first run."""
    (pair,) = opposite_labels(Scale.QUICK, 0)
    first = dataclasses.replace(pair.first, problem=dataclasses.replace(pair.first.problem, **problem))
    return at([two_samples(1, 1), dataclasses.replace(pair, first=first, separators=(Fraction(2), Fraction(-1)))])


def halfway():
    """The first run stopped before loss 0."""
    (pair,) = opposite_labels(Scale.QUICK, 0)
    short = dataclasses.replace(pair.first, weights=pair.first.weights / 2)
    return at([dataclasses.replace(pair, first=short)])


PRINTED, ONE_LABELLING = compression_replay_as_printed, at([two_samples(1, 1), two_samples(-1, -1)])


def test_one_labelling_spares_the_map_without_labels():
    spared(PRINTED, ONE_LABELLING)


test_control = controls(
    compression,
    {LearningRuns: [RUNS, RUNS], TwoSamples: lambda: opposite_labels(Scale.QUICK, 0)},
    (compression_replay, "replay"),
    (compression_replay, "points", {"updates": SIZE}, {"updates": SIZE + 1}),
    (section_6_1_unused_points, "unused_right", {}, {"unused_error": -1 / 100}),
    (PRINTED, "one_network", ONE_LABELLING, {}),
    (PRINTED, "same_points", {}, changed(inputs=fractions([["999999999/1000000000"]]))),
    (PRINTED, "input_norm", {}, changed(inputs=fractions([["1000000001/1000000000"]])), "same_points"),
    (PRINTED, "slope_positive", {}, changed(slope=Fraction(0))),
    (PRINTED, "slope_below_one", {}, changed(slope=Fraction(1))),
    (PRINTED, "loss_zero", {}, halfway()),
)
