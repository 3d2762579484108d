"""What a page says of shares, closest cases, assumptions and limits."""

import math

import pytest

from tests.report.fake_outcomes import HOLDING, PAPER, checked, results, with_evidence
from widenet.claims.base import Evidence, Part
from widenet.claims.hypotheses import Hypothesis
from widenet.claims.sides import Rate, Sides
from widenet.console import wording
from widenet.papers import PAPERS
from widenet.papers.glossary import setting_of, unknown_in
from widenet.report import numerals
from widenet.report.shares import NO_SHARE, column_of, shares_of
from widenet.report.statements import Library, with_emphasis

OUTCOME = checked(HOLDING)


def statement_of(*parts: Part):
    library = Library(results([with_evidence(OUTCOME, parts=parts)]).checks, [PAPER])
    return library, library.statements[0]


@pytest.mark.parametrize(
    ("part", "is_comparable"),
    [
        (Part(name="a", kept=True, sense="≤", measured=9.0, promised=10.0, tightness=0.9, n_cases=3), True),
        (Part(name="a", kept=True, sense="≤", measured=0.0, promised=10.0, tightness=0.0, n_cases=3), True),
        (Part(name="a", kept=True, sense="=", measured=9.0, promised=9.0, tightness=1.0, n_cases=3), False),
        (Part(name="a", kept=True, sense="≤", measured=0.0, promised=0.0, tightness=1.0, n_cases=3), False),
    ],
)
def test_only_sides_that_can_come_apart_have_a_share(part: Part, is_comparable: bool) -> None:
    library, statement = statement_of(part)
    table = shares_of(library)
    assert (column_of(statement) != NO_SHARE) == is_comparable
    assert table.n_comparable == is_comparable
    assert statement.gauges[0].has_share == is_comparable
    assert ("%" in statement.share) == is_comparable


def test_a_broken_promise_has_a_column_whatever_its_sign() -> None:
    _, statement = statement_of(Part(name="a", kept=False, sense="=", measured=3.0, promised=9.0, tightness=3.0))
    assert column_of(statement) != NO_SHARE


@pytest.mark.parametrize(
    ("value", "words"), [(0.9, "90 %"), (1 - 1e-14, "100 %"), (2.4, "2.4 ×"), (math.inf, "beyond 0")]
)
def test_a_share_is_told_in_percent_and_an_excess_in_times(value: float, words: str) -> None:
    assert numerals.share_in_words(value) == words


def test_limits_of_a_failure_rate_are_named() -> None:
    error = Sides([0.5] * 5, 0.02)
    part = Rate([True] * 5, 0.15, sides=error).part("error")
    assert part.measured == 0.5
    assert wording.limits(part) == "95 % limits of the share of runs that fail (at most 0.15 may): 0.5493 to 1"
    share = Rate([True] * 5, 0.15).part("failures")
    assert wording.limits(share) == "95 % limits 0.5493 to 1"


def test_sides_that_differ_by_rounding_are_written_alike() -> None:
    part = Sides(84.0, 83.99999999999999, room=1e-9).part("a")
    assert [str(each).partition(">")[2].partition("<")[0] for each in numerals.sides_of(part)] == ["84", "84"]


def test_assumptions_begin_with_the_nearest_to_failing() -> None:
    def made(key: str, actual: float, slack: float | None, required: str, met: bool = True) -> Hypothesis:
        return Hypothesis(key=key, name=key, required=required, actual=actual, slack=slack, met=met)

    rows = (
        made("exact", 1.0, 1e-12, "≤ 1 (to 1e-12)"),
        made("far", 5.0, 4.0, "≥ 1"),
        made("near", 100.0, 0.5, "≤ 100.5"),
        made("unmet", 2.0, -1.0, "≤ 1", met=False),
        made("tiny", 1e-13, 1e-13, "> 0"),
    )
    library = Library(results([with_evidence(OUTCOME, hypotheses=rows)]).checks, [PAPER])
    assert [each.key for each in library.statements[0].assumptions] == ["unmet", "near", "far", "tiny", "exact"]
    assert [wording.is_met_exactly(each) for each in rows] == [True, False, False, False, False]


def test_the_closest_case_has_its_numbers() -> None:
    kept = Evidence.model_validate(OUTCOME.evidence.model_dump(round_trip=True))
    assert kept.headline.closest == OUTCOME.evidence.headline.closest == {"place": 0}


def test_cases_that_are_all_alike_are_told_and_not_drawn() -> None:
    same, other = Sides([0.0] * 300, 0.0).part("a"), Sides([0.0] * 300 + [-1.0], 0.0).part("a")
    assert (same.alike, other.alike) == (True, False)
    _, statement = statement_of(Sides([1.0, 2.0], 3.0).part("first"), same)
    assert statement.gauges[1].sameness.striptags() == "the same in all 300 cases"
    assert statement.more_pictures == []


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_every_paper_tells_its_setting_in_five_lines(paper) -> None:
    lines = setting_of(paper.key)
    assert len(lines) == 5
    for line in lines:
        assert str(with_emphasis(line)).startswith("<b>"), line
        assert "$" not in with_emphasis(line), line
    assert unknown_in(paper.key, *lines) == []
