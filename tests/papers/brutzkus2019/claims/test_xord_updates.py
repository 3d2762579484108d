"""Trajectories on diverse points: one pair, the closed form, kinks, and the split of the outputs."""

import functools
from dataclasses import fields, replace

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.controls import unmet_in
from tests.papers.brutzkus2019.claims.xord_records import ON_DIVERSE, altered, with_one_non_diverse
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
    XordRuns,
    XordSetting,
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
LETTERS = ("plus", "minus")
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


def step_off(letter, by):
    """The step at t = 7, with both points active, is off for the w's or for the u's."""

    def changed(residual):
        other = residual.copy()
        other[7, 0, 1, 1, letter] = by
        return other

    return {"residual": changed}


def sum_off(by):
    return at(lambda: altered(followed(), "s_plus", 7, by))


test_control = controls(
    xord_updates,
    followed,
    (observation_one_pair, "weights"),
    (equation_7_8, "finished"),
    (footnote_10, "fits"),
    (footnote_10, "steps"),
    (observation_decomposition, "rest"),
    *((equation_7_8, key, step_off(place, 0.9e-12), step_off(place, 1.1e-12)) for place, key in enumerate(LETTERS)),
    *((equation_7_8, key, {}, step_off(place, -1.1e-12)) for place, key in enumerate(LETTERS)),
    (observation_decomposition, "difference", sum_off(0.9e-10), sum_off(1.1e-10)),
    (observation_decomposition, "difference", sum_off(-0.9e-10), sum_off(-1.1e-10)),
    but=(footnote_3,),
)


@pytest.mark.parametrize("time", [0, 9, 16, 20, 100])
def test_the_active_points_decide_which_step_is_compared(time):
    """D4 has both points active at t = 0, only x⁻ at 9, only x⁺ at 16, and none from 20 on."""
    phase = {0: (1, 1), 9: (0, 1), 16: (1, 0)}.get(time, (0, 0))
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        residual = followed_from_d4().residual.copy()
        residual[time, 0, a, b] = 1.0
        evidence = equation_7_8([replace(followed_from_d4(), residual=residual)])
        assert broken_in(evidence) == ([*LETTERS] if (a, b) == phase else [])


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
    assert unmet_in(evidence) == ["diverse"]
    assert evidence.measured is not None
    assert evidence.measured > 0.01


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
    assert broken_in(equation_7_8([followed_from_d4()], is_active=lambda values: values < 1)) == [*LETTERS]


@pytest.mark.parametrize(("channel", "part"), [(0, "plus"), (3, "minus")])
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
    assert broken_in(evidence) == ["fits"]
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
    assert broken_in(evidence) == ["steps"]
    assert broken_in(footnote_10([altered(followed(), "off_lattice", 3, 1e-6)])) == ["steps"]


def test_control_a_point_with_one_pattern_breaks_the_split():
    evidence = observation_decomposition([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 1e-3


@pytest.mark.parametrize("name", ["s_plus", "p_plus", "s_minus", "p_minus", "positive_output", "negative_output"])
def test_control_one_sum_that_is_off(name):
    evidence = observation_decomposition([altered(followed(), name, 11, 1e-6)])
    assert broken_in(evidence) == ["difference"]


def test_settings_are_shared_by_equal_values():
    assert descents.settings(Scale.QUICK, 3) == [XordSetting(seed=3)]
    assert len(set(descents.settings(Scale.PAPER, 0))) == 10
