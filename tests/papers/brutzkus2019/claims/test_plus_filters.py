"""How the filters w move: each statement at every iteration, and the ways in which its check must fail."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.plain import DIVERSE, plain_trace, points
from tests.papers.brutzkus2019.claims.settings import FAST, SCATTERED, SMALL
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.plus_filters import (
    check_a_plus,
    check_equations_9_10,
    check_lemma_6_2,
    check_lemma_e_4,
    check_lemma_e_9,
    check_lemma_e_10,
)
from widenet.papers.brutzkus2019.runs.traces import Setting, draw_fits, follow


@pytest.mark.parametrize(
    "check",
    [check_lemma_e_4, check_a_plus, check_lemma_6_2, check_equations_9_10, check_lemma_e_9, check_lemma_e_10],
)
def test_it_holds_at_every_iteration(check):
    evidence = check([FAST, SMALL])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 106
    assert evidence.config["runs_outside_the_event"] == 0


def test_control_lemma_e_4_with_a_step_that_reaches_the_margin():
    evidence = check_lemma_e_4([Setting(120, 1.0, 1.0, 100, seed=2)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_lemma_6_2_with_the_printed_count():
    evidence = check_lemma_6_2([FAST], through_t=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_broken"] == 100


def test_control_lemma_6_2_without_eta():
    assert check_lemma_6_2([FAST], with_eta=False).verdict is Verdict.VIOLATED


def test_control_lemma_6_2_outside_the_event():
    evidence = check_lemma_6_2([SCATTERED])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_a_plus_from_a_start_that_fits_the_positive_point():
    """w = 3p₁ and u = p₂, in units of η: N(x⁺) = 16 ≥ γ, so a⁺(0) = 0."""
    size = 2 / SMALL.step_size
    fits = np.broadcast_to(np.repeat([[3 * size, 1.0], [1.0, size]], 4, axis=0), (6, 8, 2))
    evidence = check_a_plus([follow(dataclasses.replace(SMALL, margin=1.0), fits)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == 0


def test_control_equations_9_10_without_the_negative_point():
    assert check_equations_9_10([FAST], minus_moves=False).verdict is Verdict.VIOLATED


def test_control_lemma_e_9_with_a_positive_point_that_is_not_diverse():
    """Among six positive points one lacks p₃: the two cones no longer gain alike. With diverse points they do."""
    fits = draw_fits(SMALL)
    diverse = plain_trace(SMALL, fits, points(*DIVERSE), 30)
    # Thirty steps are not the whole run, so nothing is confirmed; but they break nothing either.
    shown = check_lemma_e_9([diverse])
    assert shown.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert shown.config["runs_broken"] == 0
    others = plain_trace(SMALL, fits, points(*((1, 2, 3, 4),) * 5, (1, 2, 4), (2, 4)), 30)
    evidence = check_lemma_e_9([others])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured * SMALL.step_size > 1e-3


def test_control_lemma_e_10_as_printed():
    evidence = check_lemma_e_10([FAST], factor=1.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.tightness == 2
