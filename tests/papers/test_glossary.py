"""Which symbols a text uses, and that every one of them is explained."""

import pytest

from widenet import papers
from widenet.papers import index
from widenet.papers.glossary import Symbol, glossary_of, symbols_of, unknown_in

ROWS = index.claim_rows(papers.PAPERS)


def used(paper: str, text: str, claim: str = "") -> list[str]:
    return [each.symbol for each in symbols_of(paper, text, claim=claim)]


def meanings(claim: str, letter: str) -> list[str]:
    """What a page says that a letter of its statement means."""
    row = next(row for row in ROWS if row["id"] == claim)
    found = symbols_of(row["paper"], *texts_of(row), claim=claim.partition(".")[2])
    return [each.meaning for each in found if letter in each.forms]


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


def test_an_index_that_is_a_number_or_one_of_several_stands_for_any() -> None:
    assert "x_i (XOR)" in used("brutzkus2019", "$⟨w, x_1⟩$")
    assert "v_s, v_{i,a,b}" in used("li2018", "$p_{1,1}v_{1,1,1}$")
    assert "v" not in used("li2018", "$p_{1,1}v_{1,1,1}$")
    assert "L_S" not in used("brutzkus2018", "$L_1$")


def test_letters_with_a_number_and_letters_that_are_words_elsewhere_are_found_too() -> None:
    assert used("brutzkus2019", "$|W13|$") == ["W13, W24, U13, U24"]
    assert "E" in used("sarussi2021", "$E_T$")
    assert "e_i, e_d" in used("brutzkus2018", "$e_1$")
    assert "e_i, e_d" not in used("brutzkus2018", "$e^{−1}$")


def test_the_meaning_in_one_claim_takes_the_place_of_that_in_the_paper() -> None:
    assert used("brutzkus2018", "$b$", "tied_rows") == ["a, b"]
    assert used("brutzkus2018", "$b$", "footnote_4") == ["w, b"]
    assert unknown_in("brutzkus2018", "$b$") == ["b"], "and elsewhere it means nothing"
    assert "k, l, kl" in used("li2018", "$l$")
    assert "k, l, kl" not in used("li2018", "$l$", "lemma_b_5")


@pytest.mark.parametrize(
    ("claim", "letter", "word"),
    [
        ("li2018.lemma_5_1", "L", "loss"),
        ("li2018.lemma_a_3_net_as_printed", "L", "vote"),
        ("li2018.lemma_b_6", "L", "Lipschitz"),
        ("li2018.lemma_b_5", "l", "convex function"),
        ("li2018.lemma_b_5", "τ", "compared on"),
        ("li2018.lemma_a_1_size", "τ", "pre-activation"),
        ("li2018.theorem_4_1_margin", "a", "class"),
        ("li2018.theorem_4_1_margin", "ε", "1 − o_a"),
        ("sarussi2021.section_12_logistic", "y", "arguments"),
        ("brutzkus2018.tied_rows", "b", "minus rows"),
        ("brutzkus2018.lemma_12", "C", "entry of W_0"),
        ("brutzkus2018.equation_13", "C", "both layers"),
    ],
)
def test_a_letter_with_several_meanings_has_that_of_its_page(claim: str, letter: str, word: str) -> None:
    (said,) = meanings(claim, letter)
    assert word in said


@pytest.mark.parametrize("key", [paper.key for paper in papers.PAPERS])
def test_meanings_in_single_claims_name_claims_that_use_them(key: str) -> None:
    rows = {row["id"].partition(".")[2]: row for row in ROWS if row["paper"] == key}
    for entry in glossary_of(key):
        for claim in entry.claims:
            assert claim in rows, (entry.symbol, claim)
            assert entry in symbols_of(key, *texts_of(rows[claim]), claim=claim), (entry.symbol, claim)


@pytest.mark.parametrize("key", [paper.key for paper in papers.PAPERS])
def test_no_claim_has_two_meanings_for_one_symbol(key: str) -> None:
    for row in (row for row in ROWS if row["paper"] == key):
        entries = symbols_of(key, *texts_of(row), claim=row["id"].partition(".")[2])
        forms = [form for entry in entries for form in entry.forms]
        assert sorted({form for form in forms if forms.count(form) > 1}) == [], row["id"]


def test_a_symbol_that_nobody_explains_is_noticed() -> None:
    assert unknown_in("brutzkus2018", "$Ψ_h + k$") == ["h", "Ψ_h"]


def test_an_entry_may_have_several_symbols_and_a_remark() -> None:
    assert Symbol(symbol="X, Y(l) (E.17)", word="x", meaning="sums").forms == ("X", "Y(l)")
    assert Symbol(symbol="F_t, G_t", word="x", meaning="").forms == ("F_t", "G_t")


def test_names_of_the_code_pair_off_with_symbols() -> None:
    several = Symbol(symbol="δ, λ", word="`separation`, `relative_diameter`", meaning="")
    assert several.form_of == {"separation": "δ", "relative_diameter": "λ"}
    assert Symbol(symbol="m", word="`width`, `n_neurons`", meaning="").form_of == {"width": "m", "n_neurons": "m"}
    assert Symbol(symbol="w, b", word="`separator`, *bias*", meaning="").form_of == {"separator": "w"}
    assert Symbol(symbol="F, F_t, G, G_t", word="`alignments`, `norms`", meaning="").form_of == {}


def texts_of(row: index.Row) -> tuple[str, ...]:
    return row["title"], row["statement"], *(each["text"] for each in row["clauses"])


@pytest.mark.parametrize("key", [paper.key for paper in papers.PAPERS])
def test_every_symbol_of_a_claim_is_explained(key: str) -> None:
    rows = [row for row in ROWS if row["paper"] == key]
    unknown = {row["id"]: unknown_in(key, *texts_of(row), claim=row["id"].partition(".")[2]) for row in rows}
    assert {id: symbols for id, symbols in unknown.items() if symbols} == {}


@pytest.mark.parametrize("key", [paper.key for paper in papers.PAPERS])
def test_the_signs_around_mathematics_are_balanced(key: str) -> None:
    texts = [text for row in ROWS if row["paper"] == key for text in texts_of(row)]
    assert [text for text in texts if text.count("$") % 2] == []


def test_every_claim_has_symbols() -> None:
    assert [row["id"] for row in ROWS if not row["symbols"]] == []
