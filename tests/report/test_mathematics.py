"""Formulas of statements, as MathML and LaTeX."""

import re
import unicodedata
from xml.etree import ElementTree

import pytest
from matplotlib.mathtext import MathTextParser

from widenet.papers import PAPERS
from widenet.papers.findings import findings_of, misprints_of
from widenet.papers.glossary import MATHEMATICS, WORDS, glossary_of
from widenet.papers.index import claim_rows
from widenet.report import mathematics
from widenet.report.mathematics import (
    Fence,
    FormulaError,
    FormulaRow,
    Name,
    NumberToken,
    Over,
    Root,
    Scripts,
    Sign,
    parse,
)


def formulas(paper):
    rows = claim_rows([paper])
    texts = [text for row in rows for text in (row["title"], row["statement"], *(c["text"] for c in row["clauses"]))]
    return sorted({formula for text in texts for formula in MATHEMATICS.findall(text)})


def characters(formula):
    """Every character that must be seen, in its order; indices and exponents may change places."""
    apart = unicodedata.normalize("NFKD", formula.translate({ord(each): None for each in "½¼⅓¾√≠∉"}))
    return sorted(re.sub(r"[\s_^{}\u0300-\u036f]", "", apart).replace("'", "′"))


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
@pytest.mark.parametrize("write", [mathematics.mathml, mathematics.displayed], ids=["line", "block"])
def test_every_formula_is_read_and_loses_no_character(paper, write):
    for formula in formulas(paper):
        written = write(formula)
        seen = "".join(ElementTree.fromstring(f"<p>{written.replace('<wbr>', '')}</p>").itertext())
        lost = set(characters(formula)) - set(characters(seen)) - set("()/")
        assert not lost, (formula, seen)
        if write is mathematics.mathml and not re.search(
            r"[√~^{]|[\u0300-\u036f]", unicodedata.normalize("NFD", formula)
        ):
            assert characters(seen) == characters(formula), formula


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_every_formula_is_latex_that_another_program_reads(paper):
    reader = MathTextParser("path")
    for formula in formulas(paper):
        written = mathematics.latex(formula).replace(r"\#", "n")  # which this program reads outside fractions alone
        reader.parse(f"${written}$")


def x(*pieces):
    return FormulaRow(tuple(pieces))


A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("formula", "tree"),
    [
        ("ab/c", x(Over(x(A, B), C))),
        ("a/bc", x(Over(x(A), B), C)),
        ("a + b/c", x(A, Sign("+"), Over(x(B), C))),
        ("−a", x(Sign("−", prefix=True), A)),
        ("a_b^c", x(Scripts(A, x(B), x(C)))),
        ("a²_{b+1}", x(Scripts(A, x(B, Sign("+"), NumberToken("1")), x(NumberToken("2"))))),
        ("√(a/b)", x(Root(Fence("(", x(Over(x(A), B)), ")")))),
        ("√a b", x(Root(A), B)),
        ("|a||b|", x(Fence("|", x(A), "|"), Fence("|", x(B), "|"))),
        ("|a − |b||", x(Fence("|", x(A, Sign("−"), Fence("|", x(B), "|")), "|"))),
        ("[½, 1)", x(Fence("[", x(NumberToken("½"), Sign(","), NumberToken("1")), ")"))),
        ("Pr[a ≥ b | c]", x(Name("Pr"), Fence("[", x(A, Sign("≥"), B, Sign("∣"), C), "]"))),
        ("2 log 2/a", x(Over(x(NumberToken("2"), Name("log"), NumberToken("2")), A))),
        ("log(a)b/c", x(Over(x(Name("log"), Fence("(", x(A), ")"), B), C))),
        ("a/b(c)", x(Over(x(A), x(B, Fence("(", x(C), ")"))))),
        ("a/b(c + b)", x(Over(x(A), B), Fence("(", x(C, Sign("+"), B), ")"))),
        ("ln 1/a", x(Name("ln"), Over(x(NumberToken("1")), A))),
        ("1/log(a)", x(Over(x(NumberToken("1")), x(Name("log"), Fence("(", x(A), ")"))))),
        ("∂a/∂b", x(Over(x(Name("∂"), A), x(Name("∂"), B)))),
        ("a'", x(Scripts(A, None, x(Sign("′", prefix=True))))),
        ("ã", x(Name("a", "\u0303"))),
        ("abc", x(A, B, C)),
        ("max a", x(Name("max"), A)),
        ("1,000.5e", x(NumberToken("1,000.5"), Name("e"))),
    ],
)  # fmt: skip
def test_trees(formula, tree):
    assert parse(formula) == tree


@pytest.mark.parametrize(
    ("formula", "what"),
    [("(a", "')' is missing"), ("a)", "closes nothing"), ("/a", "above a slash"), ("a^", "stops too early"),
     ("|a", "'|' is missing"), ("", "empty"), ("a ⊕ b", "no meaning")],
)  # fmt: skip
def test_what_cannot_be_read_is_said(formula, what):
    with pytest.raises(FormulaError, match=re.escape(what)):
        parse(formula)


def test_a_block_stacks_fractions_and_drops_needless_brackets():
    block = mathematics.displayed("(a + b)/(2c)")
    line = mathematics.mathml("(a + b)/(2c)")
    assert ("<mfrac>" in block, "(" in block) == (True, False)
    assert ("<mfrac>" in line, "(" in line) == (False, True)


def test_a_line_may_break_after_signs_between_terms_and_nowhere_else():
    assert mathematics.mathml("a + b ≤ (c + a)").count("<wbr>") == 2
    assert mathematics.mathml("−a").count("<wbr>") == 0


def test_texts_are_escaped_around_their_mathematics():
    assert mathematics.typeset("if <b> & $a < b$").startswith("if &lt;b&gt; &amp; <math>")
    assert "&lt;" in mathematics.typeset("$a < b$")
    latex = mathematics.as_latex("50 % of $‖w*‖²/α$")
    assert latex == r"50 \% of $\frac{{\left\| w^{*}\right\|}^{2}}{\alpha}$"


def test_words_of_the_glossary_stand_upright():
    for word in WORDS:
        assert parse(word) == x(Name(word))


def test_a_digit_at_a_logarithm_is_its_base():
    assert mathematics.latex("log2(2d/δ)").startswith(r"\log_{2}\left(")
    assert "<msub><mi>log</mi><mn>2</mn></msub>" in mathematics.mathml("k ≤ log2(d/ln(1/δ))")
    assert mathematics.latex("2 log 2/n") == r"\frac{2\log 2}{n}"


@pytest.mark.parametrize(
    ("formula", "latex", "tag"),
    [
        ("log²(1/L)", r"\log^{2}\left(", "msup"),
        ("log⁴ n", r"\log^{4}n", "msup"),
        ("sin² x", r"\sin^{2}x", "msup"),
        ("log₂ n", r"\log_{2}n", "msub"),
        ("log2(n)", r"\log_{2}\left(", "msub"),
        ("log²₂ n", r"\log_{2}^{2}n", "msubsup"),
        ("x²_i", r"x_{i}^{2}", "msubsup"),
        ("Q̃₁", r"\tilde{Q}_{1}", "msub"),
    ],
)  # fmt: skip
def test_a_raised_sign_is_a_power_and_a_lowered_one_an_index(formula, latex, tag):
    assert mathematics.latex(formula).startswith(latex)
    assert mathematics.mathml(formula).replace("<mrow>", "").startswith(f"<math><{tag}>")


def texts_of(paper):
    """Every text of a paper that is typeset: statements, clauses, findings, misprints and symbols."""
    rows = claim_rows([paper])
    yield from (text for row in rows for text in (row["title"], row["statement"], *(c["text"] for c in row["clauses"])))
    yield from (each for found in findings_of(paper.key) for each in (found.fails, found.holds, found.conclusion))
    yield from (each for slip in misprints_of(paper.key) for each in (slip.printed, slip.fails, slip.meant))
    for symbol in (*glossary_of(), *glossary_of(paper.key)):
        yield from (symbol.meaning, *(f"${form}$" for form in symbol.forms))


RAISED_OR_LOWERED = re.compile("[²³¹⁰-⁹⁺⁻ⁿ₀-₉₊₋ₐ-ₜ]")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_what_is_raised_or_lowered_is_so_by_its_tag_alone(paper):
    for formula in {each for text in texts_of(paper) for each in MATHEMATICS.findall(text)}:
        try:
            parse(formula)
        except FormulaError:  # a page shows it as it is typed
            continue
        for written in (mathematics.mathml(formula), mathematics.displayed(formula), mathematics.latex(formula)):
            assert not RAISED_OR_LOWERED.search(written), (formula, written)
