"""Finding claims and figures by name, and what a list says about them without importing them."""

import dataclasses
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rooms import BROKEN, EMPTY, TOY
from widenet import papers
from widenet.claims import Claim, Kind, Verdict
from widenet.errors import InputError, UnknownName
from widenet.figures import Figure
from widenet.papers import listing
from widenet.papers.base import Paper
from widenet.papers.listing import ListedClaim, listed_claims, listed_figures


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY, BROKEN))


@pytest.mark.usefixtures("rooms")
class TestFinding:
    def test_by_name(self) -> None:
        assert papers.find_claim("toy2020.theorem_2").kind is Kind.MAIN
        assert papers.find_figure("toy2020.figure_1").paper == "toy2020"
        assert papers.find_paper("empty2021").key == "empty2021"

    def test_of_a_paper_or_of_all(self) -> None:
        assert papers.claim_ids("broken2022") == ("broken2022.theorem_1", "broken2022.theorem_8")
        assert [claim.id for claim in papers.claims_of()] == list(papers.claim_ids())
        assert papers.figure_ids("empty2021") == ()
        assert [figure.id for figure in papers.figures_of()] == ["toy2020.figure_1", "toy2020.figure_2"]

    @pytest.mark.parametrize(
        ("find", "name", "near"),
        [
            (papers.find_claim, "toy2020.theorm_2", "toy2020.theorem_2"),
            (papers.find_figure, "toy2020.fig_1", "toy2020.figure_1"),
            (papers.find_paper, "toy2002", "toy2020"),
            (papers.claims_of, "emty2021", "empty2021"),
            (papers.figure_ids, "emty2021", "empty2021"),
        ],
    )
    def test_an_unknown_name_suggests_the_nearest(self, find, name: str, near: str) -> None:
        with pytest.raises(UnknownName, match=f"did you mean '{near}'"):
            find(name)

    @pytest.mark.parametrize(
        ("find", "name", "words"),
        [
            (papers.find_claim, "toy2020", "is a paper, not a claim; 'widenet check --paper toy2020' checks all"),
            (papers.find_figure, "toy2020", "is a paper, not a figure; 'widenet list figures --paper toy2020' shows"),
            (papers.find_claim, "toy2020.figure_1", "is a figure, not a claim; 'widenet figure toy2020.figure_1'"),
            (papers.find_figure, "toy2020.theorem_2", "is a claim, not a figure; 'widenet check toy2020.theorem_2'"),
        ],
    )
    def test_a_name_of_another_kind_says_what_to_do(self, find, name: str, words: str) -> None:
        with pytest.raises(InputError, match=words):
            find(name)


def disagreements(paper: Paper) -> list[str]:
    """What a list would say of this paper, and the imported objects do not; one line each."""
    wrong = []
    try:
        listed = {each.id: each for each in (*listed_claims(paper), *listed_figures(paper))}
    except Exception as error:
        return [f"{paper.key} cannot be listed: {error}"]
    for id in (*paper.claim_ids, *paper.figure_ids):
        try:
            found = paper.load_claim(id) if id in paper.claim_ids else paper.load_figure(id)
        except Exception as error:
            wrong.append(f"{id} cannot be imported: {type(error).__name__}: {error}")
            continue
        if not isinstance(found, (Claim, Figure)):
            wrong.append(f"{id} is a {type(found).__name__}")
            continue
        fields = (
            ("id", "kind", "statement", "where", "expected") if isinstance(found, Claim) else ("id", "title", "caption")
        )
        for field in fields:
            said, is_so = getattr(listed.get(id), field, None), getattr(found, field)
            if said != is_so:
                wrong.append(f"{id}: its {field} is listed as {said!r} and is {is_so!r}")
    return wrong


@pytest.mark.parametrize("paper", [*papers.PAPERS, TOY, EMPTY, BROKEN], ids=lambda paper: paper.key)
def test_a_list_says_what_the_imported_objects_say(paper: Paper) -> None:
    wrong = disagreements(paper)
    assert wrong == [], "\n".join(wrong)


def test_control_a_statement_made_elsewhere_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    theorems = importlib.import_module("tests.rooms.toy2020.claims.theorems")
    other = dataclasses.replace(theorems.theorem_5, statement="Made somewhere else.")
    monkeypatch.setattr(theorems, "theorem_5", other)
    (line,) = disagreements(TOY)
    assert line.startswith("toy2020.theorem_5: its statement is listed as 'The test error")


DECORATED = """
@claim({id}, Kind.MAIN, 'p. ' '1', reads=x)
def theorem_1(runs):
    '''It
    holds.

    Really.
    '''
"""


@pytest.fixture
def listed_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What is read from the text of a module of claims."""
    (tmp_path / "claims").mkdir()
    monkeypatch.setattr(listing, "_room", lambda paper: tmp_path)

    def read(text: str) -> list[ListedClaim]:
        (tmp_path / "claims" / "x.py").write_text(text)
        return listed_claims(dataclasses.replace(EMPTY, claims=("x.theorem_1",)))

    return read


def test_words_are_read_as_python_would_join_them(listed_from) -> None:
    (found,) = listed_from(DECORATED.format(id="'toy.theorem_1'"))
    assert (found.statement, found.where, found.expected) == ("It holds.", "p. 1", Verdict.HOLDS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("theorem_1 = make()", r"x\.py has no claim theorem_1 with literal words"),
        ("theorem_1 = other.variant('theorem_1', where='p. 1', statement='It holds.')", "needs its kind"),
        (DECORATED.format(id="ID"), "malformed node"),
        (DECORATED.format(id="3"), "expected words, got 3"),
    ],
)
def test_what_cannot_be_read_is_refused(listed_from, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        listed_from(text)


def test_ids_are_unique_and_statements_say_something() -> None:
    ids = [*papers.claim_ids(), *papers.figure_ids()]
    assert len(set(ids)) == len(ids)
    for paper in papers.PAPERS:
        for claim in listed_claims(paper):
            assert len(claim.statement) > 20, claim.id
            assert claim.where, claim.id


def test_loading_every_room_starts_no_device() -> None:
    """Who only judges what is stored needs none, and a GPU would give its memory to a process that waits."""
    code = """
import sys
from widenet import papers
papers.claims_of(), papers.figures_of()
from jax._src import xla_bridge
sys.exit(len(xla_bridge._backends))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
