"""Every claim about trajectories at quick scale, and how runs are scored."""

import dataclasses

import numpy as np

from tests.papers.brutzkus2019.claims.settings import SMALL
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import (
    at_zero_loss,
    first_crossing,
    minus_filters,
    minus_steps,
    overshoot,
    plus_filters,
)
from widenet.papers.brutzkus2019.claims.overshoot import check_lemma_e_13
from widenet.papers.brutzkus2019.claims.plus_filters import check_lemma_6_2
from widenet.papers.brutzkus2019.runs.traces import GRID, draw_fits, follow, trace
from widenet.types import RunStatus, Scale

MODULES = (plus_filters, minus_filters, minus_steps, overshoot, first_crossing, at_zero_loss)


def test_every_claim_comes_out_as_expected():
    """One test, so that the traces are computed once."""
    claims = [claim for module in MODULES for claim in module.CLAIMS]
    assert len(claims) == 33
    for claim in claims:
        evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
        assert evidence.verdict is claim.expected, (claim.id, evidence.note)
        assert evidence.runs.unfinished == 0
        if claim.expected is Verdict.VIOLATED:
            names = [hypothesis.name for hypothesis in evidence.hypotheses if hypothesis.met]
            assert "smallest half-width k" in names, "a refutation lies inside the regime of Theorem 6.3"


def test_a_run_outside_the_event_is_counted_and_not_scored():
    fits = draw_fits(SMALL)
    fits[0, 0] = np.round(np.array([0.1, 2.05]) / GRID) * GRID
    fits[0, 1] = np.round(np.array([2.3, 2.25]) / GRID) * GRID
    evidence = check_lemma_6_2([follow(SMALL, fits)])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.config["runs_outside_the_event"] == 1
    assert evidence.config["settings"][0]["runs_tested"] == 5
    assert (evidence.runs.tried, evidence.runs.outside) == (6, 1)
    assert "1 runs outside" in evidence.note


def test_a_run_cut_off_by_its_budget_decides_nothing():
    seen = trace(SMALL)
    status = seen.ending.status.copy()
    status[1] = RunStatus.BUDGET_SPENT
    cut = dataclasses.replace(seen, ending=dataclasses.replace(seen.ending, status=status))
    evidence = check_lemma_6_2([cut])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 1


def test_a_nan_passes_no_check():
    seen = trace(SMALL)
    broken = seen.s_plus.copy()
    broken[2, 3] = np.nan
    evidence = check_lemma_e_13([dataclasses.replace(seen, s_plus=broken)])
    assert evidence.verdict is Verdict.VIOLATED


def test_a_step_constant_above_one_eighth_is_outside_the_hypotheses():
    setting = dataclasses.replace(SMALL, step_constant=1 / 7)
    assert check_lemma_6_2([setting]).verdict is Verdict.HYPOTHESES_NOT_MET
