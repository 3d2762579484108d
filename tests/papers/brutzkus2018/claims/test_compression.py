"""The trained network is made of the points that updated it; fewer points or another start give another one."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.compression import compression_replay, section_6_1_unused_points
from widenet.papers.brutzkus2018.runs.learning import Learning, LearningRule, learn_all, learning_settings
from widenet.papers.brutzkus2018.runs.sample_sets import DrawnSamples
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


def test_control_one_point_more_than_the_bound():
    runs = learn_all(HARD, replayed=True)
    size = np.full_like(runs.updates, runs.compression_size)
    assert compression_replay([dataclasses.replace(runs, updates=size)]).verdict is Verdict.HOLDS
    evidence = compression_replay([dataclasses.replace(runs, updates=size + 1)])
    assert [part.kept for part in evidence.parts] == [False, True]


def test_replays_before_the_loss_is_zero_decide_nothing():
    runs = learn_all(HARD, replayed=True, keep=lambda updated: updated[1:])
    unfinished = dataclasses.replace(runs, loss=runs.loss + 0.1)
    assert compression_replay([unfinished]).parts[1].kept is None


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


def test_control_unused_points_are_wrong_at_zero_loss():
    """No run does this; the judge must see it all the same."""
    runs = dataclasses.replace(stopped_early(), loss=np.zeros(3))
    assert section_6_1_unused_points([runs]).verdict is Verdict.VIOLATED


def test_nothing_outside_the_compression_set_is_no_evidence():
    one_point = Learning(drawn(0, 2, 1, 2.0, 0.7), LearningRule(half_width=1, slope=0.5, step_size=1.0))
    evidence = section_6_1_unused_points([learn_all(one_point)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["unused_points"]


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("separable", {"smallest_margin": 0.99}),
        ("input_norm", {"largest_norm": 1.01}),
        ("slope_positive", {"rule": LearningRule(half_width=5, slope=0.0, step_size=1.0)}),
        ("slope_below_one", {"rule": LearningRule(half_width=5, slope=1.0, step_size=1.0)}),
        ("step_size", {"rule": LearningRule(half_width=5, slope=0.5, step_size=0.0)}),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_control_each_hypothesis_of_the_setting(key, change):
    runs = dataclasses.replace(learn_all(HARD, replayed=True), **change)
    assert key in {h.key for h in section_6_1_unused_points([runs]).hypotheses if not h.met}
