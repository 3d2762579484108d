"""What is false as printed, as data: complete, linked both ways, and the page made from it."""

import re

import pytest

from tests.papers.brutzkus2019.claims.networks import points
from tools import index as made
from widenet import papers
from widenet.claims.base import NotApplicable
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers import index
from widenet.papers.findings import Gravity, finding_of, findings_of, misprints_of
from widenet.records import Form
from widenet.types import Dataset

PRINTED = [id for id in papers.claim_ids() if id.endswith("_as_printed")]
KEYS = [paper.key for paper in papers.PAPERS]


def test_every_statement_that_is_false_as_printed_has_one_finding() -> None:
    found = [each.claim for key in KEYS for each in findings_of(key)]
    assert sorted(found) == sorted(PRINTED)


@pytest.mark.parametrize("key", KEYS)
def test_a_finding_names_a_claim_of_its_paper_that_holds(key: str) -> None:
    for each in findings_of(key):
        assert each.claim.startswith(f"{key}.")
        assert each.repair in papers.claim_ids(key), each.claim
        assert each.repair not in PRINTED, each.claim
        related = index.related(each.repair, papers.PAPERS)
        assert each.claim in related["false_as_printed"]
        assert index.related(each.claim, papers.PAPERS)["repaired_by"] == each.repair


@pytest.mark.parametrize("key", KEYS)
def test_a_misprint_names_the_claims_that_check_the_right_form(key: str) -> None:
    for each in misprints_of(key):
        assert each.checked_by, each.place
        assert set(each.checked_by) <= set(papers.claim_ids(key)), each.place


@pytest.mark.parametrize("key", KEYS)
def test_a_finding_can_be_read_alone(key: str) -> None:
    """It is shown on a page of its own, where there is no next one and no one above."""
    for each in findings_of(key):
        words = " ".join((each.conclusion, each.printed, each.fails, each.holds))
        assert not re.search(r"\b(above|below|the next|the same S|the one before|see also)\b", words), each.claim


def test_a_claim_that_holds_has_no_finding() -> None:
    assert finding_of("brutzkus2018.theorem_2") is None


@pytest.mark.parametrize("key", KEYS)
def test_a_claim_says_whose_statement_it_is(key: str) -> None:
    """A finding and its claims agree, and the index has what the claims say."""
    repairs = {each.repair for each in findings_of(key)}
    for claim in papers.claims_of(key):
        assert index.row_of(claim)["form"] == claim.form.value
        assert (claim.form is Form.PRINTED) is (claim.id in PRINTED), claim.id
        assert claim.form is Form.REPAIR or claim.id not in repairs, claim.id


def test_all_words_for_gravity_occur() -> None:
    assert {each.gravity for key in KEYS for each in findings_of(key)} == set(Gravity)


def test_the_page_is_made_from_the_findings() -> None:
    text = made.FINDINGS.read_text(encoding="utf-8")
    assert text.partition(f"{made.MADE}\n")[2].partition(made.END)[0] == made.findings_page(), "python -m tools.index"


def test_the_tables_of_symbols_are_made_from_the_glossaries() -> None:
    text = made.GLOSSARY.read_text(encoding="utf-8")
    assert text.partition(f"{made.MADE}\n")[2].partition(made.END)[0] == made.glossary_page(), "python -m tools.index"


def test_the_page_of_claims_on_user_data_is_made_from_the_claims() -> None:
    text = made.ON_DATA.read_text(encoding="utf-8")
    assert text.partition(f"{made.MADE}\n")[2].partition(made.END)[0] == made.on_data_page(), "python -m tools.index"


DATA = {
    "separable": from_arrays([[2.0, 1.0], [1.5, -0.5], [-1.0, 0.3], [-2.0, -1.0]], [1, 1, -1, -1]),
    "unit vectors": from_arrays([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [1, 1, -1, -1]),
    "three classes": from_arrays([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [0, 1, 2]),
    "XORD": points("1234", "4321", "2424", "2244"),
}


@pytest.mark.parametrize("data", DATA.values(), ids=DATA.keys())
def test_what_never_applies_does_not(data: Dataset) -> None:
    claims = [claim for claim in papers.claims_of() if made.never_on_data(claim)]
    assert len(claims) > 100
    assert [claim.id for claim in claims if not isinstance(claim.on(UserData(data)), NotApplicable)] == []
