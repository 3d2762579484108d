"""Eq. 12 and 13 on units placed in U13, and the steps that break them."""

import dataclasses

import numpy as np

from tests.control_table import at, controls
from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.settings import SMALL, traced
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import minus_steps
from widenet.papers.brutzkus2019.claims.minus_steps import equation_12, equation_13
from widenet.papers.brutzkus2019.runs.placed_units import place

UNITS = place([(0.25, 0.125), (-0.25, 0.125), (0.25, -0.0625), (-0.125, -0.0625)])
KEEPS, LANDS = "the response to x⁺ does not fall", "every unit moves to U24"


def test_both_hold():
    for claim in (equation_12, equation_13):
        evidence = claim([UNITS], [traced(SMALL)])
        assert evidence.verdict is Verdict.HOLDS
        assert evidence.runs.tried == 8
        assert evidence.details["of_them_with_a_unit_in_U13"] == 0
    assert evidence.details["steps_on_trajectories"] == int(traced(SMALL).only_plus.sum())


def test_what_is_required():
    evidence = equation_12([UNITS], [])
    assert [each.actual for each in evidence.hypotheses] == [0.25, 4]
    tied = dataclasses.replace(UNITS, starts=np.abs(UNITS.starts).max(axis=1, keepdims=True) * np.ones(2))
    assert [(each.actual, each.met) for each in equation_12([tied], []).hypotheses] == [(0.25, True), (0, False)]


def test_how_close_equation_12_comes():
    """(2, 1)/64: u_0 − ηp_i has |S| = 126/64, and after the step |R| = 129/64."""
    evidence = equation_12([place([(2 / 64, 1 / 64)])], [])
    assert (evidence.measured, evidence.promised) == (129 / 64, 126 / 64)


def test_control_equation_12_with_only_the_positive_point_active():
    """u_0 − ηp_i with s_0 = η/4 falls from 7/4 to 1/4, with s_0 = η/8 from 15/8 to 1/8."""
    evidence = equation_12([UNITS], [], plus=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised) == (1 / 8, 15 / 8)
    some = equation_12([place(UNITS.starts[:3])], [], plus=True)
    assert (some.measured, some.promised) == (1 / 4, 7 / 4)


def test_control_equation_12_part_by_part():
    """A unit that lands lower, and one that stays in U13 with its value: (2.5, .1), which lies outside the event."""
    after = UNITS.after_minus.copy()
    after[5] = (0.1, 1.7)
    assert broken_in(equation_12([dataclasses.replace(UNITS, after_minus=after)], [])) == [KEEPS]
    evidence = equation_12([place([(2.5, 0.1)])], [])
    assert broken_in(evidence) == [LANDS]
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_equation_13_with_only_the_negative_point_active():
    evidence = equation_13([UNITS], [], plus=False)
    assert evidence.verdict is Verdict.VIOLATED
    assert (evidence.measured, evidence.promised) == (2, 0)


def test_without_units_nothing_is_said():
    assert equation_12([place(np.zeros((0, 2)))], []).verdict is Verdict.HYPOTHESES_NOT_MET


def landing(step, *fits):
    """The first unit, (1/4, 1/8), lands at these fits."""
    after = getattr(UNITS, step).copy()
    after[0] = fits
    return {step: after}


TINY = 2.0**-20
IN, MIXED = [(0.25, 0.125), (0.2, 0.1)], [(0.25, 0.125), (0.1, 0.2)]
test_control = controls(
    minus_steps,
    UNITS,
    (equation_12, "keeps", landing("after_minus", 0.1, 0.25), landing("after_minus", 0.1, 0.25 - TINY)),
    (equation_12, "lands", landing("after_minus", 1.0, -1.5), landing("after_minus", 1.5, -1.0)),
    (equation_13, "same", landing("after_plus", 1.0, -0.125), landing("after_plus", 1.0, 0.125 + TINY)),
    *(
        row
        for claim in (equation_12, equation_13)
        for row in (
            (claim, "start_size", at(place([(22 / 64, 0.1)])), at(place([(23 / 64, 0.1)]))),
            (claim, "units_in_u13", at(place(IN)), at(place(MIXED))),
        )
    ),
)
