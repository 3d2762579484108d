"""Wide networks: Theorem 6.3 and what leads to it, with controls outside its regime and with wrong constants."""

import dataclasses
import math

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.networks import (
    altered,
    broken,
    fast,
    in_the_corner,
    networks,
    number,
    part,
    repeated,
    small_margin,
    some,
    twenty,
)
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones, on_negative_axis
from widenet.papers.brutzkus2019.claims.wide import (
    convergence_settings,
    fewest_updates,
    lemma_e_17,
    proposition_e_14,
    regime_settings,
    theorem_6_3,
    theorem_6_3_angle,
    zero_loss_settings,
)
from widenet.papers.brutzkus2019.formulas import cosine_limit, recovery_failure, steps_of_theorem_6_3
from widenet.papers.brutzkus2019.runs.trained import Trained, train_from
from widenet.papers.brutzkus2019.runs.training_set import from_sets
from widenet.records import Scale
from widenet.types import RunStatus

ZERO_LOSS, IN_TIME = "zero loss inside the events of the proof", "in time inside the events"
ANGLE, UPDATES = "the angle to its pattern", "a⁺(T) ≥ (γ − 1)/(2c_η) − 1"


def unmet(evidence) -> set[str]:
    return {hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met}


@pytest.fixture(scope="module")
def corner() -> Trained:
    """k = 120, c_η = 1/410, γ = 8, as many runs as the theorem needs: the same sixty several times."""
    return repeated(in_the_corner(), 557)


def test_theorem_6_3_holds_in_its_corner(corner):
    evidence = theorem_6_3([corner])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 557
    assert evidence.details["cases"][0]["exact_probability_outside_the_event"] < 2.1e-4
    assert math.isclose(number(evidence.promised), 0.00536740204644, rel_tol=1e-11)
    assert math.isclose(number(part(evidence, "in time").promised), 103_544, rel_tol=1e-9)


def test_too_few_runs_decide_nothing(corner):
    assert theorem_6_3([some(corner, slice(400))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_margin_of_one():
    """γ = 1 reaches zero loss and recovers f* in a few runs of a hundred."""
    evidence = theorem_6_3([small_margin()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert number(evidence.measured) > 0.8
    assert unmet(evidence) == {"step_constant", "margin"}


def test_control_eight_filters():
    """k = 8: about a fifth of the runs does not recover f*."""
    evidence = theorem_6_3([networks(8, 1 / 41, 8.0, 600)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert 0.1 < number(evidence.measured) < 0.35


def test_control_one_failure_inside_the_events_refutes(corner):
    evidence = theorem_6_3([altered(corner, outputs=((3, 0), 0.0))])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == ["right on all 15 pattern sets inside the events"]


def test_control_a_loss_that_is_not_quite_zero(corner):
    assert broken(theorem_6_3([altered(corner, loss=(7, 1e-12))])) == [ZERO_LOSS]


def test_control_one_step_too_many(corner):
    assert theorem_6_3([altered(corner, steps=(7, 103_544))]).verdict is Verdict.HOLDS
    assert broken(theorem_6_3([altered(corner, steps=(7, 103_545))])) == [IN_TIME]


def test_control_eight_failures_of_560(corner):
    """Outside the events, so that only the rate can tell: the lower limit is 7.1e-3, above 5.4e-3."""
    runs = altered(repeated(corner, 560), start=(slice(8), 1.0), loss=(slice(8), 1.0))
    assert broken(theorem_6_3([runs])) == ["runs fail at most as often as promised"]
    assert theorem_6_3([runs], failure=lambda half_width: 3 * recovery_failure(half_width)).conclusion is not False


def test_control_a_shorter_time_than_any_run_takes(corner):
    evidence = theorem_6_3([corner], steps=lambda c, gamma: steps_of_theorem_6_3(c, gamma) / 28)
    assert broken(evidence) == ["runs fail at most as often as promised", IN_TIME]


def test_control_outputs_that_are_not_numbers_are_wrong(corner):
    assert theorem_6_3([altered(corner, outputs=((slice(None), 4), np.nan))]).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"required_margin": 7.999}, "margin"),
        ({"step_size": 1 / 409 / 120}, "step_constant"),
        ({"points": from_sets({14: 2, 9: 1, 1: 1})}, "diverse"),
        ({"points": from_sets({14: 2, 9: 1})}, "balanced"),
        ({"points": from_sets({14: 1, 9: 1}).model_copy(update={"not_signs": 1})}, "signs"),
        ({"points": from_sets({14: 1, 9: 1}).model_copy(update={"mislabelled": 1})}, "labels"),
    ],
)
def test_control_each_hypothesis_just_outside(corner, change, key):
    assert unmet(theorem_6_3([dataclasses.replace(corner, **change)])) == {key}


def test_control_a_width_just_outside_and_a_larger_start(corner):
    narrower = dataclasses.replace(corner, start=corner.start[:, 1:-1], final=corner.final[:, 1:-1])
    assert "width" in unmet(theorem_6_3([narrower]))
    assert "deviation" in unmet(theorem_6_3([dataclasses.replace(corner, start=1.2 * corner.start)]))


def test_runs_cut_short_are_not_failures(corner):
    cut = train_from(corner.start[:20], corner.step_size, 8.0, max_steps=50)
    evidence = theorem_6_3([cut])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 20


def test_the_angle(corner):
    evidence = theorem_6_3_angle([corner])
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(number(evidence.promised), 2.61950653327, rel_tol=1e-8)
    assert 0.01 < number(evidence.measured) < 0.03
    assert math.isclose(number(part(evidence, "a⁺").promised), 1434, rel_tol=1e-9)
    assert evidence.details["fewest_updates_a_plus"] >= evidence.details["sharp_updates"]


def test_control_the_angle_after_one_step(corner):
    once = train_from(corner.start[:20], corner.step_size, 8.0, max_steps=1)
    assert theorem_6_3_angle([once]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    ended = dataclasses.replace(once, status=np.full(20, RunStatus.CONVERGED), loss=np.zeros(20))
    evidence = theorem_6_3_angle([ended])
    assert evidence.verdict is Verdict.VIOLATED
    assert 40 < number(evidence.measured) < 50


def turned(runs: Trained, degrees: float) -> Trained:
    """One w filter of W⁺(1) turned to this angle from p_1, with the same fit to it."""
    run, place = np.argwhere(cones(runs.start[:, :120])[..., 0])[0]
    fit = float(runs.final[run, place] @ PATTERNS[0])
    across = fit * math.tan(math.radians(degrees))
    return altered(runs, final=((run, place), (fit * PATTERNS[0] + across * PATTERNS[1]) / 2))


def test_control_one_filter_turned_beyond_its_angle(corner):
    assert theorem_6_3_angle([turned(corner, 2.61)]).verdict is Verdict.HOLDS
    assert broken(theorem_6_3_angle([turned(corner, 2.63)])) == [ANGLE]


def test_control_one_filter_with_too_few_updates(corner):
    run, place = np.argwhere(cones(corner.start[:, :120])[..., 0])[0]
    for updates, expected in ((1434, []), (1433, [UPDATES])):
        moved = corner.start[run, place] + updates * corner.step_size * PATTERNS[0]
        evidence = theorem_6_3_angle([altered(corner, final=((run, place), moved))])
        assert broken(evidence) == expected


def test_control_other_constants_of_the_angle(corner):
    sharper = theorem_6_3_angle([corner], cosine=lambda gamma, c: 1 - (1 - cosine_limit(gamma, c)) / 1e5)
    assert broken(sharper) == [ANGLE]
    more = theorem_6_3_angle([corner], updates=lambda gamma, c: 3 * fewest_updates(gamma, c))
    assert broken(more) == [UPDATES]


def test_a_start_outside_the_event_is_not_scored_for_the_angle(corner):
    evidence = theorem_6_3_angle([altered(corner, start=(slice(2), 1.0))])
    assert evidence.runs.outside == 2


def test_proposition_e_14():
    many = repeated(twenty(), 2240)
    evidence = proposition_e_14([many, fast()])
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(number(evidence.promised), 0.00134185051161, rel_tol=1e-11)
    assert proposition_e_14([some(many, slice(2000))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_shorter_time():
    runs = [repeated(twenty(), 2240), fast()]
    evidence = proposition_e_14(runs, steps=lambda k, c, gamma: (gamma + 1) / (2 * c))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["cases"][1]["failures"] == 60


def test_control_one_step_beyond_proposition_e_14():
    """T is 8313.75 at k = 120, c_η = 1/41, γ = 8."""
    many = repeated(twenty(), 2240)
    assert proposition_e_14([many, altered(fast(), steps=(5, 8313))]).verdict is Verdict.HOLDS
    assert broken(proposition_e_14([many, altered(fast(), steps=(5, 8314))])) == [IN_TIME]
    assert broken(proposition_e_14([many, altered(fast(), loss=(5, 1e-12))])) == [ZERO_LOSS]


def test_control_two_filters_often_do_not_converge():
    evidence = proposition_e_14([networks(2, 1 / 41, 8.0, 500, 3000)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_lemma_e_17(corner):
    evidence = lemma_e_17([fast(), corner])
    assert evidence.verdict is Verdict.HOLDS
    assert number(evidence.tightness) < 0.2
    assert [each.promised for each in evidence.parts] == [38, 34]
    assert lemma_e_17([twenty()]).verdict is Verdict.HYPOTHESES_NOT_MET


@pytest.mark.parametrize(
    ("wrong", "name"), [({"plus_limit": 1.0}, "X_T ≤ 34c_η"), ({"minus_limit": 2.0}, "Y_T ≤ 1 + 38c_η")]
)
def test_control_smaller_sums(wrong, name):
    evidence = lemma_e_17([fast()], **wrong)
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == [name]
    assert part(evidence, name).broken > 3


@pytest.mark.parametrize(("half", "offset", "limit", "name"), [(0, 0, 34, "X_T"), (1, 1, 38, "Y_T")])
def test_control_sums_just_beyond_their_limits(half, offset, limit, name):
    """The filters on the negative axis are scaled until their sum is 1 % of c_η off the limit."""
    runs = fast()
    side = slice(120 * half, 120 * (half + 1))
    filters = runs.final[0, side]
    along = np.where(on_negative_axis(filters), np.abs(filters @ PATTERNS[1]), 0).sum()
    for amount, expected in ((limit - 0.01, []), (limit + 0.01, [name])):
        scale = (offset + amount * runs.step_constant) / along
        scaled = np.where(on_negative_axis(filters)[:, None], scale * filters, filters)
        evidence = lemma_e_17([altered(runs, final=((0, side), scaled))])
        assert [each[:3] for each in broken(evidence)] == expected


def test_runs_outside_the_event_are_counted_and_not_scored():
    outside = dataclasses.replace(fast(), start=1000 * fast().start)
    evidence = lemma_e_17([outside])
    assert evidence.runs.outside == 60
    assert evidence.conclusion is None


def test_equal_settings_are_shared():
    """The corner serves all of them, and the faster runs two."""
    for scale in Scale:
        corner_setting = regime_settings(scale, 0)[0]
        assert corner_setting in convergence_settings(scale, 0)
        assert corner_setting in zero_loss_settings(scale, 0)
        assert len(set(convergence_settings(scale, 0)) & set(zero_loss_settings(scale, 0))) == 2
