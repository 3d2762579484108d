"""Theorem 6.3: wide networks learn XORD, with controls outside its regime and with wrong constants."""

import dataclasses
import math

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, leaves_open
from tests.controls import lacking_in
from tests.papers.brutzkus2019.claims.networks import (
    altered,
    in_the_corner,
    lost,
    many_in_the_corner,
    networks,
    number,
    part,
    repeated,
    small_margin,
    some,
)
from tests.papers.brutzkus2019.claims.trained_edges import DEVIATION, one_sided
from widenet.claims import Verdict
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.claims import wide
from widenet.papers.brutzkus2019.claims.wide import lemma_e_17, proposition_e_14, theorem_6_3, theorem_6_3_angle
from widenet.papers.brutzkus2019.formulas import recovery_failure, steps_of_theorem_6_3
from widenet.papers.brutzkus2019.runs.trained import TrainedXord, train_from


@pytest.fixture(scope="module")
def corner() -> TrainedXord:
    return many_in_the_corner()


def planted(**arrays):
    return at(lambda: altered(many_in_the_corner(), **arrays))


def after_steps(steps):
    """One run after so many steps, where 90,000 are allowed."""
    return at(lambda: altered(many_in_the_corner(), steps=(7, steps)), steps=lambda c, gamma: 90_000.0)


def beside_many(n_lost):
    """Fifty runs, so many of them lost, beside 1200."""
    return [repeated(in_the_corner(), 1200), lost(repeated(in_the_corner(), 50), n_lost)]


def outside_beside_many():
    """The few again, from starts outside the events of the proof."""
    all_of_them, few = beside_many(0)
    return [all_of_them, one_sided(few)]


test_control = controls(
    wide,
    many_in_the_corner,
    # c + 16e⁻⁸ = 0.00537: seven of 557 refute it; two of fifty are too many, and two of 1250 are not.
    (theorem_6_3, "rate", {}, at(lambda: lost(many_in_the_corner(), 7))),
    (theorem_6_3, "alone", at(lambda: beside_many(0)), at(lambda: beside_many(2))),
    (theorem_6_3, "enough", at(lambda: beside_many(0)), leaves_open(outside_beside_many)),
    (theorem_6_3, "zero_loss", {}, planted(loss=(7, 1e-12))),
    (theorem_6_3, "time", planted(steps=(7, 103_544)), planted(steps=(7, 103_545))),
    (theorem_6_3, "right", planted(outputs=((3, 0), 1e-12)), planted(outputs=((3, 0), 0.0))),
    (theorem_6_3, "time", after_steps(90_000), after_steps(90_001)),
    (theorem_6_3, *DEVIATION),
    but=(proposition_e_14, lemma_e_17, theorem_6_3_angle),
)


def test_too_few_lost_runs_decide_nothing():
    assert theorem_6_3([lost(many_in_the_corner(), 6)]).conclusion is None
    assert theorem_6_3(beside_many(1)).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("n_runs", "verdict"), [(557, Verdict.HOLDS), (556, Verdict.INSUFFICIENT_EVIDENCE)])
def test_how_many_runs_confirm_theorem_6_3(n_runs, verdict):
    assert theorem_6_3([some(many_in_the_corner(), slice(n_runs))]).verdict is verdict


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
    assert broken_in(theorem_6_3([runs])) == ["zero_loss"]
    moved = altered(runs, start=(3, starts(runs.start[3])))
    assert broken_in(theorem_6_3([moved])) == []


def test_theorem_6_3_holds_in_its_corner(corner):
    evidence = theorem_6_3([corner])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 557
    assert evidence.details["cases"][0]["exact_probability_outside_the_event"] < 2.1e-4
    assert math.isclose(number(evidence.promised), 0.00536740204644, rel_tol=1e-11)
    assert math.isclose(number(part(evidence, "time").promised), 103_544, rel_tol=1e-9)


def test_no_rate_is_above_one(corner):
    assert theorem_6_3([some(corner, slice(2))], failure=lambda half_width: 2.0).promised == 1


def test_too_few_runs_decide_nothing(corner):
    assert theorem_6_3([some(corner, slice(400))]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_a_margin_of_one():
    """γ = 1 reaches zero loss and recovers f* in a few runs of a hundred."""
    evidence = theorem_6_3([small_margin()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert number(evidence.measured) > 0.8
    assert set(lacking_in(evidence)) == {"step_constant", "margin"}


def test_control_eight_filters():
    """k = 8: about a fifth of the runs does not recover f*."""
    evidence = theorem_6_3([networks(8, 1 / 41, 8.0, 600)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert 0.1 < number(evidence.measured) < 0.35


def test_control_eight_failures_of_560(corner):
    """Outside the events, so that only the rate can tell: the lower limit is 7.1e-3, above 5.4e-3."""
    runs = altered(repeated(corner, 560), start=(slice(8), 1.0), loss=(slice(8), 1.0))
    assert broken_in(theorem_6_3([runs])) == ["rate"]
    assert theorem_6_3([runs], failure=lambda half_width: 3 * recovery_failure(half_width)).conclusion is not False


def test_control_a_shorter_time_than_any_run_takes(corner):
    evidence = theorem_6_3([corner], steps=lambda c, gamma: steps_of_theorem_6_3(c, gamma) / 28)
    assert broken_in(evidence) == ["rate", "time"]


def test_control_outputs_that_are_not_numbers_are_wrong(corner):
    assert theorem_6_3([altered(corner, outputs=((slice(None), 4), np.nan))]).verdict is Verdict.VIOLATED


def test_control_a_width_just_outside_and_a_larger_start(corner):
    narrower = dataclasses.replace(corner, start=corner.start[:, 1:-1], final=corner.final[:, 1:-1])
    assert "width" in lacking_in(theorem_6_3([narrower]))
    assert "deviation" in lacking_in(theorem_6_3([dataclasses.replace(corner, start=1.2 * corner.start)]))


def test_runs_cut_short_are_not_failures(corner):
    cut = train_from(corner.start[:20], corner.step_size, 8.0, max_steps=50)
    evidence = theorem_6_3([cut])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 20
