"""Trajectories on diverse points: one pair, the closed form, kinks, and the split of the outputs."""

import functools
from dataclasses import fields, replace

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, each_of, every_part_of
from tests.papers.brutzkus2019.claims.trained_edges import point_edges
from tests.papers.brutzkus2019.claims.xord_records import ON_DIVERSE, altered, unmet, with_one_non_diverse
from widenet.claims.base import Verdict
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.claims import xord_updates
from widenet.papers.brutzkus2019.claims.xord_updates import (
    equation_7_8,
    footnote_3,
    footnote_10,
    observation_decomposition,
    observation_one_pair,
)
from widenet.papers.brutzkus2019.runs.xord_descent import (
    DescentSetting,
    XordRuns,
    descend,
    descents,
    diverse_points,
    follow,
    observe,
    runs_on,
)
from widenet.progress import silent
from widenet.records import Scale

SMALL = {"half_width": 8, "margin": 2.0, "n_runs": 2}
ONE_PATCH = PATTERNS[[1] * 7].reshape(1, -1)
"""A negative point with the pattern p_2 alone."""


def from_fits(w, u, step_size, margin, per_step=64):
    """One run from fits (⟨w, p_1⟩, ⟨w, p_2⟩) in units of η/64."""
    filters = np.array([*w, *u], float) @ PATTERNS[:2] / 2 * (step_size / per_step)
    return XordRuns(diverse_points(1), filters[None], step_size, margin)


@functools.cache
def runs():
    return runs_on(diverse_points(1), **SMALL, seed=2)


@functools.cache
def followed():
    return follow(runs())


def d4():
    """k = 2, T = 20; phases bbbbbbbbbmbmbmbmpmmp: both points active, only x⁻, only x⁺."""
    return from_fits([(11, 3), (-9, 4)], [(5, -13), (-7, 2)], 1 / 16, 2.0)


@functools.cache
def followed_from_d4():
    return follow(d4())


@functools.cache
def default():
    return descents.run(descents.settings(Scale.QUICK, 1)[0], silent)


@functools.cache
def mixed():
    return follow(runs_on(with_one_non_diverse(diverse_points(1)), **SMALL))


def cut(run, length):
    """The record up to this time."""
    series = {field.name: getattr(run, field.name) for field in fields(run)}
    return replace(run, **{name: value[:length] for name, value in series.items() if np.ndim(value) > 1})


@pytest.mark.parametrize("claim", ON_DIVERSE, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    """The one default cell, at seed 1; the four claims read it alike."""
    assert claim.reads == (descents,)
    evidence = claim([default()])
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)
    assert not evidence.vacuous


def off(claim, name, by, time=7):
    """The claim with one number of the record moved."""
    return claim([altered(followed(), name, time, by)])


@breaks_part(observation_one_pair, "the same weights at every t")
def test_control_another_path_than_that_of_a_pair():
    return (
        off(observation_one_pair, "pair_distance", 0.9e-12 - followed().pair_distance[7, 0]),
        off(observation_one_pair, "pair_distance", 1.1e-12),
    )


def step_off(letter, by):
    """Eq. 7 and 8 where the step at t = 7, with both points active, is off for the w's or for the u's."""
    residual = followed().residual.copy()
    residual[7, 0, 1, 1, letter] = by
    return equation_7_8([replace(followed(), residual=residual)])


@breaks_part(equation_7_8, "the w's")
def test_control_a_step_of_a_w():
    return step_off(0, 0.9e-12), step_off(0, 1.1e-12)


@breaks_part(equation_7_8, "the u's")
def test_control_a_step_of_a_u():
    return step_off(1, 0.9e-12), step_off(1, 1.1e-12)


@pytest.mark.parametrize("time", [0, 9, 16, 20, 100])
def test_the_active_points_decide_which_step_is_compared(time):
    """D4 has both points active at t = 0, only x⁻ at 9, only x⁺ at 16, and none from 20 on."""
    phase = {0: (1, 1), 9: (0, 1), 16: (1, 0)}.get(time, (0, 0))
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        residual = followed_from_d4().residual.copy()
        residual[time, 0, a, b] = 1.0
        evidence = equation_7_8([replace(followed_from_d4(), residual=residual)])
        assert broken_in(evidence) == (["the w's", "the u's"] if (a, b) == phase else [])


@pytest.mark.parametrize(("output", "active"), [(1 - 1e-15, True), (1.0, False)])
def test_a_point_at_its_margin_is_not_active(output, active):
    """N(x⁺) = γ, and −N(x⁻) = 1."""
    residual = followed().residual.copy()
    residual[7, 0] = 0.0
    residual[7, 0, 0, 0] = 1.0
    changed = replace(followed(), residual=residual)
    for name, values in (("positive_output", 2.0 * output), ("negative_output", -output)):
        other = "negative_output" if name == "positive_output" else "positive_output"
        record = altered(changed, name, 7, values - getattr(followed(), name)[7, 0])
        rest = 2.0 if other == "positive_output" else -1.0
        record = altered(record, other, 7, rest - getattr(followed(), other)[7, 0])
        assert bool(broken_in(equation_7_8([record]))) is not active


KINK, LATTICE = "no fit is ever 0", "fits change by multiples of 2η"


@breaks_part(footnote_10, KINK)
def test_control_a_fit_of_zero():
    smallest = followed().smallest_fit[7, 0]
    return off(footnote_10, "smallest_fit", 1e-15 - smallest), off(footnote_10, "smallest_fit", -smallest)


@breaks_part(footnote_10, LATTICE)
def test_control_a_step_that_is_no_multiple():
    now = followed().off_lattice[7, 0]
    return off(footnote_10, "off_lattice", 0.9e-9 - now), off(footnote_10, "off_lattice", 1.1e-9 - now)


@breaks_hypothesis(footnote_10, "off_lattice")
def test_control_a_start_on_the_lattice():
    inside, outside = (footnote_10([replace(followed(), lattice_distance=np.array([0.3, d]))]) for d in (1e-15, 0.0))
    return inside, outside


REST, SPLIT = "R is the same on all points", "N(x⁺) − N(x⁻) = S⁺ − P⁺ + P⁻ − S⁻"


@breaks_part(observation_decomposition, REST)
def test_control_a_rest_that_differs():
    return (
        off(observation_decomposition, "rest_spread", 0.9e-10 - followed().rest_spread[7, 0]),
        off(observation_decomposition, "rest_spread", 1.1e-10),
    )


@breaks_part(observation_decomposition, SPLIT)
def test_control_a_sum_just_off():
    return off(observation_decomposition, "s_plus", 0.9e-10), off(observation_decomposition, "s_plus", 1.1e-10)


def training_edges(claim):
    """The edges of a diverse training set."""

    def judged(points):
        return claim([replace(followed(), training=points), default()])

    return {
        f"{claim.name}-{key}": breaks_hypothesis(claim, key)(
            lambda inside=inside, outside=outside: (judged(inside), judged(outside))
        )
        for key, (inside, outside, _) in point_edges().items()
    }


test_control_each_hypothesis_at_its_edge = each_of(
    {what: test for claim in ON_DIVERSE for what, test in training_edges(claim).items()}
)


def test_steps_of_every_kind_are_in_the_default_setting():
    steps = equation_7_8([default()]).details["steps"]
    assert min(steps.values()) > 0


def test_the_toy_run_of_every_phase():
    evidence = equation_7_8([followed_from_d4()])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.details["last_update"] == [20]
    assert evidence.details["steps"] == {"both": 12, "only_negative": 6, "only_positive": 2, "none": 128 * 2 - 20}


def test_control_one_non_diverse_point_changes_the_trajectory():
    evidence = observation_one_pair([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["points that are not diverse"]
    assert evidence.measured is not None
    assert evidence.measured > 0.01


def test_control_a_weight_that_differs_from_the_run_on_one_pair():
    assert broken_in(observation_one_pair([altered(followed(), "pair_distance", 7, 1e-9)])) == [
        "the same weights at every t"
    ]


def test_control_a_pair_is_not_compared_with_itself():
    """Copies of one pair are that pair; a third point makes the comparison one."""
    data = diverse_points(1)
    for places, verdict in (([0, 0, 6, 6], Verdict.INSUFFICIENT_EVIDENCE), ([0, 1, 6, 6], Verdict.HOLDS)):
        evidence = observation_one_pair([follow(runs_on(data[np.array(places)], **SMALL))])
        assert evidence.verdict is verdict


def test_control_the_printed_indicator_never_stops():
    evidence = equation_7_8([followed()], is_active=lambda values: values < 1)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(runs().step_size)
    assert equation_7_8([followed()]).verdict is Verdict.HOLDS
    assert broken_in(equation_7_8([followed_from_d4()], is_active=lambda values: values < 1)) == ["the w's", "the u's"]


@pytest.mark.parametrize(("channel", "part"), [(0, "the w's"), (3, "the u's")])
def test_control_a_filter_that_moves_otherwise(channel, part):
    """Both weights are along p_2, in which no filter of D4 changes its cone or side for so little."""
    path = descend(d4())
    path[9:, 0, channel] += 1e-9 * PATTERNS[1]
    record = replace(cut(followed_from_d4(), len(path) - 1), **observe(path, d4()))
    assert broken_in(equation_7_8([record])) == [part]


def test_control_a_run_that_is_cut_off_is_not_decided():
    evidence = equation_7_8([cut(followed(), 5)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 2


def test_control_the_closed_form_on_a_mixed_set():
    evidence = equation_7_8([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_a_start_on_the_lattice_meets_the_kink():
    step = 2.0**-9
    filters = np.array([[[2.5, 0.5], [0.3, 0.1]]]) * step
    evidence = footnote_10([follow(XordRuns(diverse_points(1), filters, step, 8.0))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert broken_in(evidence) == ["no fit is ever 0"]
    assert evidence.measured == 0


@pytest.mark.parametrize(
    ("fit", "verdict"), [(2.0, Verdict.HYPOTHESES_NOT_MET), (1.0, Verdict.HOLDS), (2 + 1e-6, Verdict.HOLDS)]
)
def test_multiples_of_two_steps_matter_and_not_of_one(fit, verdict):
    """w_0 with fits (3η, fit·η): from 2η the fit is 0 after one step; from η, which print excludes, never."""
    run = from_fits([(3.0, fit)], [(0.3, 0.7)], 2.0**-9, 8.0, per_step=1)
    evidence = footnote_10([follow(run)])
    assert evidence.verdict is verdict
    assert (evidence.measured == 0) is (verdict is not Verdict.HOLDS)


def test_control_steps_that_are_no_multiples():
    """A sixth of the negative points lacks p_4: its share of a step is a sixth."""
    evidence = footnote_10([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert broken_in(evidence) == ["fits change by multiples of 2η"]
    assert broken_in(footnote_10([altered(followed(), "off_lattice", 3, 1e-6)])) == ["fits change by multiples of 2η"]


def test_control_a_point_with_one_pattern_breaks_the_split():
    evidence = observation_decomposition([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 1e-3


@pytest.mark.parametrize("name", ["s_plus", "p_plus", "s_minus", "p_minus", "positive_output", "negative_output"])
def test_control_one_sum_that_is_off(name):
    evidence = observation_decomposition([altered(followed(), name, 11, 1e-6)])
    assert broken_in(evidence) == ["N(x⁺) − N(x⁻) = S⁺ − P⁺ + P⁻ − S⁻"]


def test_settings_are_shared_by_equal_values():
    assert descents.settings(Scale.QUICK, 3) == [DescentSetting(seed=3)]
    assert len(set(descents.settings(Scale.PAPER, 0))) == 10


test_every_part_has_a_control = every_part_of(
    xord_updates,
    except_for={
        "equation_7_8: seen until after the last update": "a record that ends too early decides and breaks nothing",
    },
    elsewhere=(footnote_3,),
)
