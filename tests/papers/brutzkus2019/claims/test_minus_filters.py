"""How the filters u move: each statement at every iteration, and the ways in which its check must fail."""

import functools

import pytest

from tests.papers.brutzkus2019.claims.settings import FAST, SCATTERED, SMALL
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.minus_filters import (
    check_equation_11,
    check_lemma_e_6,
    check_lemma_e_7,
    check_lemma_e_8,
    check_lemma_e_20,
    check_lemma_e_21,
    check_minus_filters_settle,
)


@pytest.mark.parametrize(
    "check",
    [
        check_lemma_e_6,
        check_lemma_e_7,
        check_minus_filters_settle,
        check_lemma_e_8,
        check_equation_11,
        check_lemma_e_20,
        check_lemma_e_21,
    ],
)
def test_it_holds_at_every_iteration(check):
    evidence = check([FAST, SMALL])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.config["settings"][0]["runs_tested"] == 100


@pytest.mark.parametrize(
    "control",
    [
        functools.partial(check_lemma_e_6, group="u13"),
        functools.partial(check_lemma_e_7, lowest=0),
        functools.partial(check_lemma_e_7, along_l=-1),
        functools.partial(check_minus_filters_settle, first=0),
        functools.partial(check_lemma_e_21, from_start=False),
    ],
    ids=["units of U13", "a = 0", "l the other way", "from t = 0 on", "without Z_0"],
)
def test_control_a_wrong_form_fails_in_every_run(control):
    evidence = control([FAST])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_broken"] == 100


def test_control_outside_the_event_units_stay_in_u13():
    evidence = check_minus_filters_settle([SCATTERED])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_lemma_e_8_as_printed():
    """S⁻ lies between 2 − √2/4 and 2 times η|W13| at t = 1."""
    evidence = check_lemma_e_8([FAST], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_broken"] == 100
    assert evidence.measured is not None
    assert 1.64 < evidence.measured < 2


def test_control_equation_11_as_printed():
    evidence = check_equation_11([FAST], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.tightness == 2


def test_control_lemma_e_20_on_units_that_took_one_step_more():
    evidence = check_lemma_e_20([FAST], pair=("y_2", "z_4"))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(2, abs=0.1)
