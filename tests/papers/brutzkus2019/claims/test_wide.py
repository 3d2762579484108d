"""Wide networks: Theorem 6.3 and what leads to it, with controls outside its regime and with wrong constants."""

import dataclasses
import functools
import math

import numpy as np
import pytest

from tests.controls import breaks_part, every_part_of
from tests.papers.brutzkus2019.claims.networks import (
    altered,
    broken,
    fast,
    in_the_corner,
    lost,
    networks,
    number,
    part,
    repeated,
    small_margin,
    some,
    twenty,
)
from tests.papers.brutzkus2019.claims.requirements import is_seen_beside_another, required
from tests.papers.brutzkus2019.claims.trained_edges import ENOUGH, declared, edges, narrowed
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import cones, on_negative_axis
from widenet.papers.brutzkus2019.claims import wide
from widenet.papers.brutzkus2019.claims.wide import (
    convergence_settings,
    lemma_e_17,
    proposition_e_14,
    regime_settings,
    theorem_6_3,
    theorem_6_3_angle,
    zero_loss_settings,
)
from widenet.papers.brutzkus2019.formulas import (
    cosine_limit,
    fewest_updates,
    recovery_failure,
    sharp_updates,
    steps_of_theorem_6_3,
)
from widenet.papers.brutzkus2019.runs.trained import Trained, train_from
from widenet.papers.brutzkus2019.runs.training_set import from_sets
from widenet.records import Scale
from widenet.types import RunStatus

ZERO_LOSS, IN_TIME = "zero loss inside the events of the proof", "in time inside the events"
RATE, ALONE = "runs fail at most as often as promised", "no setting alone fails more often"
RUNS = "every setting has runs enough, or an event as likely as promised"
RIGHT = "right on all 15 pattern sets inside the events"
ANGLE, UPDATES = "the angle to its pattern", "a⁺(T) ≥ (γ − 1)/(2c_η) − 1"
SHARP = "a⁺(T) ≥ (γ + 1)/(2c_η) − √2/8"


def unmet(evidence) -> set[str]:
    return {hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met}


@functools.cache
def many_in_the_corner() -> Trained:
    """k = 120, c_η = 1/410, γ = 8, as many runs as the theorem needs: the same sixty several times."""
    return repeated(in_the_corner(), 557)


@pytest.fixture(scope="module")
def corner() -> Trained:
    return many_in_the_corner()


@breaks_part(theorem_6_3, RATE)
def test_control_as_many_failures_as_refute_theorem_6_3():
    """c + 16e⁻⁸ = 0.00537: seven of 557 refute it, six do not decide."""
    runs = many_in_the_corner()
    assert theorem_6_3([lost(runs, 6)]).conclusion is None
    return theorem_6_3([runs]), theorem_6_3([lost(runs, 7)])


@pytest.mark.parametrize(("n_runs", "verdict"), [(557, Verdict.HOLDS), (556, Verdict.INSUFFICIENT_EVIDENCE)])
def test_how_many_runs_confirm_theorem_6_3(n_runs, verdict):
    assert theorem_6_3([some(many_in_the_corner(), slice(n_runs))]).verdict is verdict


@breaks_part(theorem_6_3, ALONE)
def test_control_a_setting_that_fails_alone():
    """Two of fifty are too many, and two of 1250 are not."""
    many, few = repeated(in_the_corner(), 1200), repeated(in_the_corner(), 50)
    assert theorem_6_3([many, lost(few, 1)]).verdict is Verdict.HOLDS
    return theorem_6_3([many, few]), theorem_6_3([many, lost(few, 2)])


@breaks_part(theorem_6_3, ZERO_LOSS)
def test_control_a_loss_that_is_not_quite_zero_inside_the_events():
    return theorem_6_3([many_in_the_corner()]), theorem_6_3([altered(many_in_the_corner(), loss=(7, 1e-12))])


@breaks_part(theorem_6_3, IN_TIME)
def test_control_one_step_beyond_theorem_6_3():
    runs = many_in_the_corner()
    return theorem_6_3([altered(runs, steps=(7, 103_544))]), theorem_6_3([altered(runs, steps=(7, 103_545))])


@breaks_part(theorem_6_3, RIGHT)
def test_control_one_output_of_zero_inside_the_events():
    runs = many_in_the_corner()
    return (
        theorem_6_3([altered(runs, outputs=((3, 0), 1e-12))]),
        theorem_6_3([altered(runs, outputs=((3, 0), 0.0))]),
    )


@pytest.mark.parametrize(
    ("event", "starts"),
    [
        ("Lemma E.3", lambda w: w * 200),
        ("Lemma E.2", lambda w: np.where(np.arange(240)[:, None] < 120, np.abs(w).max() * PATTERNS[0], w)),
        ("Lemma E.15", lambda w: np.where((w @ PATTERNS[2] > np.abs(w @ PATTERNS[1]))[:, None], -w, w)),
        ("Lemma E.19", lambda w: np.where((np.arange(240) >= 120) & (w @ PATTERNS[1] < 0), -1, 1)[:, None] * w),
    ],
)
def test_a_failure_outside_one_of_the_events_is_none_inside(event, starts):
    """Each of the four events of the proof is asked for: a start outside it is judged by the rate alone."""
    runs = altered(many_in_the_corner(), loss=(3, 1e-12))
    assert broken(theorem_6_3([runs])) == [ZERO_LOSS]
    moved = altered(runs, start=(3, starts(runs.start[3])))
    assert broken(theorem_6_3([moved])) == []


def narrower() -> Trained:
    return narrowed(many_in_the_corner(), 119)


test_control_theorem_6_3_at_its_edges = declared(
    theorem_6_3,
    {
        **edges(
            lambda runs: theorem_6_3([runs]),
            many_in_the_corner,
            margin=({"required_margin": 8.0}, {"required_margin": 8 - 1e-9}),
            step_constant=({}, {"step_size": (1 / 410 + 1e-9) / 120}),
        ),
        "width": lambda: (theorem_6_3([many_in_the_corner()]), theorem_6_3([narrower()])),
    },
)
test_control_the_angle_at_its_edges = declared(
    theorem_6_3_angle,
    {
        **edges(
            lambda runs: theorem_6_3_angle([runs]),
            many_in_the_corner,
            margin=({"required_margin": 8.0}, {"required_margin": 8 - 1e-9}),
            step_constant=({}, {"step_size": (1 / 410 + 1e-9) / 120}),
        ),
        "width": lambda: (theorem_6_3_angle([many_in_the_corner()]), theorem_6_3_angle([narrower()])),
    },
)


def test_the_edges_of_the_regime_are_among_the_defaults():
    rows = {
        (each.half_width, round(1 / each.step_constant), each.required_margin)
        for each in regime_settings(Scale.QUICK, 0)
    }
    assert rows == {(120, 410, 8.0), (240, 410, 8.0), (120, 800, 8.0), (120, 410, 20.0)}


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


def test_what_is_required():
    runs = [some(in_the_corner(), slice(2))]
    asked = {"width": "≥ 120", "step_constant": "≤ 0.00243902", "margin": "≥ 8"}
    assert required(theorem_6_3(runs)) == asked
    assert required(theorem_6_3_angle(runs)) == asked | {"angle_below_a_right_one": "> 0"}
    assert required(proposition_e_14(runs)) == {"width": "> 16", "margin": "≥ 1", "step_constant": "≤ 0.125"}
    assert required(lemma_e_17(runs)) == {"width": "≥ 64", "step_constant": "≤ 0.125"}


@pytest.mark.parametrize(
    ("claim", "key"),
    [
        *((claim, "width") for claim in (theorem_6_3, proposition_e_14, lemma_e_17)),
        *((claim, "step_constant") for claim in (theorem_6_3, proposition_e_14, lemma_e_17)),
        *((claim, "margin") for claim in (theorem_6_3, proposition_e_14)),
        *((claim, "balanced") for claim in (theorem_6_3, proposition_e_14, lemma_e_17)),
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_one_setting_outside_beside_another(claim, key):
    few = some(in_the_corner(), slice(2))
    outside = {
        "width": lambda: narrowed(few, 16),
        "margin": lambda: dataclasses.replace(few, required_margin=0.9),
        "step_constant": lambda: dataclasses.replace(few, step_size=0.126 / 120),
        "balanced": lambda: dataclasses.replace(few, points=from_sets({14: 2, 9: 1})),
    }
    assert is_seen_beside_another(claim, few, outside[key], key)


def test_limits_that_say_nothing():
    """An angle of 180°, no updates at all."""
    runs = in_the_corner()
    for name, limits in (("cosine", (-0.999, -1.0)), ("updates", (1e-9, 0.0)), ("sharp", (1e-9, 0.0))):
        place = ("cosine", "updates", "sharp").index(name)
        found = [theorem_6_3_angle([runs], **{name: lambda gamma, c, limit=limit: limit}) for limit in limits]
        assert [each.parts[place].vacuous for each in found] == [False, True]


def test_the_angle(corner):
    evidence = theorem_6_3_angle([corner])
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(number(evidence.promised), 2.61950653327, rel_tol=1e-8)
    assert 0.01 < number(evidence.measured) < 0.03
    assert math.isclose(number(part(evidence, "(γ − 1)").promised), 1434, rel_tol=1e-9)
    assert math.isclose(number(part(evidence, "√2/8").promised), 1844.8232233, rel_tol=1e-9)


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
    for updates, expected in ((1434.01, [SHARP]), (1433, [UPDATES, SHARP])):
        moved = corner.start[run, place] + updates * corner.step_size * PATTERNS[0]
        evidence = theorem_6_3_angle([altered(corner, final=((run, place), moved))])
        assert broken(evidence) == expected


def after(updates: float, degrees: float | None = None) -> Trained:
    """One w filter of W⁺(1) after so many updates, or turned to this angle from p_1."""
    runs = many_in_the_corner()
    run, place = np.argwhere(cones(runs.start[:, :120])[..., 0])[0]
    moved = runs.start[run, place] + updates * runs.step_size * PATTERNS[0]
    if degrees is not None:
        fit = float(moved @ PATTERNS[0])
        moved = (fit * PATTERNS[0] + fit * math.tan(math.radians(degrees)) * PATTERNS[1]) / 2
    return altered(runs, final=((run, place), moved))


LIMIT = math.degrees(math.acos((7 - 2 / 410) / (7 + 1 / 410)))


@breaks_part(theorem_6_3_angle, ANGLE)
def test_control_an_angle_just_too_large():
    """η was moved to a grid, so c_η is a millionth below 1/410, and the limit with it."""
    return theorem_6_3_angle([after(2000, LIMIT * (1 - 1e-5))]), theorem_6_3_angle([after(2000, LIMIT * (1 + 1e-5))])


@breaks_part(theorem_6_3_angle, SHARP)
def test_control_fewer_updates_than_the_sum_asks_for():
    """9·205 − √2/8 = 1844.82."""
    assert sharp_updates(8.0, 1 / 410) == pytest.approx(1844.82, abs=0.01)
    return theorem_6_3_angle([after(1845)]), theorem_6_3_angle([after(1844)])


@breaks_part(theorem_6_3_angle, UPDATES, also=(SHARP,))
def test_control_fewer_updates_than_are_printed():
    assert broken(theorem_6_3_angle([after(1434.01)])) == [SHARP]
    return theorem_6_3_angle([after(1433)])


@pytest.mark.parametrize("pattern", [0, 2])
def test_control_the_angle_of_every_filter_of_both_cones(pattern):
    runs = many_in_the_corner()
    run, place = np.argwhere(cones(runs.start[:, :120])[..., pattern])[-1]
    turned_away = altered(runs, final=((run, place), -runs.final[run, place]))
    assert ANGLE in broken(theorem_6_3_angle([turned_away]))
    # A filter of W⁺(2) may end anywhere.
    run, place = np.argwhere(cones(runs.start[:, :120])[..., 1])[0]
    assert broken(theorem_6_3_angle([altered(runs, final=((run, place), -runs.final[run, place]))])) == []


def test_the_angle_is_asked_of_runs_in_the_event_at_zero_loss():
    runs = many_in_the_corner()
    away = altered(runs, final=(3, -runs.final[3]))
    assert ANGLE in broken(theorem_6_3_angle([away]))
    assert broken(theorem_6_3_angle([altered(away, loss=(3, 1e-12))])) == []
    assert broken(theorem_6_3_angle([altered(away, start=(3, 200 * runs.start[3]))])) == []


def test_control_other_constants_of_the_angle(corner):
    sharper = theorem_6_3_angle([corner], cosine=lambda gamma, c: 1 - (1 - cosine_limit(gamma, c)) / 1e5)
    assert broken(sharper) == [ANGLE]
    more = theorem_6_3_angle([corner], updates=lambda gamma, c: 3 * fewest_updates(gamma, c))
    assert broken(more) == [UPDATES]
    assert broken(theorem_6_3_angle([corner], sharp=lambda gamma, c: 2 * sharp_updates(gamma, c))) == [SHARP]


def test_a_start_outside_the_event_is_not_scored_for_the_angle(corner):
    evidence = theorem_6_3_angle([altered(corner, start=(slice(2), 1.0))])
    assert evidence.runs.outside == 2


def test_proposition_e_14():
    many = repeated(twenty(), 2240)
    evidence = proposition_e_14([many, fast()])
    assert evidence.verdict is Verdict.HOLDS
    assert math.isclose(number(evidence.promised), 0.00134185051161, rel_tol=1e-11)
    assert proposition_e_14([some(many, slice(2000))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@functools.cache
def many_of_twenty(n_runs: int = 2240) -> Trained:
    return repeated(twenty(), n_runs)


@breaks_part(proposition_e_14, RATE)
def test_control_as_many_failures_as_refute_proposition_e_14():
    """c + 4e⁻⁸ = 0.00134: seven of 2240 refute it, six do not decide."""
    runs = many_of_twenty()
    assert proposition_e_14([lost(runs, 6)]).conclusion is None
    return proposition_e_14([runs]), proposition_e_14([lost(runs, 7)])


@pytest.mark.parametrize(("n_runs", "verdict"), [(2232, Verdict.HOLDS), (2231, Verdict.INSUFFICIENT_EVIDENCE)])
def test_how_many_runs_confirm_proposition_e_14(n_runs, verdict):
    assert proposition_e_14([some(many_of_twenty(), slice(n_runs))]).verdict is verdict


@breaks_part(proposition_e_14, ALONE)
def test_control_a_setting_of_proposition_e_14_that_fails_alone():
    """Two of two hundred are too many, two of 5000 are not."""
    many, few = many_of_twenty(4800), some(many_of_twenty(), slice(200))
    return proposition_e_14([many, few]), proposition_e_14([many, lost(few, 2)])


@breaks_part(proposition_e_14, ZERO_LOSS)
def test_control_a_loss_of_proposition_e_14():
    runs = many_of_twenty()
    place = int(np.argmax(runs.axes_explored))
    return proposition_e_14([runs]), proposition_e_14([altered(runs, loss=(place, 1e-12))])


@breaks_part(proposition_e_14, IN_TIME)
def test_control_a_time_of_proposition_e_14():
    """T is 2693.98 at k = 20, c_η = 1/8, γ = 1: 7·3/((10 − 2√20)/160)."""
    runs = many_of_twenty()
    place, most = int(np.argmax(runs.axes_explored)), math.floor(7 * 3 / ((10 - 2 * math.sqrt(20)) / 160))
    return (
        proposition_e_14([altered(runs, steps=(place, most))]),
        proposition_e_14([altered(runs, steps=(place, most + 1))]),
    )


def test_the_setting_without_runs_enough_is_named():
    few = lost(some(many_of_twenty(), slice(20)), 20)
    evidence = proposition_e_14([many_of_twenty(), altered(few, loss=(slice(None), 0.0))])
    assert [each.name for each in evidence.parts if each.kept is None] == [RUNS]


def judged_e_14(runs: Trained):
    return proposition_e_14([runs])


test_control_proposition_e_14_at_its_edges = declared(
    proposition_e_14,
    {
        **edges(
            judged_e_14,
            twenty,
            margin=({"required_margin": 1.0}, {"required_margin": 1 - 1e-9}),
            step_constant=({"step_size": 1 / 160}, {"step_size": 1 / 160 + 1e-9}),
        ),
        "width": lambda: (judged_e_14(narrowed(twenty(), 17)), judged_e_14(narrowed(twenty(), 16))),
    },
)


def summed(half: int, offset: float, amount: float) -> Trained:
    """The filters w or u on the negative axis of one run scaled until their sum is offset + amount·c_η."""
    runs, side = fast(), slice(120 * half, 120 * (half + 1))
    filters = runs.final[0, side]
    along = np.where(on_negative_axis(filters), np.abs(filters @ PATTERNS[1]), 0).sum()
    scale = (offset + amount * runs.step_constant) / along
    return altered(runs, final=((0, side), np.where(on_negative_axis(filters)[:, None], scale * filters, filters)))


@breaks_part(lemma_e_17, "X_T ≤ 34c_η")
def test_control_x_just_beyond_its_limit():
    return lemma_e_17([summed(0, 0.0, 34 - 1e-6)]), lemma_e_17([summed(0, 0.0, 34 + 1e-6)])


@breaks_part(lemma_e_17, "Y_T ≤ 1 + 38c_η")
def test_control_y_just_beyond_its_limit():
    return lemma_e_17([summed(1, 1.0, 38 - 1e-6)]), lemma_e_17([summed(1, 1.0, 38 + 1e-6)])


def test_lemma_e_17_is_asked_inside_its_events_at_zero_loss():
    runs = summed(0, 0.0, 40)
    assert broken(lemma_e_17([altered(runs, loss=(0, 1e-12))])) == []
    assert broken(lemma_e_17([altered(runs, start=(0, 200 * runs.start[0]))])) == []
    one_side = np.where(np.arange(240)[:, None] < 120, np.abs(runs.start[0]).max() * PATTERNS[0], runs.start[0])
    assert broken(lemma_e_17([altered(runs, start=(0, one_side))])) == []


test_control_lemma_e_17_at_its_edges = declared(
    lemma_e_17,
    {
        **edges(
            lambda runs: lemma_e_17([runs]),
            fast,
            step_constant=({"step_size": 1 / 960}, {"step_size": 1 / 960 + 1e-9}),
        ),
        "width": lambda: (lemma_e_17([narrowed(fast(), 64)]), lemma_e_17([narrowed(fast(), 63)])),
    },
)


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


test_every_part_has_a_control = every_part_of(
    wide,
    except_for={
        **{f"{claim.name}: {RUNS}": ENOUGH for claim in (theorem_6_3, proposition_e_14)},
        "theorem_6_3_angle: hypothesis angle_below_a_right_one": "γ ≥ 8 and c_η ≤ 1/410 imply γ − 1 − 2c_η > 6.9",
    },
)
