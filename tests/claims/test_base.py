import math

import pytest

from widenet.claims import CLAIMS
from widenet.claims.base import (
    Claim,
    Evidence,
    Hypothesis,
    Kind,
    Runs,
    Verdict,
    at_least,
    at_most,
    decide,
    less_than,
    more_than,
    ratio,
)

MET = Hypothesis(key="a", name="a", required="≥ 1", actual=2.0, slack=1.0, met=True)
UNMET = Hypothesis(key="b", name="b", required="≥ 1", actual=0.0, slack=-1.0, met=False)


@pytest.mark.parametrize(
    ("hypotheses", "conclusion", "verdict"),
    [
        ([MET], True, Verdict.HOLDS),
        ([MET], False, Verdict.VIOLATED),
        ([MET], None, Verdict.INSUFFICIENT_EVIDENCE),
        ([MET, UNMET], True, Verdict.HYPOTHESES_NOT_MET),
        ([MET, UNMET], False, Verdict.HYPOTHESES_NOT_MET),
    ],
)
def test_hypotheses_come_before_the_conclusion(hypotheses, conclusion, verdict):
    assert decide(hypotheses, conclusion) is verdict


def test_comparisons_and_their_slack():
    assert at_most("x", "x", 0.5, 1).slack == 0.5
    assert at_most("x", "x", 1.0, 1).met
    assert not at_most("x", "x", 1.5, 1).met
    assert (at_most("x", "x", 1 + 1e-13, 1, tolerance=1e-12).slack or 0) > 0
    assert at_least("x", "x", 3.0, 1).slack == 2
    assert not more_than("x", "x", 0.0, 0).met
    assert not less_than("x", "x", 1.0, 1).met


@pytest.mark.parametrize("compare", [at_most, at_least, more_than, less_than])
def test_a_nan_meets_nothing(compare):
    assert not compare("x", math.nan, 1).met


def test_evidence_survives_json_with_infinities():
    evidence = Evidence(
        verdict=Verdict.HOLDS, hypotheses=(MET,), runs=Runs(tried=3), conclusion=True, promised=math.inf, measured=1.0
    )
    assert Evidence.model_validate_json(evidence.model_dump_json()) == evidence


def test_unknown_fields_are_refused():
    with pytest.raises(ValueError, match="Extra inputs"):
        Runs(tried=1, crashed=2)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(("suffix", "expected"), [("", Verdict.VIOLATED), ("_as_printed", Verdict.HOLDS)])
def test_only_a_statement_kept_as_printed_is_expected_to_fail(suffix, expected):
    with pytest.raises(ValueError, match="go together"):
        Claim(f"p.x{suffix}", Kind.MAIN, "", "", lambda *_: None, lambda *_: None, expected)  # pyright: ignore


def test_ratio_refuses_what_has_no_ratio():
    assert ratio(1.0, 2.0) == 0.5
    assert ratio(1.0, math.inf) is None
    assert ratio(1.0, 0.0) is None
    assert ratio(-2.0, 1.0) is None
    assert ratio(-2.0, -1.0) == 2.0


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_well_formed(claim):
    assert claim.paper in {"brutzkus2018", "li2018", "brutzkus2019", "chatterji2021", "sarussi2021"}
    assert len(claim.statement) > 20
    assert claim.where


def test_ids_are_unique():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
