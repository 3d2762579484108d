"""Lemma E.16: true with the W24 term, false as printed where the specification says so."""

from tests.papers.brutzkus2019.claims.settings import FAST, SMALL
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.first_crossing import check_lemma_e_16, check_lemma_e_16_steps


def test_both_hold_in_every_run():
    for check in (check_lemma_e_16, check_lemma_e_16_steps):
        evidence = check([FAST, SMALL])
        assert evidence.verdict is Verdict.HOLDS
        assert evidence.config["settings"][0]["runs_tested"] == 100


def test_control_lemma_e_16_with_two():
    evidence = check_lemma_e_16([FAST], deficit=2.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert 0 < evidence.config["runs_broken"] < 50


def test_control_lemma_e_16_steps_as_printed():
    evidence = check_lemma_e_16_steps([FAST], drop=2.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_broken"] >= 95


def test_control_larger_steps_are_no_counterexample():
    """A refutation of the print needs k ≥ 120, c_η ≤ 1/410 and γ ≥ 8; these runs are outside."""
    evidence = check_lemma_e_16_steps([FAST], drop=2.0, regime=True)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
