"""Which symbols a text uses, and that every one of them is explained."""

import pytest

from widenet import papers
from widenet.papers import index
from widenet.papers.glossary import Symbol, symbols_of, unknown_in

ROWS = index.claim_rows(papers.PAPERS)


def used(paper: str, text: str) -> list[str]:
    return [each.symbol for each in symbols_of(paper, text)]


def test_symbols_are_found_inside_mathematics_only() -> None:
    assert "α" in used("sarussi2021", "the slope $α$")
    assert used("sarussi2021", "the slope α of a k") == []


def test_an_attached_index_is_part_of_the_symbol_where_the_glossary_knows_it() -> None:
    assert "M_k" in used("brutzkus2018", "at most $M_k$ updates")
    assert "R_0" in used("sarussi2021", "$R_0 > 1$")
    assert "R_0" not in used("sarussi2021", "$R_x$")


def test_several_letters_are_several_symbols_unless_they_are_a_word() -> None:
    assert {"k", "η", "v", "α"} <= set(used("brutzkus2018", "$2kηvα$"))
    assert unknown_in("brutzkus2018", "$log(k)$") == []


def test_a_symbol_that_nobody_explains_is_noticed() -> None:
    assert unknown_in("brutzkus2018", "$Ψ_h + k$") == ["h", "Ψ_h"]


def test_an_entry_may_have_several_symbols_and_a_remark() -> None:
    assert Symbol(symbol="X, Y(l) (E.17)", word="x", meaning="sums").forms == ("X", "Y(l)")
    assert Symbol(symbol="F_t, G_t", word="x", meaning="").forms == ("F_t", "G_t")


def texts_of(row: index.Row) -> tuple[str, ...]:
    return row["title"], row["statement"], *(each["text"] for each in row["clauses"])


@pytest.mark.parametrize("key", [paper.key for paper in papers.PAPERS])
def test_every_symbol_of_a_claim_is_explained(key: str) -> None:
    rows = [row for row in ROWS if row["paper"] == key]
    unknown = {row["id"]: unknown_in(key, *texts_of(row)) for row in rows}
    assert {id: symbols for id, symbols in unknown.items() if symbols} == {}


@pytest.mark.parametrize("key", [paper.key for paper in papers.PAPERS])
def test_the_signs_around_mathematics_are_balanced(key: str) -> None:
    texts = [text for row in ROWS if row["paper"] == key for text in texts_of(row)]
    assert [text for text in texts if text.count("$") % 2] == []


def test_every_claim_has_symbols() -> None:
    assert [row["id"] for row in ROWS if not row["symbols"]] == []
