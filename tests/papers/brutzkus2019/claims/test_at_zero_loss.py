"""What is read off the weights at zero loss, and the ways in which each check must fail."""

import functools

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.settings import FAST, SMALL
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.at_zero_loss import (
    check_equation_15,
    check_equation_19,
    check_equation_21,
    check_footnote_14,
)
from widenet.papers.brutzkus2019.runs.traces import Setting


@pytest.mark.parametrize("check", [check_equation_15, check_equation_19, check_footnote_14, check_equation_21])
def test_it_holds_in_every_run(check):
    evidence = check([FAST, SMALL])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.config["settings"][0]["runs_tested"] == 100


@pytest.mark.parametrize(
    ("control", "least"),
    [
        (functools.partial(check_equation_15, over=1.0), 10),
        (functools.partial(check_equation_19, against=(2,)), 100),
        (functools.partial(check_footnote_14, swapped=True), 95),
        (functools.partial(check_equation_21, over=8.0), 100),
    ],
    ids=["one c_η more", "x⁺ without p₄", "l exchanged", "eight c_η more"],
)
def test_control_a_wrong_form_fails(control, least):
    evidence = control([FAST])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_broken"] >= least


def test_runs_that_stall_are_counted_and_not_scored():
    """Without a filter in W13 no run reaches zero loss."""
    evidence = check_equation_15([Setting(4, 1 / 8, 2.0, 6, seed=3, n_positive=0)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.config["runs_stalled"] == 6
    assert np.isfinite(evidence.measured or 0.0)
