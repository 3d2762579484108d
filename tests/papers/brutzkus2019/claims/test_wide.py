"""Wide networks: convergence and the sums at zero loss, with controls outside their regime and with wrong constants."""

import dataclasses
import functools
import math

import numpy as np
import pytest

from tests.controls import breaks_part, broken_in, every_part_of
from tests.papers.brutzkus2019.claims.networks import (
    altered,
    fast,
    in_the_corner,
    lost,
    many_in_the_corner,
    networks,
    number,
    part,
    refuted_by,
    repeated,
    some,
    twenty,
)
from tests.papers.brutzkus2019.claims.requirements import is_seen_beside_another, required
from tests.papers.brutzkus2019.claims.trained_edges import ALONE, ENOUGH, RATE, declared, edges, narrowed
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS
from widenet.diagnostics.exploration import on_negative_axis
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
from widenet.papers.brutzkus2019.runs.trained import Trained
from widenet.papers.brutzkus2019.runs.training_set import from_sets
from widenet.records import Scale

ZERO_LOSS, IN_TIME = "zero loss inside the events of the proof", "in time inside the events"
RUNS = "every setting has runs enough, or an event as likely as promised"


@pytest.fixture(scope="module")
def corner() -> Trained:
    return many_in_the_corner()


def test_the_edges_of_the_regime_are_among_the_defaults():
    rows = {
        (each.half_width, round(1 / each.step_constant), each.required_margin)
        for each in regime_settings(Scale.QUICK, 0)
    }
    assert rows == {(120, 410, 8.0), (240, 410, 8.0), (120, 800, 8.0), (120, 410, 20.0)}


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
    return refuted_by(proposition_e_14, many_of_twenty(), 7)


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


def test_a_time_is_asked_for_above_sixteen_filters():
    few, asked = some(twenty(), slice(2)), []

    def steps(half_width, step_constant, margin):
        asked.append(half_width)
        return math.inf

    proposition_e_14([narrowed(few, 16), narrowed(few, 17)], steps=steps)
    assert asked == [17]


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
    return lemma_e_17([summed(0, 0.0, 34 + 0.5e-9)]), lemma_e_17([summed(0, 0.0, 34 + 2e-9)])


@breaks_part(lemma_e_17, "Y_T ≤ 1 + 38c_η")
def test_control_y_just_beyond_its_limit():
    return lemma_e_17([summed(1, 1.0, 38 + 0.5e-9)]), lemma_e_17([summed(1, 1.0, 38 + 2e-9)])


@pytest.mark.parametrize("half", [0, 1])
def test_lemma_e_17_is_asked_inside_its_events_at_zero_loss(half):
    runs = summed(half, float(half), 40)
    assert len(broken_in(lemma_e_17([runs]))) == 1
    assert broken_in(lemma_e_17([altered(runs, loss=(0, 1e-12))])) == []
    assert broken_in(lemma_e_17([altered(runs, start=(0, 200 * runs.start[0]))])) == []
    one_side = np.where(np.arange(240)[:, None] < 120, np.abs(runs.start[0]).max() * PATTERNS[0], runs.start[0])
    assert broken_in(lemma_e_17([altered(runs, start=(0, one_side))])) == []


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
    assert broken_in(proposition_e_14([many, altered(fast(), steps=(5, 8314))])) == [IN_TIME]
    assert broken_in(proposition_e_14([many, altered(fast(), loss=(5, 1e-12))])) == [ZERO_LOSS]


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
    assert broken_in(evidence) == [name]
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
        assert [each[:3] for each in broken_in(evidence)] == expected


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
    except_for={f"proposition_e_14: {RUNS}": ENOUGH},
    elsewhere=(theorem_6_3, theorem_6_3_angle),
)
